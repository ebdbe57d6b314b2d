"""The fifteen networks: structure, tables, samples, and what each variable means.

The files are the bnlearn repository's, in the Bayesian Interchange Format; harness/data/networks/README.md says where
they come from. A small parser of our own reads a network's structure in milliseconds and its tables in under a second.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from harness.causal.dag import DAG, bits, from_edges, topological_order
from harness.errors import ConfigError, unknown
from harness.tasks.base import capitalised
from harness.tasks.benchmark import GraphSize
from harness.tasks.data_files import shipped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NETWORKS = (
    "asia", "cancer", "earthquake", "survey", "sachs", "child", "insurance", "water", "mildew", "alarm", "barley",
    "hailfinder", "hepar2", "win95pts", "pathfinder",
)  # fmt: skip
"""In the paper's order; pathfinder, which its tables leave out, is the last."""

SCALES = {
    **dict.fromkeys(NETWORKS[:5], "small"),
    **dict.fromkeys(NETWORKS[5:11], "medium"),
    **dict.fromkeys(NETWORKS[11:14], "large"),
    "pathfinder": "very_large",
}
"""Up to 15, 50, 100 and more variables (Zhou et al., Section III-A)."""

_VARIABLE = re.compile(r"variable (\S+) \{\s*type discrete \[ \d+ \] \{ (.*?) \};")
_PROBABILITY = re.compile(r"probability \( (\S+)(?: \| (.*?))? \) \{\n(.*?)\n\}", re.DOTALL)
_ROW = re.compile(r"\s*(?:table|\((.*?)\)) (.*?);")


@dataclass(frozen=True)
class Network:
    """A causal graph with named, discrete variables; node k is variables[k], in the order of the file."""

    name: str
    variables: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    """The states of each variable, in the order of the file."""
    dag: DAG
    parent_order: tuple[tuple[int, ...], ...]
    """The parents of each variable in the order of the file: the axes of its table."""

    def codes(self, k: int) -> tuple[int, ...]:
        """Return the number by which observations code each state of variable k: its place in alphabetical order.

        So the paper's authors coded them (asia: no is 0, yes is 1, which is not the order of the file).
        """
        order = sorted(self.states[k])
        return tuple(order.index(state) for state in self.states[k])


@dataclass(frozen=True)
class Meaning:
    """What a variable stands for, in words of this project."""

    within: str
    """The readable name inside a sentence, with the article that it needs there: "the heart rate", "visiting to Asia"
    (the paper's "modified variable name")."""
    text: str
    """One to three encyclopedic sentences about this variable alone."""

    @property
    def name(self) -> str:
        return capitalised(re.sub(r"^(?:the|an?) ", "", self.within))


@cache
def load(name: str) -> Network:
    """Return the structure of a network. Raises ConfigError for an unknown name."""
    text = _text(name)
    states = {variable: tuple(values.split(", ")) for variable, values in _VARIABLE.findall(text)}
    place = {variable: k for k, variable in enumerate(states)}
    parents: dict[str, tuple[int, ...]] = {}
    for variable, above, _ in _PROBABILITY.findall(text):
        parents[variable] = tuple(place[parent] for parent in above.split(", ")) if above else ()
    edges = [(parent, place[variable]) for variable, above in parents.items() for parent in above]
    return Network(
        name=name,
        variables=tuple(states),
        states=tuple(states.values()),
        dag=from_edges(len(states), edges),
        parent_order=tuple(parents[variable] for variable in states),
    )


def tables(name: str) -> tuple[NDArray[np.float64], ...]:
    """Return the conditional probability table of each variable.

    Axes: the parents in `parent_order`, each by its states, then the variable's own states. Rows sum to 1 within
    3e-7, which is how the files were rounded.
    """
    import numpy as np

    network = load(name)
    place = {variable: k for k, variable in enumerate(network.variables)}
    numbers = [{state: k for k, state in enumerate(states)} for states in network.states]
    by_variable: dict[int, NDArray[np.float64]] = {}
    for variable, _, body in _PROBABILITY.findall(_text(name)):
        k = place[variable]
        above = network.parent_order[k]
        table = np.full([len(network.states[v]) for v in (*above, k)], np.nan)
        for condition, row in _ROW.findall(body):
            at = (
                tuple(numbers[p][state] for p, state in zip(above, condition.split(", "), strict=True))
                if condition
                else ()
            )
            table[at] = [float(number) for number in row.split(", ")]
        by_variable[k] = table
    return tuple(by_variable[k] for k in range(len(network.variables)))


def sample(name: str, rows: int, *, seed: int) -> NDArray[np.int64]:
    """Draw `rows` observations from the joint distribution, one a row, columns in the order of the variables.

    Cells are the alphabetical codes of `Network.codes`. Ancestral sampling with NumPy's frozen generator, so that a
    seed means the same rows on every machine and with every version.
    """
    import numpy as np

    network = load(name)
    draw = np.random.RandomState(seed)
    distributions = tables(name)
    observations = np.zeros((rows, len(network.variables)), dtype=np.int64)
    for k in topological_order(network.dag):
        conditional = distributions[k][tuple(observations[:, parent] for parent in network.parent_order[k])]
        thresholds = np.cumsum(np.broadcast_to(conditional, (rows, conditional.shape[-1])), axis=1)
        thresholds[:, -1] = np.inf  # rows that sum to a little less than 1
        observations[:, k] = (draw.random_sample(rows)[:, None] >= thresholds).sum(axis=1)
    for k in range(len(network.variables)):
        observations[:, k] = np.array(network.codes(k))[observations[:, k]]
    return observations


@cache
def meanings(name: str) -> Mapping[str, Meaning]:
    """Return the readable name and the background text of each variable, in the order of the network."""
    import yaml

    entries = yaml.safe_load(shipped(f"causalbench/variables/{load(name).name}.yaml"))
    return {variable: Meaning(words["name"], words["text"].strip()) for variable, words in entries.items()}


@cache
def authors_texts(name: str) -> Mapping[str, str]:
    """Return the benchmark's authors' own background texts, which they released for asia; none for other networks."""
    import yaml

    try:
        return dict(yaml.safe_load(shipped(f"causalbench/authors/{name}.yaml")))
    except FileNotFoundError:
        return {}


def edges(network: Network) -> list[tuple[str, str]]:
    """Return (cause, effect) of each edge by name, effects in the order of the variables."""
    names = network.variables
    return [(names[u], names[v]) for v, above in enumerate(network.dag) for u in bits(above)]


def graph_sizes(names: Collection[str]) -> Sequence[GraphSize]:
    """Return the sizes of some networks, in the paper's order; () where one of them is not known."""
    if not set(names) <= set(NETWORKS):
        return ()
    graphs = {name: load(name) for name in NETWORKS if name in names}
    return [GraphSize(name, len(g.variables), len(edges(g)), SCALES[name]) for name, g in graphs.items()]


def _text(name: str) -> str:
    if name not in NETWORKS:
        raise ConfigError(unknown("network", name, NETWORKS))
    return shipped(f"networks/{name}.bif.gz").decode()
