"""to=hub: the items of tasks as a data set of the Hugging Face Hub: Parquet, card, croissant.json and eval.yaml."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from harness.codec import content_digest
from harness.errors import ConfigError
from harness.export import unfinished_folder
from harness.plugins.hub.card import card
from harness.plugins.hub.configurations import Configuration, SplitFacts, chosen, columns_of
from harness.plugins.hub.croissant import croissant
from harness.prompting import prompts
from harness.prompting.prompts import Prompt
from harness.protocols import Task
from harness.runtime.environment import installing
from harness.runtime.progress import Progress
from harness.types import LETTERS, ChatRequest, Item

ROWS_IN_SHARD = 100_000
_ROWS_AT_ONCE = 10_000

Splits = Mapping[str, SplitFacts]
Files = Mapping[str, Sequence[str]]


def write(names: Sequence[str], out: str | None) -> str:
    """Write the configurations of these names, all without any; return the sentence that says so."""
    out = out or "hub_dataset"
    parts: dict[Configuration, tuple[Splits, Files, Mapping[str, Any]]] = {}
    with unfinished_folder(out) as folder:
        for configuration in chosen(names):
            parts[configuration] = _write_configuration(configuration, folder)
        paths = [path for _, files, _ in parts.values() for names_of in files.values() for path in names_of]
        digests = {path: content_digest(folder / path) for path in paths}
        (folder / "README.md").write_text(card(parts), encoding="utf-8")
        (folder / "croissant.json").write_text(f"{json.dumps(croissant(parts, digests), indent=1)}\n", encoding="utf-8")
        (folder / "eval.yaml").write_text(_eval_yaml(parts), encoding="utf-8")
    items = sum(facts.items for splits, *_ in parts.values() for facts in splits.values())
    publish = f"hf upload ORG/NAME {out} --repo-type dataset publishes it"
    return f"{out}: {items:,} items in {len(parts)} configurations; {publish}."


def _write_configuration(configuration: Configuration, folder: Path) -> tuple[Splits, Files, Mapping[str, Any]]:
    """Write the files of a configuration; return what is known of its splits, their files and the columns."""
    tasks = {split: configuration.task(split) for split in configuration.splits}
    facts = {split: SplitFacts.of(task) for split, task in tasks.items()}
    columns = columns_of(facts.values())
    files = {}
    for split, task in tasks.items():
        progress = Progress(f"{configuration.name} {split}")
        number = -(-facts[split].items // ROWS_IN_SHARD)
        names = [f"data/{configuration.name}/{split}-{k:05}-of-{number:05}.parquet" for k in range(number)]
        rows = _rows(task, columns, progress)
        for name in names:
            _write_shard(folder / name, islice(rows, ROWS_IN_SHARD), columns)
        files[split] = names
    return facts, files, columns


def _rows(task: Task, columns: Mapping[str, Any], progress: Progress) -> Iterator[dict[str, Any]]:
    prompt = _prompt_of(task)
    items = task.items()
    for item in progress.watch(items, items):
        row = _row(item, task.headline, prompt)
        yield {name: row.get(name) for name in columns}


def _row(item: Item, headline: str, prompt: Prompt) -> dict[str, Any]:
    request = prompt.render(item.fields, (), ChatRequest)
    assert isinstance(request, ChatRequest)
    choices = prompt.choices(item.fields)
    gold = item.labels[headline]
    place = gold if prompt.words.choices_from else 1 - gold  # the first of Yes and No is Yes
    return {
        "id": item.id,
        **{name: list(value) if isinstance(value, tuple) else value for name, value in item.fields.items()},
        "prompt": request.messages[-1].content,
        "choices": list(choices),
        "target": LETTERS[place],
        "label": gold,
        **{f"label_{name}": label for name, label in item.labels.items()},
        **{f"group_{name}": group for name, group in item.groups.items()},
        "cluster": item.cluster,
        "unit": item.unit,
    }


def _prompt_of(task: Task) -> Prompt:
    """Return the first of the task's prompts that has a model write."""
    for name in task.prompts:
        prompt = prompts.load(task.name, f"builtin:{name}", task.examples(), format=task.prompt_format)
        if "chat" in prompt.words.makes:
            return prompt
    raise ConfigError(f"task {task.name} has no prompt for models that write.")


def _write_shard(path: Path, rows: Iterator[dict[str, Any]], columns: Mapping[str, Any]) -> None:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ConfigError(f"to=hub needs pyarrow, which comes with datasets: {installing('hub')}.") from None
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), list: pa.list_(pa.string())}
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
    path.parent.mkdir(parents=True, exist_ok=True)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while batch := list(islice(rows, _ROWS_AT_ONCE)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))


def _eval_yaml(parts: Mapping[Configuration, Any]) -> str:
    """Return eval.yaml, by which Inspect asks the data set without any code: as multiple choice, Yes and No."""
    import yaml

    def spec() -> dict[str, Any]:  # made anew each time: YAML would refer to the first by an alias
        return {
            "field_spec": {"input": "prompt", "target": "target", "choices": "choices"},
            "solvers": [{"name": "multiple_choice"}],
            "scorers": [{"name": "choice"}],
        }

    content = {
        "name": "Causal reasoning, by rule",
        "description": "Corr2Cause, CLadder and CausalBench, made again from their rules, with audited labels.",
        "evaluation_framework": "inspect-ai",
        "tasks": [
            {"id": configuration.id_of(split), "config": configuration.name, "split": split, **spec()}
            for configuration in parts
            for split in configuration.splits
            if split != "train"
        ],
    }
    return str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
