"""What the judged claims of a run come to: means over replies, with intervals over clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from harness.errors import DataError
from harness.scoring.means import MeanRow
from harness.storage.manifest import TracedItems
from harness.storage.rebuild import task_of
from harness.storage.runs import Run
from harness.tasks.corr2cause.text import read_premise
from harness.tasks.text_models import UnreadableText
from harness.types import Record, Response
from harness_lab.judging import JudgedTrace, judge
from harness_lab.statements import Kind

MEASURES: Mapping[str, str] = {
    "argued": "replies with claims",
    "read": "lines read",
    "entailed": "entailed",
    "open": "open",
    "refuted": "refuted",
    "leaps": "leaps",
    "right": "right answers",
    "right_unsound": "right, chain unsound",
    "sound_wrong": "sound chain, wrong answer",
}
"""Each is one number of a reply, undefined where it has nothing of the kind; their titles.

- argued: whether any claim could be read. read: of the lines with a number the share that could.
- entailed, open, refuted: shares of its claims. leaps: of the claims that name what they rest on, those that do not
  follow from it.
- right: whether its answer is. right_unsound: of right answers with claims, whether some claim is not entailed.
  sound_wrong: of chains that are entailed throughout, whether the answer is wrong.
"""
PLACES = ("independence", "edge", "collider", "direction", "last line", "nowhere")
"""Where a reply with claims breaks first: at a claim of this kind that the premise does not entail, at the answer after
a chain that is entailed throughout, or nowhere."""
_PLACE_OF = {
    Kind.INDEPENDENT: "independence",
    Kind.ADJACENT: "edge",
    Kind.COLLIDER: "collider",
    Kind.PARENT: "direction",
    Kind.CAUSE: "direction",
}


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """A reply in words, with its claims judged."""

    record: Record
    judged: JudgedTrace
    right: bool
    """Whether its answer is the headline label; one that could not be read is not."""


def judged_replies(run: Run) -> Iterator[JudgedReply]:
    """Yield the replies of a run that are in words, in the order of its records; failed calls have none.

    Raises DataError where the run's items are other ones today, or have no premise of Corr2Cause.
    """
    premises = _premises_of(run)
    for record in run.records():
        if isinstance(record.outcome, Response) and record.outcome.logprobs is None and record.answer is not None:
            try:
                judged = judge(record.outcome.text, read_premise(premises[record.item]))
            except UnreadableText as departure:
                raise DataError(f"{run.folder}: claims are judged of questions of Corr2Cause ({departure}).") from None
            yield JudgedReply(record, judged, record.answer.label == record.labels[run.result.headline])


def _premises_of(run: Run) -> Mapping[str, str]:
    """Return the premise of every item of a run, by the item's id. Raises DataError where they are others today."""
    if run.manifest_error:
        raise run.manifest_error
    count = ((run.manifest.items or {}).get("count") or 0) + run.complete  # one more, to see that there are no others
    traced = TracedItems(islice(task_of(run.manifest).items(), count))
    premises = {item.id: str(item.fields.get("premise", "")) for item in traced}
    if traced.summary != run.manifest.items:
        raise DataError(f"{run.folder}: its items are other ones today, so its replies cannot be judged: run it again.")
    return premises


def breaks_at(judged: JudgedTrace, *, right: bool) -> str | None:
    """Return where a reply breaks first, by PLACES; None for one without claims."""
    if not judged.claims:
        return None
    if judged.broken is not None:
        return _PLACE_OF[judged.claims[judged.broken].claim.statement.kind]
    return "nowhere" if right else "last line"


def values_of(reply: JudgedReply) -> dict[str, float | None]:
    """Return every measure of a reply, and by "at …" where it breaks first."""
    claims, trace = reply.judged.claims, reply.judged.trace
    verdicts, supports = Counter[str](one.verdict for one in claims), Counter[str](one.support for one in claims)
    settled = supports["follows"] + supports["leap"] + supports["contradiction"]
    sound, place = reply.judged.broken is None, breaks_at(reply.judged, right=reply.right)
    return {
        "argued": float(bool(claims)),
        "read": 1 - trace.unread / trace.numbered if trace.numbered else None,
        **{name: verdicts[name] / len(claims) if claims else None for name in ("entailed", "open", "refuted")},
        "leaps": supports["leap"] / settled if settled else None,
        "right": float(reply.right),
        "right_unsound": float(not sound) if claims and reply.right else None,
        "sound_wrong": float(not reply.right) if claims and sound else None,
        **{f"at {name}": None if place is None else float(place == name) for name in PLACES},
    }


@dataclass
class StepScores:
    """The sums of a run's judged replies."""

    replies: int = 0
    claims: int = 0
    rows: list[MeanRow] = field(default_factory=list)
    supports: Counter[str] = field(default_factory=Counter)


def scores_of(run: Run) -> StepScores:
    """Return what all replies of a run come to. Raises DataError as `judged_replies` does."""
    scores = StepScores()
    for reply in judged_replies(run):
        record = reply.record
        scores.replies += 1
        scores.claims += len(reply.judged.claims)
        scores.supports.update(one.support for one in reply.judged.claims)
        groups = tuple(record.groups.items())
        scores.rows.append(MeanRow(record.cluster, record.unit, groups, False, "read", values_of(reply)))
    return scores
