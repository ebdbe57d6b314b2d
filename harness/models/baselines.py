"""Baselines that do not read the question: constants, and draws that depend on the seed and the request only."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from harness.codec import request_digest, uniform
from harness.protocols import Outcomes, Traits
from harness.types import JSON, ChatRequest, Request, Response


@dataclass(frozen=True)
class Baseline:
    """A baseline that says Yes with probability `p_yes`: 0 and 1 are constants, anything between is drawn.

    If a question has choices, Yes is the first and No the last; a drawing baseline takes each with equal probability.
    Draws depend neither on the order of the requests nor on which other requests there are.
    """

    name: str
    p_yes: Annotated[float, Field(ge=0, le=1)]
    seed: int = 0

    accepts: ClassVar[tuple[type[Request], ...]] = (ChatRequest,)

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "baseline", "p_yes": self.p_yes} | ({"seed": self.seed} if 0 < self.p_yes < 1 else {})

    @property
    def traits(self) -> Traits:
        return Traits(role="baseline", instant=True, varies=0 < self.p_yes < 1)

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        for request in requests:
            yield [(request, Response(text=self._choice(request) or ("Yes" if self._says_yes(request) else "No")))]

    def _choice(self, request: Request) -> str:
        choices = request.choices if isinstance(request, ChatRequest) else ()
        if not choices or not 0 < self.p_yes < 1 or type(self) is not Baseline:
            return choices[0 if self._says_yes(request) else -1] if choices else ""
        return choices[int(uniform(self.seed, request_digest(request)) * len(choices))]

    def _says_yes(self, request: Request) -> bool:
        return self.p_yes == 1 or (self.p_yes > 0 and uniform(self.seed, request_digest(request)) < self.p_yes)


@dataclass(frozen=True)
class Majority(Baseline):
    """A baseline that always gives the likelier answer; `p_yes` is the share of Yes in the data."""

    @property
    def traits(self) -> Traits:
        return Traits(role="baseline", instant=True)

    def _says_yes(self, request: Request) -> bool:
        return self.p_yes > 0.5

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "majority", "p_yes": self.p_yes}
