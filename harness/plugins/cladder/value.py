"""The task cladder/value: the number behind a question, asked for itself, scored by its distance and within 0.01."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from harness.errors import ConfigError
from harness.plugins.cladder.graphs import X, Y
from harness.plugins.cladder.items import QuestionChoice
from harness.plugins.cladder.queries import Query
from harness.plugins.cladder.questions import Question
from harness.plugins.cladder.reasoning import MEASURES, VALUED, has_value, item_values, value_of
from harness.plugins.cladder.stories import points_up
from harness.plugins.cladder.task import BALANCED, ORDERS, CLadder
from harness.scoring.means import MeanRow, summarize
from harness.types import JSON, Record, Result

HEADLINE = "stated"
_QUANTITY: Mapping[Query, str] = {
    "marginal": "the overall probability of {y}",
    "correlation": "the probability of {y} given {x}, minus that given {not_x}",
    "ate": "the probability of {y} if {x} were brought about for everybody, minus that if {not_x} were",
    "ett": "for {x_where}, the probability of {y} as it is, minus what it would have been {otherwise}",
    "nie": "the natural indirect effect on {outcome} through {through} of changing {x_name} from {not_x} to {x}",
    "nde": "the natural direct effect on {outcome}, not through {through}, of changing {x_name} from {not_x} to {x}",
}


def quantity(question: Question) -> str:
    """Return in words which number is asked for."""
    story = question.model.story
    x, y = story.words[X], story.words[Y]
    return _QUANTITY[question.ask.query].format(
        x=x.noun[1],
        not_x=x.noun[0],
        y=y.noun[1],
        x_name=x.name,
        outcome=y.name if points_up(y.name) else f"the probability of {y.noun[1]}",
        x_where=x.where[1],
        otherwise=x.condition[0].partition(" instead of ")[0],
        through=" and ".join(story.words[node].name for node in story.graph.mediators),
    )


@dataclass(frozen=True)
class CLadderValue(CLadder):
    """The numbers behind the questions; configs/task/cladder/value.yaml says what each setting means."""

    def __post_init__(self) -> None:
        """Refuse settings that mean nothing for numbers."""
        super().__post_init__()
        if self.source != "builtin" or self.split == BALANCED or self.labels not in (None, HEADLINE):
            raise ConfigError(
                "task=cladder/value asks for what the words come to, of questions that are made here "
                f"(task.split=fresh or sample): leave out task.source={self.source}, task.split={self.split} and "
                f"task.labels={self.labels}."
            )
        if self.queries and (others := [query for query in self.queries if query not in VALUED]):
            raise ConfigError(f"task.queries={others[0]} has no number to ask for; {', '.join(VALUED)} have one.")

    @property
    def headline(self) -> str:
        return HEADLINE

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        return ()

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return how many numbers are within 0.01 of the value, and how far they are off, by the same breakdowns."""
        return summarize(records, _rows, MEASURES, headline=HEADLINE, orders=ORDERS)

    @cached_property
    def _choice(self) -> QuestionChoice:
        chosen = QuestionChoice(
            self.variants, self.queries or VALUED, self.graphs, HEADLINE, self.perturbation, self.seed
        )
        return replace(chosen, extra=_extra)


def _rows(records: Sequence[Record]) -> list[MeanRow]:
    return [MeanRow.of(record, HEADLINE, item_values) for record in records]


def _extra(question: Question, told: Question) -> tuple[dict[str, JSON], dict[str, int]] | None:
    """Return an item's extra fields and its labels; None for a question without a value."""
    if not has_value(question):
        return None
    return {"quantity": quantity(told)}, {HEADLINE: int(value_of(question) > 0)}
