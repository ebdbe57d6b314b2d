"""task=corr2cause/equivalent: each hypothesis in several forms that mean the same; how often are answers opposite?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from operator import length_hint
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from harness.causal.relations import Relation
from harness.plugins.beliefs.contradictions import Pairs, beside
from harness.plugins.beliefs.forms import CONTRAPOSITIVE, PLAIN, TURNED, worded
from harness.scoring.one_pass import counted, together
from harness.tasks.base import LazyItems, OneOrMore, Share, TaskBase
from harness.tasks.benchmark import Benchmark
from harness.tasks.corr2cause.task import ORDERS, Corr2Cause, Size, Split
from harness.tasks.corr2cause.text import as_input
from harness.types import JSON, Item, Record, Result


@dataclass(frozen=True)
class Equivalent(TaskBase):
    """The task; configs/task/corr2cause/equivalent.yaml says what each setting means."""

    prompts: tuple[str, ...]
    forms: Annotated[tuple[Literal["turned", "contrapositive"], ...], OneOrMore, Field(min_length=1)] = (
        TURNED,
        CONTRAPOSITIVE,
    )
    split: Split = "test"
    perturbation: Literal["none", "refactorization", "permutation", "varied"] = "none"
    relations: Annotated[tuple[Relation, ...] | None, OneOrMore] = None
    num_nodes: Annotated[tuple[Size, ...] | None, OneOrMore] = None
    whole: bool = False
    prior: Share = field(default=0.1857, kw_only=True)

    orders: ClassVar[Mapping[str, Sequence[str]]] = {**ORDERS, "form": (PLAIN, TURNED, CONTRAPOSITIVE)}
    like: ClassVar[str] = "corr2cause"
    """Whoever answers that task's questions answers these."""

    @property
    def headline(self) -> Literal["audited"]:
        """The labels by logic: all forms have the same."""
        return "audited"

    def items(self) -> Iterable[Item]:
        """Return each hypothesis in its plain form, then in the others."""
        hypotheses, forms = self._plain.items(), (PLAIN, *dict.fromkeys(self.forms))
        return LazyItems(
            lambda: (self._in_form(item, form) for item in hypotheses for form in forms),
            len(forms) * length_hint(hypotheses),
        )

    def _in_form(self, item: Item, form: str) -> Item:
        names = str(item.fields["var_i"]), str(item.fields["var_j"])
        text = worded(form, Relation(item.fields["relation"]), *names)
        fields = {
            **item.fields,
            "hypothesis": text,
            "statement": text.removesuffix("."),
            "input": as_input(str(item.fields["premise"]), text),
        }
        labels: Mapping[str, int] = {self.headline: item.labels[self.headline]}
        groups = {**item.groups, "form": form}
        return replace(item, id=f"{item.id}/{form}", fields=fields, labels=labels, unit=item.id, groups=groups)

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        """Return solved items in the plain form."""
        return self._plain.examples()

    @cached_property
    def _plain(self) -> Corr2Cause:
        return Corr2Cause(
            "corr2cause",
            self.prompts,
            split=self.split,
            perturbation=self.perturbation,
            relations=self.relations,
            num_nodes=self.num_nodes,
            whole=self.whole,
            limit=self.limit,
            seed=self.seed,
        )

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return the scores of all forms, and how often a form's answer is not that of the plain one."""
        pairs, number = Pairs(), len({PLAIN, *self.forms})
        questions = together(records, lambda record: record.unit, lambda forms: len(forms) == number)
        result = super().summarize(chain.from_iterable(counted(questions, pairs.add_forms)))
        return replace(result, scores={**result.scores, self.headline: beside(result.scores[self.headline], pairs)})


def corr2cause(benchmark: Benchmark) -> Benchmark:
    """Have the exact reasoner read these forms as well."""
    return replace(benchmark, solves={**benchmark.solves, "corr2cause/equivalent": _solve})


def _solve(words: str) -> bool | None:
    from harness.plugins.beliefs.forms import solve

    return solve(words)
