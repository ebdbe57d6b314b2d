"""What the judged steps of a run come to: means over replies, with intervals over clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from harness.causal.statements import Kind
from harness.plugins.steps.judging import JudgedTrace, kind_of
from harness.plugins.steps.runs import JudgedReply
from harness.scoring.means import MeanRow, MeanTally
from harness.types import Scores

MEASURES: Mapping[str, str] = {
    "argued": "replies with steps",
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

- argued: whether any step could be read. read: of the lines in the form (with a number) the share that could.
- entailed, open, refuted: shares of its steps. leaps: of the steps that name what they rest on, those that do not
  follow from it.
- right: whether its answer is. right_unsound: of right answers with steps, whether some step is not entailed.
  sound_wrong: of chains that are entailed throughout, whether the answer is wrong.
"""
PLACES: Mapping[str, str] = {
    "independence": "independence",
    "edge": "edge",
    "collider": "collider",
    "direction": "direction",
    "last": "last line",
    "nowhere": "nowhere",
}
"""Where a reply with steps breaks first: at a step of this kind that the premise does not entail, at the answer after
a chain that is entailed throughout, or nowhere."""
_PLACE_OF = {
    Kind.INDEPENDENT: "independence",
    Kind.ADJACENT: "edge",
    Kind.COLLIDER: "collider",
    Kind.PARENT: "direction",
    Kind.CAUSE: "direction",
}


def breaks_at(judged: JudgedTrace, *, right: bool) -> str | None:
    """Return where a reply breaks first, by PLACES; None for one without steps."""
    if not judged.steps:
        return None
    if judged.broken is not None:
        return _PLACE_OF[judged.steps[judged.broken].step.statement.kind]
    return "nowhere" if right else "last"


def values_of(reply: JudgedReply) -> dict[str, float | None]:
    """Return every measure of a reply, and by "at …" where it breaks first."""
    steps, trace = reply.judged.steps, reply.judged.trace
    verdicts = Counter[str](step.verdict for step in steps)
    supported = Counter[str](step.support for step in steps)
    judged = supported["follows"] + supported["leap"] + supported["contradiction"]
    values: dict[str, float | None] = {name: verdicts[name] / len(steps) if steps else None for name in _VERDICTS}
    values["argued"] = float(bool(steps))
    values["read"] = 1 - trace.unread / trace.numbered if trace.numbered else None
    values["leaps"] = supported["leap"] / judged if judged else None
    values["right"] = float(reply.right)
    sound = reply.judged.broken is None
    values["right_unsound"] = float(not sound) if steps and reply.right else None
    values["sound_wrong"] = float(not reply.right) if steps and sound else None
    place = breaks_at(reply.judged, right=reply.right)
    return values | {f"at {name}": None if place is None else float(place == name) for name in PLACES}


_VERDICTS = ("entailed", "open", "refuted")


@dataclass
class StepScores:
    """The sums of a run's judged replies; `add` each of them."""

    replies: int = 0
    steps: int = 0
    rows: list[MeanRow] = field(default_factory=list)
    first: Counter[str] = field(default_factory=Counter)
    """Of the replies that break at a step, how many break at which kind of claim with which verdict."""
    places: list[int] = field(default_factory=list)
    """At which step they break, from 1."""
    supports: Counter[str] = field(default_factory=Counter)
    unknown: int = 0

    def add(self, reply: JudgedReply) -> None:
        """Count one reply."""
        record, judged = reply.record, reply.judged
        self.replies += 1
        self.steps += len(judged.steps)
        self.unknown += judged.trace.unknown
        self.supports.update(step.support for step in judged.steps)
        if (place := judged.broken) is not None:
            step = judged.steps[place]
            self.first[f"{kind_of(step.step.statement)} ({step.verdict})"] += 1
            self.places.append(place + 1)
        groups = tuple(record.groups.items())
        values = values_of(reply)
        self.rows.append(MeanRow(record.cluster, record.unit, groups, False, "read", values))

    def scores(self, orders: Mapping[str, Sequence[str]]) -> Mapping[str, Mapping[str, Scores]]:
        """Return breakdown → group → the mean of each measure; a breakdown's groups in the order of `orders`."""
        names = [*MEASURES, *(f"at {name}" for name in PLACES)]
        return MeanTally(names, self.rows).scores(orders)

    def groups_of(self, breakdown: str) -> list[str]:
        """Return the groups of a breakdown that the replies are in, in the alphabet's order."""
        return sorted({group for row in self.rows for name, group in row.groups if name == breakdown})


def counted(replies: Iterable[JudgedReply]) -> StepScores:
    """Return what all replies come to."""
    scores = StepScores()
    for reply in replies:
        scores.add(reply)
    return scores
