"""What a judge is asked about a reply, and what its own reply says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from harness.config_files import PROMPTS
from harness.prompting import prompts
from harness.prompting.prompts import Prompt
from harness.prompting.schema import read
from harness.types import JSON, Answer, ChatRequest, Failure, Response

PROMPT = "reply"
"""The prompt of judges: a file of prompts/judge/."""
RULE = "judge"
"""The rule that an answer names which a judge has read."""
END = 20_000
"""Characters at either end of a reply that a judge is shown: a verdict stands at one of them."""
_WORDS: Mapping[str, int | None] = {"yes": 1, "no": 0, "unreadable": None}
_AROUND = " \t\r\n.\"'`*"
_NAMES = ("statement", "hypothesis", "question")
"""Fields of an item that say what it asks, the plainest first."""


@cache
def prompt() -> Prompt:
    """Return the prompt that ships with harness: a folder of the working directory is not looked into."""
    where = PROMPTS / "judge" / f"{PROMPT}.yaml"
    return Prompt(PROMPT, where, read(where))


def recorded(words: Mapping[str, JSON]) -> Prompt:
    """Return the prompt whose words a manifest holds. Raises ConfigError where they make none."""
    return prompts.recorded(PROMPT, words, ())


def statement(fields: Mapping[str, JSON]) -> str:
    """Return what an item asks about, in its own words: every field of it where none is known to say that."""
    for name in _NAMES:
        if value := fields.get(name):
            return str(value)
    return "\n".join(value for value in fields.values() if isinstance(value, str))


def question(words: Prompt, statement: str, reply: str) -> ChatRequest:
    """Return what a judge is asked. The gold label is no part of it."""
    if len(reply) > 2 * END:
        reply = f"{reply[:END]}\n[… {len(reply) - 2 * END:,} characters left out …]\n{reply[-END:]}"
    request = words.render({"statement": statement, "reply": reply}, (), ChatRequest)
    assert isinstance(request, ChatRequest)
    return request


def reading(outcome: Response | Failure) -> Answer:
    """Return the answer that a judge has read: its one word, and no label for anything else."""
    if isinstance(outcome, Failure):
        return Answer(label=None)
    word = outcome.text.rpartition("</think>")[2].strip(_AROUND).casefold()
    return Answer(label=_WORDS.get(word), span=outcome.text, rule=RULE)
