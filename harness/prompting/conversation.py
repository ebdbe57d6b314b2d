"""Openings: turns that the model itself answers before the question, in lock-step batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import cast

from harness.prompting.prompts import Prompt
from harness.protocols import Model
from harness.types import ChatRequest, Failure, Message, Request, Response, Transcript

Opening = tuple[str, ...]
SLOW = 2.0
"""Seconds after which a turn is worth a line."""


def play(
    model: Model,
    prompt: Prompt,
    openings: Iterable[Opening],
    say: Callable[[str], None] = lambda _: None,
    sample: int = 0,
) -> Mapping[Opening, Transcript | Failure]:
    """Play each distinct opening to its end; return its transcript, or the failure of the turn that had no reply.

    All openings advance together, one batch a turn. Openings that agree up to turn k make equal requests,
    so they share those calls. With replies=fixed nothing is asked: the prompt has the assistant's words.
    """
    if prompt.replies == "fixed":
        reply = Message("assistant", prompt.words.opening_reply or "")
        return {opening: tuple(m for turn in opening for m in (Message("user", turn), reply)) for opening in openings}
    transcripts: dict[Opening, Transcript | Failure] = dict.fromkeys(openings, ())
    turns = max(map(len, transcripts), default=0)
    for k in range(turns):
        begin = time.monotonic()
        waiting: dict[ChatRequest, list[Opening]] = {}
        for opening, transcript in transcripts.items():
            if len(opening) > k and not isinstance(transcript, Failure):
                waiting.setdefault(prompt.turn(transcript, opening, k, sample), []).append(opening)
        outcomes: dict[Request, Response | Failure] = {
            request: Failure("unanswered", "the model ended without answering") for request in waiting
        }
        for landed in model.respond(list(waiting)):
            outcomes |= landed
        for request, outcome in outcomes.items():
            for opening in waiting[cast(ChatRequest, request)]:
                before = transcripts[opening]
                if isinstance(outcome, Failure):
                    transcripts[opening] = Failure(outcome.kind, f"opening, turn {k + 1}: {outcome.detail}")
                elif not isinstance(before, Failure):
                    turn = Message("user", opening[k]), Message("assistant", outcome.text)
                    transcripts[opening] = (*before, *turn)
        if time.monotonic() - begin > SLOW:
            talks = "1 conversation" if len(waiting) == 1 else f"{len(waiting):,} conversations"
            say(f"opening: turn {k + 1} of {turns} has been answered in {talks}")
    return transcripts
