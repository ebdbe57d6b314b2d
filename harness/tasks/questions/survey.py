"""What a file of questions holds: what is wrong with its rows, its breakdowns, and what a user may want to know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.errors import ConfigError, DataError
from harness.tasks.data_files import Repeats, first_rows
from harness.tasks.questions.rows import ROLES, WORDS, Layout, QuestionRow
from harness.types import LETTERS

MOST_GROUPS = 20
"""Values of a column up to which it is taken for a breakdown."""
LONGEST_GROUP = 60
"""Characters of such a value: longer ones are texts."""
QUESTION_COLUMNS = ("question", "hypothesis")
"""Columns with the words of the question: an empty one is hardly meant. A premise may be missing."""


def check_columns(path: str, layout: Layout, groups: Sequence[str] | None) -> None:
    """Raise DataError for a file without labels, ConfigError for breakdowns that it does not have."""
    if "label" not in layout.names:
        raise DataError(
            f"{path} has no column label; it has {', '.join(layout.names) or 'none'}. If another one holds the "
            "right answers, say so: 'task.columns={label: …}'."
        )
    if unknown := [name for name in groups or () if name not in layout.names]:
        raise ConfigError(f"task.groups names {unknown[0]}; {path} has {', '.join(layout.names)}.")


def check_rows(path: str, rows: Sequence[QuestionRow]) -> None:
    """Raise DataError for the first row that cannot be read, and for any without a label."""
    ids: dict[str, int] = {}
    for row in rows:
        if row.unlabelled:
            continue
        if (first := ids.setdefault(row.id, row.number)) != row.number:
            raise DataError(f"{row.where} has the id {row.id!r:.60} of row {first}: every row needs one of its own.")
        _ = row.label
    if unlabelled := [row.number for row in rows if row.unlabelled]:
        them = "it" if len(unlabelled) == 1 else "them"
        raise DataError(
            f"{_lacking(path, unlabelled, 'label')}: fill {them} in, or take {them} out, as nothing can be scored "
            "without."
        )


def breakdowns(layout: Layout, rows: Sequence[QuestionRow]) -> Sequence[str]:
    """Return the columns whose values come again: two at least, few, short, and each in two rows on average."""
    own = {*ROLES, *WORDS[:4], *layout.choice_names}
    return [name for name in layout.names if name not in own and _is_breakdown(name, rows)]


def _is_breakdown(name: str, rows: Sequence[QuestionRow]) -> bool:
    values = {row.text(name) for row in rows}
    return 2 <= len(values) <= min(MOST_GROUPS, len(rows) // 2) and max(map(len, values)) <= LONGEST_GROUP


def choices_of(layout: Layout, rows: Sequence[QuestionRow]) -> tuple[str, ...]:
    """Return the choices of all questions, where they have the same; letters where each has its own; () for Yes, No."""
    if not layout.has_choices:
        return ()
    several = {row.choices for row in rows}
    return several.pop() if len(several) == 1 else tuple(LETTERS[: max(map(len, several))])


def remarks(path: str, layout: Layout, rows: Sequence[QuestionRow]) -> Iterator[str]:
    """Yield what looks like a mistake in the file: no words, questions that come again, one answer throughout."""
    for name in QUESTION_COLUMNS:
        if name in layout.names and (empty := [row.number for row in rows if not row.text(name)]):
            count = "it is" if len(empty) == 1 else "they are"
            yield f"{_lacking(path, empty, name)}: {count} asked and scored all the same."
    repeats = Repeats()
    for row in rows:
        repeats.add(row.number, row.words, row.label)
    yield from repeats.remarks(path)
    if len(rows) > 1 and len({row.label for row in rows}) == 1:
        names = choices_of(layout, rows) or ("No", "Yes")
        way = "; task.shuffle=true draws the order of the choices" if layout.has_choices else ""
        yield f"{path}: the right answer is {names[rows[0].label]} in every row{way}."


def _lacking(path: str, rows: Sequence[int], name: str) -> str:
    count = "1 row has" if len(rows) == 1 else f"{len(rows):,} rows have"
    return f"{path}: {count} no {name} (row {first_rows(rows)})"
