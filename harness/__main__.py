"""python -m harness model=… task=… prompt=…: build the parts, run, show what came out."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness import cli

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from harness.interrupt import Stop
    from harness.models.protocol import Model
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
    from harness.errors import HarnessError, Interrupted

    hydra = HydraConfig.get()
    if hydra.mode != RunMode.MULTIRUN:
        run_one(config, brief=False)
        return 0
    print(f"[{hydra.job.num}] {' '.join(hydra.overrides.task)}", file=sys.stderr)
    folder = Path(hydra.runtime.output_dir)
    try:
        sweep.note(folder, run=run_one(config, brief=True), error=None)
    except Interrupted as stop:
        raise KeyboardInterrupt from stop  # ends the sweep too
    except HarnessError as error:
        if config.debug:
            raise
        print(f"error: {error}", file=sys.stderr)
        sweep.note(folder, run=None, error=str(error))
        return cli.ERROR
    return 0


def run_one(config: DictConfig, *, brief: bool) -> Path:
    """Builds task, model and prompt, runs them and prints the scores; the results folder."""
    from harness import provenance, tables
    from harness.interrupt import interruptible
    from harness.progress import Progress
    from harness.results import Folder, changed, safe, variant
    from harness.run import choose_prompt, run
    from harness.settings import build, check_keys, plain
    from harness.tasks.protocol import Task

    check_keys(config, ("task", "model", "prompt", "results", "cache", "debug"), "")
    check_keys(config.cache, ("path",), "cache.")
    settings = plain(config.task)
    task: Task = build(settings, "task")
    model: Model = build(plain(config.model), "model")
    prompt = choose_prompt(task, model, config.prompt)
    settings = changed(settings, _defaults(config))
    place = {
        "task": task.name,
        "variant": variant(settings),
        "prompt": prompt.name,
        "model": model.name,
    }
    folder = Folder(
        Path(config.results, *place["task"].split("/"), *(safe(place[k]) for k in ("variant", "prompt", "model"))),
        place,
        {"task": settings, "prompt": {"name": prompt.name, "digest": prompt.digest}, "model": dict(model.identity)},
        provenance.gather(plain(config)),
    )
    progress = Progress(f"{task.name} {model.name}")
    with interruptible(progress) as stop, answering(model, stop, Path(config.cache.path)) as asked:
        outcome = run(task, prompt, asked, folder, progress)
    if brief:
        print(f"    {tables.brief(outcome.result)}", file=sys.stderr)
    elif outcome.result.overall.items:
        if outcome.stopped:
            print("NOT COMPLETE: the scores of what was answered before the run stopped.\n")
        print(tables.result_table(outcome.result), *tables.remarks(outcome.result), sep="\n")
        print(f"{folder.path}/ holds {', '.join(sorted(f.name for f in folder.path.iterdir() if f.name[0] != '.'))}")
    if outcome.stopped:
        raise outcome.stopped
    return folder.path


@contextmanager
def answering(model: Model, stop: Stop, path: Path) -> Iterator[Model]:
    """The model behind its cache; instant models answer sooner than a cache could."""
    from harness.cache import CachedModel, Store
    from harness.interrupt import Stoppable

    stoppable = Stoppable(model, stop)
    if getattr(model, "instant", False):
        yield stoppable
        return
    with closing(Store(path)) as store:
        yield CachedModel(stoppable, store)


def _defaults(config: DictConfig) -> Mapping[str, JSON]:
    """The task's settings as its config file has them."""
    import yaml
    from hydra.core.hydra_config import HydraConfig

    from harness.settings import CONFIGS, listed

    chosen = HydraConfig.get().runtime.choices["task"]
    return dict(yaml.safe_load(listed(CONFIGS, "task")[chosen].read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
