"""Response into answer. What cannot be read is None, never "No"."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from harness.types import Answer, Response

UNREAD = Answer(label=None)

# Where an answer is announced: "Answer: no", "The final answer is yes", "my verdict would be: No", "\boxed{Yes}".
_ANNOUNCED = re.compile(
    r"(?:\b(?:answer|verdict|conclusion)(?:\s+to\s+(?:the|this|your)\s+question)?"
    r"(?:\s*[:=–—-]+|\s+(?:is|would\s+be|should\s+be|must\s+be|remains)\b)"
    r"(?:\s*(?:therefore|thus|then|simply|clearly|a|an|definitely|indeed|that)\b)*[\s:,]*|\\boxed\s*\{\s*(?:\\text\s*\{)?)"
    r"(?P<word>yes|no)\b",
)
# A verdict at the beginning. "No" also begins sentences like "No variable …", so what follows it must end the
# verdict or explain it; "Yes" has no such second life.
_LEADING = re.compile(
    r"(?:(?:assistant|response|reply|so|therefore|thus|hence|well|ok|okay|sure)\s*[:,]\s*)*"
    r"(?P<word>yes\b|no(?=\s*$|\s*[.,;:!?)\n–—-]|\s+(?:because|since|as|we|it|this|that|you|i|the)\b))"
)
_BOTH = re.compile(r"\byes\s*(?:and|or|/|,\s*(?:and|but\s+also)|&|\|)\s*no\b|\bno\s*(?:and|or|/|&|\|)\s*yes\b|\byes\b.{0,12}\band\s+no\b")
# A verdict inside the last sentence: yes or no as a word of its own.
_WORD = re.compile(r"\b(?P<word>yes\b|no(?=\s*$|\s*[.,;:!?)]))")
# What a last sentence concludes without the words yes and no.
_POSITIVE = re.compile(
    r"\b(?:can|could)\s+(?:be\s+|thus\s+|therefore\s+|indeed\s+|we\s+)*(?:deduced?|deduct(?:ed)?|inferr?(?:ed)?|concluded?)\b"
    r"|\b(?:hypothesis|statement|claim|conclusion)\s+(?:is|must\s+be|does)\s+(?:therefore\s+|thus\s+|indeed\s+)*"
    r"(?:valid|true|correct|follow|hold)\b"
    r"|\b(?:hypothesis|statement|claim|conclusion)\s+(?:follows|holds)\b"
)
_NEGATIVE = re.compile(
    r"\b(?:cannot|can\s*not|can't|could\s+not|couldn't)\s+(?:\w+\s+){0,3}?(?:deduced?|deduct(?:ed)?|inferr?(?:ed)?|concluded?)\b"
    r"|\b(?:hypothesis|statement|claim|conclusion)\s+(?:is|must\s+be)\s+(?:therefore\s+|thus\s+)*"
    r"(?:invalid|false|incorrect|not\s+(?:necessarily\s+)?(?:valid|true|correct|supported))\b"
    r"|\b(?:hypothesis|statement|claim|conclusion)\s+(?:does\s+not|doesn't)\s+(?:necessarily\s+)?(?:follow|hold)\b"
)


def verdict(response: Response) -> Answer:
    """Yes or No from free text: short replies and chains of thought that end in a verdict.

    In this order: the last answer that is announced as one ("Answer: no"); a verdict at the very beginning;
    a verdict in the last sentence, in the words yes and no or in a sentence such as "the hypothesis is not
    valid". Where a reply was cut off at its token limit, the last sentence is not what it would have ended
    with and is not read. Reasoning between <think> tags is not part of the reply.
    """
    text = _plain(response.text)
    announced = [m for m in _ANNOUNCED.finditer(text) if not _BOTH.match(text, m.start("word"))]
    if announced:
        return _said(announced[-1])
    leading = _LEADING.match(text)
    if leading:
        return UNREAD if _BOTH.match(text, leading.start("word")) else _said(leading)
    if response.finish_reason == "length":
        return UNREAD
    return _conclusion(_last_sentence(text))


def choice(response: Response, choices: Sequence[str]) -> Answer:
    """The likelier of the choices (the first says Yes); its probability is normalised over the choices."""
    logprobs = _finite(response.logprobs or {})
    if any(c not in logprobs for c in choices):
        return UNREAD
    top = max(logprobs[c] for c in choices)
    weights = [math.exp(logprobs[c] - top) for c in choices]
    best = max(range(len(choices)), key=lambda k: weights[k])
    return Answer(label=int(best == 0), probability=weights[0] / sum(weights), span=choices[best])


def entailment(response: Response) -> Answer:
    """Yes iff entailment is the likeliest class; neutral and contradiction are No (Jin et al.'s code)."""
    logprobs = _finite(response.logprobs or {})
    if "entailment" not in logprobs:
        return UNREAD
    best = max(logprobs, key=lambda name: logprobs[name])
    return Answer(label=int(best == "entailment"), probability=min(1.0, math.exp(logprobs["entailment"])), span=best)


def _plain(text: str) -> str:
    """Lower case, without reasoning, Markdown emphasis, quotation marks and extra spaces."""
    text = re.sub(r"<think>.*?(?:</think>|$)", " ", text, flags=re.DOTALL | re.IGNORECASE)
    text = text.rpartition("</think>")[2]  # servers that cut off the opening tag
    text = re.sub(r"[*_`#>\"“”„«»]|(?<!\w)['‘’]|['‘’](?!\w)", " ", text.replace("’", "'"))
    text = re.sub(r"[ \t\r\f\v]+", " ", text)
    return re.sub(r"\s*\n\s*", "\n", text).strip().lower()


def _last_sentence(text: str) -> str:
    sentences = [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n", text)]
    return next((sentence for sentence in reversed(sentences) if sentence), "")


def _conclusion(sentence: str) -> Answer:
    words = list(_WORD.finditer(sentence))
    if words:
        alike = {m["word"] for m in words}
        return _said(words[-1]) if len(alike) == 1 and not _BOTH.search(sentence) else UNREAD
    negative, positive = _NEGATIVE.search(sentence), _POSITIVE.search(sentence)
    if negative:
        return Answer(label=0, span=negative[0])
    if positive and not re.search(r"\b(?:not|never|neither|nor|unless|if|whether)\b|n't\b|^can\b|\?$", sentence):
        return Answer(label=1, span=positive[0])
    return UNREAD


def _said(match: re.Match[str]) -> Answer:
    return Answer(label=int(match["word"] == "yes"), span=match[0].strip())


def _finite(logprobs: Mapping[str, float]) -> Mapping[str, float]:
    return {name: value for name, value in logprobs.items() if not math.isnan(value)}
