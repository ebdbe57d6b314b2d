"""A paper's table as a preset: described so that published and measured numbers are laid out alike; found by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from harness.errors import ConfigError, nearest
from harness.plugins.papers.published import no_scores, only_one, table_order
from harness.storage.runs import Run
from harness.tables.table import Table
from harness.tasks.benchmark import Benchmark
from harness.tasks.find import every

Form = Literal["percent", "whole percent", "fraction", "number"]
"""How the paper prints a number: 27.82 or 96% for a share, 0.2782, or something that is no share."""


@dataclass(frozen=True)
class Number:
    """A column of numbers: where each stands in a published row and in a run's result."""

    title: str
    printed: str
    """The metric in the published file."""
    measured: tuple[str, ...]
    """The metric in a result; the first that it has, as the exact convention has other names than the paper's."""
    over: str = ""
    """Heading that neighbouring columns share."""
    where: Mapping[str, str] = field(default_factory=dict)
    """What else tells the published row: table, model, task, prompt_format, perturbation."""
    slots: tuple[str, ...] = ()
    """Runs with which values of the setting that varies; all where none are named."""
    key: str = ""
    """The key of the preset's axis, where the axis goes across."""
    at: tuple[str, str] | None = None
    """Breakdown and group of the result, {} for the axis' group, where they are not the axis' own."""
    form: Form = "percent"
    best: Literal["high", "low"] | None = None
    """Set where the models of a set are to be compared by it."""


@dataclass(frozen=True)
class Axis:
    """What a table breaks numbers down by, down its rows or across its columns."""

    title: str
    setting: str
    """The setting of a published row that holds the key."""
    groups: Mapping[str, tuple[str, ...]]
    """By published key: the groups of a result; of several the mean."""
    breakdown: str
    titles: Mapping[str, str]
    """By published key: the paper's words for it."""

    def place(self, key: str) -> tuple[str, tuple[str, ...]]:
        """Return breakdown and groups of a key; `all` is all items."""
        return ("overall", ("all",)) if key == "all" else (self.breakdown, self.groups[key])


@dataclass(frozen=True)
class RunSelection:
    """Runs that belong in a table."""

    prompts: tuple[str, ...]
    """Their names; the first one is not shown beside each model."""
    requires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values that settings of the task may have."""
    slot: str = ""
    """The columns' slot, where the kind of run tells it and not the setting that varies."""
    algorithms: bool = False
    """Whether they are classical algorithms, which read no prompt."""
    labels: str = ""
    """The label set of its numbers; the one that compares best with the paper's where none is named."""


@dataclass(frozen=True)
class Preset:
    """A table of a paper."""

    name: str
    """As in preset=4."""
    task: str
    """The task whose runs belong in it."""
    title: str
    """What the paper's caption says, in our words."""
    rows: tuple[Literal["model", "axis"], ...]
    """Columns of text, in their order: what tells the rows apart."""
    columns: tuple[Number, ...]
    sources: tuple[RunSelection, ...]
    axis: Axis | None = None
    tables: tuple[str, ...] = ()
    """Names of the published tables; its own where none are named."""
    models: str = "model"
    """Heading of the models' column."""
    groups: Literal["none", "family", "model"] = "none"
    """What stands above rows that belong together: the paper's group (a family), the model."""
    varies: str | None = None
    """The setting by which runs of one model are put beside each other in a row; of `model` the runs of all models."""
    chosen_by: tuple[str, ...] = ()
    """Settings that choose keys of the axis: an algorithm's runs on some of them stand beside those on others."""
    beside: tuple[Number, ...] = ()
    """Columns for each measured run, to the right of the published ones."""
    learned: Number | None = None
    """The column of a model that the paper does not have."""
    first: tuple[str, ...] = ()
    """Published models that come before all others; for some of them the paper prints a dash in every column."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """A published model's name as the paper's table has it, where the file's differs."""
    tells_labels: bool = True
    """Whether the heading of a set of rows names its label set, where that is not the paper's."""
    needs: str = ""
    """A prompt: models that were not asked with it have no row."""
    note: str = ""
    """What has to be known to read published and measured numbers side by side."""
    command: str = ""
    """A command that makes such a run."""

    @property
    def benchmark(self) -> str:
        return self.task.partition("/")[0]

    @property
    def published(self) -> tuple[str, ...]:
        return tuple(f"Table {name}" for name in self.tables or (self.name,))


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper that no preset describes: it lays itself out, published and measured."""

    name: str
    """As in preset=VIII."""
    benchmark: str
    title: str
    holds: str
    """What stands in it instead of rows of numbers, for the list of tables: marks."""
    lay_out: Callable[[Sequence[Run]], list[Table]]
    """Makes it of all runs there are, those that do not belong in it too."""


def read_presets(text: str) -> tuple[Preset, ...]:
    """Return the presets of a YAML file: `presets` holds the fields of each; a note may be a list of sentences.

    What stands above it is shared by anchors. Raises pydantic's ValidationError where a field is wrong.
    """
    import yaml
    from pydantic import TypeAdapter

    content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))["presets"]
    for fields in content:
        if isinstance(fields.get("note"), list):
            fields["note"] = " ".join(fields["note"])
    return TypeAdapter(tuple[Preset, ...]).validate_python(content)


def preset(name: str) -> Preset | PaperTable:
    """Return the preset of a name such as 4, 5a, XI, causalbench/XI; of 5a the part (a). Raises ConfigError."""
    full_name = name.strip().lower().removeprefix("table ")
    benchmark_name, _, table = full_name.rpartition("/")
    fitting = [
        (benchmark, preset)
        for benchmark in every()
        for key, preset in _presets_by_name(benchmark).items()
        if key.lower() == table and benchmark_name in ("", benchmark.name.lower())
    ]
    only_one("preset", name, [benchmark.name for benchmark, _ in fitting])
    if not fitting:
        hint = nearest(name, (key for benchmark in every() for key in _presets_by_name(benchmark)))
        message = no_scores("preset", table) or f"there is no preset {name!r}{hint}."
        raise ConfigError(f"{message} There are:\n{preset_list()}")
    return fitting[0][1]


def presets() -> list[tuple[Benchmark, Preset | PaperTable]]:
    """Return the presets of all benchmarks, in the order of their tables."""
    return [
        (benchmark, preset)
        for benchmark in every()
        for preset in sorted(benchmark.presets(), key=lambda preset: table_order(preset.name))
    ]


def preset_list() -> str:
    width = max(len(preset.name) for _, preset in presets())
    lines = [
        f"  preset={preset.name:<{width}}  {benchmark.title}, Table {preset.name}: {preset.title}"
        for benchmark, preset in presets()
    ]
    return "\n".join(lines)


@cache
def _presets_by_name(benchmark: Benchmark) -> dict[str, Preset | PaperTable]:
    """Return a benchmark's presets, and the parts of those that are of several tables, by name."""
    by_name: dict[str, Preset | PaperTable] = {}
    for preset in benchmark.presets():
        by_name[preset.name] = preset
        for table in () if isinstance(preset, PaperTable) else preset.tables:
            columns = tuple(number for number in preset.columns if number.where.get("table") == f"Table {table}")
            by_name[table] = replace(preset, name=table, tables=(table,), columns=columns)
    return by_name
