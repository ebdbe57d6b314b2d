"""Stage 1 of reading: take off what is not the reply, which is reasoning and what a base model writes on."""

from __future__ import annotations

import re
from collections.abc import Sequence

_REASONING = (
    r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|scratch_?pad|reflect(?:ion)?|analysis|cot|inner_?monologue"
    r"|deliberation)"
)
# <think> … </think>, [THINK] … [/THINK], ◁think▷ … ◁/think▷, <seed:think>, <|begin_of_thought|>, <|START_THINKING|>.
_MARK = re.compile(
    rf"(?:</?|\[/?|◁/?|<\|/?)(?P<prefix>begin_of_|start_(?:of_)?|end_(?:of_)?"
    rf"|[a-z]{{1,12}}:)?{_REASONING}(?: [^<>\[\]]{{0,80}})?"
    r"(?:\|>|>|\]|▷)",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s*(?P<channel>\w+)[^<]{0,80}(?:<\|constrain\|>\s*\w+\s*)?<\|message\|>")
# The harmony format where a server has taken its special tokens off: "analysisWe need … assistantfinalNo".
_BARE_CHANNEL = re.compile(r"\s*(?:analysis|commentary)(?=[A-Z0-9(\"'])")
_BARE_FINAL = re.compile(r"assistant\s?final(?:\s?json)?", re.IGNORECASE)
# Tokens after which a model writes for somebody else, written out as text.
_END = re.compile(
    r"<\|(?:endoftext|im_end|eot_id|eom_id|end|return|end_of_text|end_of_turn|eos|endofprompt|END_OF_TURN_TOKEN"
    r"|im_start)\|>"
    r"|</s>|<eos>|<end_of_turn>|<start_of_turn>user|<｜end▁of▁sentence｜>|<｜User｜>|<end_of_utterance>|\[/?INST\]"
)
# What the next turn begins with, at the beginning of a line.
_TURN = re.compile(
    r"^[ \t#*>]*(?:(?:user|human|customer)[ \t*]*:|### ?(?:user|human|instruction|input)\b|\[user\])",
    re.IGNORECASE | re.MULTILINE,
)
_QUESTION = re.compile(
    r"^[ \t#*>]*(?:question|q|instruction|premise|problem|exercise|example)\b[ \t]*\d*[ \t]*(?:[*:.]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS = re.compile(r"(?!assistant\b)\b\w")
_VERDICT = re.compile(r"\b(?:yes|no|true|false)\b|(?:valid|entailed|follow|holds?|deduc\w*|conclude)\b", re.IGNORECASE)


def own_words(text: str, next_words: Sequence[str] = ()) -> str:
    """Return the part of a reply that its model says to the user.

    `next_words` are what the prompt puts between its fields ("Can we deduct the following:"): a reply that has given a
    verdict and then says them asks itself the next question.
    """
    return _before_next_question(_without_reasoning(text), next_words)


def _without_reasoning(text: str) -> str:
    """Return the text outside reasoning, which ends with the text where it was never closed."""
    text = _final_channel(text)
    if "<" not in text and "[" not in text and "◁" not in text:
        return text
    kept: list[str] = []
    position, inside = 0, False
    for mark in _MARK.finditer(text):
        closes = "/" in mark[0][:3] or (mark["prefix"] or "").lower().startswith("end")
        if closes and not inside:
            kept.clear()  # a server, or the prompt, has cut off the mark that opened it
        elif not inside:
            kept.append(text[position : mark.start()])
        inside = not closes
        position = mark.end()
    if not inside:
        kept.append(text[position:])
    return " ".join(kept)


def _final_channel(text: str) -> str:
    """Return the final channel of the harmony format; nothing where the reply never came to it."""
    if "<|channel|>" in text:
        channels = list(_CHANNEL.finditer(text))
        finals = [k for k, channel in enumerate(channels) if channel["channel"] == "final"]
        if finals:
            return text[channels[finals[-1]].end() :]
        return text[: channels[0].start()] if channels else ""
    if _BARE_CHANNEL.match(text):
        *_, final = [None, *_BARE_FINAL.finditer(text)]
        return text[final.end() :] if final else ""
    return text


def _before_next_question(text: str, next_words: Sequence[str]) -> str:
    """Return what comes before the end-of-text token, the user's turn or the next question that the model wrote."""
    if "\n" not in text and "<" not in text and "[" not in text:
        return text
    position = 0
    for mark in _END.finditer(text):
        if _WORDS.search(text, position, mark.start()):
            text = text[: mark.start()]
            break
        position = mark.end()
    begins = len(text) - len(text.lstrip())
    turn = next((turn.start() for turn in _TURN.finditer(text) if turn.start() > begins), len(text))
    text = text[:turn]
    verdict = _VERDICT.search(text)
    if verdict is None:
        return text
    ends = [found for words in next_words if (found := text.find(words, verdict.end())) >= 0 and _own(text, found)]
    # A chain of thought may ask itself questions all along; a reply that restates its question begins with it.
    question = next((question.start() for question in _QUESTION.finditer(text) if question.start() > begins), 0)
    if verdict.end() <= question:
        ends.append(question)
    return text[: min(ends)] if ends else text


def _own(text: str, position: int) -> bool:
    """Return whether a line begins at the position, where a next question would."""
    return text[max(0, position - 24) : position].rpartition("\n")[1] == "\n"
