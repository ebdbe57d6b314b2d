"""Stage 1 of reading: take off what is not the reply, which is reasoning and what a base model writes on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

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
    r"|im_start)\|>|<\|start_header_id\|>\s?user|</s>|<eos>|<end_of_turn>|<start_of_turn>user|<｜end▁of▁sentence｜>"
    r"|<｜User｜>|<end_of_utterance>|\[/?INST\]",
    re.IGNORECASE,
)
# What the next turn begins with, at the beginning of a line.
_TURN = re.compile(
    r"^[ \t#*>]*(?:(?:user|human|customer)[ \t*]*:|### ?(?:user|human|instruction|input)\b|[\[<]\|?(?:user"
    r"|human)\|?[\]>])",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_QUESTION = re.compile(
    r"^[ \t#*>]*(?:(?:next )?question|q|instruction|premise|problem|exercise|example)\b[ \t]*\d*[ \t]*(?:[*:.]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS = re.compile(r"(?!assistant\b)\b\w")
_FIELD = re.compile(
    r"^(?:[ \t#*>]|\d{1,3}[.)])*+(?:hypothesis|context|input|task|statement|question|premise|response|student|q\d{1,3})"
    r"\b[^:\n]{0,20}:",
    re.IGNORECASE | re.MULTILINE,
)
"""What a next question may begin with just after an answer; in a chain of thought it may be the question's own."""
_MOST_QUESTIONS = 8


def own_words(text: str) -> str:
    """Return the part of a reply that its model says to the user: no reasoning, and nothing of the next turn."""
    return _before_next_turn(_without_reasoning(text))


def next_questions(text: str, next_words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where a base model may have begun to ask itself the next question, if what stands before answers this one.

    With each place, the one from which on the answer has to stand: the beginning, or just the line before.
    `next_words` are what the prompt puts between its fields ("Can we deduct the following:").
    """
    begins = len(text) - len(text.lstrip())
    places = [(found, 0) for found in said_again(text, next_words)]
    questions = (question.start() for question in _NEXT_QUESTION.finditer(text) if question.start() > begins)
    places += [(question, 0) for question in islice(questions, _MOST_QUESTIONS)]
    fields = islice(_FIELD.finditer(text), _MOST_QUESTIONS)
    places += [(field.start(), text[: field.start()].rstrip().rfind("\n") + 1) for field in fields if field.start()]
    yield from sorted(places)


def said_again(text: str, next_words: Sequence[str]) -> list[int]:
    """Return where lines of a text begin, or nearly, with the prompt's own words; not where the text itself does."""
    if not next_words or "\n" not in text:
        return []
    words = re.compile("|".join(map(re.escape, next_words)), re.IGNORECASE)
    found = (match.start() for match in words.finditer(text, len(text) - len(text.lstrip()) + 1))
    return list(islice((place for place in found if _begins_line(text, place)), _MOST_QUESTIONS))


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


def _before_next_turn(text: str) -> str:
    """Return what comes before the end-of-text token or the user's turn that the model wrote."""
    if "\n" not in text and "<" not in text and "[" not in text:
        return text
    position = 0
    for mark in _END.finditer(text):
        if _WORDS.search(text, position, mark.start()):
            text = text[: mark.start()]
            break
        position = mark.end()
    begins = len(text) - len(text.lstrip())
    return text[: next((turn.start() for turn in _TURN.finditer(text) if turn.start() > begins), len(text))]


def _begins_line(text: str, position: int) -> bool:
    """Return whether a line begins at the position, or just before it, where a next question would."""
    return text[max(0, position - 24) : position].rpartition("\n")[1] == "\n"
