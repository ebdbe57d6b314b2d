"""task=cladder/steps: a question of CLadder asked in CausalCoT's steps (Jin et al. 2023, §4), each reply scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from harness.errors import ConfigError
from harness.plugins.cladder.items import QuestionChoice
from harness.plugins.cladder.metrics import STEPS
from harness.plugins.cladder.questions import Question
from harness.plugins.cladder.reasoning import VALUED, has_value
from harness.plugins.cladder.step_questions import WORDS, Case, letters
from harness.plugins.cladder.step_scores import HEADLINE, ORDER, summarize
from harness.plugins.cladder.task import AS_MANY_AS_PUBLISHED, BALANCED, CLadder
from harness.tasks.base import LazyItems
from harness.types import JSON, Item, Record, Result


@dataclass(frozen=True)
class CLadderSteps(CLadder):
    """The task; configs/task/cladder/steps.yaml says what each setting means."""

    given: Literal["own", "truth"] = "own"

    orders = ORDER

    def __post_init__(self) -> None:
        """Refuse settings that mean nothing for steps."""
        super().__post_init__()
        if self.source != "builtin" or self.split == BALANCED or self.labels not in (None, HEADLINE):
            raise ConfigError(
                "task=cladder/steps judges questions that are made here (task.split=fresh or sample) by what their "
                f"words say: leave out task.source={self.source}, task.split={self.split}, task.labels={self.labels}."
            )
        if self.queries and (others := [query for query in self.queries if query not in VALUED]):
            raise ConfigError(f"task.queries={others[0]} has no number to work out; {', '.join(VALUED)} have one.")

    @property
    def headline(self) -> str:
        return HEADLINE

    @property
    def prompt_format(self) -> str:
        return "truth" if self.given == "truth" else ""

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        return ()

    def items(self) -> Iterable[Item]:
        """Return the steps, those to one question after each other."""
        questions = super().items()
        number = len(questions) if isinstance(questions, LazyItems) else self.limit or AS_MANY_AS_PUBLISHED
        return LazyItems(lambda: (step for item in questions for step in _steps(item)), len(STEPS) * number)

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return the scores of the steps and of the chains that they make."""
        texts = {item.id: str(item.fields["text"]) for item in super().items()}
        return summarize(records, texts, own=self.given == "own")

    @cached_property
    def _choice(self) -> QuestionChoice:
        chosen = QuestionChoice(
            self.variants, self.queries or VALUED, self.graphs, HEADLINE, self.perturbation, self.seed
        )
        return replace(chosen, extra=_extra)


def _extra(question: Question, told: Question) -> tuple[dict[str, JSON], dict[str, int]] | None:
    """Return an item's extra fields and its label; None for a question without a number, or with an open answer."""
    if not has_value(question) or question.stated is None:
        return None
    case = Case.of(told)
    return {"letters": letters(told), "right": [case.reply(step) for step in STEPS]}, {HEADLINE: question.stated}


def _steps(item: Item) -> Iterator[Item]:
    asked = [WORDS[step].format(text=item.fields["text"], letters=item.fields["letters"]) for step in STEPS]
    right = item.fields["right"]
    assert isinstance(right, list)
    for number, step in enumerate(STEPS):
        answered = "".join(f"{asked[k]}\n{right[k]}\n\n" for k in range(number))
        yield Item(
            id=f"{item.id}/{step}",
            fields={
                "text": item.fields["text"],
                "step": step,
                "question": asked[number],
                "earlier": tuple(asked[:number]),
                "answered": answered,
            },
            labels=item.labels if step == "answer" else {HEADLINE: 1},
            cluster=item.cluster,
            groups={
                "step": step,
                **item.groups,
                "rung_step": f"rung {item.groups['rung']}, {step}",
                "query_step": f"{item.groups['query']}, {step}",
            },
        )
