"""The items of a task as JSON lines, for anybody's own tools: python -m harness.items task=… out=items.jsonl"""

from __future__ import annotations

from operator import length_hint

from omegaconf import DictConfig

from harness.cli import hydra_app
from harness.codec import text_digest
from harness.protocols import Task
from harness.runtime import signals
from harness.runtime.progress import Progress
from harness.settings import build, plain
from harness.storage.atomic_write import check, written
from harness.storage.json_lines import Encoder
from harness.types import JSON, Item


def as_json(item: Item, headline: str, said: set[str]) -> dict[str, JSON]:
    """An item flat: id, its fields, the headline label, all labels, groups, cluster, unit.

    A list of long texts (a network's data) stands in full with the first item that has it; with others each text is
    told by its SHA-256. `said` remembers which have been written.
    """
    return {
        "id": item.id,
        **{name: _once(value, said) if isinstance(value, tuple) else value for name, value in item.fields.items()},
        "label": item.labels[headline],
        "labels": dict(item.labels),
        "groups": dict(item.groups),
        "cluster": item.cluster,
        **({"unit": item.unit} if item.unit else {}),
    }


def job(config: DictConfig) -> int:
    """Writes the file."""
    check(str(config.out))
    task: Task = build(plain(config.task), "task")
    progress, items = Progress(f"items of {task.name}"), task.items()
    said: set[str] = set()
    length_hint(items)  # makes what can fail fail before a file is touched
    with written(str(config.out)) as file:
        encoded = Encoder()
        for item in progress.watch(items, items):
            file.write(encoded(as_json(item, task.headline, said)))
    if config.out != "-":
        progress.say(f"{progress.done:,} items of {task.name} in {config.out}")
    return 0


def _once(value: tuple[str, ...], said: set[str]) -> JSON:
    shown = [{"sha256": name} if (name := text_digest(text)) in said else text for text in value]
    said.update(map(text_digest, value))
    return shown


def main() -> None:
    """The command."""
    signals.at_once("interrupted: out= is only ever written as a whole.")
    signals.leave(hydra_app.launch(job, "items"))


if __name__ == "__main__":
    main()
