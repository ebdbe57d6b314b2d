"""How often two questions that mean the same have opposite answers, and how often they would have by chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.plugins.beliefs.forms import PLAIN
from harness.plugins.beliefs.metrics import CHANCE, CONTRADICTIONS
from harness.scoring import bootstrap
from harness.scoring.bootstrap import CONSTANT, FEW_CLUSTERS, FEWEST
from harness.scoring.tally import Tally
from harness.types import Metric, Record, Scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OVERALL = ("overall", "all")
_FORM, _RELATION = "form", "relation"


Kind = tuple[tuple[tuple[str, str], ...], int | None, int | None]
"""(groups, the answer to a question in its plain form, that to another one); None for one that is not there."""


class Pairs(Tally[Kind]):
    """The answers to a question in its plain form and in another one, of every question."""

    def add_forms(self, records: Sequence[Record]) -> None:
        """Add the answers to the forms of a question: a record's group `form` says which."""
        answers = {record.groups[_FORM]: None if record.answer is None else record.answer.label for record in records}
        for record in records if PLAIN in answers else ():
            if (form := record.groups[_FORM]) != PLAIN:
                self.add((tuple(record.groups.items()), answers[PLAIN], answers[form]), record.cluster)


def beside(scores: Mapping[str, Mapping[str, Scores]], pairs: Pairs) -> dict[str, dict[str, Scores]]:
    """Return rows of scores with both metrics of the pairs in each; rows without pairs as they are."""
    members: dict[tuple[str, str], list[Kind]] = defaultdict(list)
    for kind in pairs.kinds:
        for key in (_OVERALL, *kind[0]):
            members[key].append(kind)
    return {
        breakdown: {
            group: replace(row, metrics=(*_metrics(pairs, members[breakdown, group]), *row.metrics))
            if (breakdown, group) in members
            else row
            for group, row in groups.items()
        }
        for breakdown, groups in scores.items()
    }


def _metrics(pairs: Pairs, kinds: Sequence[Kind]) -> tuple[Metric, Metric]:
    """Return both metrics of some pairs; undefined where no pair has two answers."""
    import numpy as np

    place, cluster, _ = pairs.records(kinds, parts=False)
    present, clusters = np.unique(cluster, return_inverse=True)
    names = [(dict(groups)[_RELATION], dict(groups)[_FORM]) for groups, _, _ in kinds]
    cells = {name: k for k, name in enumerate(sorted({*names}))}
    counts = np.zeros((len(present), len(cells), 4))
    of_kinds = np.array([(0, 0, 0, 0) if None in (a, b) else (1, a != b, a, b) for _, a, b in kinds])
    np.add.at(counts, (clusters, np.array([cells[name] for name in names])[place]), of_kinds[place])
    values = _shares(counts.sum(axis=0)[None])[:, 0]
    if np.isnan(values).any():
        return Metric(CONTRADICTIONS.name, None), Metric(CHANCE.name, None)
    contradictions = Metric(CONTRADICTIONS.name, float(values[0]), bounds=_bounds(counts, len(place)))
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
