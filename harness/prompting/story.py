"""Reading a natural story: premise, hypothesis and explanation under the headings that its prompt asks for."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from harness.prompting.reading.own_words import own_words
from harness.types import Answer, Response


class Story(NamedTuple):
    """What a reply tells."""

    premise: str
    hypothesis: str
    explanation: str


_HEADING = re.compile(
    r"^[ \t>#*_\d.)-]*(?P<name>premises?|hypothesis|relation(?:ship)? between (?:the )?(?:pro|pre)mise and (?:the )?"
    r"hypothesis|explanation|relation(?:ship)?)[ \t*_]*:[ \t.*_]*",
    re.IGNORECASE | re.MULTILINE,
)


def story(response: Response) -> Answer:
    """Return 1 with the three parts as JSON (`story_in` reads them again); None where one is missing or was cut off."""
    text = own_words(response.text)
    marks = list(_HEADING.finditer(text))
    parts: dict[str, str] = {}
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        name = mark["name"].lower()
        part = "premise" if name.startswith("premise") else "hypothesis" if name == "hypothesis" else "explanation"
        words = " ".join(text[mark.end() : following.start() if following else len(text)].split()).strip(" *_#-")
        parts.setdefault(part, words)
    if response.finish_reason == "length" or not all(parts.get(part) for part in Story._fields):
        return Answer(label=None)
    return Answer(label=1, span=json.dumps(parts, ensure_ascii=False, sort_keys=True), rule="a story")


def story_in(answer: Answer | None) -> Story | None:
    """Return the story of an answer; None where none was read."""
    if answer is None or not answer.label:
        return None
    return Story(**json.loads(answer.span))
