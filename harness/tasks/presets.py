"""What a preset is: a table of a paper, described so that published and measured numbers can be laid out alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

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
    """Their names; the first is the one that is not told beside each model."""
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
    """Whether it is said by which label set a set of rows was scored, where that is not the paper's."""
    needs: str = ""
    """A prompt: models that were not asked with it have no row."""
    note: str = ""
    """What has to be known to read published and measured numbers side by side."""
    command: str = ""
    """A command that makes such a run."""

    @property
    def benchmark(self) -> str:
        """Return the name of the benchmark whose paper has it."""
        return self.task.partition("/")[0]

    @property
    def published(self) -> tuple[str, ...]:
        """The published tables, as the file names them."""
        return tuple(f"Table {name}" for name in self.tables or (self.name,))


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
