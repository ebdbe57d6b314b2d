"""The items of a task as JSON lines, for anybody's own tools: harness items task=… out=items.jsonl"""

from __future__ import annotations

from collections.abc import Mapping
from operator import length_hint
from typing import Any

import msgspec

from harness.cli import hydra_app
from harness.codec import text_digest
from harness.protocols import Task
from harness.runtime import signals
from harness.runtime.progress import Progress
from harness.settings import build
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


def job(config: Mapping[str, Any]) -> int:
    """Write the items of the config's task to its `out`; return the exit code."""
    out = str(config["out"])
    check(out)
    task: Task = build(config["task"], "task")
    progress, items = Progress(f"items of {task.name}"), CheckedItems(task)
    seen_digests: set[str] = set()
    length_hint(items)  # fails, if at all, before a file is touched
    with atomic_file(out) as file:
        for item in progress.watch(items, items):
            line = msgspec.json.encode(as_json(item, task.headline, seen_digests))
            file.write(f"{line.decode()}\n")
    if out != "-":
        progress.say(f"{progress.done:,} items of {task.name} in {out}")
    return 0


def _long_texts(value: tuple[str, ...], seen_digests: set[str]) -> JSON:
    texts = [{"sha256": name} if (name := text_digest(text)) in seen_digests else text for text in value]
    seen_digests.update(map(text_digest, value))
    return texts


def main() -> None:
    signals.at_once("interrupted: out= is only ever written as a whole.")
    signals.leave(hydra_app.launch(job, "items"))


if __name__ == "__main__":
    main()
