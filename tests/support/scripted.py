"""A model that says what a function tells it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field

from harness.protocols import Outcomes, Traits
from harness.types import JSON, ChatRequest, Failure, Request, Response


@dataclass
class Scripted:
    """A model that answers by `says` and remembers in `asked` what it was asked."""

    says: Callable[[Request], Response | Failure]
    name: str = "scripted"
    accepts: tuple[type[Request], ...] = (ChatRequest,)
    traits: Traits = field(default_factory=lambda: Traits(role="model"))
    asked: list[Request] = field(default_factory=list)

    @property
    def identity(self) -> Mapping[str, JSON]:
        """Its name: two scripts of one name share answers."""
        return {"kind": "scripted", "name": self.name}

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield what the script says, one at a time."""
        for request in requests:
            self.asked.append(request)
            yield [(request, self.says(request))]
