"""The names of runs and of sets of runs in charts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from harness.leaderboard.comparable import family
from harness.storage.configuration import as_options, safe
from harness.storage.runs import Run


def run_ids(rows: Sequence[Run]) -> list[str]:
    """Return task/variant/prompt/model of each row; where rows share that, what tells them apart and // before it."""
    plain = ["/".join((row.task, row.variant, row.prompt, row.model)) for row in rows]
    folders = [f"{row.source}//{name}" for row, name in zip(rows, plain, strict=True)]
    paths = [f"{row.folder}//{name}" for row, name in zip(rows, plain, strict=True)]
    shared, unclear = Counter(plain), Counter(folders)
    return [
        name if shared[name] == 1 else folder if unclear[folder] == 1 else path
        for name, folder, path in zip(plain, folders, paths, strict=True)
    ]


def id_prefixes(task: str, sets: Sequence[Sequence[Run]]) -> list[str]:
    """Return what chart ids begin with: the task, and the simplest variant of the set of rows if it is not the default.

    It depends on the set alone, so that no name passes to another set when runs are added. Sets that share a variant
    all have more in their names: their labels where these differ, then the beginning of their items' digest.
    """
    variants = [min(rows, key=_fewest_settings_first).variant for rows in sets]
    prefixes = [task if name == "default" else f"{task}/{safe(name).replace(',', '+')}" for name in variants]
    headlines = [rows[0].result.headline for rows in sets]
    items = [(rows[0].items or str(rows[0].result.overall.items))[:8] for rows in sets]
    for parts in (headlines, items):
        shared: dict[str, set[str]] = defaultdict(set)
        for name, part in zip(prefixes, parts, strict=True):
            shared[name].add(part)
        prefixes = [
            f"{name}/{safe(part)}" if len(shared[name]) > 1 else name
            for name, part in zip(prefixes, parts, strict=True)
        ]
    count: Counter[str] = Counter()
    for number, name in enumerate(prefixes):
        count[name] += 1
        prefixes[number] = name if count[name] == 1 else f"{name}/{count[name]}"
    return prefixes


def _fewest_settings_first(row: Run) -> tuple[int, str]:
    return len(row.settings), row.variant


def labels(rows: Sequence[Run], parts: Sequence[str] = ("prompt", "variant", "source", "folder")) -> list[str]:
    """Return the model of each row, with those of the parts that differ among the rows of that model."""
    shared = shared_data(rows)
    by_model: dict[str, list[Run]] = defaultdict(list)
    for row in rows:
        by_model[row.model].append(row)
    texts = []
    for row in rows:
        same = by_model[row.model]
        words = [row.model]
        for part in parts:
            # The label is long enough as soon as no other row of the model has the same.
            if len(same) > 1 and len({getattr(other, part) for other in same}) > 1:
                words.append(_differing(row, part, shared))
                same = [other for other in same if getattr(other, part) == getattr(row, part)]
        texts.append(" · ".join(words))
    return texts


def shared_data(rows: Sequence[Run]) -> list[str]:
    """Return the settings of the data that all runs of algorithms share, such as seed=0; none for a single run."""
    data = [_data(row) for row in rows if row.data]
    return [setting for setting in data[0] if all(setting in other for other in data)] if len(data) > 1 else []


def _data(row: Run) -> list[str]:
    """Return the settings of the data that an algorithm has learned from, as its command takes them."""
    return [f"{name}={value}" for name, value in as_options(row.data).items()]


def _differing(row: Run, part: str, shared: Sequence[str]) -> str:
    """Return a part of a row; of an algorithm's data what is not the same for all of them."""
    if part == "prompt" and row.data:
        return ",".join(setting for setting in _data(row) if setting not in shared)
    return str(getattr(row, part))


def reference(row: Run, run: str, label: str) -> dict[str, Any]:
    return {"run": run, "label": label, "role": row.role, "family": family(row.model, row.role)}
