"""Chains of causes, "If A causes B and B causes C, does A cause C?": the paper's CoT-analogous task (Appendix C.D)."""

from __future__ import annotations

import dataclasses
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


@dataclass(frozen=True)
class Chain:
    """One question: statements (cause, effect), and whether the first of `ends` causes the second."""

    kind: str
    length: int
    statements: tuple[tuple[str, str], ...]
    ends: tuple[str, str]

    @property
    def id(self) -> str:
        """Such as reversed/5."""
        return f"{self.kind}/{self.length}"

    @property
    def follows(self) -> int:
        """1 iff a directed path leads from the first of `ends` to the second."""
        reached = {self.ends[0]}
        for _ in self.statements:
            reached |= {effect for cause, effect in self.statements if cause in reached}
        return int(self.ends[1] in reached)

    def item(self) -> Item:
        statements = [f"{cause} causes {effect}" for cause, effect in self.statements]
        premise = f"{', '.join(statements[:-1])} and {statements[-1]}" if len(statements) > 1 else statements[0]
        a, b = self.ends
        question = f"If {premise}, does {a} cause {b}?"
        return Item(
            id=self.id,
            fields={
                "question": question,
                "premise": f"{premise}.",
                "statement": f"{a} causes {b}.",
            },
            labels={"exact": self.follows},
            cluster=self.id,
            groups={"kind": self.kind, "length": str(self.length)},
        )


def chain(length: int) -> Chain:
    """Return the published question with this many letters; its answer is Yes."""
    letters = ascii_uppercase[:length]
    return Chain("chain", length, tuple(pairwise(letters)), (letters[0], letters[-1]))


def counterpart(length: int, seed: int) -> Chain:
    """Return a question with this many letters whose answer is No, of the three kinds in turn.

    - reversed: does the last letter cause the first?
    - broken: the statement in the middle is left out.
    - shuffled: the statements in an order drawn from the seed; asked from the cause of the first one to the effect of
      the last one, which lies before it in the chain.
    """
    published = chain(length)
    kind = ("reversed", "broken", "shuffled")[(length - LENGTHS[0]) % 3]
    statements = published.statements
    if kind == "reversed":
        return reversed_chain(length)
    if kind == "broken":
        middle = len(statements) // 2
        return dataclasses.replace(published, kind=kind, statements=statements[:middle] + statements[middle + 1 :])
    # The first statement comes from the chain's second half and the last from its first half, so the way leads back.
    half = len(statements) // 2
    return _in_another_order(published, kind, statements[half + 1 :], statements[:half], seed)


def reversed_chain(length: int) -> Chain:
    """Return a question with this many letters and its statements in order: does the last letter cause the first?"""
    published = chain(length)
    return dataclasses.replace(published, kind="reversed", ends=(published.ends[1], published.ends[0]))


def reordered(length: int, seed: int) -> Chain:
    """Return a question of five letters or more, shuffled like those whose answer is No, but asked forwards: Yes.

    The first statement is never the chain's own first one, so that the order is never that of a published question.
    """
    published, half = chain(length), (length - 1) // 2
    return _in_another_order(
        published, "reordered", published.statements[1:half], published.statements[half + 1 :], seed
    )


def _in_another_order(
    published: Chain, kind: str, first: Sequence[tuple[str, str]], last: Sequence[tuple[str, str]], seed: int
) -> Chain:
    """Return the statements in an order drawn from the seed: one of `first` at the beginning, one of `last` last.

    Asked from the cause of that to the effect of this, as in the published questions.
    """
    length = published.length
    first_statement = shuffled(first, seed, "first", length)[0]
    last_statement = shuffled(last, seed, "last", length)[0]
    rest = [s for s in published.statements if s not in (first_statement, last_statement)]
    return dataclasses.replace(
        published,
        kind=kind,
        statements=(first_statement, *shuffled(rest, seed, "between", length), last_statement),
        ends=(first_statement[0], last_statement[1]),
    )


@dataclass(frozen=True)
class Chains(TaskBase):
    """The task causalbench/cot; configs/task/causalbench/cot.yaml says what each setting means."""

    prompts: tuple[str, ...]

    headline = "exact"
    orders: ClassVar[Mapping[str, Sequence[str]]] = {"kind": KINDS, "length": tuple(map(str, LENGTHS))}

    def all_items(self) -> Iterator[Item]:
        """Yield the 24 published questions, 24 counterparts and 16 more, by length.

        Where the counterpart is shuffled, there are also one in another order whose answer is Yes and one in order
        whose answer is No: so the order of the statements tells nothing.
        """
        for length in LENGTHS:
            yield chain(length).item()
            yield (other := counterpart(length, self.seed)).item()
            if other.kind == "shuffled":
                yield reordered(length, self.seed).item()
                yield reversed_chain(length).item()

    def stratum(self, item: Item) -> int:
        return item.labels["exact"]

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return scores overall, per kind and per length, with the longest chain that was answered right throughout."""
        right = _Right()
        result = super().summarize(counted(records, right.add))
        rows = {name: dict(groups) for name, groups in result.scores["exact"].items()}
        for kind, row in rows.get("kind", {}).items():
            rows["kind"][kind] = _with_longest(row, {length: right[of, length] for of, length in right if of == kind})
        both: dict[int, bool | None] = {}
        for (_, length), correct in right.items():
            so_far = both.get(length, True)
            both[length] = False if False in (so_far, correct) else None if None in (so_far, correct) else True
        rows["overall"]["all"] = _with_longest(rows["overall"]["all"], both)
        return replace(result, scores={"exact": rows})


class _Right(dict[tuple[str, int], bool | None]):
    """Whether the questions were answered right, by kind and length; None for a failed call."""

    def add(self, record: Record) -> None:
        correct = None if record.answer is None else record.answer.label == record.labels["exact"]
        self[record.groups["kind"], int(record.groups["length"])] = correct


def _with_longest(row: Scores, right: Mapping[int, bool | None]) -> Scores:
    value = longest(right)
    return replace(
        row, metrics=(*row.metrics, Metric("longest_chain", value, no_interval="" if value is None else NO_MEAN))
    )


def longest(right: Mapping[int, bool | None]) -> float | None:
    """Return the letters of the longest chain that, like every shorter one asked, was answered right.

    `right` says for each length whether its answers were, None for a failed call. 0 where the shortest was answered
    wrong; None where nothing was asked, or a call failed before the first wrong answer. Table V counts questions
    instead: its 24 are 26 letters.
    """
    if not right:
        return None
    best = 0
    for length, correct in sorted(right.items()):
        if correct is None:
            return None
        if not correct:
            break
        best = length
    return float(best)
