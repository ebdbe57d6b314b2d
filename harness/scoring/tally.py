"""How often each kind of record occurs in each cluster, or in each unit of one: all that intervals need."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from harness.scoring.intervals import RowData
from harness.types import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_ARROW = " -> "


def ordered_pair(first: str, second: str) -> str:
    return f"{first}{_ARROW}{second}"


def ends(unit: str) -> tuple[str, str]:
    """Return the two variables of an ordered pair. Raises ValueError for a unit that is not one."""
    first, arrow, second = unit.partition(_ARROW)
    if not arrow or _ARROW in second:
        raise ValueError(f"the unit {unit!r:.80} is no ordered pair, a{_ARROW}b")
    return first, second


def named_units(units: Iterable[str]) -> str:
    return "pairs of variables" if any(" " in unit for unit in units) else "variables"


def unordered(unit: str) -> str:
    """Return what intervals draw: the same for both orders of a pair, and a unit of another kind as it is."""
    return " ".join(sorted(unit.split(_ARROW)))


def _no_probabilities() -> tuple[array[int], array[float]]:
    return array("q"), array("d")


Kind = tuple[tuple[tuple[str, int], ...], tuple[tuple[str, str], ...], str]
"""(labels, groups, reading): all that a count needs of a record. Few kinds, many records."""


class Tally:
    """Counts by kind and unit. A unit is a cluster or, with `within`, a part of one, such as a pair of variables."""

    def __init__(self, within: Callable[[Record], str] | None) -> None:
        self._within = within
        self._units: dict[tuple[str, str], int] = {}
        self._counts: defaultdict[Kind, Counter[int]] = defaultdict(Counter)
        self._p_yes: defaultdict[Kind, tuple[array[int], array[float]]] = defaultdict(_no_probabilities)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_within": None}  # a function of a task; what has been counted needs it no more

    def merge(self, later: Tally) -> None:
        """Add the counts of records that come after this one's; the later one is not used again."""
        if not self._units:
            self._units, self._counts, self._p_yes = later._units, later._counts, later._p_yes
            return
        units = array("q", (self._units.setdefault(place, len(self._units)) for place in later._units))
        for kind, counts in later._counts.items():
            self._counts[kind].update({units[unit]: count for unit, count in counts.items()})
        for kind, (of_units, p_yes) in later._p_yes.items():
            mine = self._p_yes[kind]
            mine[0].extend(units[unit] for unit in of_units)
            mine[1].extend(p_yes)

    def add(self, kind: Kind, record: Record) -> None:
        place = record.cluster, self._within(record) if self._within else ""
        unit = self._units.setdefault(place, len(self._units))
        self._counts[kind][unit] += 1
        if record.answer is not None and record.answer.probability is not None:
            units, p_yes = self._p_yes[kind]
            units.append(unit)
            p_yes.append(record.answer.probability)

    @property
    def kinds(self) -> dict[Kind, int]:
        return {kind: counts.total() for kind, counts in self._counts.items()}

    @property
    def clusters(self) -> int:
        return len({cluster for cluster, _ in self._units})

    @property
    def any_probability(self) -> bool:
        return bool(self._p_yes)

    def p_yes(self, kind: Kind) -> Sequence[float]:
        """Return the probabilities of the records of a kind, in their order."""
        return self._p_yes[kind][1] if kind in self._p_yes else ()

    def row_data(self, members: Sequence[tuple[Kind, int, int]]) -> tuple[RowData, bool]:
        """Return the records of a row by cluster, and whether by parts of its only cluster instead.

        `members`: each kind of record with its gold label and its place among the fields of AnswerCounts.
        """
        import numpy as np

        counts_of_kinds = [(self._arrays[kind], place) for kind, _, place in members]
        units = np.concatenate([units for (units, _), _ in counts_of_kinds])
        numbers = np.concatenate([numbers for (_, numbers), _ in counts_of_kinds])
        places = np.repeat([place for _, place in counts_of_kinds], [len(units) for (units, _), _ in counts_of_kinds])
        clusters, parts = self._codes
        within = self._within is not None and len(np.unique(clusters[units])) == 1
        codes = parts if within else clusters
        present, rows = np.unique(codes[units], return_inverse=True)
        counts = np.zeros((len(present), 8))
        np.add.at(counts, (rows, places), numbers)
        probable = [(*self._p_yes[kind], gold) for kind, gold, _ in members if kind in self._p_yes]
        if not probable:
            return RowData(counts), within
        units = np.concatenate([np.frombuffer(units, dtype=np.int64) for units, _, _ in probable])
        p_yes = np.concatenate([np.frombuffer(p, dtype=np.float64) for _, p, _ in probable])
        gold = np.repeat([gold for _, _, gold in probable], [len(p) for _, p, _ in probable])
        return RowData(counts, gold, p_yes, np.searchsorted(present, codes[units])), within

    @cached_property
    def _arrays(self) -> dict[Kind, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """(units, how many of each) by kind. Only after the last `add`."""
        import numpy as np

        def column(values: Sequence[int]) -> NDArray[np.int64]:
            return np.array(values, dtype=np.int64)

        return {kind: (column([*counts]), column([*counts.values()])) for kind, counts in self._counts.items()}

    @cached_property
    def _codes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The place of each unit's cluster, and of the unit itself, in alphabetical order: records come in any."""
        import numpy as np

        clusters = {cluster: code for code, cluster in enumerate(sorted({cluster for cluster, _ in self._units}))}
        units = {unit: code for code, unit in enumerate(sorted(self._units))}
        return np.array([clusters[cluster] for cluster, _ in self._units]), np.array([units[u] for u in self._units])
