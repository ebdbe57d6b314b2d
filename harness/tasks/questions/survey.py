"""What a file of questions holds, found in one pass that keeps a few numbers a row: kinds, breakdowns, repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.errors import ConfigError, DataError
from harness.tasks.base import subset
from harness.tasks.data_files import Columns, DataFile, Repeats, shown
from harness.tasks.questions.rows import ROLES, WORDS, Layout, QuestionRow, text_of
from harness.types import LETTERS

MOST_GROUPS = 20
"""Values of a column up to which it is taken for a breakdown."""
LONGEST_GROUP = 60
"""Characters of such a value: longer ones are texts."""

QUESTION_COLUMNS = ("question", "hypothesis")
"""Columns with the words of the question: an empty one is hardly meant. A premise may be missing."""

RowOf = Callable[[int, Columns], QuestionRow]


@dataclass
class Survey:
    """What one pass over the rows says of the file."""

    rows: int
    groups: tuple[str, ...]
    choices: tuple[str, ...]
    """The choices of all questions, where they have the same; letters where each has its own; () for Yes and No."""
    remarks: tuple[str, ...]
    varying: bool
    """Whether some questions have more choices than others."""
    chosen: Sequence[int] | None
    """The numbers of the rows that a limit leaves; None for all."""


@dataclass
class _SurveyPass:
    """The state of the pass."""

    path: str
    layout: Layout
    counters: dict[str, Counter[str]]
    """Values of the columns that may be breakdowns."""
    ids: dict[int, int] = field(default_factory=dict)
    unlabelled: list[int] = field(default_factory=list)
    unasked: dict[str, list[int]] = field(default_factory=dict)
    """Rows without words in a column of QUESTION_COLUMNS, by its name."""
    repeats: Repeats = field(default_factory=Repeats)
    labels: Counter[int] = field(default_factory=Counter)
    choices: set[tuple[str, ...]] = field(default_factory=set)
    sizes: set[int] = field(default_factory=set)
    """How many choices questions have."""

    def take(self, row: QuestionRow) -> None:
        if row.unlabelled:
            self.unlabelled.append(row.number)
            return
        for name in QUESTION_COLUMNS:
            if name in self.layout.names and not text_of(row.cells.get(name)).strip():
                self.unasked.setdefault(name, []).append(row.number)
        label = row.label
        first = self.ids.setdefault(hash(row.id), row.number)
        if first != row.number:
            raise DataError(f"{row.where} has the id {row.id!r:.60} of row {first}: every row needs one of its own.")
        self.repeats.add(row.number, row.words, label)
        self.labels[label] += 1
        if self.layout.has_choices:
            self.sizes.add(len(row.choices))
            if len(self.choices) < 2:
                self.choices.add(row.choices)
        for name in list(self.counters):
            value = text_of(row.cells.get(name)).strip()
            self.counters[name][value] += 1


def survey(
    file: DataFile,
    layout: Layout,
    row_of: RowOf,
    *,
    groups: Sequence[str] | None,
    limit: int | None,
    seed: int,
) -> Survey:
    """Return what the rows of a file are. Raises DataError for the first that cannot be read, and for any unlabelled.

    A column is a breakdown where `groups` names it or, without, where its values come again: two of them at least, few,
    short, and each for two rows on average.
    """
    _check_label(file, layout)
    unknown = [name for name in groups or () if name not in layout.names]
    if unknown:
        raise ConfigError(f"task.groups names {unknown[0]}; {file.path} has {', '.join(layout.names)}.")
    own = {*ROLES, *WORDS[:4], *layout.choice_names}
    candidates = groups if groups is not None else [name for name in layout.names if name not in own]
    state = _SurveyPass(file.path, layout, {name: Counter() for name in candidates})

    rows = 0
    for rows, columns in enumerate(file.rows(), start=1):
        state.take(row_of(rows, columns))
        if groups is None:
            _drop_texts(state)
    if state.unlabelled:
        raise DataError(_unlabelled(file.path, state.unlabelled))
    kept = [name for name, values in state.counters.items() if groups is not None or _is_breakdown(values, rows)]
    chosen = None if limit is None else _subset(file, row_of, kept, limit, seed)
    return Survey(rows, tuple(kept), _names(state), (*file.remarks(), *_remarks(state)), len(state.sizes) > 1, chosen)


def _check_label(file: DataFile, layout: Layout) -> None:
    if "label" not in layout.names:
        raise DataError(
            f"{file.path} has no column label; it has {', '.join(layout.names) or 'none'}. If another one holds the "
            "right answers, say so: 'task.columns={label: …}'."
        )


def _drop_texts(state: _SurveyPass) -> None:
    """Drop columns that turn out to be free text, so that their values take no memory."""
    for name, values in list(state.counters.items()):
        if len(values) > MOST_GROUPS:
            del state.counters[name]


def _is_breakdown(values: Mapping[str, int], rows: int) -> bool:
    few = 2 <= len(values) <= min(MOST_GROUPS, rows // 2)
    return few and all(len(value) <= LONGEST_GROUP for value in values)


def _subset(file: DataFile, row_of: RowOf, groups: Sequence[str], limit: int, seed: int) -> list[int]:
    """Return the numbers of `limit` rows: each label within each group with its share."""
    strata: list[tuple[str, ...]] = []
    for number, columns in enumerate(file.rows(), start=1):
        row = row_of(number, columns)
        strata.append((str(row.label), *(text_of(row.cells.get(name)).strip() for name in groups)))
    numbers = range(1, len(strata) + 1)
    return subset(numbers, limit, stratum=lambda number: strata[number - 1], name=str, seed=seed)


def _unlabelled(path: str, rows: Sequence[int]) -> str:
    them = "it" if len(rows) == 1 else "them"
    return f"{_lacking(path, rows, 'label')}: fill {them} in, or take {them} out, as nothing can be scored without."


def _lacking(path: str, rows: Sequence[int], name: str) -> str:
    count = "1 row has" if len(rows) == 1 else f"{len(rows):,} rows have"
    return f"{path}: {count} no {name} (row {shown(rows)})"


def _names(state: _SurveyPass) -> tuple[str, ...]:
    if not state.layout.has_choices:
        return ()
    if len(state.choices) == 1:
        return next(iter(state.choices))
    return tuple(LETTERS[: max(state.sizes)])


def _remarks(state: _SurveyPass) -> Iterator[str]:
    for name, rows in state.unasked.items():
        count = "it is" if len(rows) == 1 else "they are"
        yield f"{_lacking(state.path, rows, name)}: {count} asked and scored all the same."
    yield from state.repeats.remarks(state.path)
    if len(state.labels) == 1 and state.labels.total() > 1:
        (label,) = state.labels
        names = _names(state) or ("No", "Yes")
        way = "; task.shuffle=true draws the order of the choices" if state.layout.has_choices else ""
        yield f"{state.path}: the right answer is {names[label]} in every row{way}."
