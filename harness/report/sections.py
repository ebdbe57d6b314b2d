"""What plug-ins say below the replies of a run: lines with verdicts, and small graphs. The page shows them as they are.

A plug-in names a function of a run in `Plugin.sections`; it yields an item's id, the number of the sample and a Section
for each reply of which it has something to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from harness import plugin
from harness.errors import DataError
from harness.storage.record_lines import Line
from harness.storage.runs import Run
from harness.types import JSON

Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Picture:
    """A small graph, its nodes on a circle."""

    caption: str
    nodes: tuple[str, ...]
    arrows: tuple[Edge, ...]
    """(cause, effect)."""
    lines: tuple[Edge, ...] = ()
    """Edges without a direction."""
    marked: tuple[Edge, ...] = ()
    """Those of both that stand out."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A word on a line."""

    word: str
    good: bool | None = None
    """None for one that is neither good nor bad."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A line of a reply with its verdicts."""

    text: str
    verdicts: tuple[Verdict, ...]
    why: tuple[str, ...] = ()
    """Sentences."""
    pictures: tuple[Picture, ...] = ()
    """Shown when somebody asks for them."""


@dataclass(frozen=True, slots=True)
class Section:
    """What stands below a reply."""

    title: str
    note: str = ""
    lines: tuple[Judged, ...] = ()
    pictures: tuple[Picture, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()
    """Name and value of what the list of answers can be filtered by besides."""


class Sections:
    """The sections of a run; several replies may share one."""

    def __init__(self, run: Run) -> None:
        """Have every plug-in say what it has to say; one that cannot judge this run says nothing."""
        self._all: dict[Section, int] = {}
        self._of: dict[tuple[str, int], list[Section]] = {}
        for sections in plugin.sections():
            try:
                self._add(sections(run))
            except (DataError, KeyError, ValueError, IndexError):  # a folder may come from anybody
                continue

    def _add(self, sections: Iterable[tuple[str, int, Section]]) -> None:
        for item, sample, section in sections:
            self._all.setdefault(section, len(self._all))
            self._of.setdefault((item, sample), []).append(section)

    def of(self, line: Line) -> tuple[list[int], Mapping[str, str]]:
        """Return the places of a record's sections in the chunk, and what it can be filtered by."""
        sections = self._of.get((line["item"], line["sample"])) if self._of else None
        if not sections:
            return [], {}
        return [self._all[section] for section in sections], dict(pair for one in sections for pair in one.filters)

    def json(self) -> list[dict[str, JSON]] | None:
        """Return the chunk; None where there is nothing to say."""
        return [asdict(section) for section in self._all] or None
