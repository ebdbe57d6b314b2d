"""A run, wired once: `prepare` builds its parts from the composed settings, and `carry_out` asks, records and scores.

Nothing is completed afterwards: a `Prepared` holds all that the run will use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness import plugin
from harness.cache import CachedModel, Store
from harness.config_files import own_files
from harness.cost.plan import Plan
from harness.cost.shared_budget import Book
from harness.cost.spending import Spending
from harness.errors import ConfigError
from harness.judge import AUDITED, Judge, judge_of, prompt_of
from harness.prompting.fit import fitting
from harness.prompting.prompts import Prompt
from harness.prompting.version import reading_version
from harness.protocols import Model, Task, training_of
from harness.run import RunOutcome, run
from harness.runtime.interrupt import Stoppable, interruptible
from harness.runtime.progress import Progress
from harness.settings import Main, build_main
from harness.storage.configuration import folder_of, of_answerer, of_judge, of_model
from harness.storage.manifest import Manifest, provenance
from harness.storage.run_folder import MANIFEST, Folder
from harness.tasks.check import look_ahead, parts_of
from harness.types import JSON, Message


@dataclass(frozen=True)
class Prepared:
    """One run before it begins."""

    settings: Main
    task: Task
    prompt: Prompt
    model: Model
    """By itself, without what goes around it."""
    spending: Spending
    folder: Folder
    progress: Progress
    own: Mapping[str, str]
    """Its files from the working directory: {path below it: SHA-256}."""

    @property
    def stored(self) -> bool:
        """Whether the answers go into the cache. Instant models answer sooner than it could, and cost nothing."""
        return self.settings.cache.mode != "off" and (not self.instant or self.settings.judge is not None)

    @property
    def instant(self) -> bool:
        return self.model.traits.instant


Wrapping = Callable[[Prepared, Model, Store | None], Model | None]
"""A plug-in's function: returns what goes directly around the model or the judge of a run, or None to leave it.

The store is None before the run begins, where settings are looked at that may not go with it (ConfigError).
"""


def prepare(config: Mapping[str, Any], book: Book | None = None) -> Prepared:
    """Return the run that a composed config describes. Raises ConfigError for one that cannot run.

    `book`: where other jobs take from the same budget.
    """
    settings = build_main(config)
    # The three parts, and whether they fit each other.
    task, model, prompt = parts_of(settings)
    # What will be asked needs a key; a dry run asks nothing, nor does a frozen cache.
    asks = not settings.dry_run and settings.cache.mode != "frozen"
    if asks and (service := model.traits.service) is not None:
        service.check_key()
    judge = _judge(settings, prompt, asks=asks)
    # Its place. Every setting that can change what it finds is in the path or in the configuration.
    judge_part = of_judge(judge.name, judge.model.identity, judge.words) if judge is not None else None
    answerer = of_answerer(model, prompt, fitting(prompt, model))
    place, configuration = of_model(task, prompt, model.name, answerer, settings.samples, judge_part)
    if not model.name.strip(". "):
        raise ConfigError(f"model.name={model.name!r} is no name of a row and a folder: it needs a letter or a digit.")
    path = folder_of(settings.results, place)
    # Its price, which an earlier run in the same place may have written down, and its budget.
    config, own = own_files(config)
    own |= prompt.own_file
    limits, notes = vars(settings.budget), tuple(own_lines(own))
    spending = Spending.of(task, prompt, model, settings.samples, limits, path / MANIFEST, judge, book, notes)
    if settings.cache.mode != "frozen":  # a dry run refuses what the run will
        spending.check()
    # What it leaves, and what it shows meanwhile.
    folder = Folder(
        path=path,
        manifest=_manifest(place, configuration, config, own, model, prompt, spending),
        ledger=spending.ledger,
        judge_ledger=spending.judge.ledger if spending.judge is not None else None,
    )
    progress = Progress(f"{task.name} {model.name}", spending.so_far)
    prepared = Prepared(settings, task, prompt, model, spending, folder, progress, own)
    for each in (model, *(() if judge is None else (judge.model,))):
        if _in_batches(each):
            _wrapped(each, prepared, None)  # refuses what cannot be
    return prepared


def _judge(settings: Main, prompt: Prompt, *, asks: bool) -> Judge | None:
    """Return the judge, or None if the run has none. Raises ConfigError for a model that cannot judge."""
    if settings.judge is None:
        return None
    model = judge_of(settings.judge, asks=asks)
    return Judge(model, prompt_of(model, prompt), AUDITED)


def _manifest(
    place: Mapping[str, str],
    configuration: Mapping[str, JSON],
    config: Mapping[str, Any],
    own: Mapping[str, str],
    model: Model,
    prompt: Prompt,
    spending: Spending,
) -> Manifest:
    """Return what is known of a run before it begins."""
    judge = spending.judge
    return Manifest(
        run=place,
        configuration=configuration,
        role=model.traits.role,
        **provenance(dict(config)),
        own_files=own or None,
        training=dict(training_of(model)) or None,
        words=prompt.as_json,
        **spending.provenance,
        judge=None if judge is None else {"words": judge.judge.words.as_json, **judge.provenance},
        reading=reading_version(prompt.as_json),
    )


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
    with interruptible(prepared.progress), opened_store(prepared) as store:
        model, judge = answering(prepared, store, announced=announced), judging(prepared, store)
        return run(
            prepared.task,
            prepared.prompt,
            model,
            prepared.folder,
            prepared.progress,
            prepared.settings.samples,
            judge,
        )


def rehearse(prepared: Prepared) -> list[str]:
    """Return the plan and two prompts, line by line. Nothing is asked, and no cache is made."""
    look_ahead(prepared.task)
    with opened_store(prepared, new=False) as store:
        return [*prepared.spending.rehearsal(stored_answer(prepared, store), prepared.progress.say)]


def planned(prepared: Prepared, elsewhere: set[int] | None = None) -> Plan:
    """Return what a run would ask; `elsewhere` holds what jobs before it ask the same model, and takes up its own."""
    with opened_store(prepared, new=False) as store:
        return prepared.spending.plan(stored_answer(prepared, store), prepared.progress.say, elsewhere=elsewhere)


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
    """Return the model with what goes around it, from the inside out: budget, Ctrl-C, cache, ledger."""
    spending = prepared.spending
    if prepared.instant:
        return Stoppable(prepared.model, prepared.settings.cache.mode)
    known = stored_answer(prepared, store)
    wrapped = _wrapped(prepared.model, prepared, store)
    within = spending.within_budget(known, prepared.progress.say, wrapped, announced=announced)
    return spending.metered(_stored(within, prepared, store))


def judging(prepared: Prepared, store: Store | None) -> Judge | None:
    """Return the judge with the same wrappers as the model; None for a run without one."""
    if (spending := prepared.spending.judge) is None:
        return None
    wrapped = _wrapped(spending.model, prepared, store)
    return replace(spending.judge, model=spending.metered(_stored(spending.within_rest(wrapped), prepared, store)))


def _stored(model: Model, prepared: Prepared, store: Store | None) -> Model:
    """Return the model with Ctrl-C and, if there is one, the cache around it."""
    mode = prepared.settings.cache.mode
    stoppable = Stoppable(model, mode)
    if store is None:
        return stoppable
    return CachedModel(stoppable, store, mode=mode, task=prepared.task.name, say=prepared.progress.say)


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


def stored_answer(prepared: Prepared, store: Store | None) -> Any:
    """Return a function that looks an answer up in the cache, so that a plan does not count it as a call."""
    if store is None:
        return lambda _: None
    return CachedModel(prepared.model, store, mode=prepared.settings.cache.mode).peek
