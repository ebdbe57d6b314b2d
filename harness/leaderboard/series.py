"""A setting by which runs differ, and series of runs that agree in everything but it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.codec import digest
from harness.errors import ConfigError
from harness.leaderboard.comparable import items_of, sort_key
from harness.storage.configuration import as_options, setting_text, variant
from harness.storage.runs import Run
from harness.tasks.benchmark import PERTURBATION, benchmark_of

PARTS = ("task", "model", "data")
"""The parts of a configuration that have settings; data are those that an algorithm has learned from."""
PLACES = ("prompt", "model", "variant")
"""Names of a run's place that serve as settings too: variant is all settings of the task at once."""
_OF_RANKING = ("rank", "top_logprobs", "several_tokens")
"""What a configuration says of how a server's model ranks: with model.method=rank alone."""


@dataclass(frozen=True)
class RunSetting:
    """One setting of a part of the configuration, or a part of the run's place (`name` is then empty)."""

    part: str
    name: str = ""

    @property
    def title(self) -> str:
        return (self.name or self.part).replace("_", " ")

    def value(self, run: Run) -> Any:
        """Return what the setting is in a run; None where that is the default or not known."""
        if not self.name:
            return getattr(run, self.part)
        if (self.part, self.name) == ("task", "labels"):
            return run.result.headline  # the default follows from the version
        value = _settings_of(run, self.part).get(self.name)
        return benchmark_of(run.task).defaults.get(self.name) if value is None else value

    def step(self, run: Run) -> str:
        """Return the setting's value as headings have it."""
        value = self.value(run)
        if (self.part, self.name) == ("task", PERTURBATION):
            return benchmark_of(run.task).perturbations.get(str(value or "none"), str(value))
        if value is None:
            return "all items" if self.name == "limit" else "default"
        return f"{value:,}" if type(value) is int and self.name == "limit" else setting_text(value)

    def is_default(self, run: Run) -> bool:
        """Return whether a run has the setting of its task, or its prompt, as it is by default."""
        if self.part == "prompt":
            task = (run.manifest.config or {}).get("task") or {}
            return run.prompt in list(task.get("prompts") or [])[:1]
        return (self.part == "task" and self.name not in run.settings) or (self.part == "variant" and not run.settings)

    def rest(self, run: Run) -> tuple[str, ...]:
        """Return all else that the answers depend on: variant, prompt and model, and a digest of the configuration.

        Examples that stand in a prompt are perturbed as the questions are, so a prompt is told by its file's words.
        """
        configuration = {**run.configuration}
        part = "task" if self.part == "variant" else self.part
        place = {"variant": self.other_variant(run), "prompt": run.prompt, "model": run.model}
        if configuration:
            more = _OF_RANKING if (self.part, self.name) == ("model", "method") else ()
            configuration[part] = _without(configuration.get(part) or {}, self.name, *more) if self.name else {}
        if part == "task" and configuration:
            configuration["prompt"] = _words(run)
        elif part == "data" and run.data:
            place["prompt"] = variant(as_options(configuration["data"]))
        elif part in place:
            place[part] = ""  # runs that differ in a setting of the model have names and folders of their own
        return (*place.values(), digest(configuration) if configuration else "")

    def other_settings(self, run: Run) -> dict[str, Any]:
        """Return the settings of a run's task but for this one."""
        if self.part == "variant":
            return {}
        return _without(run.settings, self.name) if self.part == "task" else dict(run.settings)

    def other_variant(self, run: Run) -> str:
        """Return the variant that a run has without this setting."""
        has_it = self.part == "variant" or (self.part == "task" and self.name in run.settings)
        return variant(self.other_settings(run)) if has_it else run.variant


def find_setting(name: str, runs: Sequence[Run]) -> RunSetting | None:
    """Return the setting that a user means by `limit`, `seed`, `model.seed` or `prompt`; None where no run has it.

    Raise ConfigError where parts of the configuration have several of that name by which the runs differ.
    """
    if name in PLACES:
        return RunSetting(name)
    part, _, own_name = name.rpartition(".")
    settings = [RunSetting(known, own_name) for known in PARTS if part in ("", known)]
    known = [s for s in settings if any(own_name in _settings_of(run, s.part) for run in runs)]
    differing = [setting for setting in known if _differ(runs, setting)]
    if len(differing) > 1:
        either = " or ".join(f"{setting.part}.{setting.name}" for setting in differing)
        raise ConfigError(f"{name} is a setting of several parts by which these runs differ: write {either}.")
    return next(iter([*differing, *known]), None)


def setting_names(runs: Sequence[Run]) -> list[str]:
    """Return the names of the settings by which the runs differ."""
    settings = {RunSetting(part, name) for run in runs for part in PARTS for name in _settings_of(run, part)}
    return sorted({s.name or s.part for s in {*settings, *map(RunSetting, PLACES)} if _differ(runs, s)})


def _differ(runs: Sequence[Run], setting: RunSetting) -> bool:
    return len({str(setting.value(run)) for run in runs}) > 1


def _settings_of(run: Run, part: str) -> dict[str, Any]:
    """Return the settings of a part, as its configuration has them or else as they were typed, those of groups, too."""
    settings: dict[str, Any] = {}
    for source in (run.manifest.config or {}, run.configuration):
        own = source.get(part)
        if isinstance(own, Mapping):
            inner = {name: v for value in own.values() if isinstance(value, Mapping) for name, v in value.items()}
            for name, value in {**inner, **own}.items():
                settings[name] = settings.get(name) if value is None else value
    return settings


def _without(part: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {
        key: _without(value, *names) if isinstance(value, Mapping) else value
        for key, value in part.items()
        if key not in names
    }


def _words(run: Run) -> Any:
    """Return what tells a prompt's file from others: its name and words, without the examples in it."""
    words = run.manifest.words
    if words is None:
        return run.configuration.get("prompt")
    return [run.prompt, {name: value for name, value in words.items() if name != "source"}]


@dataclass(eq=False)
class Series:
    """Runs that agree in everything but a setting."""

    rest: tuple[str, ...]
    """All that they agree in."""
    by_step: dict[str, Run] = field(default_factory=dict)
    """By the setting's value, as headings have it."""

    @property
    def first(self) -> Run:
        return next(iter(self.by_step.values()))

    def beside(self, other: Series) -> bool:
        """Return whether both may stand in one table: some step in both, and there the same items and labels."""
        shared = [(run, other.by_step[step]) for step, run in self.by_step.items() if step in other.by_step]
        same = (items_of(a) == items_of(b) and a.result.headline == b.result.headline for a, b in shared)
        return bool(shared) and all(same)


def series_of(runs: Sequence[Run], setting: RunSetting, *, folders: bool = True) -> list[Series]:
    """Return the complete runs in series, their steps in order; runs of several results folders apart, if `folders`.

    A run that has the same step as another of its series begins a series of its own.
    """
    order = steps_of(runs, setting)
    found: list[Series] = []
    for run in sorted((run for run in runs if run.sound), key=lambda run: order.index(setting.step(run))):
        rest = (*setting.rest(run), run.results_folder if folders else "")
        step = setting.step(run)
        series = next((other for other in found if other.rest == rest and step not in other.by_step), None)
        if series is None:
            found.append(series := Series(rest))
        series.by_step[step] = run
    return sorted(found, key=lambda s: (s.first.variant != "default", len(s.first.settings), sort_key(s.first)))


def steps_of(runs: Sequence[Run], setting: RunSetting) -> list[str]:
    """Return the values of a setting that the runs have: perturbations as charts have them, others from the default."""
    if setting == RunSetting("task", PERTURBATION):
        known = [step for run in runs[:1] for step in benchmark_of(run.task).perturbations.values()]
    else:
        known = sorted({setting.step(run) for run in runs if setting.is_default(run)})
    steps = {setting.step(run) for run in runs}
    return [step for step in known if step in steps] + sorted(steps - set(known), key=_natural)


def _natural(text: str) -> tuple[int, float, str]:
    try:
        return 0, float(text.replace(",", "")), text
    except ValueError:
        return 1, 0.0, text


def sets_of(several: Sequence[Series]) -> list[list[Series]]:
    """Return the series in sets that may stand side by side."""
    sets: list[list[Series]] = []
    for series in several:
        members = next((members for members in sets if all(series.beside(member) for member in members)), None)
        if members is None:
            sets.append(members := [])
        members.append(series)
    return sets
