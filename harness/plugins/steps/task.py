"""task=corr2cause/steps: a question of Corr2Cause asked in five steps, each answer scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from harness.causal.relations import Relation
from harness.causal.statements import class_of
from harness.plugins.steps.arguments import Argument, parts
from harness.plugins.steps.asked import summarize
from harness.plugins.steps.metrics import QUESTIONS, Question
from harness.plugins.steps.questions import WORDS, reply_of, right_parts
from harness.tasks.base import OneOrMore, Share, TaskBase
from harness.tasks.corr2cause import Corr2Cause
from harness.tasks.corr2cause.claim import Perturbation
from harness.tasks.corr2cause.task import Split
from harness.tasks.corr2cause.text import Hypothesis, read_dag, read_premise
from harness.types import Item, Record, Result

LARGEST = 6
Size = Annotated[int, Field(ge=2, le=LARGEST)]


@dataclass(frozen=True)
class Steps(TaskBase):
    """The task; configs/task/corr2cause/steps.yaml says what each setting means."""

    prompts: tuple[str, ...]
    given: Literal["own", "truth"] = "own"
    split: Split = "all"
    perturbation: Perturbation = "permutation"
    num_nodes: Annotated[tuple[Size, ...], OneOrMore, Field(min_length=1)] = (3, 4, 5)
    relations: Annotated[tuple[Relation, ...] | None, OneOrMore] = None
    prior: Share = field(default=0.5, kw_only=True)

    @property
    def headline(self) -> Literal["audited"]:
        """The labels by logic; of a list, whether there is anything to list."""
        return "audited"

    @property
    def prompt_format(self) -> str:
        return "truth" if self.given == "truth" else ""

    def items(self) -> Iterable[Item]:
        """Return the steps: the four about each premise before the last one of its first hypothesis."""
        before = ""
        for item in self._hypotheses.items():
            if item.cluster != before:
                yield from self._steps(item, QUESTIONS[:-1])
                before = item.cluster
            yield from self._steps(item, QUESTIONS[-1:])

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return the scores of the steps and of the chains that they make."""
        questions: dict[str, tuple[str, Hypothesis]] = {}
        sizes: Counter[str] = Counter()
        for item in self._hypotheses.items():
            relation, i, j = (str(item.fields[name]) for name in ("relation", "var_i", "var_j"))
            question = str(item.fields["premise"]), Hypothesis(Relation(relation), i, j)
            questions |= {f"{item.cluster}/{step}": question for step in QUESTIONS[:-1]}
            questions[f"{item.id}/{QUESTIONS[-1]}"] = question
            sizes[item.cluster] += 1 if item.cluster in sizes else len(QUESTIONS)
        return summarize(records, questions, sizes)

    @cached_property
    def _hypotheses(self) -> Corr2Cause:
        return Corr2Cause(
            "corr2cause",
            ("plain",),
            self.split,
            labels="audited",
            perturbation=self.perturbation,
            relations=self.relations,
            num_nodes=self.num_nodes,
            limit=self.limit,
            seed=self.seed,
        )

    def _steps(self, item: Item, questions: Iterable[Question]) -> Iterator[Item]:
        premise = read_premise(str(item.fields["premise"]))
        right = Argument(*parts(class_of(read_dag(premise))), bool(item.labels["audited"]))
        asked = {question: words.format_map(item.fields) for question, words in WORDS.items()}
        for question in questions:
            earlier = QUESTIONS[: QUESTIONS.index(question)]
            answered = [f"{asked[one]}\n{reply_of(one, right, premise.names)}\n\n" for one in earlier]
            last = question == "answer"
            yield Item(
                id=f"{item.id if last else item.cluster}/{question}",
                fields={
                    **({name: item.fields[name] for name in _OF_HYPOTHESIS} if last else {}),
                    "premise": item.fields["premise"],
                    "step": question,
                    "question": asked[question],
                    "earlier": tuple(asked[one] for one in earlier),
                    "answered": "".join(answered),
                },
                labels={"audited": int(right.answer if last else bool(right_parts(question, right)))},
                cluster=item.cluster,
                groups={"step": question, **_groups(item.groups, last=last)},
            )


_OF_HYPOTHESIS = ("hypothesis", "relation", "var_i", "var_j")


def _groups(groups: Mapping[str, str], *, last: bool) -> Mapping[str, str]:
    """Return the groups of a step: the relation is that of a hypothesis alone."""
    return groups if last else {"num_nodes": groups["num_nodes"]}
