"""A run, wired once: `prepare` builds its parts from the composed settings, and `carry_out` asks, records and scores.

Nothing is completed afterwards: a `Prepared` holds all that the run will use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from harness import plugin
from harness.cache import CachedModel, Store
from harness.config_files import own_files
from harness.cost.budget import Budget, Budgeted
from harness.cost.ledger import Ledger, Metered
from harness.cost.plan import Plan, judge_line, plan_lines, plan_of, prompts
from harness.errors import ConfigError
from harness.judge import Judge, judge_of
from harness.prompting.fit import fitting
from harness.prompting.prompts import Prompt
from harness.prompting.reading import reading_version
from harness.protocols import Model, Task, training_of
from harness.run import RunOutcome, run
from harness.runtime.progress import Progress
from harness.runtime.signals import STOP, interruptible
from harness.settings import Limits, Main, build_main
from harness.storage.configuration import folder_of, of_answerer, of_judge, of_model
from harness.storage.manifest import Manifest, provenance
from harness.storage.run_folder import Folder
from harness.tasks.check import look_ahead, parts_of
from harness.types import Message


@dataclass(frozen=True)
class Prepared:
    """One run before it begins."""

    settings: Main
    task: Task
    prompt: Prompt
    model: Model
    """By itself, without what goes around it."""
    ledger: Ledger
    judge: Judge | None
    """By itself, too."""
    judge_ledger: Ledger
    """With nothing in it where there is no judge."""
    budget: Budget
    """From which both take."""
    folder: Folder
    progress: Progress
    own: Mapping[str, str]
    """Its files from the working directory: {path below it: SHA-256}."""

    @property
    def stored(self) -> bool:
        """Whether the answers go into the cache. Instant models answer sooner than it could, and cost nothing."""
        return self.settings.cache.mode != "off" and (not self.model.traits.instant or self.settings.judge is not None)


Wrapping = Callable[[Prepared, Model, Store | None], Model | None]
"""A plug-in's function: returns what goes directly around the model or the judge of a run, or None to leave it.

The store is None before the run begins, where settings are looked at that may not go with it (ConfigError).
"""


def prepare(config: Mapping[str, Any], budget_file: Path | None = None) -> Prepared:
    """Return the run that a composed config describes. Raises ConfigError for one that cannot run.

    `budget_file`: of a budget from which other processes take as well.
    """
    settings = build_main(config)
    # The three parts, and whether they fit each other.
    task, model, prompt = parts_of(settings)
    # What will be asked needs a key; a dry run asks nothing, nor does a frozen cache.
    asks = not settings.dry_run and settings.cache.mode != "frozen"
    if asks and (service := model.traits.service) is not None:
        service.check_key()
    judge = None if settings.judge is None else judge_of(settings.judge, prompt, asks=asks)
    # What they cost: a dry run refuses what the run will, and a frozen cache asks nothing.
    limits = Limits() if settings.cache.mode == "frozen" else settings.budget
    ledger, budget = Ledger.of(model.traits.service, limits), Budget(settings.budget, budget_file)
    judge_ledger = Ledger.of(None if judge is None else judge.model.traits.service, limits, "judge")
    # Its place. Every setting that can change what it finds is in the path or in the configuration.
    judge_part = of_judge(judge.name, judge.model.identity, judge.words) if judge is not None else None
    answerer = of_answerer(model, prompt, fitting(prompt, model))
    place, configuration = of_model(task, prompt, model.name, answerer, settings.samples, judge_part)
    if not model.name.strip(". "):
        raise ConfigError(f"model.name={model.name!r} is no name of a row and a folder: it needs a letter or a digit.")
    path = folder_of(settings.results, place)
    config, own = own_files(config)
    own |= prompt.own_file
    # What it leaves, and what it shows meanwhile.
    folder = Folder(
        path=path,
        manifest=Manifest(
            run=place,
            configuration=configuration,
            role=model.traits.role,
            **provenance(dict(config)),
            own_files=own or None,
            training=dict(training_of(model)) or None,
            words=prompt.as_json,
            **ledger.price_json,
            judge=None if judge is None else {"words": judge.words.as_json, **judge_ledger.price_json},
            reading=reading_version(),
        ),
        overwrite=settings.overwrite,
        ledger=ledger,
        judge_ledger=judge_ledger,
    )
    progress = Progress(f"{task.name} {model.name}", partial(budget.so_far, ledger))
    prepared = Prepared(settings, task, prompt, model, ledger, judge, judge_ledger, budget, folder, progress, own)
    for each in (model, *(() if judge is None else (judge.model,))):
        if _in_batches(each):
            _wrapped(each, prepared, None)  # refuses what cannot be
    return prepared


def prepare_to_begin(config: Mapping[str, Any]) -> Prepared:
    """Return a run whose first item can be asked: with data that are there, and no field that is asked for in vain.

    Raises HarnessError.
    """
    prepared = prepare(config)
    item = next(iter(prepared.task.items()), None)
    if item is not None:
        prompt = prepared.prompt
        turns = [Message("user", turn) for turn in prompt.opening(item.fields)]
        prompt.render(item.fields, tuple(turns), fitting(prompt, prepared.model))
    return prepared


def own_lines(own: Mapping[str, str]) -> Iterator[str]:
    """Yield the line that names the run's files from the working directory, if there are any."""
    if own:
        files = ", ".join(f"{path} (sha256 {digest[:12]})" for path, digest in own.items())
        yield f"Own files: {files}."


def carry_out(prepared: Prepared, *, announced: bool = False) -> RunOutcome:
    """Ask, record and score; return how the run ended. Whatever stops it early, what was answered is kept.

    `announced` says that the plan has been shown.
    """
    with interruptible(prepared.progress.say), opened_store(prepared) as store:
        model, judge = answering(prepared, store, announced=announced), judging(prepared, store)
        parts = prepared.task, prepared.prompt, model, prepared.folder, prepared.progress
        return run(*parts, prepared.settings.samples, judge)


def rehearse(prepared: Prepared) -> list[str]:
    """Return the plan and two prompts, line by line. Nothing is asked, and no cache is made."""
    look_ahead(prepared.task)
    with opened_store(prepared, new=False) as store:
        plan = planned(prepared, store, examples=2)
    judged = [] if prepared.judge is None else [judge_line(plan, prepared.judge, prepared.judge_ledger)]
    shown = prompts(plan, prepared.model.traits.service)
    remarks = prepared.task.remarks
    return [*_plan_lines(prepared, plan), *remarks, *judged, *shown, "\nNothing was asked (dry_run=true)."]


def planned(prepared: Prepared, store: Store | None, *, examples: int = 0, elsewhere: set[int] | None = None) -> Plan:
    """Return what a run asks beside what is in the cache; for more see `plan_of`."""
    prompt, model, settings = prepared.prompt, prepared.model, prepared.settings
    return plan_of(
        prepared.task, prompt, fitting(prompt, model), model,
        (lambda _: None) if store is None else CachedModel(model, store, mode=settings.cache.mode).peek,
        prepared.progress.say,
        samples=settings.samples, examples=examples, judge=prepared.judge, elsewhere=elsewhere,
    )  # fmt: skip


def announce(prepared: Prepared, store: Store | None) -> None:
    """Show the plan, unless a stop has been requested meanwhile."""
    plan = planned(prepared, store)
    for line in _plan_lines(prepared, plan) if not STOP.requested else ():
        prepared.progress.say(line)


def _plan_lines(prepared: Prepared, plan: Plan) -> Iterator[str]:
    yield from plan_lines(plan, prepared.model, prepared.ledger, prepared.budget.limits)
    yield from own_lines(prepared.own)


def _wrapped(model: Model, prepared: Prepared, store: Store | None) -> Model:
    """Return the model with what plug-ins put around it. Raises ConfigError for batches that none of them makes."""
    if _in_batches(model) and not plugin.wrappers() and prepared.settings.cache.mode != "frozen":
        raise ConfigError("model.batch needs the package causal-harness-batches (pip install -e packages/batches).")
    for wrap in plugin.wrappers():
        model = wrap(prepared, model, store) or model
    return model


def _in_batches(model: Model) -> bool:
    return (service := model.traits.service) is not None and service.batch_window is not None


def answering(prepared: Prepared, store: Store | None, *, announced: bool) -> Model:
    """Return the model with what goes around it, from the inside out: budget and Ctrl-C, cache, ledger.

    The plan is shown before a paid model's first call, unless it was `announced` with those of other jobs. A run
    answered from the cache alone makes no call, and does not wait for a pass over the items.
    """
    if prepared.model.traits.instant:
        return Budgeted(prepared.model, cache=prepared.settings.cache.mode)
    before = partial(announce, prepared, store) if prepared.ledger.paid and not announced else None
    return _around(prepared, prepared.model, prepared.ledger, store, before)


def judging(prepared: Prepared, store: Store | None) -> Judge | None:
    """Return the judge with the same wrappers as the model; None for a run without one."""
    if (judge := prepared.judge) is None:
        return None
    return replace(judge, model=_around(prepared, judge.model, prepared.judge_ledger, store))


def _around(
    prepared: Prepared, model: Model, ledger: Ledger, store: Store | None, before: Callable[[], None] | None = None
) -> Model:
    mode, say = prepared.settings.cache.mode, prepared.progress.say
    model = Budgeted(_wrapped(model, prepared, store), prepared.budget, ledger, cache=mode, before=before)
    if store is not None:
        model = CachedModel(model, store, mode=mode, task=prepared.task.name, say=say)
    return Metered(model, ledger)


@contextmanager
def opened_store(prepared: Prepared, *, new: bool = True) -> Iterator[Store | None]:
    """Yield the cache, or None for a run without one. `new` says whether its file may be made."""
    cache = prepared.settings.cache
    path = Path(cache.path)
    if not prepared.stored or (not new and not path.exists()):
        yield None
        return
    readonly = cache.mode == "frozen" or prepared.settings.dry_run
    with closing(Store(path, readonly=readonly)) as store:
        yield store
