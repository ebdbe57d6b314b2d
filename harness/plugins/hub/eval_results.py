"""to=eval_results: .eval_results/*.yaml of a model's repository on the Hub (hub-docs), of runs that hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.errors import ConfigError, DataError
from harness.export import number_of, unfinished_folder
from harness.plugins.hub.configurations import configurations
from harness.settings import chosen
from harness.storage.configuration import safe
from harness.storage.runs import Run
from harness.verify.run import problems_of


def write(runs: Sequence[Run], out: str | None, dataset: str) -> str:
    """Write a file for each run; return the sentence that says so.

    Raises DataError for a run that does not hold, and ConfigError for one that is of no split of the data set.
    """
    import yaml

    if len({run.model for run in runs}) > 1:
        models = ", ".join(sorted({run.model for run in runs}))
        raise ConfigError(f"to=eval_results is for one model's repository, and these runs are of {models}: choose one.")
    entries = {}
    for run in runs:
        entry = _entry(run, dataset)
        entries[f"{entry['dataset']['task_id']}-{safe(run.prompt)}"] = entry
    out = out or "eval_results"
    with unfinished_folder(out) as folder:
        (folder / ".eval_results").mkdir()
        for name, entry in entries.items():
            text = yaml.safe_dump([entry], sort_keys=False, allow_unicode=True)
            (folder / ".eval_results" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return (
        f"{out}/.eval_results: {number_of(runs, 'result')} of {runs[0].model}; hf upload ORG/MODEL {out} --create-pr "
        "proposes it to the model's repository."
    )


def _entry(run: Run, dataset: str) -> dict[str, Any]:
    """Return the result of a run: accuracy in percent, as the data set's eval.yaml is scored."""
    if not run.sound:
        raise DataError(f"{run.folder} is not complete: its command goes on with it.")
    if problem := next(iter(problems_of(run.folder)), None):
        raise DataError(f"{run.folder} does not hold, so nothing of it is published: {problem}")
    metric = run.result.overall.metric("accuracy")
    if metric is None or metric.value is None:
        raise DataError(f"{run.folder} has no accuracy.")
    interval = "" if metric.interval is None else " [{:.1f}, {:.1f}]".format(*(100 * end for end in metric.interval))
    overall = run.result.overall
    counts = f"{overall.items:,} items, {overall.unreadable:,} unreadable, {overall.failed:,} failed"
    notes = f"accuracy in percent{interval} over {overall.clusters:,} clusters; {counts}; prompt {run.prompt}"
    return {
        "dataset": {"id": dataset, "task_id": _split_of(run)},
        "value": round(100 * metric.value, 2),
        "date": (run.manifest.ended or "")[:10],
        "notes": f"{notes}. {run.recorded}".rstrip(". ") + ".",
    }


def _split_of(run: Run) -> str:
    """Return the split of the data set that a run has asked about all items of. Raises ConfigError for another run."""
    of_prompt = {"replies", "max_tokens", "system_role"}
    settings = {name: value for name, value in run.settings.items() if name not in of_prompt}
    whole = not (run.manifest.recorded or {}).get("items_without")
    for configuration in configurations().values():
        for split, made_by in configuration.splits.items():
            if whole and f"task={run.task}" in made_by and chosen(configuration.task(split)) == settings:
                return configuration.id_of(split)
    raise ConfigError(f"{run.folder} is of {run.task}, {run.variant}, and no split of the data set is.")
