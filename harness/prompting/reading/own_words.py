"""Stage 1 of reading: take off what is not the reply, which is reasoning and what a base model writes on."""

from __future__ import annotations

import re
from collections.abc import Sequence

_REASONING = (
    r"(?:(?:inner|internal)?[_-]?(?:think(?:ing)?|thoughts?|reason(?:ing)?|monologue)|chain[_-]of[_-]thought"
    r"|scratch_?pad|reflect(?:ion)?|analysis|cot|deliberation|details type=.?reasoning)(?:[_-](?:process"
    r"|content|trace|steps?))?"
)
# <think> … </think>, [THINK] … [/THINK], ◁think▷ … ◁/think▷, <seed:think>, <|begin_of_thought|>, <|START_THINKING|>.
_MARK = re.compile(
    rf"(?:</?|\[/?|◁/?|<[|｜]/?)(?P<prefix>(?:begin|start|end)[_▁](?:of[_▁])?"
    rf"|[a-z]{{1,12}}:)?{_REASONING}(?:[ \"'][^<>\[\]]{{0,80}})?"
    r"(?:[|｜]>|>|\]|▷)",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s*(?P<channel>\w+)[^<]{0,80}(?:<\|constrain\|>\s*\w+\s*)?<\|message\|>")
# A code block of reasoning, and the block in which pages fold it away; either may have been cut off.
_FOLDED = re.compile(
    r"```(?:think(?:ing)?|thoughts?|reasoning)\s*\n.*?(?:```|\Z)"
    r"|<details[^<>]{0,80}>\s*<summary>[^<>]{0,40}(?:reason|thought|think)[^<>]{0,40}</summary>.*?(?:</details>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
# Reasoning under a heading of its own, as far as the line that announces the answer.
_HEADED = re.compile(
    r"\W*(?:thinking|thoughts?|reasoning|scratch_?pad|analysis|thought process"
    r"|chain of thought)[ \t*_]*(?:\.\.\.|:)",
    re.IGNORECASE,
)
_HEADED_END = re.compile(
    r"^\.\.\.done thinking\.?|^\W{0,6}(?=(?:final |my |the )*(?:answer|verdict|conclusion|response|final|output)\b)",
    re.IGNORECASE | re.MULTILINE,
)
# The harmony format where a server has taken its special tokens off: "analysisWe need … assistantfinalNo".
_BARE_CHANNEL = re.compile(r"\s*(?:analysis|commentary)(?=[A-Z0-9(\"'])")
_BARE_FINAL = re.compile(r"(?:assistant\s?|(?<=[.!?]))final(?:\s?json)?(?=[\sA-Z0-9*{\"'(\\]|$|\w)", re.IGNORECASE)
# Tokens after which a model writes for somebody else, written out as text.
_END = re.compile(
    r"<\|(?:endoftext|im_end|eot_id|eom_id|end|return|end_of_text|end_of_turn|eos|endofprompt|END_OF_TURN_TOKEN"
    r"|im_start)\|>"
    r"|<\|start_header_id\|>\s?user|</s>|<eos>|<end_of_turn>|<start_of_turn>user|<｜end▁of▁sentence｜>|<｜User｜>"
    r"|<end_of_utterance>|\[/?INST\]"
)
_TEMPLATE = re.compile(r"\A\s*\[/INST\]")
# What the next turn begins with, at the beginning of a line.
_TURN = re.compile(
    r"^[ \t#*>]*(?:(?:user|human|customer)[ \t*]*:|### ?(?:user|human|instruction|input)\b|[\[<]\|?(?:user"
    r"|human)\|?[\]>])",
    re.IGNORECASE | re.MULTILINE,
)
NEXT_QUESTION = re.compile(
    r"^[ \t#*>]*(?:(?:next )?question|q|instruction|premise|problem|exercise|example)\b[ \t]*\d*[ \t]*(?:[*:.]|$)",
    re.IGNORECASE | re.MULTILINE,
)
# What a next question may begin with just after an answer; in a chain of thought it may be the question's own.
_FIELD = re.compile(
    r"(?P<answer>^\W*+(?:(?:the |my )?(?:final |correct )?answer(?: is)?\W++)?(?:yes|no|true|false)\b[^\w\n]*+)\n\s*+"
    r"(?:[ \t#*>]|\d{1,3}[.)])*+(?:hypothesis|context|input|task|statement|question|premise|response|student"
    r"|q\d{1,3})\b[^:\n]{0,20}:",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBERED = re.compile(r"\W*q\d", re.IGNORECASE)
_WORDS = re.compile(r"(?!assistant\b)\b\w")
_COMPLETE = re.compile(
    r"\A\W*+(?:yes|no|true|false)\b"
    r"|^[^\w\n]*+(?:so |therefore,? |thus,? |hence,? )?(?:the |my )?(?:final |correct )?(?:answer|verdict|conclusion)\b"
    r"(?: is)?\W{0,8}(?:yes|no|true|false)\b"
    r"|^[^\w\n]*+(?:so|therefore|thus|hence),? (?:yes|no)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""An answer that is one by itself: the first word, an announced one, or a conclusion."""


def own_words(text: str, next_words: Sequence[str] = ()) -> str:
    """Return the part of a reply that its model says to the user.

    `next_words` are what the prompt puts between its fields ("Can we deduct the following:"): a reply that has given a
    verdict and then says them asks itself the next question.
    """
    return _before_next_question(_without_reasoning(text), next_words)


def _without_reasoning(text: str) -> str:
    """Return the text outside reasoning, which ends with the text where it was never closed."""
    text = _final_channel(text)
    if "```" in text or "<details" in text:
        text = _FOLDED.sub(" ", text)
    if _HEADED.match(text):
        ends = [end.end() for end in _HEADED_END.finditer(text) if end.start()]
        text = text[ends[-1] :] if ends else text
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
    if text.lstrip()[:10].startswith(("analysis", "commentary")):
        *_, final = [None, *_BARE_FINAL.finditer(text)]
        return text[final.end() :] if final else "" if _BARE_CHANNEL.match(text) else text
    return text


def _before_next_question(text: str, next_words: Sequence[str]) -> str:
    """Return what comes before the end-of-text token, the user's turn or the next question that the model wrote."""
    if "\n" not in text and "<" not in text and "[" not in text:
        return text
    text, position = _TEMPLATE.sub("", text), 0
    for mark in _END.finditer(text):
        if _WORDS.search(text, position, mark.start()):
            text = text[: mark.start()]
            break
        position = mark.end()
    begins = len(text) - len(text.lstrip())
    turn = next((turn.start() for turn in _TURN.finditer(text) if turn.start() > begins), len(text))
    text = text[:turn]
    verdict = _COMPLETE.search(text)
    if verdict is None:
        return text
    ends = [found for words in next_words if (found := text.find(words, verdict.end())) >= 0 and _own(text, found)]
    # A chain of thought may ask itself questions all along; a reply that restates its question begins with it.
    question = next((question.start() for question in NEXT_QUESTION.finditer(text) if question.start() > begins), 0)
    if verdict.end() <= question:
        ends.append(question)
    if not _NUMBERED.match(text) and (field := _FIELD.search(text)) is not None:
        ends.append(field.end("answer"))
    return text[: min(ends)] if ends else text


def _own(text: str, position: int) -> bool:
    """Return whether a line begins at the position, where a next question would."""
    return text[max(0, position - 24) : position].rpartition("\n")[1] == "\n"
