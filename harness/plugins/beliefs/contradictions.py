"""How often two questions that mean the same have opposite answers, and how often they would have by chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.plugins.beliefs.metrics import CHANCE, CONTRADICTIONS
from harness.scoring import bootstrap
from harness.scoring.bootstrap import CONSTANT, FEW_CLUSTERS, FEWEST
from harness.types import Metric, Record, Scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OVERALL = ("overall", "all")
_FORM, _RELATION = "form", "relation"


@dataclass(frozen=True, slots=True)
class _Pair:
    """The answers to a question in its plain form and in another one; None for one that could not be read or failed."""

    cluster: str
    cell: tuple[str, str]
    """Relation and form."""
    groups: tuple[tuple[str, str], ...]
    answers: tuple[int | None, int | None]


class Pairs:
    """The answers to questions in several forms."""

    def __init__(self, plain: str) -> None:
        self._plain = plain
        self._records: dict[str, dict[str, tuple[Mapping[str, str], str, int | None]]] = defaultdict(dict)

    def add(self, record: Record) -> None:
        """Take the answer of a record: its unit is the question, its group `form` the form."""
        answer = None if record.answer is None else record.answer.label
        self._records[record.unit][record.groups[_FORM]] = record.groups, record.cluster, answer

    def _pairs(self) -> Iterator[_Pair]:
        for forms in self._records.values():
            if self._plain not in forms:
                continue
            first = forms[self._plain][2]
            for form, (groups, cluster, answer) in forms.items():
                if form != self._plain:
                    yield _Pair(cluster, (groups[_RELATION], form), tuple(groups.items()), (first, answer))

    def beside(self, scores: Mapping[str, Mapping[str, Scores]]) -> dict[str, dict[str, Scores]]:
        """Return rows of scores with both metrics of the pairs in each; rows without pairs as they are."""
        members: dict[tuple[str, str], list[_Pair]] = defaultdict(list)
        for pair in sorted(self._pairs(), key=lambda pair: (pair.cluster, pair.cell, pair.groups)):
            for key in (_OVERALL, *pair.groups):
                members[key].append(pair)
        return {
            breakdown: {
                group: replace(row, metrics=(*_metrics(members[breakdown, group]), *row.metrics))
                if (breakdown, group) in members
                else row
                for group, row in groups.items()
            }
            for breakdown, groups in scores.items()
        }


def _metrics(pairs: Sequence[_Pair]) -> tuple[Metric, Metric]:
    """Return both metrics of some pairs; undefined where no pair has two answers."""
    import numpy as np

    clusters = {name: k for k, name in enumerate(sorted({pair.cluster for pair in pairs}))}
    cells = {name: k for k, name in enumerate(sorted({pair.cell for pair in pairs}))}
    counts = np.zeros((len(clusters), len(cells), 4))
    for pair in pairs:
        a, b = pair.answers
        if a is not None and b is not None:
            counts[clusters[pair.cluster], cells[pair.cell]] += 1, a != b, a, b
    values = _shares(counts.sum(axis=0)[None])[:, 0]
    if np.isnan(values).any():
        return Metric(CONTRADICTIONS.name, None), Metric(CHANCE.name, None)
    contradictions = Metric(CONTRADICTIONS.name, float(values[0]), bounds=_bounds(counts, len(pairs)))
    chance = Metric(CHANCE.name, float(values[1]))
    number = int((counts[..., 0].sum(axis=1) > 0).sum())
    if number < FEWEST:
        return replace(contradictions, no_interval=FEW_CLUSTERS), replace(chance, no_interval=FEW_CLUSTERS)
    flat = counts.reshape(len(counts), -1)
    draws = bootstrap.draws(len(flat), bootstrap.resamples(len(flat)), width=flat.shape[1])
    sums = np.concatenate([weights @ flat for weights in draws])
    resampled = _shares(sums.reshape(len(sums), *counts.shape[1:]))
    return _with_interval(contradictions, resampled[0], len(flat)), _with_interval(chance, resampled[1], len(flat))


def _with_interval(metric: Metric, resampled: NDArray[np.float64], clusters: int) -> Metric:
    interval = bootstrap.interval(resampled, clusters)
    return replace(metric, interval=interval, no_interval="" if interval else CONSTANT)


def _shares(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (2, rows) of sums (rows, cells, 4): the share of contradictions, and that by chance; NaN without pairs.

    By chance a pair of a cell with shares p and q of Yes is opposite with probability p(1 - q) + q(1 - p).
    """
    import numpy as np

    number, opposite, a, b = np.moveaxis(sums, -1, 0)
    expected = a + b - 2 * a * b / np.maximum(number, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.array([opposite.sum(axis=1), expected.sum(axis=1)]) / number.sum(axis=1))


def _bounds(counts: NDArray[np.float64], pairs: int) -> tuple[float, float] | None:
    """Return the share if no pair without two answers, or every one, were a contradiction; None without such pairs."""
    number, opposite = counts[..., 0].sum(), counts[..., 1].sum()
    lost = pairs - number
    return (float(opposite / pairs), float((opposite + lost) / pairs)) if lost else None
