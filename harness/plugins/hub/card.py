"""The card of the data set: what its parts hold, under which licence, errata of published answers, and floors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import harness
from harness.plugins.hub.configurations import Configuration, SplitFacts
from harness.tables.markdown_csv_json import markdown
from harness.tables.table import Table
from harness.tasks.find import benchmark_of

TITLE = "Causal reasoning, by rule"
Parts = Mapping[Configuration, tuple[Mapping[str, SplitFacts], Mapping[str, Sequence[str]], Mapping[str, Any]]]
_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M")
_WORDS = """\
# {title}

Questions about causes whose answers follow by rule. `harness export {names}to=hub` (version {version}) makes these
files again.

{sources}

`prompt` has the question in words with the form of the answer, `choices` and `target` are for multiple choice. `label`
is the right answer (1: Yes) by the label set that the table shows, `label_…` by each label set; an empty one is not
known. `cluster` is what is not independent: intervals are over clusters. `group_…` are breakdowns.
"""


def card(parts: Parts) -> str:
    """Return README.md: what the Hub reads in its first lines, and what people do."""
    import yaml

    head = {
        "pretty_name": TITLE,
        "license": list(dict.fromkeys(configuration.licence for configuration in parts)),
        "language": ["en"],
        "task_categories": ["question-answering", "multiple-choice"],
        "tags": ["causal-reasoning", "benchmark"],
        "size_categories": [_size(sum(split.items for splits, *_ in parts.values() for split in splits.values()))],
        "configs": [
            {
                "config_name": configuration.name,
                "data_files": [
                    {"split": split, "path": f"data/{configuration.name}/{split}-*.parquet"} for split in files
                ],
                **({"default": True} if number == 0 else {}),
            }
            for number, (configuration, (_, files, _)) in enumerate(parts.items())
        ],
    }
    words = _WORDS.format(
        title=TITLE,
        version=harness.__version__,
        names="".join(f"{configuration.name} " for configuration in parts),
        sources="\n".join(f"- {source}." for source in sources(parts)),
    )
    return (
        f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n\n{words}\n{markdown([_contents(parts), *_errata(parts)])}\n"
    )


def sources(parts: Parts) -> list[str]:
    """Return the papers of the benchmarks."""
    tasks = (configuration.task(next(iter(configuration.splits))) for configuration in parts)
    return [source for source in dict.fromkeys(benchmark_of(task.name).source for task in tasks) if source]


def _contents(parts: Parts) -> Table:
    lines = [
        [
            configuration.name,
            split,
            configuration.title,
            configuration.licence,
            facts.headline,
            f"{facts.items:,}",
            f"{len(facts.clusters):,}",
            *(f"{value:.1f}" for value in facts.floors.values()),
        ]
        for configuration, (splits, *_) in parts.items()
        for split, facts in splits.items()
    ]
    floors = next(iter(next(iter(parts.values()))[0].values())).floors
    header = ["configuration", "split", "what is asked", "licence", "labels", "items", "clusters", *floors]
    return Table.of(header, lines, text_columns=5)


def _errata(parts: Parts) -> list[Any]:
    """Return in how many items other label sets say something else than the one that counts."""
    lines = [
        [configuration.name, split, name, f"{facts.labels[name]:,}", f"{facts.differing[name]:,}"]
        for configuration, (splits, *_) in parts.items()
        for split, facts in splits.items()
        for name in facts.labels
        if name != facts.headline
    ]
    if not lines:
        return []
    text = (
        "Errata: where another label set has another answer than `label`. What each one means, the harness's docs say."
    )
    return [
        text,
        Table.of(["configuration", "split", "label set", "items with it", "other answer"], lines, text_columns=3),
    ]


def _size(items: int) -> str:
    return _SIZES[sum(items >= limit for limit in (10**3, 10**4, 10**5, 10**6))]
