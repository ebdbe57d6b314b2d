"""How strong the causes in a network are, and how well rankings of causes and effects agree with that.

All scores are this project's; docs/tasks.md says in plain words what each one is. Every one is of one question, and a
row shows the mean over its questions: undefined ones left out, an unreadable reply taken for an empty ranking.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Literal, get_args

from harness.causal.dag import bits
from harness.prompting.ranking import Named, named
from harness.scoring import means
from harness.scoring.means import MeanRow
from harness.tasks.causalbench.networks import NETWORKS, SCALES, edges, load, meanings, tables
from harness.types import Record, Result

Side = Literal["cause", "effect"]
"""What is asked about a variable: to rank its causes, or its effects."""
COLUMNS = ("network", "cause", "effect", "strength", "error")
_DRAWS = 1_000_000
MEASURES = (
    *(f"{name}_{which}" for which in ("direct", "all") for name in ("precision", "recall", "recall_at", "ap")),
    *("outside", "in_range", "in_order", "spearman", "kendall", "mae", "mae_all", "mae_balanced"),
)
"""What rankings with strengths are scored by; each is one number of an item, or undefined there."""


@dataclass(frozen=True, slots=True)
class Effect:
    """Of one cause on one effect."""

    value: float
    error: float = 0.0
    """A standard error, where it was drawn; 0 where it is exact."""


@dataclass(frozen=True)
class Truth:
    """What is true of one network, by names of variables."""

    direct: frozenset[tuple[str, str]]
    """The edges: (cause, effect)."""
    strengths: Mapping[tuple[str, str], Effect]
    """Of every pair that a directed path joins: (cause, effect)."""

    def others(self, variable: str, side: Side) -> dict[str, float]:
        """Return the causes (or effects) of a variable, direct or not, each with its strength."""
        own, other = (1, 0) if side == "cause" else (0, 1)
        return {pair[other]: effect.value for pair, effect in self.strengths.items() if pair[own] == variable}

    def neighbours(self, variable: str, side: Side) -> frozenset[str]:
        """Return the direct causes (or effects) of a variable."""
        own, other = (1, 0) if side == "cause" else (0, 1)
        return frozenset(pair[other] for pair in self.direct if pair[own] == variable)


@cache
def truth(network: str) -> Truth:
    """Return what is true of a network, read from the file that ships (benchmarks/strengths.py makes it)."""
    strengths = {
        (line["cause"], line["effect"]): Effect(float(line["strength"]), float(line["error"]))
        for line in csv.DictReader(_text().splitlines())
        if line["network"] == network
    }
    return Truth(frozenset(edges(load(network))), strengths)


def measured(name: str) -> Iterator[tuple[str, str, Effect]]:
    """Yield (cause, effect, strength) of every pair that a directed path joins, computed from the tables.

    Exactly by variable elimination; where that would need more than 256 MB, from a million observations for each state
    of the cause, drawn with seed 0.
    """
    from harness.plugins.papers.interventions import interventional, sampled, strength

    network, distributions = load(name), tables(name)
    parents = network.parent_order
    for cause, cause_name in enumerate(network.variables):
        for effect in _descendants(network.dag, cause):
            exact = interventional(distributions, parents, cause, effect)
            distribution, error = (
                (exact, 0.0)
                if exact is not None
                else sampled(distributions, parents, cause, effect, draws=_DRAWS, seed=0)
            )
            yield cause_name, network.variables[effect], Effect(strength(distribution), error)


def digest() -> str:
    """Return the SHA-256 of the file that ships: a part of every manifest."""
    return hashlib.sha256(_text().encode()).hexdigest()


@cache
def _text() -> str:
    return Path(__file__).with_name("data").joinpath("strengths.csv").read_text(encoding="utf-8")


def _descendants(dag: tuple[int, ...], start: int) -> list[int]:
    """Return the variables that a directed path from `start` reaches, in their order."""
    reached = {start}
    while more := {k for k, above in enumerate(dag) if k not in reached and reached & set(bits(above))}:
        reached |= more
    return sorted(reached - {start})


HEADLINE = "our"
"""The label set: has the variable a cause (or effect) in the network at all? Nothing in it is the paper's."""
MEAN = "mean of networks"
NOTE = (
    "These scores are this project's: CausalBench's Appendix F has the questions, and no truth and no score. Strengths "
    "are compared with the largest total variation between P(effect | do x) and P(effect | do x') by the network's "
    "tables."
)
_SIDES: tuple[Side, ...] = get_args(Side)


@dataclass(frozen=True)
class Ranked:
    """A ranking in the terms of its network."""

    places: tuple[str, ...]
    """The variable of each name, the first first; "" for a name that is no other variable of the network."""
    strengths: Mapping[str, float | None]
    """As the reply says them, of the variables among them."""
    stated: tuple[float, ...]
    """All strengths that the reply states, in its order."""


def summarize(records: Iterable[Record]) -> Result:
    """Return the mean of every measure overall, by network, scale and side, and over the networks alike.

    Intervals draw networks; in a row of one network they draw its variables, each with both its questions.
    """
    orders = {"network": NETWORKS, "scale": tuple(dict.fromkeys(SCALES.values())), "side": _SIDES}
    return means.summarize(
        records, _rows, MEASURES, headline=HEADLINE, orders=orders, mean=MEAN, unit="variable", notes=(NOTE,)
    )


def _rows(records: Sequence[Record]) -> list[MeanRow]:
    return [MeanRow.of(record, HEADLINE, measures) for record in records]


def measures(record: Record) -> dict[str, float | None]:
    """Return what the ranking of one question is worth; None for what it leaves undefined, or a failed call.

    - precision, recall, recall_at (of the first names, as many as there are true ones) and ap (average precision), each
      against the direct causes or effects and against all. Names outside the network are false ones. Precision is None
      where every other variable is named: it tells of no choice.
    - outside: the share of names that are no other variable of the network. in_range: of strengths that are in [0, 1].
      in_order: of neighbouring strengths that do not rise.
    - spearman, kendall (tau b), mae: over all true causes or effects, those without a strength in the reply taken as 0.
      The correlations need two true strengths that differ, and are 0 where the reply tells nothing apart.
    - mae_all: over all other variables of the network, of which most have a true strength of 0. mae_balanced: the mean
      of the error over the true ones and that over all others, so that neither naming nothing nor everything pays;
      None where either is missing.
    """
    network, variable = record.cluster, record.unit
    side: Side = "cause" if record.groups["side"] == "cause" else "effect"
    known, ranked = truth(network), in_network(network, variable, named(record.answer))
    strengths, direct = known.others(variable, side), known.neighbours(variable, side)
    others = [other for other in load(network).variables if other != variable]
    chosen = not {*others} <= {*ranked.places}
    values: dict[str, float | None] = {}
    for which, true in (("direct", direct), ("all", frozenset(strengths))):
        hits = [place in true for place in ranked.places]
        values[f"precision_{which}"] = sum(hits) / len(hits) if hits and chosen else None
        values[f"recall_{which}"] = sum(hits) / len(true) if true else None
        values[f"recall_at_{which}"] = sum(hits[: len(true)]) / len(true) if true else None
        values[f"ap_{which}"] = average_precision(hits, len(true))
    stated = ranked.stated
    values["outside"] = ranked.places.count("") / len(ranked.places) if ranked.places else None
    values["in_range"] = fmean(0 <= value <= 1 for value in stated) if stated else None
    values["in_order"] = fmean(b <= a for a, b in pairwise(stated)) if len(stated) > 1 else None
    true_values = list(strengths.values())
    stated_values = [ranked.strengths.get(other) or 0.0 for other in strengths]
    values["spearman"], values["kendall"] = spearman(true_values, stated_values), kendall(true_values, stated_values)
    errors = [abs(a - b) for a, b in zip(true_values, stated_values, strict=True)]
    false = [abs(ranked.strengths.get(other) or 0.0) for other in others if other not in strengths]
    values["mae"] = fmean(errors) if errors else None
    values["mae_all"] = fmean(errors + false)
    values["mae_balanced"] = (fmean(errors) + fmean(false)) / 2 if errors and false else None
    return values


def in_network(network: str, variable: str, entries: Sequence[Named]) -> Ranked:
    """Return a ranking with its names found among the network's variables, by identifier or readable name.

    Case, spaces and signs make no difference; of "Tuberculosis (tub)" the whole, the words before and those in brackets
    are looked up in this order. A variable that is named twice counts where it stands first, and nowhere else.
    """
    names = _names(network)
    places: list[str] = []
    strengths: dict[str, float | None] = {}
    stated: list[float] = []
    for entry in entries:
        place = next((names[form] for form in _forms(entry.name) if form in names), "")
        if place and place in strengths:
            continue
        place = "" if place == variable else place
        places.append(place)
        if place:
            strengths[place] = entry.strength
        if entry.strength is not None:
            stated.append(entry.strength)
    return Ranked(tuple(places), strengths, tuple(stated))


def _forms(name: str) -> list[str]:
    """Return the forms in which a name is looked up."""
    within = re.findall(r"[(\[]([^)\]]+)[)\]]", name)
    texts = [name, re.sub(r"\s*[(\[][^)\]]*[)\]]", "", name), *within]
    forms = [_form(text) for text in texts]
    return [*forms, *(form.removeprefix("the") for form in forms)]


def _form(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


@cache
def _names(network: str) -> Mapping[str, str]:
    """Return the variables by the forms of their readable names and identifiers; an identifier comes first."""
    known = meanings(network).items()
    by_name = {_form(name): variable for variable, meaning in known for name in (meaning.within, meaning.name)}
    return by_name | {_form(variable): variable for variable in load(network).variables}


def average_precision(hits: Sequence[bool], relevant: int) -> float | None:
    """Return the mean, over what is relevant, of the precision at its place; what is missing from the ranking has 0.

    `hits` says of each place of the ranking, the first first, whether what stands there is relevant. None where nothing
    is relevant. Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), section 8.4.
    """
    if not relevant:
        return None
    so_far, total = 0, 0.0
    for place, hit in enumerate(hits, start=1):
        if hit:
            so_far += 1
            total += so_far / place
    return total / relevant


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the correlation of the ranks, equal values sharing their mean rank; see `_correlation`."""
    from scipy.stats import spearmanr

    return _correlation(first, second, lambda: spearmanr(first, second).statistic)


def kendall(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Kendall's tau b, which corrects for equal values; see `_correlation`."""
    from scipy.stats import kendalltau

    return _correlation(first, second, lambda: kendalltau(first, second).statistic)


def _correlation(first: Sequence[float], second: Sequence[float], measure: Callable[[], float]) -> float | None:
    """Return a correlation with a truth, `first`: None unless two of its values differ.

    0 where all of `second` are the same: a reply that tells nothing apart must not drop out of a mean.
    """
    if len(set(first)) < 2:
        return None
    return float(measure()) if len(set(second)) > 1 else 0.0
