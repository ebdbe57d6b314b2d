"""The names and marks of runs in charts, and the names of sets of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harness.storage.configuration import safe
from harness.storage.runs import Run
from harness.types import Role


@dataclass(frozen=True)
class Mark:
    """How a role is marked; its shape tells it apart for those who do not see colours."""

    title: str
    colour: Literal["blue", "grey", "green", "orange"]
    """Its name: paper and the page's themes have their own shade of each."""
    shape: Literal["disc", "square", "diamond", "triangle"]
    open: bool = False
    """Whether the mark is an outline."""


MARKS: dict[Role, Mark] = {
    "model": Mark("model", "blue", "disc"),
    "baseline": Mark("baseline", "grey", "square", open=True),
    "solver": Mark("exact solver", "green", "diamond"),
    "algorithm": Mark("algorithm on data", "orange", "triangle"),
    "cheat": Mark("cheat", "grey", "diamond", open=True),
}
"""In the order of legends."""


def run_ids(runs: Sequence[Run]) -> list[str]:
    """Return task/variant/prompt/model of each run; where runs share that, what tells them apart and // before it."""
    plain = ["/".join((run.task, run.variant, run.prompt, run.model)) for run in runs]
    folders = [f"{run.source}//{name}" for run, name in zip(runs, plain, strict=True)]
    shared, unclear = Counter(plain), Counter(folders)
    return [
        name if shared[name] == 1 else folder if unclear[folder] == 1 else f"{run.folder}//{name}"
        for run, name, folder in zip(runs, plain, folders, strict=True)
    ]


def id_prefixes(task: str, sets: Sequence[Sequence[Run]]) -> list[str]:
    """Return what chart ids begin with: the task, and the simplest variant of the set of runs if it is not the default.

    It depends on the set alone, so that no name passes to another set when runs are added. Sets that share a variant
    all have more in their names: their labels where these differ, then the beginning of their items' digest.
    """
    variants = [min((len(run.settings), run.variant) for run in runs)[1] for runs in sets]
    prefixes = [task if name == "default" else f"{task}/{safe(name).replace(',', '+')}" for name in variants]
    headlines = [runs[0].result.headline for runs in sets]
    items = [(runs[0].items or str(runs[0].result.overall.items))[:8] for runs in sets]
    for parts in (headlines, items, [str(number) for number in range(1, 1 + len(sets))]):
        told = list(zip(prefixes, parts, strict=True))
        shared = Counter(prefix for prefix, _ in dict.fromkeys(told))
        prefixes = [prefix if shared[prefix] == 1 else f"{prefix}/{safe(part)}" for prefix, part in told]
    return prefixes


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
