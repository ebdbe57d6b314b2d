"""Response into answer. What cannot be read is None, never "No"; a wrong reading is worse than None."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from harness.types import Answer, Response

UNREAD = Answer(label=None)

# "No" also begins "No variable …", so what follows must end the verdict or explain it. "Yes" has no second life.
_NO = (
    r"no(?=\s*$|\s*[.,;:!?(){}\[\]<|…–—\n]|\s*-+(?:\s|$)"
    r"|\s+(?:because|since|as|we|it|this|that|you|i|the|there|in|for|under|based|given)\b)"
)
_YES_NO = rf"(?P<word>yes\b|{_NO})"
# Where an answer is announced: "Answer: no", "The final answer is yes", a heading "Answer", "\boxed{Yes}".
_ANNOUNCED = re.compile(
    r"(?:\b(?:answer|verdict|conclusion)(?:\s+to\s+(?:the|this|your)\s+question)?"
    r"(?:\s*[:=–—-]+| *\n|\s+(?:is|would\s+be|should\s+be|must\s+be|remains)\b)"
    r"(?:\s*(?:therefore|thus|then|simply|clearly|a|an|definitely|indeed|that)\b)*[\s:,]*"
    r"|\\boxed\s*\{\s*(?:\\text\s*\{)?)" + _YES_NO
)
_LEADING = re.compile(
    r"[^\w\\]*(?:(?:answer|assistant|response|reply|so|therefore|thus|hence|well|ok|okay|sure)\s*[:,]\s*)*" + _YES_NO
)
_WORD = re.compile(r"(?<![\w-])(?P<word>yes\b|no(?=\s*$|\s*[.,;:!?)]))")
# Both words side by side are a question or an evasion, on one line ("yes or answer: no") or in a row ("Yes.\nNo.").
_BOTH = re.compile(
    r"\byes *-?,? *(?:and|or|but also|/|&|\|) *-?(?:(?:a|also|answer:) )? *no\b|\byes\W+"
    + _NO
    + r"|\bno *-?,? *(?:and|or|but also|/|&|\|) *-?(?:(?:a|also|answer:) )? *yes\b|\bno\W+yes\b"
)
# Around a verdict that is only supposed: "if the answer is yes", "not a clear yes", "yes, but only if …".
_SUPPOSED = re.compile(
    r"(?:\b(?:if|whether|unless|not|cannot|either|neither)|n't)"
    r"(?: \w+)?(?: (?:a|an|the|your|my|final|correct|then|simply|clear|definite|say|be|answer|with))* ?\Z"
)
_CONDITION = re.compile(r",? *(?:but )?(?:only )?(?:if|unless|provided)\b")
# What a last sentence concludes without the words yes and no.
_CONCLUDE = r"(?:deduced?|deduct(?:ed)?|inferr?(?:ed)?|concluded?)\b"
_THESIS = r"\b(?:hypothesis|statement|claim|conclusion)\s+"
_POSITIVE = re.compile(
    r"\b(?:can|could)\s+(?:(?:be|thus|therefore|indeed)\s+)*"
    + _CONCLUDE
    + r"|"
    + _THESIS
    + r"(?:is|must\s+be|does)\s+(?:(?:therefore|thus|indeed)\s+)*(?:valid|true|correct|follow|hold)\b"
    + r"|"
    + _THESIS
    + r"(?:follows|holds)\b"
)
_NEGATIVE = re.compile(
    r"\b(?:cannot|can\s*not|can't|could\s+not|couldn't|(?:not\s+|im)possible\s+to)\s+(?:\w+\s+){0,3}?"
    + _CONCLUDE
    + r"|"
    + _THESIS
    + r"(?:isn't|(?:is|must\s+be)\s+(?:(?:therefore|thus)\s+)*not)\s+(?:necessarily\s+)?"
    r"(?:valid|true|correct|supported)\b"
    + r"|"
    + _THESIS
    + r"(?:is|must\s+be)\s+(?:(?:therefore|thus)\s+)*(?:invalid|false|incorrect)\b"
    + r"|"
    + _THESIS
    + r"(?:does\s+not|doesn't)\s+(?:necessarily\s+)?(?:follow|hold)\b"
)
_DENIAL = re.compile(
    r"\b(?:no|not|never|neither|nor|none|nothing|cannot|impossible|unable|insufficient|un(?:clear|certain|likely)"
    r"|false|invalid|incorrect)\b|n't\b"
)
# "We can conclude that …" on a condition, or something weaker than what a causal hypothesis says.
_IF = re.compile(r"\b(?:if|whether|unless)\b")
_WEAKER = re.compile(
    r"\b(?:only|may|might|possibl[ey]|potential(?:ly)?|likely"
    r"|correlat\w+|associat\w+|(?:in)?dependen\w+)\b"
)


def verdict(response: Response) -> Answer:
    """Yes or No from free text: short replies and chains of thought that end in a verdict.

    In this order: the last answer that is announced as one ("Answer: no"); a verdict at the very beginning;
    a verdict in the last sentence, in the words yes and no or in a sentence such as "the hypothesis is not
    valid". Where a reply was cut off at its token limit, the last sentence is not what it would have ended
    with and is not read. Reasoning between <think> tags is not part of the reply, and neither is the next
    question that a base model goes on to ask itself.
    """
    return _verdict(response.text, response.finish_reason == "length")


@lru_cache(maxsize=1024)  # thousands of replies are one word
def _verdict(reply: str, cut_off: bool) -> Answer:
    text = _plain(reply)
    leading = _LEADING.match(text)
    if leading:
        text = re.split(r"\n(?:question|q)\b[ \d]*:", text)[0]
    announced = [found for found in _ANNOUNCED.finditer(text) if _meant(text, found)]
    if announced:
        return _said(announced[-1])
    if leading:
        return _said(leading) if _meant(text, leading) else UNREAD
    if denied := re.match(r"not necessarily\b", text):  # the question is what follows of necessity
        return Answer(label=0, span=denied[0])
    if cut_off:
        return UNREAD
    return _conclusion(_last_sentence(text))


def choice(response: Response, choices: Sequence[str]) -> Answer:
    """The likelier of the choices (the first says Yes); its probability is normalised over the choices."""
    logprobs = response.logprobs or {}
    if not _complete(logprobs, choices):
        return UNREAD
    top = max(logprobs[c] for c in choices)
    weights = [math.exp(logprobs[c] - top) for c in choices]
    best = [c for c in choices if logprobs[c] == top]
    label = int(best[0] == choices[0]) if len(best) == 1 else None  # a tie, which low precision makes, decides nothing
    return Answer(label, probability=weights[0] / sum(weights), span=" = ".join(best))


def entailment(response: Response) -> Answer:
    """Yes iff entailment is the likeliest class; neutral and contradiction are No (Jin et al.'s code)."""
    logprobs = response.logprobs or {}
    if "entailment" not in logprobs or not _complete(logprobs, list(logprobs)):
        return UNREAD
    others = max((name for name in logprobs if name != "entailment"), key=lambda name: logprobs[name])
    entailed = logprobs["entailment"] > logprobs[others]
    probability = min(1.0, math.exp(logprobs["entailment"]))
    return Answer(label=int(entailed), probability=probability, span="entailment" if entailed else others)


def _plain(text: str) -> str:
    """Lower case, without reasoning, Markdown emphasis, quotation marks and extra spaces."""
    text = re.sub(r"<think>.*?(?:</think>|$)", " ", text, flags=re.DOTALL | re.IGNORECASE)
    text = text.rpartition("</think>")[2]  # servers that cut off the opening tag
    text = re.sub(r"[*_`#>\"“”„«»]|(?<!\w)['‘’]|['‘’](?!\w)", " ", text.replace("’", "'"))
    text = re.sub(r"[ \t\r\f\v]+", " ", text)
    return re.sub(r"\s*\n\s*", "\n", text).strip().lower()


def _last_sentence(text: str) -> str:
    sentences = [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n", text)]
    return next((sentence for sentence in reversed(sentences) if re.search(r"\w", sentence)), "")


def _conclusion(sentence: str) -> Answer:
    if sentence.endswith("?"):
        return UNREAD
    if words := list(_WORD.finditer(sentence)):
        alike = len({m["word"] for m in words}) == 1 and all(_meant(sentence, m) for m in words)
        return _said(words[-1]) if alike else UNREAD
    for label, pattern in ((0, _NEGATIVE), (1, _POSITIVE)):
        if found := pattern.search(sentence):
            before = re.split(r"[,;:]|\b(?:so|and|but|thus|therefore|hence)\b", sentence[: found.start()])[-1]
            after = sentence[found.end() :]
            if label == 0:  # "…, because A and B are not adjacent" gives the reason, it does not take it back
                after = re.split(r"[,;]|\b(?:because|since|as|given|from|based)\b", after)[0]
            weaker = label == 1 and (_IF.search(sentence) or _WEAKER.search(after))
            if weaker or _DENIAL.search(before) or _DENIAL.search(after):
                return UNREAD
            return Answer(label=label, span=found[0])
    return UNREAD


def _meant(text: str, found: re.Match[str]) -> bool:
    """Whether the verdict found is given, not just mentioned."""
    if _SUPPOSED.search(text[max(0, found.start() - 80) : found.start()]) or _CONDITION.match(text, found.end()):
        return False
    return not any(both.start() <= found.start("word") < both.end() for both in _BOTH.finditer(text))


def _said(match: re.Match[str]) -> Answer:
    return Answer(label=int(match["word"] == "yes"), span=match[0].strip())


def _complete(logprobs: Mapping[str, float], names: Sequence[str]) -> bool:
    """Whether there is something to compare: two numbers or more, not all of them minus infinity."""
    values = [logprobs.get(name, math.nan) for name in names]
    return len(values) > 1 and not any(map(math.isnan, values)) and math.isfinite(max(values))
