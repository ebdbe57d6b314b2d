"""Runs that may stand side by side: complete, with the same items and headline labels; and what they are called."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from harness.errors import ConfigError, unknown
from harness.scoring.definitions import definition, main_metrics
from harness.storage.configuration import setting_text
from harness.storage.find import below
from harness.storage.runs import Run
from harness.tasks.benchmark import Benchmark, benchmark_of

DEFAULT = "default settings"
_WORDS = {
    "limit": "a sample of {}",
    "labels": "{} labels",
    "convention": "{} convention",
    "split": "{} split",
    "samples": "{} answers an item",
    "judge": "what the rules cannot read by the judge {}",
    "num_nodes": "{} variables",
    "unreadable": "unreadable as {}",
}
"""What a setting's value is in words, in any task; other settings appear as name and value."""
_FIRST = ("perturbation", "version", "split", "labels", "limit")
"""Settings in the order of headings; others follow."""


def settings_words(run: Run, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return each of some settings of a run's task in words; its variant where they are not known."""
    if not settings:
        return (DEFAULT if run.variant == "default" or run.settings else f"variant {run.variant}",)
    names = sorted(settings, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name))
    return tuple(_words(benchmark_of(run.task), name, settings[name]) for name in names)


def _words(benchmark: Benchmark, name: str, value: Any) -> str:
    if words := benchmark.setting_words.get(name, {}).get(str(value)):
        return words
    if name in ("labels", "convention") and str(value) in benchmark.label_titles:
        return benchmark.label_titles[str(value)]
    number = value if type(value) is int else int(value) if name == "limit" and str(value).isdecimal() else None
    text = setting_text(value) if number is None or name == "seed" else f"{number:,}"
    return _WORDS.get(name, f"{name.replace('_', ' ')} {{}}").format(text)


def heading_of(runs: Sequence[Run], *, labels: bool) -> str:
    """Return the heading of runs with their settings, and where wanted their labels: Paraphrased, a sample of 300."""
    several = {", ".join(settings_words(run, run.settings)) for run in runs}
    parts = [" and ".join(sorted(several, key=lambda words: (words != DEFAULT, words)))]
    if labels and not all({"labels", "convention"} & set(run.settings) for run in runs):
        parts.append(benchmark_of(runs[0].task).labels_title(runs[0].result.headline))
    return capitalized("; ".join(parts))


def runs_text(runs: Sequence[Run], most: int | None = None) -> str:
    """Return the names of runs in a sentence, of more than `most` the first and how many more."""
    names = [f"{run.variant}/{run.prompt}/{run.model}" for run in runs]
    more = f" and {len(names) - most:,} more" if most and len(names) > most else ""
    return ", ".join(names[:most]) + more


def capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class ComparableRuns:
    """Runs of one task that may stand side by side."""

    heading: str
    """What is special about them, in words; nothing for the default settings where there are no others."""
    settings: str
    """The same as folders and manifests have it."""
    runs: Sequence[Run]
    """In their order in tables."""


def comparable_sets(runs: Sequence[Run]) -> list[ComparableRuns]:
    """Return the complete runs of one task in sets that are never mixed, the default settings first."""
    by_items: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs:
        if run.sound:
            by_items[run.result.headline, items_of(run)].append(run)
    sets = sorted(by_items.values(), key=_default_first)
    several = len({headline for headline, _ in by_items}) > 1
    headings = [heading_of(members, labels=several) for members in sets]
    result = []
    for heading, members in zip(headings, sets, strict=True):
        if len(sets) == 1 and all(run.variant == "default" for run in members):
            heading = ""
        elif headings.count(heading) > 1:
            heading = f"{heading}; {items_text(members[0])}"
        variants = " and ".join(sorted({run.variant for run in members}))
        settings = f"variant {variants}; {items_text(members[0])}" if heading else ""
        result.append(ComparableRuns(heading, settings, sorted(members, key=sort_key)))
    return result


def _default_first(runs: Sequence[Run]) -> tuple[Any, ...]:
    variants = sorted({run.variant for run in runs})
    return "default" not in variants, *variants, runs[0].result.headline, runs[0].items or ""


def items_of(run: Run) -> str:
    """Return what tells a run's items from others'. Without a manifest, as many items are the same items."""
    return run.items or str(run.result.overall.items)


def items_text(run: Run) -> str:
    """Return in words which items a run has."""
    item_set = f"item set {run.items[:8]}" if run.items else "item set not known"
    return f"{run.result.overall.items:,} items, {item_set}"


def sort_key(run: Run) -> tuple[float | str, ...]:
    """Return what rows are sorted by: F1 and accuracy, best first, then names; undefined values last."""
    overall = run.result.overall
    merits = (best_first(name, overall[name]) for name in main_metrics(overall))
    return (*merits, run.model, run.variant, run.prompt)


def best_first(metric: str, value: float | None) -> float:
    """Return what sorts the best values of a metric first, undefined ones last."""
    low_is_good = definition(metric).best == "low"
    if value is None:
        return math.inf if low_is_good else 1.0
    return value if low_is_good else -value


def find_runs(folders: Sequence[str], **patterns: str | None) -> list[Run]:
    """Return the runs below the folders that fit, each once, as `below` does."""
    found = below(folders, each=False).values()
    return select_runs([replace(run, source=name) for run, name in found], **patterns)


def select_runs(runs: Sequence[Run], **patterns: str | None) -> list[Run]:
    """Return the runs whose task, model, prompt, variant fit: a name or glob, or several with commas between them.

    Names have commas too (labels=audited,limit=20), so what fits some run as a whole is not taken apart.
    """
    wanted = {part: pattern for part, pattern in patterns.items() if pattern is not None}
    selection = list(runs)
    for part, pattern in wanted.items():
        names = {str(getattr(run, part)) for run in runs}
        fitting = _fitting(names, [pattern]) or _fitting(names, [name.strip() for name in pattern.split(",")])
        if not fitting:
            raise ConfigError(unknown(part, pattern, names))
        selection = [run for run in selection if getattr(run, part) in fitting]
    if runs and not selection:
        filters = " ".join(f"{part}={pattern}" for part, pattern in wanted.items())
        raise ConfigError(f"no run fits all of {filters}: choose fewer.")
    return selection


def _fitting(names: Iterable[str], patterns: Sequence[str]) -> set[str]:
    return {name for name in names if any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)}
