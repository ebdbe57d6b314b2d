"""Examples as lines of a training file: what the adapter will ask, with the right answer after it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.errors import ConfigError, DataError
from harness.models.api.endpoint import Endpoint
from harness.models.api.token_bound import tokens_about
from harness.plugins.train.examples import Example
from harness.plugins.train.hosted.recipe import HostedRecipe
from harness.prompting.prompts import Prompt
from harness.types import JSON, ChoiceRequest

_AROUND = 4
"""Tokens that a server puts around a message."""


@dataclass(frozen=True)
class Summary:
    """What a training file holds."""

    rows: int
    bytes: int
    tokens: int
    """About how many, in one pass."""
    longest: int
    """About how many tokens the longest row has."""
    sha256: str

    def as_json(self) -> dict[str, JSON]:
        """Return it for training.json."""
        tokens = {"about_tokens": self.tokens, "about_longest_row": self.longest}
        return {"rows": self.rows, "bytes": self.bytes, **tokens, "sha256": self.sha256}


@dataclass(frozen=True)
class Rows:
    """The lines of one file, made anew each time that they are read."""

    examples: Sequence[Example]
    prompt: Prompt
    recipe: HostedRecipe

    def __iter__(self) -> Iterator[str]:
        """Yield each line, with its end. Raises DataError."""
        return (line for _, line in self._lines())

    def _lines(self) -> Iterator[tuple[dict[str, Any], str]]:
        endpoint = self.recipe.endpoint
        for example in self.examples:
            row = row_of(example, self.prompt, endpoint)
            check_row(row)
            yield row, json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"

    def summary(self) -> Summary:
        """Return what the file holds. Raises ConfigError where it is more, or less, than the server takes."""
        digest, count, size, tokens, longest = hashlib.sha256(), 0, 0, 0, 0
        for row, line in self._lines():
            content = line.encode()
            digest.update(content)
            here = sum(tokens_about(text) + _AROUND for text in _texts(row))
            count, size, tokens, longest = count + 1, size + len(content), tokens + here, max(longest, here)
        summary = Summary(count, size, tokens, longest, digest.hexdigest())
        _check_size(summary, self.recipe)
        return summary


def check_prompt(prompt: Prompt) -> None:
    """Refuse a prompt whose answer is not one of its choices. Raises ConfigError."""
    if ChoiceRequest not in prompt.makes or prompt.words.choices_from is not None or prompt.words.opening:
        raise ConfigError(
            f"prompt={prompt.name} asks for more than Yes or No, and the items have no other answer to learn: use one "
            "that a model can rank too, such as prompt=plain or prompt=system."
        )


def row_of(example: Example, prompt: Prompt, endpoint: Endpoint) -> dict[str, Any]:
    """Return the row of an example. Turns of the assistant before its answer, those of a few-shot prompt, weigh 0.

    Of a model without turns it is the text and what follows it, which begins with a space, as OpenAI has always asked.
    """
    _, body = endpoint.call(example.request)
    yes, no, *maybe = prompt.choices(example.fields)
    answer = yes if example.label else maybe[0] if maybe and not example.refuted else no
    if "prompt" in body:
        return {"prompt": body["prompt"], "completion": f" {answer}"}
    sent: Any = body["messages"]
    turns = [turn | ({"weight": 0} if turn["role"] == "assistant" else {}) for turn in sent]
    return {"messages": [*turns, {"role": "assistant", "content": answer}]}


def check_row(row: dict[str, Any]) -> None:
    """Refuse a row that no server takes: a turn without words, or in an order that is no conversation's.

    Raises DataError.
    """
    if not all(text.strip() for text in _texts(row)):
        raise DataError(f"a row has a text without words: {json.dumps(row)[:200]}")
    turns = row.get("messages", ())
    roles = [turn["role"] for turn in turns]
    spoken = roles[1:] if roles[:1] == ["system"] else roles
    alternate = spoken == ["user", "assistant"] * (len(spoken) // 2) and spoken
    if turns and not alternate:
        raise DataError(
            f"a row has turns of {', '.join(roles)}: a server takes one of the system, then user and assistant in turn."
        )


def _texts(row: dict[str, Any]) -> list[str]:
    return [turn["content"] for turn in row["messages"]] if "messages" in row else [*row.values()]


def _check_size(summary: Summary, recipe: HostedRecipe) -> None:
    """Refuse a file that the server would not take. Raises ConfigError with the way out."""
    if summary.rows < recipe.fewest_rows:
        raise ConfigError(
            f"the training file has {summary.rows} rows, and the server takes {recipe.fewest_rows} at least "
            "(recipe.fewest_rows): choose more items (task.limit, task.relations, task.num_nodes)."
        )
    if summary.longest > recipe.row_tokens:
        raise ConfigError(
            f"the longest row has about {summary.longest:,} tokens, and the server takes {recipe.row_tokens:,} at most "
            "(recipe.row_tokens): task.num_nodes=[4,5] takes short premises."
        )
    if summary.bytes > recipe.megabytes * 1e6:
        raise ConfigError(
            f"the training file would have {summary.bytes / 1e6:,.0f} MB, and the server takes {recipe.megabytes:g} at "
            "most (recipe.megabytes): task.limit=100000 takes a sample."
        )
