"""A setting by which runs differ, and runs that agree in everything but it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.codec import digest
from harness.errors import ConfigError
from harness.leaderboard.comparable import items_of, sort_key
from harness.storage.configuration import as_options, setting_text, variant
from harness.storage.runs import Run
from harness.tasks.benchmark import PERTURBATION
from harness.tasks.find import benchmark_of

PARTS = ("task", "model", "data")
"""The parts of a configuration that have settings; data are those that an algorithm has learned from."""
PLACES = ("prompt", "model", "variant")
"""Names of a run's place that serve as settings too: variant is all settings of the task at once."""
_OF_RANKING = ("rank", "top_logprobs", "several_tokens")
"""What a configuration says of how a server's model ranks: with model.method=rank alone."""
_WHOLE = {"limit": "all items"}
"""What a default is called that is no value of its own."""


@dataclass(frozen=True)
class RunSetting:
    """One setting of a part of the configuration, or a part of the run's place (`name` is then empty)."""

    part: str
    name: str = ""

    @property
    def title(self) -> str:
        return (self.name or self.part).replace("_", " ")

    def value(self, row: Run) -> Any:
        """Return what the setting is in a run; None where that is the default or not known."""
        if not self.name:
            return getattr(row, self.part)
        if (self.part, self.name) == ("task", "labels"):
            return row.result.headline  # the default follows from the version
        for source in (row.configuration, row.manifest.config or {}):
            part = source.get(self.part)
            if isinstance(part, Mapping) and (value := _find(part, self.name)) is not None:
                return value
        return benchmark_of(row.task).defaults.get(self.name)

    def step(self, row: Run) -> str:
        """Return the setting's value as headings have it."""
        value = self.value(row)
        if (self.part, self.name) == ("task", PERTURBATION):
            return benchmark_of(row.task).perturbations.get(str(value or "none"), str(value))
        if value is None:
            return _WHOLE.get(self.name, "default")
        return f"{value:,}" if type(value) is int and self.name == "limit" else setting_text(value)

    def is_default(self, row: Run) -> bool:
        """Return whether a run has the setting of its task, or its prompt, as it is by default."""
        if self.part == "prompt":
            task = (row.manifest.config or {}).get("task") or {}
            return row.prompt in list(task.get("prompts") or [])[:1]
        return (self.part == "task" and self.name not in row.settings) or (self.part == "variant" and not row.settings)

    def rest(self, row: Run) -> tuple[str, ...]:
        """Return all else that the answers depend on: variant, prompt and model, and a digest of the configuration.

        Examples that stand in a prompt are perturbed as the questions are, so a prompt is told by its file's words.
        """
        configuration = {**row.configuration}
        if configuration and self.part in ("task", "variant"):
            configuration["prompt"] = _words(row)
        if self.name:
            more = _OF_RANKING if (self.part, self.name) == ("model", "method") else ()
            configuration[self.part] = _without(configuration.get(self.part) or {}, self.name, *more)
        elif configuration:
            configuration["task" if self.part == "variant" else self.part] = {}
        place = {"variant": row.variant, "prompt": row.prompt, "model": row.model}
        if self.part == "task":
            place["variant"] = self.other_variant(row)
        elif self.part == "data":
            place["prompt"] = variant(as_options(configuration["data"])) if row.data else row.prompt
        else:
            # Runs that differ in a setting of the model have names of their own, as they have folders of their own.
            place[self.part] = ""
        return (*place.values(), digest(configuration) if row.configuration else "")

    def other_settings(self, row: Run) -> dict[str, Any]:
        """Return the settings of a run's task but for this one."""
        if self.part == "variant":
            return {}
        return _without(row.settings, self.name) if self.part == "task" else dict(row.settings)

    def other_variant(self, row: Run) -> str:
        """Return the variant that a run has without this setting."""
        has_it = self.part == "variant" or (self.part == "task" and self.name in row.settings)
        return variant(self.other_settings(row)) if has_it else row.variant


def find_setting(name: str, rows: Sequence[Run]) -> RunSetting | None:
    """Return the setting that a user means by `limit`, `seed`, `model.seed` or `prompt`; None where no run has it.

    Raise ConfigError where parts of the configuration have several of that name by which the runs differ.
    """
    if name in PLACES:
        return RunSetting(name)
    part, _, own_name = name.rpartition(".")
    if part and part not in PARTS:
        return None
    settings = [RunSetting(part, own_name) for part in ([part] if part else PARTS)]
    known = [setting for setting in settings if any(_has(setting, row) for row in rows)]
    differing = [setting for setting in known if len({str(setting.value(row)) for row in rows}) > 1]
    if len(differing) > 1:
        either = " or ".join(f"{setting.part}.{setting.name}" for setting in differing)
        raise ConfigError(f"{name} is a setting of several parts by which these runs differ: write {either}.")
    return next(iter([*differing, *known]), None)


def setting_names(rows: Sequence[Run]) -> list[str]:
    """Return the names of the settings by which the runs differ."""
    names = {name for row in rows for part in PARTS for name in _names(row.configuration.get(part) or {})}
    settings = [RunSetting(part, name) for name in names for part in PARTS]
    differing = {setting.name for setting in settings if len({str(setting.value(row)) for row in rows}) > 1}
    return sorted(differing | {place for place in PLACES if len({getattr(row, place) for row in rows}) > 1})


def _has(setting: RunSetting, row: Run) -> bool:
    sources = (row.configuration, row.manifest.config or {})
    parts = [source.get(setting.part) for source in sources]
    return any(isinstance(part, Mapping) and setting.name in set(_names(part)) for part in parts)


def _names(part: Mapping[str, Any]) -> list[str]:
    inner = [name for value in part.values() if isinstance(value, Mapping) for name in value]
    return [*part, *inner]


def _find(part: Mapping[str, Any], name: str) -> Any:
    """Return a setting of a part of the configuration, or of a group in it, as temperature is one of sampling."""
    if name in part:
        return part[name]
    return next((value[name] for value in part.values() if isinstance(value, Mapping) and name in value), None)


def _without(part: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {
        key: _without(value, *names) if isinstance(value, Mapping) else value
        for key, value in part.items()
        if key not in names
    }


def _words(row: Run) -> Any:
    """Return what tells a prompt's file from others: its name and words, without the examples in it."""
    words = row.manifest.words
    if words is None:
        return row.configuration.get("prompt")
    return [row.prompt, {name: value for name, value in words.items() if name != "source"}]


@dataclass
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
        shared = [(row, other.by_step[step]) for step, row in self.by_step.items() if step in other.by_step]
        same = (items_of(a) == items_of(b) and a.result.headline == b.result.headline for a, b in shared)
        return bool(shared) and all(same)


def chains_of(rows: Sequence[Run], setting: RunSetting, *, folders: bool = True) -> list[Series]:
    """Return the complete runs in chains, their steps in order; runs of several results folders apart, where `folders`.

    A run that has the same step as another of its chain begins a chain of its own.
    """
    order = steps_of(rows, setting)
    chains: list[Series] = []
    for row in sorted((row for row in rows if row.sound), key=lambda row: order.index(setting.step(row))):
        rest = (*setting.rest(row), row.results_folder if folders else "")
        step = setting.step(row)
        chain = next((other for other in chains if other.rest == rest and step not in other.by_step), None)
        if chain is None:
            chains.append(chain := Series(rest))
        chain.by_step[step] = row
    return sorted(chains, key=_fewest_settings_first)


def _fewest_settings_first(chain: Series) -> tuple[bool, int, tuple[float | str, ...]]:
    first = chain.first
    return first.variant != "default", len(first.settings), sort_key(first)


def steps_of(rows: Sequence[Run], setting: RunSetting) -> list[str]:
    """Return the values of a setting that the runs have: perturbations as charts have them, others from the default."""
    if setting == RunSetting("task", PERTURBATION):
        known = [step for row in rows[:1] for step in benchmark_of(row.task).perturbations.values()]
    else:
        known = sorted({setting.step(row) for row in rows if setting.is_default(row)})
    steps = {setting.step(row) for row in rows}
    return [step for step in known if step in steps] + sorted(steps - set(known), key=_natural)


def sets_of(chains: Sequence[Series]) -> list[list[Series]]:
    """Return the chains in sets that may stand side by side."""
    sets: list[list[Series]] = []
    for chain in chains:
        members = next((members for members in sets if all(chain.beside(member) for member in members)), None)
        if members is None:
            sets.append(members := [])
        members.append(chain)
    return sets


def _natural(text: str) -> tuple[int, float, str]:
    try:
        return 0, float(text.replace(",", "")), text
    except ValueError:
        return 1, 0.0, text
