"""The names of runs and of sets of runs in charts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from harness.storage.configuration import safe
from harness.storage.runs import Run
from harness.types import JSON


def run_ids(runs: Sequence[Run]) -> list[str]:
    """Return task/variant/prompt/model of each run; where runs share that, what tells them apart and // before it."""
    plain = ["/".join((run.task, run.variant, run.prompt, run.model)) for run in runs]
    folders = [f"{run.source}//{name}" for run, name in zip(runs, plain, strict=True)]
    paths = [f"{run.folder}//{name}" for run, name in zip(runs, plain, strict=True)]
    shared, unclear = Counter(plain), Counter(folders)
    return [
        name if shared[name] == 1 else folder if unclear[folder] == 1 else path
        for name, folder, path in zip(plain, folders, paths, strict=True)
    ]


def id_prefixes(task: str, sets: Sequence[Sequence[Run]]) -> list[str]:
    """Return what chart ids begin with: the task, and the simplest variant of the set of runs if it is not the default.

    It depends on the set alone, so that no name passes to another set when runs are added. Sets that share a variant
    all have more in their names: their labels where these differ, then the beginning of their items' digest.
    """
    variants = [min(runs, key=_fewest_settings_first).variant for runs in sets]
    prefixes = [task if name == "default" else f"{task}/{safe(name).replace(',', '+')}" for name in variants]
    headlines = [runs[0].result.headline for runs in sets]
    items = [(runs[0].items or str(runs[0].result.overall.items))[:8] for runs in sets]
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


def _fewest_settings_first(run: Run) -> tuple[int, str]:
    return len(run.settings), run.variant


def labels(runs: Sequence[Run]) -> list[str]:
    """Return the model of each run, with those of prompt, variant and folder that differ among the runs of a model."""
    shared = shared_data(runs)
    texts = []
    for run in runs:
        same = [other for other in runs if other.model == run.model]
        words = [run.model]
        for part in ("prompt", "variant", "source", "folder"):
            # The label is long enough as soon as no other run of the model has the same.
            if len({getattr(other, part) for other in same}) > 1:
                settings = str(getattr(run, part)).split(",")
                words.append(",".join(s for s in settings if not run.data or part != "prompt" or s not in shared))
                same = [other for other in same if getattr(other, part) == getattr(run, part)]
        texts.append(" · ".join(words))
    return texts


def shared_data(runs: Sequence[Run]) -> list[str]:
    """Return the settings of the data that all runs of algorithms share, such as seed=0; none for a single run."""
    data = [run.prompt.split(",") for run in runs if run.data]
    return [setting for setting in data[0] if all(setting in other for other in data)] if len(data) > 1 else []


def reference(run: Run, name: str, label: str) -> dict[str, JSON]:
    """Return what every row of a chart says of its run."""
    return {"run": name, "label": label, "role": run.role}
