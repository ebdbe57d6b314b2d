"""How often each kind of record occurs in each cluster, or in each unit of one: all that scores need."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from harness.scoring.intervals import RowData

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


Kind = TypeVar("Kind", bound=Hashable)
"""All that a count needs of a record, such as its groups, its label and its answer. Few kinds, many records."""


def _no_numbers() -> tuple[array[int], array[float]]:
    return array("q"), array("d")


class Tally(Generic[Kind]):
    """Counts by kind and unit, which is a cluster or a part of one, such as a pair of variables; numbers beside them.

    Memory grows with the kinds in each unit and, where each record has numbers, by these.
    """

    def __init__(self) -> None:
        self._units: dict[tuple[str, str], int] = {}
        self._counts: defaultdict[Kind, Counter[int]] = defaultdict(Counter)
        self._numbers: defaultdict[Kind, tuple[array[int], array[float]]] = defaultdict(_no_numbers)

    def add(self, kind: Kind, cluster: str, part: str = "", numbers: Sequence[float] = ()) -> None:
        """Count a record; `numbers` are none, or as many of each one of its kind."""
        unit = self._units.setdefault((cluster, part), len(self._units))
        self._counts[kind][unit] += 1
        if numbers:
            units, of_kind = self._numbers[kind]
            units.append(unit)
            of_kind.extend(numbers)

    @property
    def kinds(self) -> Mapping[Kind, int]:
        return {kind: counts.total() for kind, counts in self._counts.items()}

    @property
    def clusters(self) -> int:
        return len({cluster for cluster, _ in self._units})

    def numbers(self, kind: Kind) -> Sequence[float]:
        """Return the numbers of the records of a kind, in their order."""
        return self._numbers[kind][1] if kind in self._numbers else ()

    def records(self, kinds: Sequence[Kind], *, parts: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
        """Return of each record the place of its kind and what intervals draw, and whether that is parts of a cluster.

        In the order of `numbers`, which all records of a kind have, or none. `parts`: as in `row_data`.
        """
        import numpy as np

        units = [
            np.frombuffer(self._numbers[kind][0], np.int64) if kind in self._numbers else np.repeat(*self._arrays[kind])
            for kind in kinds
        ]
        drawn, by_part = self._codes_to_draw(_joined(units), parts)
        return np.repeat(np.arange(len(kinds)), [*map(len, units)]), drawn, by_part

    def row_data(self, members: Sequence[tuple[Kind, int, int]], *, parts: bool) -> tuple[RowData, bool]:
        """Return the records of a row by cluster, and whether by parts of its only cluster instead, where asked for.

        `members`: each kind of record with its gold label and its place among the fields of AnswerCounts.
        """
        import numpy as np

        arrays = [self._arrays[kind] for kind, _, _ in members]
        places = np.repeat([place for _, _, place in members], [len(units) for units, _ in arrays])
        codes, by_part = self._codes_to_draw(_joined([units for units, _ in arrays]), parts)
        present, rows = np.unique(codes, return_inverse=True)
        counts = np.zeros((len(present), 8))
        np.add.at(counts, (rows, places), _joined([numbers for _, numbers in arrays]))
        probable = [(*self._numbers[kind], gold) for kind, gold, _ in members if kind in self._numbers]
        if not probable:
            return RowData(counts), by_part
        units = _joined([np.frombuffer(units, dtype=np.int64) for units, _, _ in probable])
        p_yes = np.concatenate([np.frombuffer(p, dtype=np.float64) for _, p, _ in probable])
        gold = np.repeat([gold for _, _, gold in probable], [len(p) for _, p, _ in probable])
        return RowData(counts, gold, p_yes, np.searchsorted(present, self._codes[by_part][units])), by_part

    def _codes_to_draw(self, units: NDArray[np.int64], parts: bool) -> tuple[NDArray[np.int64], bool]:
        """Return the code of what intervals draw, for each unit, and whether that is parts of its only cluster."""
        import numpy as np

        by_part = parts and len(np.unique(self._codes[False][units])) == 1
        return self._codes[by_part][units], by_part

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
        codes = [clusters[cluster] for cluster, _ in self._units], [units[unit] for unit in self._units]
        return np.array(codes[0], dtype=np.int64), np.array(codes[1], dtype=np.int64)


def _joined(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    import numpy as np

    return np.concatenate([np.zeros(0, np.int64), *columns])
