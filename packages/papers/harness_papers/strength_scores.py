"""How strong the causes in a network are, and how well rankings of causes and effects agree with that.

All scores are this project's. Every one is of one question, and a row shows the mean over its questions: undefined ones
left out, an unreadable reply taken for an empty ranking.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Literal, get_args

from harness.scoring import means
from harness.tasks.causalbench.networks import NETWORKS, SCALES, edges, load, meanings
from harness.types import Record, Result, replace
from harness_papers.ranking import Named, named

Side = Literal["cause", "effect"]
"""What is asked about a variable: to rank its causes, or its effects."""
SIDES: tuple[Side, ...] = get_args(Side)
FILE = Path(__file__).parent / "data" / "strengths.csv"
MEASURES = ("ap_direct", "ap_all", "spearman", "mae_balanced", "outside")
"""What rankings with strengths are scored by; each is one number of an item, or undefined there."""


@cache
def strengths(network: str) -> Mapping[tuple[str, str], float]:
    """Return the strength of every (cause, effect) that a directed path joins, as tools/strengths.py computes it."""
    lines = csv.DictReader(FILE.read_text(encoding="utf-8").splitlines())
    return {(line["cause"], line["effect"]): float(line["strength"]) for line in lines if line["network"] == network}


def others(network: str, variable: str, side: Side) -> dict[str, float]:
    """Return the causes (or effects) of a variable, direct or not, each with its strength."""
    own, other = (1, 0) if side == "cause" else (0, 1)
    return {pair[other]: strength for pair, strength in strengths(network).items() if pair[own] == variable}


HEADLINE = "our"
"""The label set: has the variable a cause (or effect) in the network at all? Nothing in it is the paper's."""
MEAN = "mean of networks"
NOTE = (
    "These scores are this project's: CausalBench's Appendix F has the questions, and no truth and no score. Strengths "
    "are compared with the largest total variation between P(effect | do x) and P(effect | do x') by the network's "
    "tables."
)


def summarize(records: Iterable[Record]) -> Result:
    """Return the mean of every measure overall, by network, scale and side, and over the networks alike.

    Intervals draw networks; in a row of one network they draw its variables, each with both its questions.
    """
    orders = {"network": NETWORKS, "scale": tuple(dict.fromkeys(SCALES.values())), "side": SIDES}
    result = means.summarize(
        records, measures, MEASURES, headline=HEADLINE, orders=orders, unit="variable", notes=(NOTE,)
    )
    return replace(result, scores={HEADLINE: means.with_mean(result.scores[HEADLINE], "network", MEAN)})


def measures(record: Record) -> dict[str, float | None]:
    """Return what the ranking of one question is worth; None for what it leaves undefined.

    - ap_direct, ap_all: average precision, against the direct causes or effects and against all. Names outside the
      network are false ones.
    - spearman: the correlation of strengths over all true causes or effects, those without a strength in the reply
      taken as 0. It needs two true strengths that differ, and is 0 where the reply tells nothing apart.
    - mae_balanced: the mean of the error of strengths over the true ones and that over all others of the network, whose
      true strength is 0: neither naming nothing nor everything pays. None where either is missing.
    - outside: the share of names that are no other variable of the network.
    """
    network, variable = record.cluster, record.unit
    side: Side = "cause" if record.groups["side"] == "cause" else "effect"
    ranked, joined = in_network(network, variable, named(record.answer)), others(network, variable, side)
    places, given = [place for place, _ in ranked], dict(ranked)
    direct = joined.keys() & {a if side == "cause" else b for a, b in edges(load(network)) if variable in (a, b)}
    true = list(joined.values())
    stated = [given.get(other) or 0.0 for other in joined]
    errors = [abs(a - b) for a, b in zip(true, stated, strict=True)]
    unjoined = [other for other in load(network).variables if other != variable and other not in joined]
    false = [abs(given.get(other) or 0.0) for other in unjoined]
    return {
        "ap_direct": average_precision([place in direct for place in places], len(direct)),
        "ap_all": average_precision([place in joined for place in places], len(joined)),
        "spearman": spearman(true, stated),
        "mae_balanced": (fmean(errors) + fmean(false)) / 2 if errors and false else None,
        "outside": places.count("") / len(places) if places else None,
    }


def in_network(network: str, variable: str, entries: Sequence[Named]) -> list[tuple[str, float | None]]:
    """Return a ranking with its names found among the network's variables, by identifier or readable name.

    What is no other variable of the network is "". Case, spaces and signs make no difference; of "Tuberculosis (tub)"
    the whole, the words before and those in brackets are looked up in this order. A variable that is named twice counts
    where it stands first, and nowhere else.
    """
    names = _names(network)
    ranked, found = list[tuple[str, float | None]](), set[str]()
    for entry in entries:
        place = next((names[form] for form in _forms(entry.name) if form in names), "")
        if place not in found:
            ranked.append(("" if place == variable else place, entry.strength))
            found |= {place} - {"", variable}
    return ranked


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


def spearman(true: Sequence[float], stated: Sequence[float]) -> float | None:
    """Return the correlation of the ranks, equal values sharing their mean rank; None unless two true ones differ.

    0 where all stated ones are the same: a reply that tells nothing apart must not drop out of a mean.
    """
    from scipy.stats import spearmanr

    if len(set(true)) < 2:
        return None
    return float(spearmanr(true, stated).statistic) if len(set(stated)) > 1 else 0.0
