"""Baselines of causalbench/strength, which read the request's words: a constant, a draw, mutual information in data."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from harness.codec import request_digest, uniform
from harness.protocols import Outcomes, Traits, as_text
from harness.tasks.causalbench.networks import NETWORKS, load, meanings, sample
from harness.tasks.causalbench.rendering import title
from harness.types import JSON, ChatRequest, PairRequest, Request, Response

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

IN_NETWORK = "in the network "
"""What stands before a network's title, in brackets behind a variable that another network has, too."""
_QUESTION = re.compile(
    rf"rank the (?:cause|effect) of (?P<variable>.+?)(?: \({IN_NETWORK}(?P<network>[^)]+)\))? and please provide"
)
_LIST = re.compile(r"none if there is none: (?P<names>.+?)\. Write each as")


@dataclass(frozen=True)
class Ranker:
    """Ranks all other variables of the network, whether they are causes, effects or neither.

    - constant: each with `value`, in the order of the list.
    - uniform: each with a draw from [0, 1] that depends on the seed and the request.
    - mutual_information: by the mutual information of the two in observations of the network, as a share of the smaller
      entropy. It knows no direction, so causes and effects are ranked alike.

    Without a closed list the network is the one that has such a variable, or that the question names.
    """

    name: str
    rule: Literal["constant", "uniform", "mutual_information"]
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    observations: Annotated[int, Field(ge=2)] = 500
    value: Annotated[float, Field(ge=0, le=1)] = 0.5

    accepts: ClassVar[tuple[type[Request], ...]] = (ChatRequest,)

    @property
    def identity(self) -> Mapping[str, JSON]:
        seed = {} if self.rule == "constant" else {"seed": self.seed}
        data = {"observations": self.observations} if self.rule == "mutual_information" else {}
        value = {"value": self.value} if self.rule == "constant" and self.value != 0.5 else {}
        return {"kind": "ranker", "rule": self.rule} | seed | data | value

    @property
    def traits(self) -> Traits:
        return Traits(role="baseline", instant=True, varies=self.rule == "uniform", tasks=("causalbench/strength",))

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        for request in requests:
            yield [(request, Response(text=self._answer(request)))]

    def _answer(self, request: Request) -> str:
        assert not isinstance(request, PairRequest)
        words = as_text(tuple(message for message in request.messages if message.role == "user"))
        question, listed = _QUESTION.search(words), _LIST.search(words)
        if question is None:
            return "Unreadable: these are not the words of the prompts closed and open."
        variable, called = question["variable"], question["network"] or ""
        names = listed["names"].split("; ") if listed else []
        fitting = [
            name for name in NETWORKS if {variable, *names} <= _places(name).keys() and called in ("", title(name))
        ]
        if len(fitting) != 1:
            several = f"in {', '.join(fitting)}" if fitting else "in no network"
            return f"Unreadable: there is such a variable {several}; task.among=network names the others."
        network = fitting[0]
        others = names or _others(network, variable)
        strengths = {other: self._strength(network, variable, other, request) for other in others}
        ranked = sorted(strengths, key=lambda name: -strengths[name])
        return "\n".join(f"{place}. {name} ({strengths[name]:.4f})" for place, name in enumerate(ranked, start=1))

    def _strength(self, network: str, variable: str, other: str, request: Request) -> float:
        if self.rule == "constant":
            return self.value
        if self.rule == "uniform":
            return uniform(self.seed, request_digest(request), other)
        places = _places(network)
        return float(_information(network, self.observations, self.seed)[places[variable], places[other]])


@cache
def _places(network: str) -> Mapping[str, int]:
    """Return the place of each variable, by identifier and by readable name, also as it stands inside a sentence."""
    known = list(enumerate(meanings(network).values()))
    readable = {name: place for place, meaning in known for name in (meaning.name, meaning.within)}
    return readable | {variable: place for place, variable in enumerate(load(network).variables)}


def _others(network: str, variable: str) -> tuple[str, ...]:
    """Return the identifiers of the other variables, in alphabetical order: that of the file tells directions."""
    own = _places(network)[variable]
    return tuple(sorted(name for place, name in enumerate(load(network).variables) if place != own))


@cache
def _information(network: str, observations: int, seed: int) -> NDArray[np.float64]:
    """Return for each pair of variables their mutual information in drawn data, as a share of the smaller entropy."""
    import numpy as np

    columns = sample(network, observations, seed=seed).T
    entropies = [_entropy(column) for column in columns]
    shares = np.zeros((len(columns), len(columns)))
    for a, first in enumerate(columns):
        for b, second in enumerate(columns[:a]):
            least = min(entropies[a], entropies[b])
            both = _entropy(first * (int(second.max()) + 1) + second)
            shares[a, b] = shares[b, a] = (entropies[a] + entropies[b] - both) / least if least > 0 else 0
    return np.clip(shares, 0, 1)


def _entropy(column: NDArray[np.int64]) -> float:
    import numpy as np

    _, counts = np.unique(column, return_counts=True)
    share = counts / counts.sum()
    return float(-(share * np.log(share)).sum())
