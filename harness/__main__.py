"""python -m harness model=… task=… prompt=…: build the parts, run, show what came out."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness import cli

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from harness.types import JSON


def main() -> None:
    """The command."""
    code = cli.launch(job, "config")
    if "hydra" in sys.modules:
        from harness import sweep

        code = max(code, sweep.conclude())
    sys.exit(code)


def job(config: DictConfig) -> int:
    """One run of the command, or one job of a sweep."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    from harness import sweep
    from harness.errors import HarnessError

    hydra = HydraConfig.get()
    if hydra.mode != RunMode.MULTIRUN:
        return run_one(config, brief=False)[1]
    print(f"[{hydra.job.num}] {' '.join(hydra.overrides.task)}", file=sys.stderr)
    folder = Path(hydra.runtime.output_dir)
    try:
        path, code = run_one(config, brief=True)
        sweep.note(folder, run=path, error=None)
    except HarnessError as error:
        if config.debug:
            raise
        print(f"error: {error}", file=sys.stderr)
        sweep.note(folder, run=None, error=str(error))
        code = cli.ERROR
    return code


def run_one(config: DictConfig, *, brief: bool) -> tuple[Path, int]:
    """Builds task, model and prompt, runs them and prints the scores: (the results folder, the exit code)."""
    from harness import provenance, tables
    from harness.cache import CachedModel, Store
    from harness.models.protocol import Model
    from harness.progress import Progress
    from harness.results import Folder, safe, variant
    from harness.run import choose_prompt, run
    from harness.settings import build, check_keys, plain
    from harness.tasks.protocol import Task

    check_keys(config, ("task", "model", "prompt", "results", "cache", "debug"), "")
    check_keys(config.cache, ("path",), "cache.")
    settings = plain(config.task)
    task: Task = build(settings, "task")
    model: Model = build(plain(config.model), "model")
    prompt = choose_prompt(task, model, config.prompt)
    place = {
        "task": task.name,
        "variant": variant(settings, _defaults(config)),
        "prompt": prompt.name,
        "model": model.name,
    }
    folder = Folder(
        Path(config.results, *place["task"].split("/"), *(safe(place[k]) for k in ("variant", "prompt", "model"))),
        place,
        {"task": settings, "prompt": {"name": prompt.name, "digest": prompt.digest}, "model": dict(model.identity)},
        provenance.gather(plain(config)),
    )
    store = None if getattr(model, "instant", False) else Store(Path(config.cache.path))
    answering = model if store is None else CachedModel(model, store)
    try:
        outcome = run(task, prompt, answering, folder, Progress(f"{task.name} {model.name}"))
    finally:
        if store is not None:
            store.close()
    if brief:
        print(f"    {_brief(outcome.result.overall['f1'], outcome.result.overall['accuracy'])}", file=sys.stderr)
    else:
        print(tables.result_table(outcome.result))
        print()
        print("\n".join(tables.remarks(outcome.result)))
        print(f"{folder.path}/ holds {', '.join(sorted(f.name for f in folder.path.iterdir() if f.name[0] != '.'))}")
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.stopped:
        from harness.errors import RunStopped

        raise RunStopped(f"{outcome.stopped} The result is marked as not complete.")
    return folder.path, 0


def _brief(f1: float | None, accuracy: float | None) -> str:
    from harness.tables import percent

    return f"F1 {percent(f1)}, accuracy {percent(accuracy)}"


def _defaults(config: DictConfig) -> Mapping[str, JSON]:
    """The task's settings as its config file has them."""
    import yaml
    from hydra.core.hydra_config import HydraConfig

    from harness.settings import CONFIGS, listed

    chosen = HydraConfig.get().runtime.choices["task"]
    return dict(yaml.safe_load(listed(CONFIGS, "task")[chosen].read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
