"""Which runs stand in a preset's table, and which of them make one row together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.leaderboard.build import items_of
from harness.leaderboard.families import family, order
from harness.leaderboard.rows import Row
from harness.storage.run_folder import setting_text
from harness.tasks.benchmark import Benchmark
from harness.tasks.find import benchmark_of
from harness.tasks.presets import Number, Preset, Source
from harness.types import Metric, Scores


@dataclass(frozen=True)
class Data:
    """What all runs of a set of rows have in common."""

    settings: tuple[tuple[str, str], ...]
    """Of the task, without what varies and what is the same in the whole table."""
    labels: str
    prompt: str = ""
    """Where models are columns: what else tells sets apart, the name of an algorithm's data or a language model."""
    learned: tuple[int, ...] = ()
    """Of algorithms: how many observations they learned from, and the seed that drew them."""
    items: tuple[tuple[str, int], ...] = ()
    """By slot, which of several sets of items; nothing where there is one."""


@dataclass
class Entry:
    """One row (or one per key of the axis): runs of a model that differ in one setting, or of several models."""

    data: Data
    model: str
    prompt: str
    folder: str
    shown: str
    """The model, and the prompt where it is not the usual one."""
    usual: bool
    """Whether it is."""
    runs: dict[str, Row] = field(default_factory=dict)
    """By slot."""

    def run(self, number: Number) -> Row | None:
        """The run that a column shows."""
        return next((run for slot, run in self.runs.items() if not number.slots or slot in number.slots), None)

    @property
    def place(self) -> tuple[int, str, bool, str, str]:
        """Where it stands among the rows of its set: with its family, by name, the usual prompt first."""
        return order(family(self.model)), self.model, not self.usual, self.prompt, self.folder


def comparable(preset: Preset, data: Data) -> bool:
    """Return whether it is the whole of the data that the paper's tables are on."""
    benchmark = benchmark_of(preset.benchmark)
    same = benchmark.paper_settings is not None and dict(data.settings) == benchmark.paper_settings
    return same and data.labels == benchmark.paper_labels and not data.items


def settings(row: Row) -> dict[str, str]:
    """Return the settings of a run's task that are not their defaults, as text."""
    return {name: setting_text(value) for name, value in row.settings.items()}


def source(preset: Preset, row: Row) -> Source | None:
    """The kind of run that a row is; None where it does not belong in the table."""
    if row.task != preset.task:
        return None
    given = {**benchmark_of(preset.benchmark).defaults, **settings(row)}
    for one in preset.sources:
        fits = row.run.kind == "algorithm" if one.algorithms else row.prompt in one.prompts
        if fits and all(given.get(name) in values for name, values in one.requires.items()):
            slots = {slot for number in preset.columns for slot in number.slots}
            if preset.varies in (None, "model") or not slots or given.get(preset.varies) in slots:
                return one
    return None


def entries(preset: Preset, rows: Sequence[Row]) -> list[Entry]:
    """The rows that complete runs make, set by set: first what compares with the paper, then by settings."""
    fitting = [(row, kind) for row in rows if row.complete and (kind := source(preset, row))]
    several = len({row.folder for row, _ in fitting}) > 1
    found: dict[tuple[Data, str, str, str], Entry] = {}
    seen: dict[tuple[Data, str], list[str]] = {}
    for row, kind in fitting:
        together = preset.varies == "model" and not kind.slot
        where = f" [{row.folder}]" if several else ""
        slot, data = _data(preset, row, kind, where if together else "")
        sets = seen.setdefault((data, slot), [])
        items = items_of(row)
        sets += [] if items in sets else [items]
        if items in sets[1:]:
            data = replace(data, items=((slot, sets.index(items)),))
        model, prompt, shown = ("", "", "") if together else (row.model, row.prompt, _named(row, kind) + where)
        entry = Entry(data, model, prompt, row.folder, shown, together or _usual(row, kind))
        found.setdefault((data, entry.model, entry.prompt, entry.folder), entry).runs[slot] = row
    asked = {(one.data, one.model) for one in found.values() if one.prompt == preset.needs}
    left = (one for one in found.values() if not preset.needs or (one.data, one.model) in asked)
    return sorted(left, key=lambda one: (_place(preset, one.data), *one.place))


def _data(preset: Preset, row: Row, kind: Source, where: str) -> tuple[str, Data]:
    """The slot of a run and what it has in common with the others of its set."""
    given, benchmark = settings(row), benchmark_of(preset.benchmark)
    slot = kind.slot or row.model
    if preset.varies != "model":
        slot = given.pop(preset.varies, benchmark.defaults.get(preset.varies, "")) if preset.varies else ""
    said = {name: value for name, value in given.items() if len(kind.requires.get(name, ())) != 1}
    open_ = [name for name, values in kind.requires.items() if len(values) > 1 and name != preset.varies]
    said |= {name: given.get(name, benchmark.defaults.get(name, "")) for name in open_}
    labels = kind.labels or compared(row, benchmark)
    if preset.varies != "model":
        return slot, Data(tuple(said.items()), labels)
    label = f"{_named(row, kind) if kind.slot else row.prompt}{where}"
    return slot, Data(tuple(said.items()), labels, label, tuple(row.run.data.values()))


def _usual(row: Row, kind: Source) -> bool:
    return row.prompt in kind.prompts[:1]


def _named(row: Row, kind: Source) -> str:
    return row.model if _usual(row, kind) else f"{row.model} ({row.prompt})"


def compared(row: Row, benchmark: Benchmark) -> str:
    """Return the label set that compares best with the paper's numbers, of those by which the run has some score."""
    for labels in benchmark.compared_labels:
        parts = row.result.scores.get(labels, {})
        metrics = (metric for groups in parts.values() for one in groups.values() for metric in one.metrics)
        if any(metric.value is not None for metric in metrics):
            return labels
    return row.result.headline


def _place(
    preset: Preset, data: Data
) -> tuple[bool, bool, bool, int, str, tuple[int, ...], str, tuple[tuple[str, int], ...]]:
    """Return what rows are sorted by: what compares with the paper first; algorithms before language models."""
    second = data.labels in benchmark_of(preset.benchmark).compared_labels[1:]
    apart = not comparable(preset, data), not data.learned, second, len(data.settings)
    return *apart, str(data.settings), data.learned, data.prompt, data.items


def scores(run: Row, labels: str, breakdown: str, groups: Sequence[str]) -> list[Scores]:
    """The rows of a result that a cell is made of; none where one is missing."""
    there: Mapping[str, Scores] = run.result.scores.get(labels, {}).get(breakdown, {})
    return [there[name] for name in groups] if all(name in there for name in groups) else []


def metric(number: Number, found: Sequence[Scores]) -> Metric | None:
    """The column's metric: the row's, or the mean of several rows'; None where they have none of its names."""
    for name in number.measured:
        metrics = [one.metric(name) for one in found]
        values = [one.value for one in metrics if one is not None and one.value is not None]
        if len(metrics) == 1 and metrics[0] is not None:
            return metrics[0]
        if metrics and len(values) == len(metrics):
            return Metric(name, sum(values) / len(values))
    return None
