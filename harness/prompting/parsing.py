"""A response into an answer. What cannot be read is None, never "No"; a wrong reading is worse than None."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from unicodedata import normalize

from harness.prompting import reading
from harness.prompting.reading.own_words import own_words
from harness.prompting.reading.verdicts import UNREAD
from harness.types import LETTERS, RECORDED, Answer, AnswerForm, Response, ended

CONFIDENCE = "{confidence}"
FIELD = "answer"
"""The field of the verdict in a JSON reply that is held to a form."""
_BARE = frozenset(("structured_outputs", "guided_choice", "regex"))
"""Means by which such a reply without reasoning is the choice itself; by the others it is always JSON."""
_LONGEST_REPLY = 100_000
_PERCENT = re.compile(r"\s*(?P<digits>[0-9]{1,3}(?:[.,][0-9]{1,9})?)\s*(?P<sign>%)?")


def verdict(response: Response, **asked: Any) -> Answer:
    """Return the Yes or No of a reply in words, or the place of a choice, as `reading.read` finds it (its settings).

    Nothing is read of what was withheld, and of what did not come to its end only what was announced before.
    """
    end = ended(response.finish_reason)
    return UNREAD if end == "refused" else reading.read(response.text, cut_off=end != "complete", **asked)


def likeliest(response: Response, choices: Sequence[str]) -> Answer:
    """Return the place of the choice with the greatest log-probability; none where several have it, or one has none."""
    logprobs = response.logprobs or {}
    if not _complete(logprobs, choices):
        return UNREAD
    top = max(logprobs[choice] for choice in choices)
    best = [place for place, choice in enumerate(choices) if logprobs[choice] == top]
    # A tie, which low precision makes, decides nothing.
    return Answer(best[0] if len(best) == 1 else None, span=" = ".join(choices[place] for place in best))


def choice(response: Response, choices: Sequence[str]) -> Answer:
    """Return whether the first choice, which says Yes, is the likeliest; its probability is normalised over them."""
    answer = likeliest(response, choices)
    if not answer.span or response.logprobs is None:
        return UNREAD
    top = max(response.logprobs[choice] for choice in choices)
    weights = [math.exp(response.logprobs[choice] - top) for choice in choices]
    label = None if answer.label is None else int(answer.label == 0)
    return replace(answer, label=label, probability=weights[0] / sum(weights))


def choice_in(text: str, form: AnswerForm) -> str | None:
    """Return the choice that a reply makes in the form it is held to; None where the reply is not of the form."""
    if form.means in _BARE and not form.reasoning:
        return text.strip() if text.strip() in form.choices else None
    try:
        content = json.loads(text, object_pairs_hook=members_once)
    except (ValueError, RecursionError):
        return None
    choice = content.get(FIELD) if isinstance(content, dict) else None
    return choice if isinstance(choice, str) and choice in form.choices else None


def members_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object. Raises ValueError where it says a name twice: which of them counts, nobody knows."""
    if len(members := dict(pairs)) < len(pairs):
        raise ValueError("a name stands twice")
    return members


def entailment(response: Response) -> Answer:
    """Return Yes iff entailment is the likeliest class; neutral and contradiction are No (Jin et al.'s code)."""
    logprobs = response.logprobs or {}
    if "entailment" not in logprobs or not _complete(logprobs, list(logprobs)):
        return UNREAD
    others = max((name for name in logprobs if name != "entailment"), key=lambda name: logprobs[name])
    entailed = logprobs["entailment"] > logprobs[others]
    probability = min(1.0, math.exp(logprobs["entailment"]))
    return Answer(label=int(entailed), probability=probability, span="entailment" if entailed else others)


def recorded(response: Response) -> Answer:
    """Return the answer that others have recorded without the reply: Yes, No or a choice's letter; None for others."""
    labels = {"Yes": 1, "No": 0} | {letter: place for place, letter in enumerate(LETTERS)}
    return Answer(labels.get(response.text), rule=RECORDED)


def _complete(logprobs: Mapping[str, float], names: Sequence[str]) -> bool:
    """Return whether there is something to compare: two numbers or more, not all of them minus infinity."""
    values = [logprobs.get(name, math.nan) for name in names]
    return len(values) > 1 and not any(map(math.isnan, values)) and math.isfinite(max(values))


def stated_confidence(response: Response, form: str) -> float | None:
    """Return how sure a reply says it is, from 0 to 1, on its last line of the form ("Confidence: {confidence}").

    It holds nothing else but a number of percent, from 0 to 100; any other is None, and no line before it counts. So is
    one up to 1 without a sign, but 0, which may be a share, and one that ends a reply that was cut off.
    """
    beginning = form.partition(CONFIDENCE)[0].strip()
    text = re.sub(r"[*_`$\\]", "", normalize("NFKC", own_words(response.text)[-_LONGEST_REPLY:]))
    lines = [line.lstrip(" \t-•>#").rstrip(" \t.") for line in text.strip().splitlines()]
    found = [(place, line) for place, line in enumerate(lines, 1) if line.casefold().startswith(beginning.casefold())]
    if not found or (ended(response.finish_reason) != "complete" and found[-1][0] == len(lines)):
        return None
    match = _PERCENT.fullmatch(found[-1][1][len(beginning) :])
    value = float(match["digits"].replace(",", ".")) if match else -1.0
    if not 0 <= value <= 100 or (match and not match["sign"] and 0 < value <= 1):
        return None
    return value / 100
