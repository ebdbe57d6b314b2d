"""The items of a task as JSON lines, for anybody's own tools: harness items task=… out=items.jsonl"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring
from operator import length_hint

from omegaconf import DictConfig

from harness.cli import hydra_app
from harness.codec import text_digest
from harness.protocols import Task
from harness.runtime import signals
from harness.runtime.progress import Progress
from harness.settings import build, plain
from harness.storage.atomic_write import atomic_file, check
from harness.tasks.check import CheckedItems
from harness.types import JSON, Item


def as_json(item: Item, headline: str, seen_digests: set[str]) -> dict[str, JSON]:
    """Return an item as one flat object: id, its fields, the headline label, all labels, groups, cluster, unit.

    A list of long texts (a network's data) is in full with the first item that has it; later ones have each text's
    SHA-256. `seen_digests` holds those that have been written, and is updated.
    """
    return {
        "id": item.id,
        **{
            name: _long_texts(value, seen_digests) if isinstance(value, tuple) else value
            for name, value in item.fields.items()
        },
        "label": item.labels[headline],
        "labels": dict(item.labels),
        "groups": dict(item.groups),
        "cluster": item.cluster,
        **({"unit": item.unit} if item.unit else {}),
    }


def job(config: DictConfig) -> int:
    """Write the items of the config's task to its `out`; return the exit code."""
    check(str(config.out))
    task: Task = build(plain(config.task), "task")
    progress, items = Progress(f"items of {task.name}"), CheckedItems(task)
    seen_digests: set[str] = set()
    length_hint(items)  # fails, if at all, before a file is touched
    with atomic_file(str(config.out)) as file:
        encode = Encoder()
        for item in progress.watch(items, items):
            file.write(encode(as_json(item, task.headline, seen_digests)))
    if config.out != "-":
        progress.say(f"{progress.done:,} items of {task.name} in {config.out}")
    return 0


def _long_texts(value: tuple[str, ...], seen_digests: set[str]) -> JSON:
    texts = [{"sha256": name} if (name := text_digest(text)) in seen_digests else text for text in value]
    seen_digests.update(map(text_digest, value))
    return texts


def main() -> None:
    signals.at_once("interrupted: out= is only ever written as a whole.")
    signals.leave(hydra_app.launch(job, "items"))


LONG = 200
"""Characters from which on it pays to look for a text inside another."""

_encode = json.JSONEncoder(ensure_ascii=False).encode


class Encoder:
    """Encodes mappings with string keys as json.dumps(…, ensure_ascii=False) does, byte for byte."""

    def __init__(self) -> None:
        # The last long text that was new, how it begins, and what stands between its quotes.
        self._long, self._head, self._inside = "", "", ""

    def __call__(self, row: Mapping[str, JSON]) -> str:
        """Return the line of a row, with its newline."""
        parts = _form(tuple(row)).copy()
        parts[1::2] = [
            encode_basestring(value) if type(value) is str and len(value) < LONG else self._value(value)
            for value in row.values()
        ]
        return "".join(parts)

    def _value(self, value: JSON) -> str:
        if type(value) is str:
            return self._text(value)
        if type(value) is int:
            return str(value)
        return self(value)[:-1] if type(value) is dict else _encode(value)

    def _text(self, text: str) -> str:
        if text == self._long:
            return f'"{self._inside}"'
        at = text.find(self._head) if self._long else -1
        if at < 0 or not text.startswith(self._long, at):
            self._long, self._head, self._inside = text, text[:LONG], encode_basestring(text)[1:-1]
            return f'"{self._inside}"'
        before, after = text[:at], text[at + len(self._long) :]
        return f"{encode_basestring(before)[:-1]}{self._inside}{encode_basestring(after)[1:]}"


@lru_cache(maxsize=64)
def _form(keys: tuple[str, ...]) -> list[str]:
    """Return a line as a list of parts; every second part is a placeholder for a value."""
    parts = ["{"]
    for key in keys:
        parts[-1] += f"{encode_basestring(key)}: "
        parts += ["", ", "]
    return [*parts[:-1], "}\n"] if keys else ["{}\n"]


if __name__ == "__main__":
    main()
