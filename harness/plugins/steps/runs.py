"""The replies of a finished run with their steps judged: from its records, and its items made again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from harness.errors import DataError
from harness.plugins.steps.judging import JudgedTrace, judge
from harness.storage.manifest import TracedItems
from harness.storage.rebuild import task_of
from harness.storage.runs import Run
from harness.tasks.corr2cause.text import Premise, read_premise
from harness.tasks.text_reasoner import UnreadableText
from harness.types import Record, Response


class Texts(NamedTuple):
    """The texts of an item."""

    premise: str
    hypothesis: str


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """A reply in words, with its steps judged."""

    record: Record
    texts: Texts
    premise: Premise
    judged: JudgedTrace
    right: bool
    """Whether its answer is the headline label; one that could not be read is not."""


def judged_replies(run: Run, trust: Collection[str] = ()) -> Iterator[JudgedReply]:
    """Yield the replies of a run that are in words, in the order of its records; failed calls have none.

    Raises DataError where the run's items are other ones today, or have no premise of Corr2Cause.
    """
    questions = questions_of(run, trust)
    for record in run.records():
        if isinstance(record.outcome, Response) and record.outcome.logprobs is None and record.answer is not None:
            texts = questions[record.item]
            right = record.answer.label == record.labels[run.result.headline]
            try:
                premise = read_premise(texts.premise)
                judged = judge(record.outcome.text, premise)
            except UnreadableText as departure:
                raise DataError(
                    f"{run.folder}: steps are judged of questions of Corr2Cause alone ({departure})."
                ) from None
            yield JudgedReply(record, texts, premise, judged, right)


def questions_of(run: Run, trust: Collection[str] = ()) -> Mapping[str, Texts]:
    """Return the texts of every item of a run, by the item's id. Raises DataError where they are other ones today."""
    if run.manifest_error:
        raise run.manifest_error
    count = ((run.manifest.items or {}).get("count") or 0) + run.complete  # one more, to see that there are no others
    traced = TracedItems(islice(task_of(run.manifest, trust, run.folder).items(), count))
    questions = {item.id: Texts(*(str(item.fields.get(name, "")) for name in Texts._fields)) for item in traced}
    if traced.summary != run.manifest.items:
        raise DataError(f"{run.folder}: its items are other ones today, so its replies cannot be judged: run it again.")
    return questions


def called(run: Run, runs: Collection[Run]) -> str:
    """Return what a run is called among others: its model, and what else tells it from them."""
    parts = ("model", "prompt", "variant", "task")
    telling = [part for part in parts if part == "model" or len({other.place[part] for other in runs}) > 1]
    return ", ".join(run.place[part] for part in telling)
