"""Natural stories (Jin et al. 2024, Section 4.6 and Appendix B): writing them for items, and asking about them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from harness.errors import DataError
from harness.prompting.reading.own_words import own_words
from harness.scoring.means import summarize
from harness.settings import LOCAL
from harness.tasks.base import OneOrMore, Share, TaskBase
from harness.tasks.corr2cause.claim import Claim, ItemWriter
from harness.tasks.corr2cause.enumerate import public_test
from harness.tasks.corr2cause.task import ORDERS, Size
from harness.tasks.corr2cause.text import Hypothesis, read_premise
from harness.tasks.data_files import DataFile
from harness.types import JSON, Answer, Item, Record, Response, Result
from harness_papers.story_check import Check, check

LABEL = "story"
"""The only label set of writing: an item is right where a story can be read at all."""
_FOLLOWS = (
    "The premise does not provide a necessary condition for the hypothesis.",
    "The premise is a necessary condition for the hypothesis. So if the premise is true, the hypothesis must be true.",
)
"""The relation of premise and hypothesis in Table 7, by label."""


class Story(NamedTuple):
    """What a reply tells."""

    premise: str
    hypothesis: str
    explanation: str


_HEADING = re.compile(
    r"^[ \t>#*_\d.)-]*(?P<name>premises?|hypothesis|relation(?:ship)? between (?:the )?(?:pro|pre)mise and (?:the )?"
    r"hypothesis|explanation|relation(?:ship)?)[ \t*_]*:[ \t.*_]*",
    re.IGNORECASE | re.MULTILINE,
)


def story(response: Response) -> Answer:
    """Return 1 with the three parts as JSON (`story_in` reads them again); None where one is missing or was cut off."""
    text = own_words(response.text)
    marks = list(_HEADING.finditer(text))
    parts: dict[str, str] = {}
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        name = mark["name"].lower()
        part = "premise" if name.startswith("premise") else "hypothesis" if name == "hypothesis" else "explanation"
        words = " ".join(text[mark.end() : following.start() if following else len(text)].split()).strip(" *_#-")
        parts.setdefault(part, words)
    if response.finish_reason == "length" or not all(parts.get(part) for part in Story._fields):
        return Answer(label=None)
    return Answer(label=1, span=json.dumps(parts, ensure_ascii=False, sort_keys=True), rule="a story")


def story_in(answer: Answer | None) -> Story | None:
    """Return the story of an answer; None where none was read."""
    if answer is None or not answer.label:
        return None
    return Story(**json.loads(answer.span))


@cache
def claims() -> Mapping[str, Claim]:
    """Return the claims of both public test sets by the ids of their items; v2's where both have one."""
    return {claim.id: claim for version in ("v1", "v2") for claim in public_test(version)}


@cache
def _symbolic() -> tuple[ItemWriter, ItemWriter]:
    return ItemWriter("none", 0), ItemWriter("paraphrase", 0)


def check_story(claim: Claim, premise: str, hypothesis: str) -> Check:
    fields = _symbolic()[0].item(claim).fields
    expected = Hypothesis(claim.relation, fields["var_i"], fields["var_j"])
    return check(premise, hypothesis, item=read_premise(fields["premise"]), claim=expected, label=claim.derived)


@dataclass(frozen=True)
class StoryWriting(TaskBase):
    """A story to write for each item; configs/task/corr2cause/writing.yaml says what each setting means."""

    prompts: tuple[str, ...]
    num_nodes: Annotated[tuple[Size, ...], OneOrMore] = (2, 3, 4)
    headline = LABEL

    def all_items(self) -> Sequence[Item]:
        """Return the rules to tell as stories. Whether the hypothesis follows is a part of a rule, as in the paper."""
        return [_rule(claim) for claim in public_test("v2") if claim.n in self.num_nodes]

    def stratum(self, item: Item) -> tuple[str, ...]:
        return tuple(item.groups.values())

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return the share of stories that tell their item by rule, of all that were asked for."""
        return summarize(records, _holds, ("holds",), headline=LABEL, orders=ORDERS)


def _rule(claim: Claim) -> Item:
    plain, paraphrased = (writer.item(claim) for writer in _symbolic())
    premise, hypothesis = plain.fields["premise"], paraphrased.fields["hypothesis"]
    relation = f"Relation between the promise and hypothesis: {_FOLLOWS[claim.derived]}"
    rule = f"Premise: {premise} Hypothesis: {hypothesis} {relation}"
    return Item(plain.id, {"rule": rule}, {LABEL: 1}, plain.cluster, groups=plain.groups)


def _holds(record: Record) -> dict[str, float | None]:
    told = story_in(record.answer)
    holds = told is not None and check_story(claims()[record.item], told.premise, told.hypothesis).holds
    return {"holds": float(holds)}


@dataclass(frozen=True)
class Stories(TaskBase):
    """Does the hypothesis of a story follow? configs/task/corr2cause/stories.yaml says what each setting means."""

    prompts: tuple[str, ...]
    path: str | None = field(default=None, metadata=LOCAL)
    prior: Share = field(default=0.42, kw_only=True)

    orders = ORDERS
    headline = "audited"

    @property
    def data(self) -> Mapping[str, JSON]:
        """The SHA-256 of the file; nothing for the stories that ship."""
        return {"sha256": DataFile(self.path).digest()} if self.path else {}

    @property
    def remarks(self) -> Sequence[str]:
        """How many stories of the file are left out."""
        out = len(self._stories) - len(self._questions)
        return (f"{out:,} of {len(self._stories):,} stories do not hold by rule and are left out.",) * (out > 0)

    def all_items(self) -> Sequence[Item]:
        """Return the stories as questions, with the labels, cluster and relation of the items that they tell."""
        return list(self._questions)

    def stratum(self, item: Item) -> tuple[str, ...]:
        return tuple(item.groups.values())

    @cached_property
    def _questions(self) -> tuple[Item, ...]:
        items = [
            _question(claim, row, number)
            for number, (claim, row) in enumerate(self._stories, start=1)
            if check_story(claim, row["premise"], row["hypothesis"]).holds
        ]
        if not items:
            raise DataError(f"{self.path or 'the built-in set'} holds no story that passes the checks.")
        return tuple(items)

    @cached_property
    def _stories(self) -> tuple[tuple[Claim, Mapping[str, str]], ...]:
        rows = builtin() if self.path is None else filter(None, map(_told, DataFile(self.path).rows()))
        return tuple(self._claimed(row, number) for number, row in enumerate(rows, start=1))

    def _claimed(self, row: Mapping[str, str], number: int) -> tuple[Claim, Mapping[str, str]]:
        """Return a story with the claim that it tells. Raises DataError for a row that is no story of an item."""
        where = f"{self.path or 'the built-in set'}, story {number}"
        for name in ("item", "premise", "hypothesis"):
            if not isinstance(row.get(name), str) or not row[name].strip():
                raise DataError(f"{where}: it has no {name}; a story has item, premise and hypothesis.")
        if (claim := claims().get(row["item"])) is None:
            raise DataError(
                f"{where}: {row['item']!r:.60} is no item of a public test split, such as n3-g6-parent-A-C."
            )
        return claim, row


def _told(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the story that a row holds, or that a record of task=corr2cause/writing has as its answer, if any."""
    if "answer" not in row:
        return row
    span = (row["answer"] or {}).get("span") or "null"
    return {"item": row.get("item"), **told} if isinstance(told := json.loads(span), dict) else None


def builtin() -> Iterator[Mapping[str, str]]:
    file = Path(__file__).parent / "data" / "stories.jsonl"
    return map(json.loads, file.read_text(encoding="utf-8").splitlines())


def _question(claim: Claim, row: Mapping[str, str], number: int) -> Item:
    plain = _symbolic()[0].item(claim)
    hypothesis = row["hypothesis"].strip()
    fields = {
        "premise": row["premise"].strip(),
        "hypothesis": hypothesis,
        "statement": hypothesis.removesuffix("."),
        "input": f"Premise: {row['premise'].strip()}\nHypothesis: {hypothesis}",
        "relation": plain.fields["relation"],
        "num_nodes": claim.n,
    }
    return Item(f"{number}/{claim.id}", fields, claim.labels, plain.cluster, groups=plain.groups)
