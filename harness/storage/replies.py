"""The replies of runs, as small as charts and comparisons need them, and read once for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.storage.runs import Run
from harness.types import Answer, Failure, Line, Record

MOST_REMEMBERED = 500_000
"""Replies that a `ReplyReader` keeps: 150 MB."""


class Reply(NamedTuple):
    """One item's record, as small as it can be: a run may have a million."""

    item: str
    cluster: str
    unit: str
    """Within one cluster; empty where the cluster is one."""
    groups: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, int], ...]
    answer: int | None
    """1, 0 or the place of a choice, or None where nothing could be read or the call failed."""
    failed: bool
    span: str
    """The words that decided, or the kind of failure."""
    probability: float | None = None
    confidence: float | None = None
    """How sure of its answer the reply says it is."""


def reply_of(record: Record, shared: dict[Any, Any]) -> Reply:
    """Return what is needed of a record; `shared` keeps one copy of what many records have alike."""
    failed = isinstance(record.outcome, Failure)
    answer = record.answer or Answer(None)
    span = record.outcome.kind if isinstance(record.outcome, Failure) else answer.span
    parts = (record.cluster, record.unit, (*record.groups.items(),), (*record.labels.items(),), span)
    alike: list[Any] = [shared.setdefault(part, part) for part in parts]
    cluster, unit, groups, labels, span = alike
    sure = answer.probability, answer.stated_confidence
    return Reply(record.item, cluster, unit, groups, labels, answer.label, failed, span, *sure)


class ReplyReader:
    """Reads the replies of runs, and remembers the last of them: a page needs those of each run several times."""

    def __init__(self) -> None:
        self._kept: dict[Path, Sequence[Reply]] = {}

    def of(self, run: Run) -> Sequence[Reply]:
        """Return the replies of a run in the order of its file. Raises DataError as `Run.records` does."""
        kept = self._kept.pop(run.folder, None)
        if kept is None:
            shared: dict[Any, Any] = {}
            kept = [reply_of(line, shared) for line in run.records()]
        self._keep(run, kept)
        return kept

    def passing(self, run: Run) -> Iterator[Line]:
        """Yield the lines of a run as it does, and remember their replies when all have passed."""
        shared: dict[Any, Any] = {}
        replies: list[Reply] = []
        for line in run.records():
            if len(replies) <= MOST_REMEMBERED:
                replies.append(reply_of(line, shared))
            yield line
        if len(replies) <= MOST_REMEMBERED:
            self._keep(run, replies)

    def _keep(self, run: Run, replies: Sequence[Reply]) -> None:
        self._kept[run.folder] = replies  # the newest stands last
        while len(self._kept) > 1 and sum(map(len, self._kept.values())) > MOST_REMEMBERED:
            del self._kept[next(iter(self._kept))]
