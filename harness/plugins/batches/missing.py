"""The requests of a run that nobody has answered yet, as far as they can be made: one turn of an opening at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from harness.codec import request_digest
from harness.models.api.endpoint import Endpoint
from harness.prompting.fit import fitting
from harness.prompting.prompts import Prompt
from harness.protocols import Task
from harness.types import Message, Request, Response

Peek = Callable[[Request], Response | None]
"""What the cache knows of a request, without asking."""


@dataclass
class Missing:
    """One pass over a task's items, and what it has counted."""

    task: Task
    prompt: Prompt
    endpoint: Endpoint
    peek: Peek
    samples: int
    items: int = 0
    answered: int = 0
    """Distinct requests that the cache knows."""
    declined: int = 0
    """Distinct requests that cannot fit the model's context."""
    turns: int = 0
    """Missing requests that are turns before a question, whose words are not known before they are answered."""
    _openings: dict[tuple[tuple[str, ...], int], tuple[Message, ...] | Request] = field(default_factory=dict)

    def requests(self) -> Iterator[Request]:
        """Yield each distinct request without an answer that can be made by now."""
        digests: set[int] = set()
        kind = fitting(self.prompt, self.endpoint)
        for item in self.task.items():
            self.items += 1
            opening = self.prompt.opening(item.fields)
            for draw in range(self.samples):
                transcript = self._transcript(opening, draw)
                if isinstance(transcript, tuple):
                    request, is_turn = self.prompt.render(item.fields, transcript, kind, draw), False
                else:
                    request, is_turn = transcript, True
                name = int(request_digest(request)[:16], 16)
                if name in digests:
                    continue
                digests.add(name)
                if self.endpoint.declines(request):
                    self.declined += 1
                elif not is_turn and self.peek(request) is not None:
                    self.answered += 1
                else:
                    self.turns += is_turn
                    yield request

    def _transcript(self, opening: tuple[str, ...], draw: int) -> tuple[Message, ...] | Request:
        """Return an opening with its replies; the request for the first turn that has none yet."""
        if len(self._openings) >= 256:  # items that share an opening come together
            self._openings.clear()
        if (opening, draw) not in self._openings:
            self._openings[opening, draw] = self._played(opening, draw)
        return self._openings[opening, draw]

    def _played(self, opening: tuple[str, ...], draw: int) -> tuple[Message, ...] | Request:
        turns: list[Message] = []
        for k, turn in enumerate(opening):
            if self.prompt.replies == "fixed":
                reply = self.prompt.words.opening_reply or ""
            else:
                request = self.prompt.turn(tuple(turns), opening, k, draw)
                if (response := self.peek(request)) is None:
                    return request
                reply = response.text
            turns += [Message("user", turn), Message("assistant", reply)]
        return tuple(turns)
