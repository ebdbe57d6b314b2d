"""Write the questions of the benchmarks as a data set for the Hugging Face Hub.

`python tools/hub_dataset.py FOLDER [NAME …]`: Parquet for each configuration of hub_dataset.yaml and split, with all
label sets, groups and clusters, and the card with sizes, licences, errata and floors.
`hf upload ORG/NAME FOLDER --repo-type dataset` publishes it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from datasets import Dataset

from harness.cli.hydra_app import run_settings
from harness.prompting import prompts
from harness.protocols import Task
from harness.settings import build
from harness.tables.table import Table
from harness.tables.write import markdown
from harness.tasks.benchmark import benchmark_of
from harness.tasks.check import CheckedItems
from harness.types import LETTERS, ChatRequest, Item

CONFIGURATIONS: Mapping[str, Mapping[str, Any]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
WORDS = """\
# Causal reasoning, by rule

Questions about causes whose answers follow by rule.

{sources}

`prompt` has the question in words with the form of the answer, `choices` and `target` are for multiple choice. `label`
is the right answer (1: Yes) by the label set that the table shows, `label_…` by each label set; an empty one is not
known. `cluster` is what is not independent: intervals are over clusters. `group_…` are breakdowns.
"""


@dataclass
class Split:
    """What the card says of a split."""

    configuration: str
    name: str
    task: Task
    rows: list[dict[str, Any]]


def task_of(configuration: str, split: str) -> Task:
    """Return the task whose items a split holds."""
    task: Task = build(run_settings(CONFIGURATIONS[configuration]["splits"][split]).task, "task")
    return task


def rows_of(task: Task) -> list[dict[str, Any]]:
    """Return the rows of a task's items, each as its first prompt for models that write asks it."""
    loaded = (prompts.load(task.name, name, task.examples(), format=task.prompt_format) for name in task.prompts)
    prompt = next(each for each in loaded if "chat" in each.words.makes)

    def row(item: Item) -> dict[str, Any]:
        request = prompt.render(item.fields, (), ChatRequest)
        assert isinstance(request, ChatRequest)
        gold = item.labels[task.headline]
        return {
            "id": item.id,
            **{name: list(value) if isinstance(value, tuple) else value for name, value in item.fields.items()},
            "prompt": request.messages[-1].content,
            "choices": list(prompt.choices(item.fields)),
            "target": LETTERS[gold if prompt.words.choices_from else 1 - gold],  # the first of Yes and No is Yes
            "label": gold,
            **{f"label_{name}": label for name, label in item.labels.items()},
            **{f"group_{name}": group for name, group in item.groups.items()},
            "cluster": item.cluster,
            "unit": item.unit,
        }

    rows = [row(item) for item in CheckedItems(task)]
    columns = dict.fromkeys(name for each in rows for name in each)
    return [{name: each.get(name) for name in columns} for each in rows]


def card(splits: Sequence[Split]) -> str:
    """Return README.md: what the Hub reads in its first lines, and what people do."""
    names = dict.fromkeys(split.configuration for split in splits)
    files = {
        name: [
            {"split": split.name, "path": f"data/{name}/{split.name}.parquet"}
            for split in splits
            if split.configuration == name
        ]
        for name in names
    }
    head = {
        "pretty_name": "Causal reasoning, by rule",
        "license": list(dict.fromkeys(CONFIGURATIONS[name]["licence"] for name in names)),
        "language": ["en"],
        "task_categories": ["question-answering", "multiple-choice"],
        "configs": [{"config_name": name, "data_files": files[name]} for name in names],
    }
    contents, errata = [], []
    for split in splits:
        about, yes = CONFIGURATIONS[split.configuration], sum(row["label"] for row in split.rows) / len(split.rows)
        contents.append([
            split.configuration, split.name, about["title"], about["licence"], split.task.headline,
            f"{len(split.rows):,}", f"{len({row['cluster'] for row in split.rows}):,}",
            f"{100 * (1 - yes):.1f}", f"{100 * yes:.1f}", f"{200 * yes / (1 + yes):.1f}",
        ])  # fmt: skip
        known, other = Counter[str](), Counter[str]()
        for row in split.rows:
            for name, label in row.items():
                if name.startswith("label_") and label is not None:
                    known[name] += 1
                    other[name] += label != row["label"]
        errata += [
            [split.configuration, split.name, name.removeprefix("label_"), f"{known[name]:,}", f"{other[name]:,}"]
            for name in known
            if name != f"label_{split.task.headline}"
        ]
    header = ["configuration", "split", "what is asked", "licence", "labels", "items", "clusters",
              "accuracy of always No", "accuracy of always Yes", "F1 of always Yes"]  # fmt: skip
    sources = dict.fromkeys(benchmark_of(split.task.name).source for split in splits)
    words = WORDS.format(sources="\n".join(f"- {source}." for source in sources if source))
    tables: list[Any] = [Table.of(header, contents, text_columns=5)]
    if errata:
        tables += [
            "Errata: where another label set has another answer than `label`.",
            Table.of(["configuration", "split", "label set", "items with it", "other answer"], errata, text_columns=3),
        ]
    return f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n\n{words}\n{markdown(tables)}\n"


def main(folder: Path, names: Sequence[str]) -> None:
    """Write the configurations of these names, all without any."""
    splits = []
    for name in names or CONFIGURATIONS:
        for split in CONFIGURATIONS[name]["splits"]:
            task = task_of(name, split)
            splits.append(Split(name, split, task, rows_of(task)))
            Dataset.from_list(splits[-1].rows).to_parquet(str(folder / "data" / name / f"{split}.parquet"))
            print(f"{name} {split}: {len(splits[-1].rows):,} items", file=sys.stderr)
    (folder / "README.md").write_text(card(splits), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
