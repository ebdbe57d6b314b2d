"""What runs are called in charts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from harness.leaderboard.families import family
from harness.leaderboard.rows import Row
from harness.storage.configuration import as_options
from harness.storage.run_folder import safe
from harness.storage.runs import Kind

_FAMILIES: dict[str, Kind] = {
    "Random Baselines": "baseline",
    "Fitted Baselines": "baseline",
    "Exact Reasoner": "reasoner",
}


def run_ids(rows: Sequence[Row]) -> list[str]:
    """task/variant/prompt/model of each row; where several rows share one, what tells them apart and // before it."""
    plain = ["/".join((row.task, row.variant, row.prompt, row.model)) for row in rows]
    folders = [f"{row.folder}//{name}" for row, name in zip(rows, plain, strict=True)]
    paths = [f"{row.path}//{name}" for row, name in zip(rows, plain, strict=True)]
    shared, unclear = Counter(plain), Counter(folders)
    return [
        name if shared[name] == 1 else folder if unclear[folder] == 1 else path
        for name, folder, path in zip(plain, folders, paths, strict=True)
    ]


def places(task: str, sets: Sequence[Sequence[Row]]) -> list[str]:
    """What the ids of charts begin with: the task, and the simplest variant of a set of rows that is not the default.

    It is told by the set alone, so that no name passes to another set when runs are added. Sets that share a variant
    all have more in their names: their labels where these differ, then the beginning of their items' digest.
    """
    variants = [min(rows, key=_simple).variant for rows in sets]
    found = [task if one == "default" else f"{task}/{safe(one).replace(',', '+')}" for one in variants]
    headlines = [rows[0].result.headline for rows in sets]
    items = [(rows[0].items or str(rows[0].result.overall.items))[:8] for rows in sets]
    for parts in (headlines, items):
        shared: dict[str, set[str]] = defaultdict(set)
        for name, part in zip(found, parts, strict=True):
            shared[name].add(part)
        found = [
            f"{name}/{safe(part)}" if len(shared[name]) > 1 else name for name, part in zip(found, parts, strict=True)
        ]
    again: Counter[str] = Counter()
    for number, name in enumerate(found):
        again[name] += 1
        found[number] = name if again[name] == 1 else f"{name}/{again[name]}"
    return found


def _simple(row: Row) -> tuple[int, str]:
    """Return what sorts the default settings first, then fewer settings before more."""
    return len(row.settings), row.variant


def labels(rows: Sequence[Row], parts: Sequence[str] = ("prompt", "variant", "folder", "path")) -> list[str]:
    """The model of each row, with those of the parts that differ among the rows of that model."""
    shared = data_of_all(rows)
    by_model: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_model[row.model].append(row)
    found = []
    for row in rows:
        same = by_model[row.model]
        said = [row.model]
        for part in parts:
            # Enough is said as soon as no other row of the model says the same.
            if len(same) > 1 and len({getattr(one, part) for one in same}) > 1:
                said.append(_differing(row, part, shared))
                same = [one for one in same if getattr(one, part) == getattr(row, part)]
        found.append(" · ".join(said))
    return found


def data_of_all(rows: Sequence[Row]) -> list[str]:
    """Settings of the data that all runs of algorithms share, such as seed=0; none where there is one run."""
    data = [_data(row) for row in rows if row.run.data]
    return [one for one in data[0] if all(one in other for other in data)] if len(data) > 1 else []


def _data(row: Row) -> list[str]:
    """Return the settings of the data that an algorithm has learned from, as its command takes them."""
    return [f"{name}={value}" for name, value in as_options(row.run.data).items()]


def _differing(row: Row, part: str, shared: Sequence[str]) -> str:
    """A part of a row, of an algorithm's data what is not the same for all of them."""
    if part == "prompt" and row.run.data:
        return ",".join(one for one in _data(row) if one not in shared)
    return str(getattr(row, part))


def reference(row: Row, run: str, label: str) -> dict[str, Any]:
    """What a chart's row says of its run."""
    return {"run": run, "label": label, "role": role(row), "family": family(row.model)}


def role(row: Row) -> Kind:
    """Return what kind of thing answered; without a manifest, as far as names tell."""
    if row.configuration:
        return row.run.kind
    return _FAMILIES.get(family(row.model), "model")
