"""The scores of corr2cause/steps: how well each step is answered, and at which a chain breaks first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.causal.statements import class_of
from harness.plugins.steps.arguments import Argument, answer_by, parts, pattern_statements
from harness.plugins.steps.metrics import BREAKS, QUESTIONS, Question
from harness.plugins.steps.questions import Parts, read_parts, right_parts
from harness.prompting.listing import entries
from harness.scoring import means
from harness.scoring.means import MeanRow
from harness.scoring.one_pass import together
from harness.tasks.corr2cause.task import ORDERS
from harness.tasks.corr2cause.text import Hypothesis, Premise, read_dag, read_premise
from harness.types import Record, Result

HEADLINE = "audited"
MEASURES = ("step_exact", "step_precision", "step_recall", "step_f1", "step_own", *BREAKS)
NOTE = (
    "All right: the list is the right one, or the last answer. F1 of the list: of its pairs or triples; 1 for an empty "
    "one where nothing is to be listed. Follows from its own steps: the last answer is what is true in all graphs with "
    "the edges, colliders and directions that the replies list, undefined where there is none. Breaks first: the first "
    "step that is not all right, once for each hypothesis. A reply that cannot be read lists nothing, and is not right."
)


@dataclass
class Chain:
    """The steps about one premise."""

    premise: Premise
    right: Argument
    lists: dict[Question, Parts] = field(default_factory=dict)
    """What each reply lists, where it could be read."""
    exact: dict[Question, bool] = field(default_factory=dict)


def summarize(
    records: Iterable[Record], questions: Mapping[str, tuple[str, Hypothesis]], sizes: Mapping[str, int]
) -> Result:
    """Return the scores by step, relation and number of variables.

    `questions` has the premise and the hypothesis by item, `sizes` how many steps there are about each premise.
    """
    return means.summarize(
        records,
        lambda steps: _rows(steps, questions),
        MEASURES,
        headline=HEADLINE,
        orders={"step": QUESTIONS, **ORDERS},
        groups=lambda passing: together(
            passing, lambda record: record.cluster, lambda steps: len(steps) == sizes[steps[0].cluster]
        ),
        notes=(NOTE,),
    )


def _rows(records: Sequence[Record], questions: Mapping[str, tuple[str, Hypothesis]]) -> Iterator[MeanRow]:
    """Yield a row for each step about a premise."""
    premise = read_premise(questions[records[0].item][0])
    chain = Chain(premise, Argument(*parts(class_of(read_dag(premise))), answer=False))
    values: dict[str, dict[str, float | None]] = {}
    for record in sorted(records, key=lambda record: QUESTIONS.index(question_of(record))):  # the answers last
        if (question := question_of(record)) != "answer":
            values[record.item] = list_values(record, question, chain)
        else:
            values[record.item] = answer_values(record, questions[record.item][1], chain)
    for record in records:
        yield MeanRow.of(record, HEADLINE, lambda record: values[record.item])


def question_of(record: Record) -> Question:
    return next(question for question in QUESTIONS if question == record.groups["step"])


def list_values(record: Record, question: Question, chain: Chain) -> dict[str, float | None]:
    """Return what a list is worth, and note it in its chain."""
    listed, right = entries(record.answer), right_parts(question, chain.right)
    own, others = read_parts(question, listed or (), chain.premise)
    if listed is not None:
        chain.lists[question] = own
    exact = listed is not None and own == right and not others
    chain.exact[question] = exact
    hits, size = len(own & right), len(own) + others
    return {
        "step_exact": float(exact),
        "step_precision": hits / size if size else None,
        "step_recall": hits / len(right) if right else None,
        "step_f1": 2 * hits / (size + len(right)) if size + len(right) else float(listed is not None),
    }


def answer_values(record: Record, hypothesis: Hypothesis, chain: Chain) -> dict[str, float | None]:
    """Return what a last answer is worth, whether it follows from the chain's lists, and where that breaks first."""
    label = record.answer.label if record.answer else None
    right = label == record.labels[HEADLINE]
    exact: dict[Question, bool] = {**chain.exact, "answer": right}
    first: str = next((question for question in QUESTIONS if not exact.get(question, False)), "nowhere")
    values: dict[str, float | None] = {"step_exact": float(right), "step_own": None}
    if label is not None and {"edges", "colliders", "directions"} <= chain.lists.keys():
        expected = own_answer(chain, hypothesis)
        values["step_own"] = None if expected is None else float(label == expected)
    return values | {name: float(name == f"first_{first}") for name in BREAKS}


def own_answer(chain: Chain, hypothesis: Hypothesis) -> bool | None:
    """Return the answer that follows from a chain's own lists; None where no graph has all that they say."""
    edges, colliders, arrows = (chain.lists[name] for name in ("edges", "colliders", "directions"))
    statements = pattern_statements(
        len(chain.premise.names),
        {(i, j) for i, j in edges},
        {(i, m, j) for i, m, j in colliders},
        {(i, j) for i, j in arrows},
    )
    return answer_by(len(chain.premise.names), statements, hypothesis, chain.premise.names)
