"""The baseline of causalbench/strength: it reads the request's words, and ranks by mutual information in drawn data."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from harness.protocols import Outcomes, Traits, as_text
from harness.tasks.causalbench.networks import NETWORKS, load, meanings, sample
from harness.types import JSON, ChatRequest, PairRequest, Request, Response

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_VARIABLE = re.compile(r"rank the (?:cause|effect) of (.+?) and please provide")
_LIST = re.compile(r"none if there is none: (.+?)\. Write each as")


@dataclass(frozen=True)
class Ranker:
    """Ranks all other variables of the network by their mutual information with the one that is asked about.

    It is that of observations of the network, as a share of the smaller entropy. It knows no direction, so causes and
    effects are ranked alike. It has to be told the variables (task.among=network).
    """

    name: str
    rule: Literal["mutual_information"] = "mutual_information"
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    observations: Annotated[int, Field(ge=2)] = 500

    accepts: ClassVar[tuple[type[Request], ...]] = (ChatRequest,)

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "ranker", "rule": self.rule, "seed": self.seed, "observations": self.observations}

    @property
    def traits(self) -> Traits:
        return Traits(role="baseline", instant=True, tasks=("causalbench/strength",))

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        for request in requests:
            yield [(request, Response(text=self._answer(request)))]

    def _answer(self, request: Request) -> str:
        assert not isinstance(request, PairRequest)
        words = as_text(tuple(message for message in request.messages if message.role == "user"))
        question, listed = _VARIABLE.search(words), _LIST.search(words)
        if question is None or listed is None:
            return "Unreadable: these are not the words of the prompts closed and open with task.among=network."
        variable, others = question[1], listed[1].split("; ")
        fitting = [name for name in NETWORKS if {variable, *others} <= _places(name).keys()]
        if not fitting:
            return "Unreadable: no network has these variables."
        places, shares = _places(fitting[0]), _information(fitting[0], self.observations, self.seed)
        strengths = {other: float(shares[places[variable], places[other]]) for other in others}
        ranked = sorted(strengths, key=lambda name: -strengths[name])
        return "\n".join(f"{place}. {name} ({strengths[name]:.4f})" for place, name in enumerate(ranked, start=1))


@cache
def _places(network: str) -> Mapping[str, int]:
    """Return the place of each variable, by identifier and by readable name, also as it stands inside a sentence."""
    known = list(enumerate(meanings(network).values()))
    readable = {name: place for place, meaning in known for name in (meaning.name, meaning.within)}
    return readable | {variable: place for place, variable in enumerate(load(network).variables)}


@cache
def _information(network: str, observations: int, seed: int) -> NDArray[np.float64]:
    """Return for each pair of variables their mutual information in drawn data, as a share of the smaller entropy."""
    import numpy as np
    from scipy.stats import entropy

    def uncertainty(column: NDArray[np.int64]) -> float:
        return float(entropy(np.unique(column, return_counts=True)[1]))

    columns = sample(network, observations, seed=seed).T
    entropies = [uncertainty(column) for column in columns]
    shares = np.zeros((len(columns), len(columns)))
    for a, first in enumerate(columns):
        for b, second in enumerate(columns[:a]):
            least = min(entropies[a], entropies[b])
            both = uncertainty(first * (int(second.max()) + 1) + second)
            shares[a, b] = shares[b, a] = (entropies[a] + entropies[b] - both) / least if least > 0 else 0
    return np.clip(shares, 0, 1)
