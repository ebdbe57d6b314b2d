"""Questions from a file of the user's: no Python, no registration, everything works with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from pydantic import BeforeValidator, Field

from harness.errors import ConfigError
from harness.scoring import choices as choice_scores
from harness.scoring.choices import CHOICES
from harness.settings import LOCAL
from harness.tasks.base import LazyItems, OneOrMore, TaskBase
from harness.tasks.data_files import Columns, DataFile
from harness.tasks.questions.rows import Layout, QuestionRow, text_of
from harness.tasks.questions.survey import Survey, survey
from harness.types import JSON, LETTERS, Item, Record, Result

FAMILY = "questions"
HEADLINE = "gold"
"""What the label set is called: there is one."""
Choices = Annotated[tuple[Annotated[str, BeforeValidator(str)], ...], OneOrMore]


@dataclass(frozen=True)
class Questions(TaskBase):
    """The rows of a file; configs/task/questions.yaml says what each setting means."""

    path: str | None = field(default=None, metadata=LOCAL)
    columns: Mapping[str, str] | None = None
    choices: Choices | None = None
    groups: Annotated[tuple[str, ...], OneOrMore] | None = None
    shuffle: bool = False
    first: Annotated[int, Field(ge=0, le=1)] = 0

    def __post_init__(self) -> None:
        """Put the user's name for the task below questions/, where its prompts and results go."""
        if self.name.partition("/")[0] != FAMILY:
            object.__setattr__(self, "name", f"{FAMILY}/{self.name}")
        choices = self.choices or ()
        if self.choices is not None and not 2 <= len(set(choices)) == len(choices) <= len(LETTERS):
            raise ConfigError(f"task.choices={list(choices)}: two to {len(LETTERS)} different choices are needed.")

    @property
    def headline(self) -> str:
        return HEADLINE

    @property
    def prompts(self) -> Sequence[str]:
        """The shipped prompts whose fields the file has. Raises ConfigError if it fits none."""
        names = {*self._layout.names, "text"}
        asks = "question" in names
        candidates = {
            "choices": self._layout.has_choices and asks,
            "cause_or_effect": self._layout.has_choices and {"premise", "ask_for"} <= names,
            "plain": not self._layout.has_choices and asks,
            "entails": not self._layout.has_choices and {"premise", "hypothesis"} <= names,
            "pair": not self._layout.has_choices and {"premise", "hypothesis"} <= names,
        }
        if fitting := [name for name, fits in candidates.items() if fits]:
            return tuple(fitting)
        raise ConfigError(
            f"{self.path} has the columns {', '.join(self._layout.names)}, and the prompts that ship ask for question, "
            "or for premise and hypothesis: say which column is the question ('task.columns={question: …}'), or give a "
            "prompt of your own that names your columns (prompt=mine.yaml)."
        )

    @property
    def data(self) -> Mapping[str, JSON]:
        return {"sha256": self._file.digest()}

    @property
    def remarks(self) -> Sequence[str]:
        return self._survey.remarks

    def items(self) -> Iterable[Item]:
        """Return the questions, read from the file as they are asked for."""
        chosen = self._survey.chosen
        return LazyItems(self._items, self._survey.rows if chosen is None else len(chosen))

    def _items(self) -> Iterator[Item]:
        chosen = None if self._survey.chosen is None else set(self._survey.chosen)
        for number, columns in enumerate(self._file.rows(), start=1):
            if chosen is None or number in chosen:
                yield self.item(self.row(number, columns))

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return the scores: of Yes and No as a benchmark's, of choices their accuracy and macro F1."""
        if not self._layout.has_choices:
            return super().summarize(records)
        return choice_scores.summarize(records, headline=HEADLINE, names=self._survey.choices)

    def row(self, number: int, columns: Columns) -> QuestionRow:
        shuffle = self.seed if self.shuffle else None
        where = f"{self.path}, row {number}{self._file.counted}"
        return QuestionRow(where, number, self._file.stem, columns, self._layout, shuffle, self.first)

    def item(self, row: QuestionRow) -> Item:
        """Return the question of a row."""
        return Item(
            id=row.id,
            fields=row.fields,
            labels={HEADLINE: row.label},
            cluster=row.cluster,
            unit=text_of(row.cells.get("unit")).strip(),
            groups={name: text_of(row.cells.get(name)).strip() or "(empty)" for name in self._survey.groups}
            | ({CHOICES: str(len(row.choices))} if self._survey.varying else {}),
        )

    @cached_property
    def _file(self) -> DataFile:
        if not self.path:
            raise ConfigError("task=questions needs task.path=FILE, CSV, JSON lines or Parquet, with a column label.")
        return DataFile(self.path)

    @cached_property
    def _layout(self) -> Layout:
        first = next(self._file.rows())
        return Layout.of(str(self.path), [*first], self.columns or {}, self.choices or ())

    @cached_property
    def _survey(self) -> Survey:
        return survey(self._file, self._layout, self.row, groups=self.groups, limit=self.limit, seed=self.seed)
