"""python -m harness model=… task=… prompt=…: build the parts, run, show what came out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness import cli

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from harness.models.protocol import Model
    from harness.settings import Cache


def main() -> None:
    """The command."""
    code = cli.launch(job, "config")
    if "hydra" in sys.modules:
        from harness import sweep

        code = max(code, sweep.conclude())
    sys.exit(code)


def job(config: DictConfig) -> int:
    """One run of the command, or one job of a sweep."""
    from harness import sweep

    return sweep.job(config, run_one)


def run_one(config: DictConfig, *, brief: bool) -> Path:
    """Builds task, model and prompt, runs them and prints the scores; the results folder."""
    from harness import provenance, tables
    from harness.interrupt import interruptible
    from harness.progress import Progress
    from harness.results import Folder, safe, variant
    from harness.run import choose_prompt, run
    from harness.settings import Main, build, build_main, chosen, plain
    from harness.tasks.protocol import Task

    main: Main = build_main(plain(config))
    task: Task = build(main.task, "task")
    model: Model = build(main.model, "model")
    prompt = choose_prompt(task, model, main.prompt, main.replies)
    settings = chosen(task)
    if prompt.words.opening and prompt.replies != "model":
        settings["replies"] = prompt.replies
    place = {"task": task.name, "variant": variant(settings), "prompt": prompt.name, "model": model.name}
    folder = Folder(
        path=Path(main.results, *task.name.split("/"), *(safe(place[part]) for part in ("variant", "prompt", "model"))),
        run=place,
        configuration={
            "task": settings,
            "data": dict(task.data),
            "prompt": {"name": prompt.name, "digest": prompt.digest},
            "model": dict(model.identity),
        },
        provenance=provenance.gather(plain(config)),
    )
    progress = Progress(f"{task.name} {model.name}")
    with interruptible(progress), answering(model, main.cache, task.name) as asked:
        outcome = run(task, prompt, asked, folder, progress)
    if brief:
        print(f"    {'NOT COMPLETE: ' if outcome.stopped else ''}{tables.brief(outcome.result)}", file=sys.stderr)
    elif outcome.result.overall.items:
        if outcome.stopped:
            print("NOT COMPLETE: the scores of what was answered so far.\n")
        print(tables.result_tables(outcome.result), *tables.remarks(outcome.result), sep="\n")
        if progress.cached:
            print(
                f"{progress.cached:,} answers came from the cache, {progress.done - progress.cached:,} were asked now."
            )
        if main.cache.mode == "off" and not getattr(model, "instant", False):
            print(f"cache=off: {progress.done - progress.failed:,} answers stand in the records only; none was stored.")
        print(f"{folder.path}/ holds {', '.join(sorted(f.name for f in folder.path.iterdir() if f.name[0] != '.'))}")
    if outcome.stopped:
        raise outcome.stopped
    return folder.path


@contextmanager
def answering(model: Model, cache: Cache, task: str) -> Iterator[Model]:
    """The model behind its cache; instant models answer sooner than a cache could, in every mode."""
    from harness.cache import CachedModel, Store
    from harness.interrupt import Stoppable

    if getattr(model, "instant", False) or cache.mode == "off":
        yield Stoppable(model, cache.mode)
        return
    with closing(Store(Path(cache.path), readonly=cache.mode == "frozen")) as store:
        yield CachedModel(Stoppable(model, cache.mode), store, mode=cache.mode, task=task)


if __name__ == "__main__":
    main()
