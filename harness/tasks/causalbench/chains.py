"""Chains of causes, "If A causes B and B causes C, does A cause C?": the paper's CoT-analogous task (Appendix C.D)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_uppercase
from typing import ClassVar

from harness.codec import shuffled
from harness.scoring.bootstrap import NO_MEAN
from harness.scoring.tally import counted
from harness.tasks.base import TaskBase
from harness.types import Item, Metric, Record, Result, Scores, replace

LENGTHS = range(3, 27)
"""Letters of a chain: A, B, C up to the whole alphabet, 24 questions."""
KINDS = ("chain", "reordered", "reversed", "broken", "shuffled")
"""Published chains and some in another order, whose answer is Yes, and three ways in which it is No."""
Link = tuple[str, str]
"""(cause, effect): a statement, or what is asked."""


def questions_of(length: int, seed: int) -> Iterator[Item]:
    """Yield what is asked of a chain of so many letters: the published question, and one of three whose answer is No.

    - reversed: does the last letter cause the first?
    - broken: the statement in the middle is left out.
    - shuffled: the statements in a drawn order; asked from the cause of the first one to the effect of the last one,
      which lies before it. One reordered whose answer is Yes and one reversed make up for what the order would tell.
    """
    letters = ascii_uppercase[:length]
    links, first, last = list(pairwise(letters)), letters[0], letters[-1]
    half = len(links) // 2
    yield _item("chain", length, links, (first, last))
    kind = ("reversed", "broken", "shuffled")[(length - LENGTHS[0]) % 3]
    if kind == "broken":
        yield _item(kind, length, links[:half] + links[half + 1 :], (first, last))
    elif kind == "shuffled":
        # The first statement comes from the chain's second half and the last from its first half: the way leads back.
        yield _in_another_order(kind, links, links[half + 1 :], links[:half], seed)
        # It is never the chain's own first one, so that the order is never that of a published question.
        yield _in_another_order("reordered", links, links[1:half], links[half + 1 :], seed)
    if kind != "broken":
        yield _item("reversed", length, links, (last, first))


def _in_another_order(kind: str, links: Sequence[Link], first: Sequence[Link], last: Sequence[Link], seed: int) -> Item:
    """Return the statements in an order drawn from the seed: one of `first` at the beginning, one of `last` last.

    Asked from the cause of that to the effect of this, as in the published questions.
    """
    length = len(links) + 1
    begin, end = shuffled(first, seed, "first", length)[0], shuffled(last, seed, "last", length)[0]
    between = shuffled([link for link in links if link not in (begin, end)], seed, "between", length)
    return _item(kind, length, [begin, *between, end], (begin[0], end[1]))


def _item(kind: str, length: int, links: Sequence[Link], ends: Link) -> Item:
    """Return the question; its label is 1 iff a directed path leads from the first of `ends` to the second."""
    reached = {ends[0]}
    for _ in links:
        reached |= {effect for cause, effect in links if cause in reached}
    *others, final = [f"{cause} causes {effect}" for cause, effect in links]
    premise = f"{', '.join(others)} and {final}" if others else final
    a, b = ends
    return Item(
        id=f"{kind}/{length}",
        fields={
            "question": f"If {premise}, does {a} cause {b}?",
            "premise": f"{premise}.",
            "statement": f"{a} causes {b}.",
        },
        labels={"exact": int(b in reached)},
        cluster=f"{kind}/{length}",
        groups={"kind": kind, "length": str(length)},
    )


@dataclass(frozen=True)
class Chains(TaskBase):
    """The task causalbench/cot; configs/task/causalbench/cot.yaml says what each setting means."""

    prompts: tuple[str, ...]

    headline = "exact"
    orders: ClassVar[Mapping[str, Sequence[str]]] = {"kind": KINDS, "length": tuple(map(str, LENGTHS))}

    def all_items(self) -> Iterator[Item]:
        """Yield the 24 published questions, 24 whose answer is No and 16 more, by length."""
        return (item for length in LENGTHS for item in questions_of(length, self.seed))

    def stratum(self, item: Item) -> int:
        return item.labels["exact"]

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return scores overall, per kind and per length, with the longest chain that was answered right throughout."""
        right: list[tuple[str, int, bool | None]] = []

        def note(record: Record) -> None:
            correct = None if record.answer is None else record.answer.label == record.labels["exact"]
            right.append((record.groups["kind"], int(record.groups["length"]), correct))

        result = super().summarize(counted(records, note))
        rows = {name: dict(groups) for name, groups in result.scores["exact"].items()}
        for kind, row in rows.get("kind", {}).items():
            rows["kind"][kind] = _with_longest(row, [(length, correct) for of, length, correct in right if of == kind])
        rows["overall"]["all"] = _with_longest(rows["overall"]["all"], [told[1:] for told in right])
        return replace(result, scores={"exact": rows})


def _with_longest(row: Scores, right: Iterable[tuple[int, bool | None]]) -> Scores:
    value = longest(right)
    metric = Metric("longest_chain", value, no_interval="" if value is None else NO_MEAN)
    return replace(row, metrics=(*row.metrics, metric))


def longest(right: Iterable[tuple[int, bool | None]]) -> float | None:
    """Return the letters of the longest chain that, like every shorter one asked, was answered right.

    `right` says of questions by their length whether the answer was, None for a failed call. 0 where the shortest was
    answered wrong; None where nothing was asked, or a call failed before the first wrong answer. Table V counts
    questions instead: its 24 are 26 letters.
    """
    by_length: dict[int, set[bool | None]] = defaultdict(set)
    for length, correct in right:
        by_length[length].add(correct)
    best = 0 if by_length else None
    for length, answers in sorted(by_length.items()):
        if False in answers:
            break
        if None in answers:
            return None
        best = length
    return None if best is None else float(best)
