"""Which rule (`until=`) the settings ask for, or a manifest records, and how many calls it is likely to take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import length_hint
from pathlib import Path
from random import Random
from typing import Any

from harness.config_files import CONFIGS, listed, read_yaml
from harness.cost.until import BEST, Against, Order, Outcome, Rule, Until
from harness.errors import ConfigError, DataError, nearest
from harness.prompting.fit import choose_prompt, fitting
from harness.protocols import Committed, Model, Task
from harness.scoring import sequences
from harness.scoring.definitions import definition, definitions, main_metrics
from harness.scoring.samples import vote
from harness.scoring.sequences import ALPHA, DIFFERENCES
from harness.settings import Main, build, validated
from harness.settings import Until as Setting
from harness.storage.configuration import folder_of
from harness.storage.manifest import Manifest, TracedItems
from harness.storage.run_folder import MANIFEST
from harness.storage.runs import load
from harness.types import Item, Record, Request, Unreadable

Ask = Callable[..., Iterable[tuple[Record, Request | None]]]
"""`harness.run.ask`."""


@dataclass(frozen=True)
class Race:
    """What a job of a sweep knows of those before it."""

    earlier: Sequence[Path]
    """The folders of their runs."""
    jobs: int
    """In all."""


def until_of(settings: Main, task: Task, ask: Ask, race: Race | None = None) -> Until | None:
    """Return the rule that the settings ask for, or None. Raises ConfigError where it cannot be kept.

    `ask` has a model answer items; `race`: for a job of a sweep that is compared with the best run before it.
    """
    own = settings.until
    if own.rule is None:
        if own.against is not None or own.metric is not None:
            raise ConfigError("until.against= and until.metric= are parts of a rule: until=decided or until=width:5.")
        return None
    rule = Rule.of(own.rule)
    _refuse(settings, rule)
    order = Order(task, _seed(task, settings.task))
    metric, unreadable = _metric(own.metric, order)
    until = Until(rule, metric, order, unreadable, by=own.metric or "")
    if rule.kind == "width":
        return until
    if order.drawn is not None and metric not in DIFFERENCES:
        raise ConfigError(
            f"until=decided by {definition(metric).title}: what the other one has of it on all items is not known "
            f"where they are drawn without end. until.metric={' or '.join(DIFFERENCES)} is decided item by item."
        )
    if own.against is not None:
        return replace(until, against=against_of(own.against, settings.task, order, ask))
    alpha = ALPHA / max(race.jobs - 1, 1) if race is not None else ALPHA
    best = _best(race.earlier, order, metric) if race is not None else None
    return replace(until, against=best or BEST, alpha=alpha, beaten_only=True)


def _seed(task: Task, settings: Mapping[str, Any]) -> object:
    """Return the seed as a manifest holds it: of a private one its SHA-256."""
    recorded = task.recorded if isinstance(task, Committed) else {}
    return recorded.get("seed", settings.get("seed") or 0)


def _refuse(settings: Main, rule: Rule) -> None:
    """Raise ConfigError for settings that do not go together with a rule."""
    words = f"until={rule}"
    if settings.workers is not None or settings.shard is not None or settings.shards > 1:
        raise ConfigError(
            f"{words}: workers and shards ask everything before anybody looks. Leave them out: one process asks "
            "model.max_concurrency calls at a time."
        )
    if settings.judge is not None:
        raise ConfigError(
            f"{words}: a judge reads replies when all are there, too late for the rule. Leave one of them out."
        )
    if rule.kind == "width" and settings.until.against is not None:
        raise ConfigError(f"{words} needs no until.against=, which is what until=decided compares with.")


def _metric(name: str | None, order: Order) -> tuple[str, Unreadable]:
    """Return the number that the rule looks at, and how unreadable replies count. Raises ConfigError."""
    can = [metric.name for metric in definitions().values() if sequences.components(metric.name)]
    can = list(dict.fromkeys([*can, *DIFFERENCES]))
    empty = order.task.summarize(())
    metric = name or main_metrics(empty.overall)[0]
    has = {metric.name for metric in empty.overall.metrics} | {*DIFFERENCES} - {"accuracy"}
    if not sequences.components(metric) or metric not in has:
        raise ConfigError(
            f"until= looks at ratios of counts, and {definition(metric).title} is none of this task: until.metric="
            f"{' | '.join(each for each in can if each in has)} are."
        )
    several = order.drawn is None and any(label > 1 for item in order.items() for label in item.labels.values())
    if several and metric not in ("accuracy", "pair_accuracy"):
        raise ConfigError(
            f"until= by {definition(metric).title}: these questions have choices: add until.metric=accuracy."
        )
    return metric, empty.unreadable


def against_of(name: str, task_settings: Mapping[str, Any], order: Order, ask: Ask) -> Against:
    """Return what a run is compared with: the run in a folder, or a baseline by its name. Raises ConfigError."""
    if (folder := Path(name).expanduser()).is_dir():
        return run_at(folder)
    name = "always_no" if name == "floor" else name
    if (file := listed(CONFIGS, "model").get(name)) is None:
        raise ConfigError(
            f"until.against={name} is neither the folder of a run nor a baseline, such as always_no"
            f"{nearest(name, listed(CONFIGS, 'model'))}."
        )
    return _baseline(name, file, task_settings, order.task, ask)


def _baseline(name: str, file: Path, task_settings: Mapping[str, Any], task: Task, ask: Ask) -> Against:
    """Return a baseline that answers as the items come."""
    from omegaconf import OmegaConf

    config = OmegaConf.create({"model": read_yaml(file), "task": dict(task_settings)})
    section = OmegaConf.to_container(config.model, resolve=True)
    if not isinstance(section, dict) or "defaults" in section:
        raise ConfigError(f"until.against={name} is a model that has to be asked: give the folder of its run instead.")
    model: Model = build({str(key): value for key, value in section.items()}, "model")
    if not model.traits.instant:
        raise ConfigError(f"until.against={name} is a model that has to be asked: give the folder of its run instead.")
    prompt = choose_prompt(task, model, None)
    kind = fitting(prompt, model)
    identity = {"name": model.name, "model": dict(model.identity), "prompt": prompt.name}
    return Against(model.name, identity, lambda items: [record for record, _ in ask(items, prompt, model, kind)])


def run_at(folder: Path) -> Against:
    """Return the run in a folder. Raises ConfigError for one that is not whole, DataError for items that it lacks."""
    run = load(folder)
    if not run.sound or run.records_file is None:
        raise ConfigError(f"until.against={folder} is no complete run with its records.")
    records: dict[str, list[Record]] = defaultdict(list)
    for record in run.records():
        records[record.item].append(record)
    votes = {name: vote(each) for name, each in records.items()}

    def of(items: Sequence[Item]) -> list[Record]:
        missing = [item.id for item in items if item.id not in votes or votes[item.id].labels != item.labels]
        if missing:
            raise DataError(f"{folder} has no answer to the item {missing[0]}: it is of other items, or stopped early.")
        return [votes[item.id] for item in items]

    identity = {"name": run.model, "run": dict(run.place), "result": run.manifest.result}
    return Against(run.model, identity, of)


def _best(folders: Sequence[Path], order: Order, metric: str) -> Against | None:
    """Return the best of the runs that have been asked all these items; None where there is none."""
    items = TracedItems(order.items())
    asked = sum(1 for _ in items)
    best: tuple[float, Path] | None = None
    for folder in folders:
        run = load(folder)
        score = run.result.overall[metric] if run.result.overall[metric] is not None else run.result.overall["accuracy"]
        if asked and run.sound and run.items == items.summary["sha256"] and score is not None:
            best = max(best or (score, folder), (score, folder), key=lambda pair: pair[0])
    return None if best is None else run_at(best[1])


def recorded(manifest: Manifest, task: Task, folder: Path, ask: Ask) -> Until | None:
    """Return the rule that a run's manifest records; None for a run without one. Raises DataError where it cannot be.

    `folder` is the run's: another run that it was compared with is looked for by its place, in the same results.
    """
    settings = (manifest.config or {}).get("until") or {}
    if settings.get("rule") is None:
        return None
    try:
        return _recorded(validated(Setting, settings), manifest, task, load(folder).results_folder, ask)
    except (ConfigError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{MANIFEST}: what it says of until= is no rule ({error}).") from None


def _recorded(settings: Setting, manifest: Manifest, task: Task, results: str, ask: Ask) -> Until:
    task_settings, found = (manifest.config or {}).get("task") or {}, manifest.until or {}
    order = Order(task, _seed(task, task_settings))
    rule = Rule.of(str(settings.rule))
    metric, unreadable = _metric(settings.metric, order)
    until = Until(rule, metric, order, unreadable, by=settings.metric or "")
    if rule.kind == "width":
        return until
    raced = settings.against is None
    identity = (found if raced else manifest.configuration["until"])["against"]
    until = replace(until, beaten_only=raced, alpha=1 - float(found.get("level", 1 - ALPHA)))
    if "best" in identity:
        return replace(until, against=BEST)
    if "run" not in identity:
        name = str(identity["name"])
        return replace(
            until, against=_baseline(name, listed(CONFIGS, "model", own=False)[name], task_settings, task, ask)
        )
    place = folder_of(results, identity["run"])
    within = place.resolve().is_relative_to(Path(results).resolve())
    if not within or not place.is_dir() or load(place).manifest.result != identity["result"]:
        raise DataError(f"the run that it was compared with is not at {place} any more: nobody can say what decided.")
    return replace(until, against=run_at(place))


def likely(until: Until) -> tuple[int, str]:
    """Return how many items the rule is likely to take at most, by trying it on simulated answers, and a sentence."""
    random = Random(0)
    cells, greatest = [], 0
    for label, share, other in _CASES[
        "width" if until.rule.kind == "width" else "paired" if until.paired else "target"
    ]:
        counts = sorted(_simulated(until, share, other, random) for _ in range(3))
        most = length_hint(until.order)
        greatest = max(greatest, counts[1])
        cells.append(f"{label}: {'more than ' * (counts[1] >= SIMULATED < most)}{counts[1]:,}")
    return greatest, (
        f"until={until.rule} ({definition(until.metric).title}) is likely to take, of at most "
        f"{length_hint(until.order):,} items, by simulated answers: {'; '.join(cells)}. Models that are right about "
        f"whole clusters take more. What follows is of the first {greatest:,}."
    )


SIMULATED = 5_000
"""Items of a simulated run, at most."""
_CASES: Mapping[str, Sequence[tuple[str, float, float]]] = {
    "width": [(f"{share:.0%} right", share, 0.0) for share in (0.5, 0.7, 0.9)],
    "paired": [(f"{100 * gap:g} points apart", 0.5 + gap / 2, 0.5 - gap / 2) for gap in (0.4, 0.2, 0.1, 0.05)],
    "target": [(f"{share:.0%} right", share, 0.0) for share in (0.5, 0.7, 0.9)],
}
_SAME = 0.5
"""The share of items on which two simulated runs are equally right, of those where they need not differ."""
_ALIKE = 0.1
"""How alike simulated answers to items of one cluster are (intraclass correlation)."""


def _simulated(until: Until, share: float, other: float, random: Random) -> int:
    """Return after how many items a simulated run would stop."""
    estimate, asked = until.estimate(grid=200), 0
    headline, alike = until.order.task.headline, 1 / _ALIKE - 1
    for draw in until.order.draws():
        own: list[Outcome] = []
        others: list[Outcome] = []
        here = random.betavariate(share * alike, (1 - share) * alike) if len(draw) > 1 else share
        for item in draw:
            gold, lot = bool(item.labels[headline]), random.random()
            same = random.random() < _SAME
            own.append(_place(gold, right=lot < here))
            others.append(_place(gold, right=(lot if same else random.random()) < here + other - share))
        if until.metric == "pair_accuracy":
            own = [0 if all(place in (0, 3) for place in own) else 1]
            others = [0 if all(place in (0, 3) for place in others) else 1]
        estimate.enter(own, others if until.paired else None)
        asked += len(draw)
        if estimate.decision or asked >= SIMULATED:
            break
    return asked


def _place(gold: bool, *, right: bool) -> int:
    return {(True, True): 0, (False, False): 1, (True, False): 2, (False, True): 3}[gold, right]
