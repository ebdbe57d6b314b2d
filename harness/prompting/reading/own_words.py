"""Stage 1 of reading: take off what is not the reply, which is reasoning and what a base model writes on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from harness.prompting.reading.words import INVISIBLE, compiled

# <think> … </think>, [THINK] … [/THINK], ◁think▷ … ◁/think▷, <seed:think>, <|begin_of_thought|>, <|START_THINKING|>,
# and each of them without its end: "<think" before a blank.
_MARK = (
    r"(?i)(?:</?|\[/?|◁/?|<[|｜]/?)(?P<prefix>(?:begin|start|end)[_▁](?:of[_▁])?|[a-z]{1,12}[:_])?(?:inner|internal|ant)?[_-]?"
    r"(?:«reasoning»|details type=.?reasoning)(?:[_-](?:process|content|trace|steps?))?"
    r"(?:(?:[ \"'][^<>\[\]]{0,80})?(?:[|｜]>|>|\]|▷)|(?=\n|[|｜]?\Z)|(?<!\[)(?<=[a-z])(?= ))"
)
_NAMED_OTHERWISE = (("&lt;", "<"), ("&gt;", ">"), ("<unused94>", "<think>"), ("<unused95>", "</think>"))
_HALF_OPENED = r"(?i)\A\s*(?:[a-z]{1,12}:)?«reasoning»[|｜]?[>\]▷]"
# The channels of gpt-oss (<|channel|>analysis<|message|> … <|channel|>final<|message|>) and Gemma (<|channel>thought …
# <channel|>), whole or in part.
_CHANNEL = (
    r"<(?P<opens>\|?)channel\|?>\s*(?P<name>(?:final|analysis|commentary|«reasoning»)\b)?"
    r"(?:[^<\n]{0,80}(?:<\|constrain\|>\s*\w+\s*)?<\|?message\|?>)?"
)
# A code block of reasoning, and the block in which pages fold it away; either may have been cut off.
_FOLDED = (
    r"(?is)```«reasoning»\s*\n.*?(?:```|\Z)"
    r"|<details[^<>]{0,80}>\s*<summary>[^<>]{0,40}«reasoning»[^<>]{0,40}</summary>.*?(?:</details>|\Z)"
)
# Reasoning under a heading of its own, as far as the line that announces the answer.
_HEADED = r"(?i)\W*«reasoning»[ \t*_]*(?:\.\.\.|:)"
_HEADED_END = (
    r"(?im)^\.\.\.done thinking\.?"
    r"|^\W{0,6}(?=(?:final |my |the )*(?:answer|verdict|conclusion|response|final|output)\b)"
)
# A channel where a server has taken its special tokens off: "analysisWe need … assistantfinalNo", "thought" on a line.
_BARE_CHANNEL = r"\s*(?:(?i:analysis|commentary)(?=[A-Z0-9(\"'<])|(?:analysis|commentary|thought)\n)"
_BARE_FINAL = r"(?i)(?:assistant\s?|(?<=[.!?]))final(?:\s?json)?(?=[\sA-Z0-9*{\"'(\\]|$|\w)"
# What the next turn begins with, at the beginning of a line.
_TURN = (
    r"(?im)^[ \t#*>]*(?:(?:user|human|customer)[ \t*]*:|### ?(?:user|human|instruction|input)\b"
    r"|[\[<]\|?(?:user|human)\|?[\]>])"
)
_NEXT_QUESTION = (
    r"(?im)^[ \t#*>]*(?:(?:next |new )?question|q|instruction|premise|problem|exercise|example)\b[ \t]*\d*[ \t]*"
    r"(?:[*:.]|- |$)"
)
_FIELD = (
    r"(?im)^(?:[ \t#*>]|\(?\d{1,3}[.)])*+(?!\w+ \d+ *:)(?:hypothesis|context|input|task|statement|(?:[a-z-]+ )?question"
    r"|premise|response|student|(?:query|prompt|scenario|passage|sentence|claim|next)(?= *:)|q\d{1,3})\b[^:\n]{0,20}:"
)
"""What a next question may begin with just after an answer; in a chain of thought it may be the question's own."""
_ON_ONE_LINE = r"(?i)\b(yes|no)\b([.!]?) +(?=(?:question|premise|hypothesis|q|user|human) ?\d*:)"
_MOST_QUESTIONS = 8


def own_words(text: str) -> str:
    """Return the part of a reply that its model says to the user: no reasoning, and nothing of the next turn."""
    shown = compiled(rf"\A(?:\s|{INVISIBLE})+").sub("", text)
    return _before_next_turn(compiled(_ON_ONE_LINE).sub("\\1\\2\n", _without_reasoning(shown)))


def next_questions(text: str, next_words: Sequence[str]) -> list[tuple[int, int]]:
    """Return where a base model may have begun to ask itself the next question, if what stands before answers this one.

    With each place, the one from which on the answer has to stand: the beginning, or just the line before.
    `next_words` are what the prompt puts between its fields ("Can we deduct the following:").
    """
    questions = islice(_after_the_first(_NEXT_QUESTION, text), 1)  # those after it are the reply's own
    places = [(place, 0) for place in (*said_again(text, next_words), *questions)]
    fields = list(_after_the_first(_FIELD, text))
    lines = ((field, text[:field].rstrip().rfind("\n") + 1) for field in fields)
    return sorted(places + [(field, line) for field, line in lines if line not in fields])


def said_again(text: str, next_words: Sequence[str]) -> list[int]:
    """Return where lines of a text begin, or nearly, with the prompt's own words; not where the text itself does."""
    if not next_words or "\n" not in text:
        return []
    words = re.compile("|".join(map(re.escape, next_words)), re.IGNORECASE)
    found = (match.start() for match in words.finditer(text, len(text) - len(text.lstrip()) + 1))
    lines = (place for place in found if "\n" in text[max(0, place - 24) : place])
    return list(islice(lines, _MOST_QUESTIONS))


def _after_the_first(pattern: str, text: str) -> Iterator[int]:
    """Yield the first places where a pattern stands in a text, but for the beginning of its words."""
    begins = len(text) - len(text.lstrip())
    places = (found.start() for found in compiled(pattern).finditer(text))
    return islice((place for place in places if place > begins), _MOST_QUESTIONS)


def _without_reasoning(text: str) -> str:
    """Return the text outside reasoning, which ends with the text where it was never closed."""
    for name, plain in _NAMED_OTHERWISE:
        text = text.replace(name, plain)
    text = _final_channel(compiled(_HALF_OPENED).sub("<think>", text))
    if "```" in text or "<details" in text:
        text = compiled(_FOLDED).sub(" ", text)
    if heading := compiled(_HEADED).match(text):
        ends = [end.end() for end in compiled(_HEADED_END).finditer(text) if end.start()]
        text = text[ends[-1] :] if ends else "" if heading[0].endswith("...") else text
    if "<" not in text and "[" not in text and "◁" not in text:
        return text
    kept: list[str] = []
    position, inside = 0, False
    for mark in compiled(_MARK).finditer(text):
        closes = "/" in mark[0][:3] or (mark["prefix"] or "").lower().startswith("end")
        if closes and not inside:
            kept.clear()  # a server, or the prompt, has cut off the mark that opened it
        elif not inside:
            kept.append(text[position : mark.start()])
        inside = not closes
        position = mark.end()
    return " ".join(kept if inside else [*kept, text[position:]])


def _final_channel(text: str) -> str:
    """Return the last final channel; what stands before all channels where the reply never came to it."""
    if "channel" in text and (channels := list(compiled(_CHANNEL).finditer(text))):
        ends = [*(channel.start() for channel in channels[1:]), len(text)]
        finals = [
            text[channel.end() : end]
            for channel, end in zip(channels, ends, strict=True)
            if channel["name"] == "final" or not (channel["opens"] or channel["name"])
        ]
        return finals[-1] if finals else text[: channels[0].start()]
    if text.lstrip()[:10].startswith(("analysis", "commentary", "thought")):
        bare = compiled(_BARE_CHANNEL).match(text)
        ends_of = [*compiled(_BARE_FINAL).finditer(text)] or [*(compiled(_HEADED_END).finditer(text) if bare else ())]
        return text[ends_of[-1].end() :] if ends_of else "" if bare else text
    return text


def _before_next_turn(text: str) -> str:
    """Return what comes before the end-of-text token or the user's turn that the model wrote."""
    if "\n" not in text and "<" not in text and "[" not in text:
        return text
    position = 0
    for mark in compiled("(?i)«end_of_text»").finditer(text):
        if compiled(r"(?!assistant\b)\b\w").search(text, position, mark.start()):
            text = text[: mark.start()]
            break
        position = mark.end()
    return text[: next(_after_the_first(_TURN, text), len(text))]
