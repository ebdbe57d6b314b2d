"""Which runs and which published rows stand in a preset's table, and which of them make one row together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.leaderboard.comparable import family, items_of, order
from harness.plugins.papers.presets import Number, Preset, RunSelection
from harness.plugins.papers.published import PublishedRow, rows_of
from harness.scoring.means import mean_and_half_width
from harness.storage.configuration import setting_text
from harness.storage.runs import Run
from harness.tasks.benchmark import Benchmark
from harness.tasks.find import benchmark_of
from harness.types import Metric, Role, Scores

SEEDS_NOTE = (
    "In brackets: 95% intervals of an algorithm's mean over its seeds (Student's t): they tell of the sampling of "
    "data, not of networks."
)


@dataclass
class PrintedRow:
    """One row as the paper has it."""

    group: str
    model: str
    key: str
    """Of the preset's axis; nothing where the rows are models."""
    parts: list[PublishedRow] = field(default_factory=list)
    """The rows of the file that make it."""
    axis: str = ""
    """The setting that holds the keys."""

    def digits(self, number: Number) -> tuple[str, str]:
        """Return what the paper prints in a column, and a star where other digits contradict it; nothing for a dash."""
        for part in self.parts:
            fields = {**part.setting, "table": part.table, "model": part.model}
            fits = all(fields.get(name) == value for name, value in number.where.items())
            if fits and (not number.key or fields.get(self.axis) == number.key) and number.printed in part.printed:
                return part.printed[number.printed], "*" if number.printed in part.contradicted else ""
        return "", ""


def printed_rows(preset: Preset) -> list[PrintedRow]:
    """Return the rows of a preset in the paper's order."""
    axis = preset.axis.setting if preset.axis else ""
    first = {name: PrintedRow("", name, "", axis=axis) for name in preset.first}
    by_key: dict[tuple[str, str, str], PrintedRow] = {(row.group, row.model, row.key): row for row in first.values()}
    for row in published_rows(preset):
        key = row.setting.get(axis, "") if "axis" in preset.rows else ""
        model = row.model if "model" in preset.rows or preset.groups == "model" else ""
        group = row.setting.get("group", "") if preset.groups == "family" else ""
        by_key.setdefault((group, model, key), PrintedRow(group, model, key, axis=axis)).parts.append(row)
    return list(by_key.values())


def published_rows(preset: Preset) -> Iterator[PublishedRow]:
    return (row for row in rows_of(benchmark_of(preset.benchmark)) if row.table in preset.published)


@dataclass(frozen=True)
class Data:
    """The data that all runs of a set of rows have in common."""

    settings: tuple[tuple[str, str], ...]
    """Of the task, without what varies and what is the same in the whole table."""
    labels: str
    prompt: str = ""
    """Where models are columns: what else tells sets apart, the name of an algorithm's data or a language model."""
    learned: tuple[int, ...] = ()
    """Of algorithms: from how many observations they learned."""
    items: tuple[tuple[str, int], ...] = ()
    """By slot, which of several sets of items; nothing where there is one."""


@dataclass
class Entry:
    """One row (or one per key of the axis): runs of a model that differ in one setting, or of several models."""

    data: Data
    model: str
    prompt: str
    folder: str
    title: str
    """The model, and the prompt where it is not the usual one."""
    usual: bool
    """Whether it is."""
    role: Role = "model"
    """Of its model; of runs of several models, a language model's."""
    runs: dict[str, Run] = field(default_factory=dict)
    """By slot."""
    repeats: dict[str, list[Run]] = field(default_factory=dict)
    """By slot, an algorithm's runs on other seeds and other networks, all of them."""

    def run(self, number: Number) -> Run | None:
        return next((run for slot, run in self.runs.items() if not number.slots or slot in number.slots), None)

    def measured(self, number: Number, breakdown: str, groups: Sequence[str]) -> Metric | None:
        """Return what a column shows of groups: of a run, or over the seeds of an algorithm; None where it has none."""
        if (run := self.run(number) if number.slots else next(iter(self.runs.values()))) is None:
            return None
        slot = next(slot for slot, other in self.runs.items() if other is run)
        by_seed: dict[int, Metric] = {}
        for row in self.repeats.get(slot, [run]):
            of_row = metric(number, scores(row, self.data.labels, breakdown, groups))
            if of_row is not None and of_row.value is not None:
                by_seed[row.data.get("seed", 0)] = of_row
        if len(by_seed) < 2:
            return next(iter(by_seed.values()), None)
        mean, half = mean_and_half_width([of_seed.value for of_seed in by_seed.values() if of_seed.value is not None])
        return Metric(number.measured[0], mean, None if half is None else (mean - half, mean + half))

    @property
    def sort_key(self) -> tuple[int, str, bool, str, str]:
        """What the rows of a set are sorted by: family, name, the usual prompt first."""
        return order(family(self.model, self.role)), self.model, not self.usual, self.prompt, self.folder


def comparable(preset: Preset, data: Data) -> bool:
    """Return whether it is the whole of the data that the paper's tables are on."""
    benchmark = benchmark_of(preset.benchmark)
    same = benchmark.paper_settings is not None and dict(data.settings) == benchmark.paper_settings
    return same and data.labels == benchmark.paper_labels and not data.items


def differences(preset: Preset, data: Data) -> list[str]:
    """Return what tells a set of measured rows from the preset's other sets, in words."""
    settings, benchmark = dict(data.settings), benchmark_of(preset.benchmark)
    version = benchmark.version_setting
    parts = [f"data {settings.pop(version, benchmark.defaults[version])}"] if version else []
    parts += [f"{name}={value}" for name, value in settings.items() if name != "labels"]
    if preset.tells_labels and data.labels != benchmark.paper_labels:
        parts.append(f"{data.labels} {benchmark.label_word}")
    parts += [data.prompt] if data.prompt else []
    usual = {"", *benchmark.defaults.values()}
    return parts + [f"item set {number + 1}{'' if slot in usual else f' of {slot}'}" for slot, number in data.items]


def settings(row: Run) -> dict[str, str]:
    """Return the settings of a run's task that are not their defaults, as text."""
    return {name: setting_text(value) for name, value in row.settings.items()}


def source(preset: Preset, row: Run) -> RunSelection | None:
    """Return the kind of run that a row is; None where it does not belong in the table."""
    if row.task != preset.task:
        return None
    row_settings = {**benchmark_of(preset.benchmark).defaults, **settings(row)}
    for kind in preset.sources:
        fits = row.learned if kind.algorithms else row.prompt in kind.prompts
        if fits and all(row_settings.get(name) in values for name, values in kind.requires.items()):
            slots = {slot for number in preset.columns for slot in number.slots}
            if preset.varies in (None, "model") or not slots or row_settings.get(preset.varies) in slots:
                return kind
    return None


def entries(preset: Preset, rows: Sequence[Run]) -> list[Entry]:
    """Return the rows that complete runs make, set by set: first what compares with the paper, then by settings."""
    fitting = [(row, kind) for row in rows if row.sound and (kind := source(preset, row))]
    several = len({row.source for row, _ in fitting}) > 1
    by_key: dict[tuple[Data, str, str, str], Entry] = {}
    items_of_sets: dict[tuple[Data, str], list[str]] = {}
    for row, kind in fitting:
        one_row = preset.varies == "model" and not kind.slot
        where = f" [{row.source}]" if several else ""
        slot, data = _data(preset, row, kind, where if one_row else "")
        if not data.learned:
            sets = items_of_sets.setdefault((data, slot), [])
            items = items_of(row)
            sets += [] if items in sets else [items]
            if items in sets[1:]:
                data = replace(data, items=((slot, sets.index(items)),))
        model, prompt, title = ("", "", "") if one_row else (row.model, row.prompt, _model_title(row, kind) + where)
        role = "model" if one_row else row.role
        entry = Entry(data, model, prompt, row.source, title, one_row or _usual(row, kind), role)
        entry = by_key.setdefault((data, entry.model, entry.prompt, entry.folder), entry)
        entry.runs[slot] = row
        if data.learned:
            entry.repeats.setdefault(slot, []).append(row)
    with_needed_prompt = {(entry.data, entry.model) for entry in by_key.values() if entry.prompt == preset.needs}
    selection = (
        entry for entry in by_key.values() if not preset.needs or (entry.data, entry.model) in with_needed_prompt
    )
    return sorted(selection, key=lambda entry: (_sort_key(preset, entry.data), *entry.sort_key))


def _data(preset: Preset, row: Run, kind: RunSelection, where: str) -> tuple[str, Data]:
    """Return the slot of a run and what it has in common with the others of its set."""
    own_settings, benchmark = settings(row), benchmark_of(preset.benchmark)
    slot = kind.slot or row.model
    if preset.varies != "model":
        slot = own_settings.pop(preset.varies, benchmark.defaults.get(preset.varies, "")) if preset.varies else ""
    in_common = {name: value for name, value in own_settings.items() if len(kind.requires.get(name, ())) != 1}
    several_allowed = [name for name, values in kind.requires.items() if len(values) > 1 and name != preset.varies]
    in_common |= {name: own_settings.get(name, benchmark.defaults.get(name, "")) for name in several_allowed}
    labels = kind.labels or compared_labels(row, benchmark)
    if preset.varies != "model":
        return slot, Data(tuple(in_common.items()), labels)
    if kind.slot:
        return slot, Data(tuple(in_common.items()), labels, f"{_model_title(row, kind)}{where}")
    in_common = {name: value for name, value in in_common.items() if name not in preset.chosen_by}
    observations = row.data["observations"]
    return slot, Data(tuple(in_common.items()), labels, f"samples={observations}{where}", (observations,))


def _usual(row: Run, kind: RunSelection) -> bool:
    return row.prompt in kind.prompts[:1]


def _model_title(row: Run, kind: RunSelection) -> str:
    return row.model if _usual(row, kind) else f"{row.model} ({row.prompt})"


def compared_labels(row: Run, benchmark: Benchmark) -> str:
    """Return the label set that compares best with the paper's numbers, of those by which the run has some score."""
    for labels in benchmark.compared_labels:
        parts = row.result.scores.get(labels, {})
        metrics = (metric for groups in parts.values() for scores in groups.values() for metric in scores.metrics)
        if any(metric.value is not None for metric in metrics):
            return labels
    return row.result.headline


def _sort_key(
    preset: Preset, data: Data
) -> tuple[bool, bool, bool, int, str, tuple[int, ...], str, tuple[tuple[str, int], ...]]:
    """Return what sets are sorted by: what compares with the paper first; algorithms before language models."""
    less_comparable = data.labels in benchmark_of(preset.benchmark).compared_labels[1:]
    parts = not comparable(preset, data), not data.learned, less_comparable, len(data.settings)
    return *parts, str(data.settings), data.learned, data.prompt, data.items


def scores(run: Run, labels: str, breakdown: str, groups: Sequence[str]) -> list[Scores]:
    """Return the rows of a result that a cell is made of; [] where one is missing."""
    by_group: Mapping[str, Scores] = run.result.scores.get(labels, {}).get(breakdown, {})
    return [by_group[name] for name in groups] if all(name in by_group for name in groups) else []


def metric(number: Number, rows: Sequence[Scores]) -> Metric | None:
    """Return the column's metric: the row's, or the mean of several rows'; None where they have none of its names."""
    for name in number.measured:
        metrics = [row.metric(name) for row in rows]
        values = [metric.value for metric in metrics if metric is not None and metric.value is not None]
        if len(metrics) == 1 and metrics[0] is not None:
            return metrics[0]
        if metrics and len(values) == len(metrics):
            return Metric(name, sum(values) / len(values))
    return None
