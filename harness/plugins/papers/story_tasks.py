"""Natural stories (Jin et al. 2024, Section 4.6 and Appendix B): writing them for items, and asking about them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from statistics import fmean
from typing import Annotated, Any, Literal

from harness.errors import DataError
from harness.plugins.papers.story_check import Check, check
from harness.prompting.story import story_in
from harness.scoring.means import MeanRow, summarize
from harness.settings import LOCAL
from harness.tables.table import Part, Table
from harness.tasks.base import OneOrMore, Share, TaskBase
from harness.tasks.corr2cause.claim import Claim, ItemWriter
from harness.tasks.corr2cause.enumerate import public_test
from harness.tasks.corr2cause.task import ORDERS, Size
from harness.tasks.corr2cause.text import Hypothesis, read_premise
from harness.tasks.data_files import DataFile
from harness.types import JSON, Item, Record, Result

LABEL = "story"
"""The only label set of writing: an item is right where a story can be read at all."""
MEASURES = ("holds", "named", "correlations", "independences", "hypothesis", "closed", "read", "follows")
_FOLLOWS = (
    "The premise does not provide a necessary condition for the hypothesis.",
    "The premise is a necessary condition for the hypothesis. So if the premise is true, the hypothesis must be true.",
)
"""The relation of premise and hypothesis in Table 7, by label."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
"""A word, or a sign: the paper does not say how it counted."""
TABLE_8 = {
    "stories": "102 test, 102 dev",
    "tokens a premise": "64.88",
    "tokens a hypothesis": "13.54",
    "tokens an explanation": "64.66",
    "% positive": "1.67",
}
"""As printed (Jin et al. 2024)."""
_NOTE = """\
The paper's stories are GPT-4's and were not published; those measured are the twelve that ship, by hand (a token is a
word or a sign; positive by audited labels). 1.67% is no share of 102 stories, nor of 204: 1 of 102 is 0.98%, 2 are
1.96%; 3 of 204 are 1.47%."""


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
    labels: Literal["audited", "published"] = "audited"
    headline = LABEL

    def items(self) -> Sequence[Item]:
        """Return the rules to tell as stories. Whether the hypothesis follows is a part of a rule, as in the paper."""
        chosen = [claim for claim in public_test("v2") if claim.n in self.num_nodes]
        return _limited(self, [self._item(claim) for claim in chosen])

    def written(self, records: Iterable[Record]) -> Iterator[dict[str, JSON]]:
        """Yield the stories that could be read, each with its item and the problems that the check found."""
        for record in records:
            if (story := story_in(record.answer)) is not None:
                problems = check_story(claims()[record.item], story.premise, story.hypothesis).problems
                yield {"item": record.item, "labels": self.labels, **story._asdict(), "problems": problems}

    def statistics(self, stories: Sequence[Mapping[str, JSON]]) -> Mapping[str, str]:
        return statistics(stories, sum(claims()[story["item"]].labels[self.labels] for story in stories))

    def _item(self, claim: Claim) -> Item:
        plain, paraphrased = (writer.item(claim) for writer in _symbolic())
        follows = _FOLLOWS[claim.labels[self.labels]]
        premise, hypothesis = plain.fields["premise"], paraphrased.fields["hypothesis"]
        rule = f"Premise: {premise} Hypothesis: {hypothesis} Relation between the promise and hypothesis: {follows}"
        return Item(plain.id, {"rule": rule}, {LABEL: 1}, plain.cluster, groups=plain.groups)

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return the shares of stories that pass each check by rule, of all that were asked for."""
        return summarize(records, _rows, MEASURES, headline=LABEL, orders=ORDERS)


def _rows(records: Sequence[Record]) -> Iterator[MeanRow]:
    for record in records:
        yield MeanRow(
            record.cluster,
            record.item,
            tuple(record.groups.items()),
            positive=True,
            state="failed" if record.answer is None else "read" if record.answer.label else "unreadable",
            values=_shares(record) if record.answer is not None else {},
        )


def _shares(record: Record) -> dict[str, float | None]:
    story = story_in(record.answer)
    check = story and check_story(claims()[record.item], story.premise, story.hypothesis)
    return {name: float(bool(check and getattr(check, name))) for name in MEASURES}


@dataclass(frozen=True)
class Stories(TaskBase):
    """Does the hypothesis of a story follow? configs/task/corr2cause/stories.yaml says what each setting means."""

    prompts: tuple[str, ...]
    path: str | None = field(default=None, metadata=LOCAL)
    only: Literal["checked", "all"] = "checked"
    labels: Literal["audited", "published"] = "audited"
    prior: Share = field(default=0.42, kw_only=True)

    orders = ORDERS

    @property
    def headline(self) -> str:
        return self.labels

    @property
    def data(self) -> Mapping[str, JSON]:
        """The SHA-256 of the file; nothing for the stories that ship."""
        return {"sha256": DataFile(self.path).digest()} if self.path else {}

    @property
    def remarks(self) -> Sequence[str]:
        """How many stories of the file are left out."""
        out = len(self._rows) - len(self._questions)
        return (f"{out:,} of {len(self._rows):,} stories do not hold by rule and are left out (task.only=all).",) * (
            out > 0
        )

    def items(self) -> Sequence[Item]:
        """Return the stories as questions, with the labels, cluster and relation of the items that they tell."""
        return _limited(self, list(self._questions))

    @cached_property
    def _questions(self) -> tuple[Item, ...]:
        items = []
        for number, (claim, row) in enumerate(self._rows, start=1):
            if self.only == "all" or check_story(claim, row["premise"], row["hypothesis"]).holds:
                items.append(_question(claim, row, number))
        if not items:
            raise DataError(f"{self.path or 'the built-in set'} holds no story that passes the checks: task.only=all.")
        return tuple(items)

    @cached_property
    def _rows(self) -> tuple[tuple[Claim, Mapping[str, Any]], ...]:
        return tuple(self._claimed(row, number) for number, row in enumerate(self._lines(), start=1))

    def _claimed(self, row: Mapping[str, Any], number: int) -> tuple[Claim, Mapping[str, Any]]:
        """Return a story with the claim that it tells. Raises DataError for a row that is no story of an item."""
        where = f"{self.path or 'the built-in set'}, story {number}"
        for name in ("item", "premise", "hypothesis"):
            if not isinstance(row.get(name), str) or not row[name].strip():
                raise DataError(f"{where}: it has no {name}; a story has item, premise and hypothesis.")
        if (claim := claims().get(row["item"])) is None:
            raise DataError(
                f"{where}: {row['item']!r:.60} is no item of a public test split, such as n3-g6-parent-A-C."
            )
        written_by = row.get("labels", self.labels)
        if claim.labels.get(written_by) != claim.labels[self.labels]:
            raise DataError(
                f"{where}: it was written by the {written_by!r:.20} label of its item, which is another than the "
                f"{self.labels} one: task.labels=… as in the file."
            )
        return claim, row

    def _lines(self) -> Iterator[Mapping[str, Any]]:
        return iter(builtin()) if self.path is None else DataFile(self.path).rows()


def builtin() -> list[dict[str, str]]:
    file = resources.files(__package__) / "data" / "stories.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _question(claim: Claim, row: Mapping[str, Any], number: int) -> Item:
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


def _limited(task: TaskBase, items: list[Item]) -> list[Item]:
    return task.limited(items, stratum=lambda item: tuple(item.groups.values()), name=lambda item: item.id)


def statistics(stories: Sequence[Mapping[str, Any]], positives: int) -> dict[str, str]:
    """Return the numbers of Table 8 for some stories, by their names there."""
    means = {
        f"tokens {article} {part}": fmean(len(_TOKEN.findall(str(story.get(part, "")))) for story in stories)
        for article, part in (("a", "premise"), ("a", "hypothesis"), ("an", "explanation"))
    }
    share = 100 * positives / len(stories)
    return {
        "stories": f"{len(stories):,}",
        **{name: f"{mean:.2f}" for name, mean in means.items()},
        "% positive": f"{share:.2f}",
    }


def table_8() -> list[Part]:
    """Return Table 8 with the numbers of the stories that ship beside the printed ones."""
    stories = builtin()
    measured = statistics(stories, sum(claims()[story["item"]].derived for story in stories))
    body = [[name, printed, measured[name]] for name, printed in TABLE_8.items()]
    return [Table.of(["Table 8: natural stories", "paper", "here"], body, text_columns=1), _NOTE]
