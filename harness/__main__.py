"""python -m harness model=… task=… prompt=…: build the parts, run, show what came out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness.runtime import signals

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from harness.cost.account import Spending
    from harness.prompting.prompts import Prompt
    from harness.protocols import Model, Task
    from harness.run import Outcome
    from harness.runtime.progress import Progress
    from harness.settings import Cache, Main
    from harness.storage.run_folder import Folder


def main() -> None:
    """The command."""
    signals.at_once(signals.sentence())
    from harness.cli import hydra_app  # a second on a cold disk

    signals.leave(hydra_app.launch(job, "config", conclude))


def conclude() -> int:
    """The tables of a sweep, where there was one."""
    if "harness.sweep" not in sys.modules:
        return 0
    from harness import sweep

    return sweep.conclude()


def job(config: DictConfig) -> int:
    """One run of the command, or one job of a sweep."""
    from harness import sweep

    return sweep.job(config, run_one)


def run_one(config: DictConfig, *, brief: bool) -> Path:
    """Builds task, model and prompt, runs them and prints the scores; the results folder."""
    from harness.cost.account import Spending
    from harness.prompting.fit import check_samples, choose_prompt
    from harness.run import run
    from harness.runtime.interrupt import interruptible
    from harness.runtime.progress import Progress
    from harness.settings import build, build_main, plain
    from harness.storage.run_folder import MANIFEST
    from harness.tables import metrics

    main = build_main(plain(config))
    task: Task = build(main.task, "task")
    model: Model = build(main.model, "model")
    prompt = choose_prompt(task, model, main.prompt, main.replies)
    check_samples(main.samples, prompt, model)
    folder = _folder(config, main, task, prompt, model)
    progress = Progress(f"{task.name} {model.name}")
    money = Spending(task, prompt, model, main.samples, main.budget, folder.path / MANIFEST, progress.say)
    if main.dry_run:
        with answering(money, main.cache, task.name, progress.say, new=False):
            print(*money.rehearsal(), sep="\n")
        return folder.path
    if main.cache.mode != "frozen":  # which asks nothing, and so needs no key
        money.check()
    progress.cost = money.so_far
    folder.ledger, folder.provenance = money.ledger, {**folder.provenance, **money.provenance}
    with interruptible(progress), answering(money, main.cache, task.name, progress.say) as asked:
        outcome = run(task, prompt, asked, folder, progress, main.samples)
    if brief:
        print(f"    {'NOT COMPLETE: ' if outcome.stopped else ''}{metrics.brief(outcome.result)}", file=sys.stderr)
    elif outcome.result.overall.items:
        stored = main.cache.mode != "off" or getattr(model, "instant", False)
        _show(outcome, folder, progress, money.ledger.lines(), stored=stored)
    if outcome.stopped:
        raise outcome.stopped
    return folder.path


def _folder(config: DictConfig, main: Main, task: Task, prompt: Prompt, model: Model) -> Folder:
    """Where the run leaves what it finds; every setting that can change it is in the path or in the configuration."""
    from harness.settings import plain
    from harness.storage import provenance
    from harness.storage.configuration import of_model
    from harness.storage.run_folder import Folder, safe

    place, configuration = of_model(task, prompt, model.name, model.identity, main.samples)
    return Folder(
        path=Path(main.results, *task.name.split("/"), *(safe(place[part]) for part in ("variant", "prompt", "model"))),
        run=place,
        configuration=configuration,
        provenance={**provenance.gather(plain(config)), "words": prompt.as_json},
        form=main.records,
    )


def _show(outcome: Outcome, folder: Folder, progress: Progress, costs: Sequence[str], *, stored: bool) -> None:
    """Prints the scores, where the answers come from and where everything is left."""
    from harness.tables import metrics, terminal

    if outcome.stopped:
        print("NOT COMPLETE: the scores of what was answered so far.\n")
    remarks = "\n".join(metrics.remarks(outcome.result))
    terminal.show([*metrics.result_tables(outcome.result), remarks], title=" · ".join(folder.run.values()))
    if progress.cached:
        print(f"{progress.cached:,} answers came from the cache, {progress.done - progress.cached:,} were asked now.")
    if not stored:
        print(f"cache=off: {progress.done - progress.failed:,} answers stand in the records only; none was stored.")
    print(*costs, sep="\n", end="\n" * bool(costs))
    print(f"{folder.path}/ holds {', '.join(sorted(f.name for f in folder.path.iterdir() if f.name[0] != '.'))}")


@contextmanager
def answering(
    money: Spending, cache: Cache, task: str, say: Callable[[str], None], *, new: bool = True
) -> Iterator[Model]:
    """The model with what goes around it: budget, Ctrl-C, cache, ledger. `new` says whether a cache may be made.

    Instant models answer sooner than a cache could, in every mode, and cost nothing.
    """
    from harness.cache import CachedModel, Store
    from harness.runtime.interrupt import Stoppable

    if getattr(money.model, "instant", False):
        yield Stoppable(money.model, cache.mode)
        return
    asked = Stoppable(money.within_budget(), cache.mode)
    path = Path(cache.path)
    if cache.mode == "off" or (not new and not path.exists()):
        yield money.metered(asked)
        return
    with closing(Store(path, readonly=cache.mode == "frozen")) as store:
        cached = CachedModel(asked, store, mode=cache.mode, task=task, say=say)
        money.peek = cached.peek
        yield money.metered(cached)


if __name__ == "__main__":
    main()
