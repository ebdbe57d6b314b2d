"""Between a conversation and a local language model's tokens: its chat template, its tokenizer and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from harness.errors import RunStopped
from harness.protocols import as_text
from harness.types import Transcript

CHAT_DATE = date(2024, 7, 26)
"""The date that a chat template gets where it asks for today's (Llama 3 writes it into every prompt)."""
CHARACTERS = 1 << 20
"""How many go to the tokenizer at once: what it notes of their tokens takes a hundred times their room."""


class Turns:
    """Conversations as one model reads them."""

    def __init__(self, tokenizer: Any, path: str, templated: bool | None) -> None:
        """Read with transformers' `tokenizer` of the checkpoint at `path`; `templated` None: if it has a template."""
        self._tokenizer = tokenizer
        self._path = path
        self._templated = bool(tokenizer.chat_template) if templated is None else templated

    def text(self, messages: Transcript) -> tuple[str, bool]:
        """Return the conversation as the model reads it, and whether a chat template made it.

        Raises RunStopped where the template refuses its turns.
        """
        if not self._templated:
            return as_text(messages), False
        turns = [{"role": m.role, "content": m.content} for m in messages]
        try:
            template = _dated(self._tokenizer.get_chat_template())
            text = self._tokenizer.apply_chat_template(
                turns, chat_template=template, tokenize=False, add_generation_prompt=True
            )
        except Exception as error:  # templates raise what they like: no system role, turns that do not alternate
            message = " ".join(str(error).split())[:200]
            raise RunStopped(
                f"the chat template of {self._path} does not take this prompt's turns ({message}): choose a prompt "
                "without a system turn, or model.chat_template=false."
            ) from error
        return text, True

    def tokens(self, texts: list[str], templated: bool) -> Iterator[list[int]]:
        """Yield the tokens of each text. Many go to the tokenizer at once: it splits them in several threads."""
        for batch in by_length(texts):
            for ids in self._tokenizer(batch, add_special_tokens=not templated, verbose=False)["input_ids"]:
                # Some tokenizers close every text with an end token, after which nothing can be continued.
                ended = ids and ids[-1] == self._tokenizer.eos_token_id and not templated
                yield ids[:-1] if ended else ids

    def decode(self, tokens: list[int]) -> str:
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=True)
        return text


def by_length(texts: list[str]) -> Iterator[list[str]]:
    """Yield the texts in lists of at most CHARACTERS, or of a single text."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and size + len(text) > CHARACTERS:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _dated(template: str) -> str:
    """Return a chat template with CHAT_DATE written where it asks for today's date."""
    return re.sub(r"strftime_now\(\s*(['\"])(.*?)\1\s*\)", lambda match: repr(CHAT_DATE.strftime(match[2])), template)
