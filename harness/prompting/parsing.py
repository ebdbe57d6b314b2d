"""A response into an answer. What cannot be read is None, never "No"; a wrong reading is worse than None."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from harness.prompting import reading
from harness.types import Answer, Response

UNREAD = Answer(label=None)


def verdict(response: Response, statement: str = "", next_words: Sequence[str] = ()) -> Answer:
    """Return the Yes or No of a reply in words, as `harness.prompting.reading.read` finds it."""
    cut_off = response.finish_reason == "length"
    return reading.read(response.text, cut_off=cut_off, statement=statement, next_words=next_words)


def choice(response: Response, choices: Sequence[str]) -> Answer:
    """Return the likelier of the choices (the first says Yes); its probability is normalised over the choices."""
    logprobs = response.logprobs or {}
    if not _complete(logprobs, choices):
        return UNREAD
    top = max(logprobs[c] for c in choices)
    weights = [math.exp(logprobs[c] - top) for c in choices]
    best = [c for c in choices if logprobs[c] == top]
    label = int(best[0] == choices[0]) if len(best) == 1 else None  # a tie, which low precision makes, decides nothing
    return Answer(label, probability=weights[0] / sum(weights), span=" = ".join(best))


def entailment(response: Response) -> Answer:
    """Return Yes iff entailment is the likeliest class; neutral and contradiction are No (Jin et al.'s code)."""
    logprobs = response.logprobs or {}
    if "entailment" not in logprobs or not _complete(logprobs, list(logprobs)):
        return UNREAD
    others = max((name for name in logprobs if name != "entailment"), key=lambda name: logprobs[name])
    entailed = logprobs["entailment"] > logprobs[others]
    probability = min(1.0, math.exp(logprobs["entailment"]))
    return Answer(label=int(entailed), probability=probability, span="entailment" if entailed else others)


def _complete(logprobs: Mapping[str, float], names: Sequence[str]) -> bool:
    """Return whether there is something to compare: two numbers or more, not all of them minus infinity."""
    values = [logprobs.get(name, math.nan) for name in names]
    return len(values) > 1 and not any(map(math.isnan, values)) and math.isfinite(max(values))
