"""The scores of cladder/steps: how many replies to each step are right, and at which a chain breaks first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from harness.plugins.cladder.metrics import BREAKS, STEPS, Step
from harness.plugins.cladder.stated import follows
from harness.plugins.cladder.step_questions import ROUNDING, Case
from harness.plugins.cladder.step_reading import read_number, worth
from harness.plugins.cladder.task import ORDERS
from harness.scoring import means
from harness.scoring.means import MeanRow
from harness.scoring.parted import Together
from harness.types import Answer, Record, Result

HEADLINE = "stated"
NOTE = (
    "Right: the edges and the probabilities are those of the text and no others; the kind is named; the formal query "
    "is the same but for notation; the estimand has the value that is asked for in five random models of the graph, "
    "and takes nothing that is not observed; the number fits the printed percents; the last answer is the right one. "
    "F1: of edges and probabilities. Follows from its own number (task.given=own): the last answer is what the number "
    "of the step before it comes to, right or wrong; undefined where none can be read, or it is too near to where the "
    "answer changes. Breaks first: the first step that is not right, once for each question. A reply "
    "that cannot be read is not right."
)
ORDER: Mapping[str, tuple[str, ...]] = {
    "step": STEPS,
    **{name: tuple(order) for name, order in ORDERS.items()},
    "rung_step": tuple(f"rung {rung}, {step}" for rung in ORDERS["rung"] for step in STEPS),
    "query_step": tuple(f"{query}, {step}" for query in ORDERS["query"] for step in STEPS),
}


def summarize(records: Iterable[Record], texts: Mapping[str, str], *, own: bool) -> Result:
    """Return the scores by step, rung, kind of question and both.

    `texts` has the words of each question; `own`: whether each step goes on from the replies to those before it.
    """
    return means.summarize(
        records,
        lambda steps: _rows(steps, Case.read(texts[place(steps[0].item)[0]]), own=own),
        ("ladder_exact", "ladder_f1", "ladder_own", *BREAKS),
        headline=HEADLINE,
        orders=ORDER,
        groups=lambda passing: Together(
            passing, lambda record: place(record.item)[0], lambda steps: len(steps) == len(STEPS)
        ),
        notes=(NOTE,),
    )


def _rows(records: Sequence[Record], case: Case, *, own: bool) -> Iterator[MeanRow]:
    """Yield a row for each step of a question."""
    exact: dict[Step, bool] = {}
    values: dict[Step, dict[str, float | None]] = {}
    answers: dict[Step, Answer | None] = {}
    for record in records:
        step = place(record.item)[1]
        result = worth(step, record.answer, case, record.labels[HEADLINE])
        values[step] = {"ladder_exact": float(result.exact), "ladder_f1": result.f1}
        exact[step], answers[step] = result.exact, record.answer
    if (last := STEPS[-1]) in values:
        first = next((step for step in STEPS if not exact.get(step, False)), "nowhere")
        values[last]["ladder_own"] = _own(answers, case) if own else None
        values[last] |= {name: float(name == f"ladder_first_{first}") for name in BREAKS}
    for record in records:
        yield MeanRow.of(record, HEADLINE, lambda record: values[place(record.item)[1]])


def _own(answers: Mapping[Step, Answer | None], case: Case) -> float | None:
    """Return whether the last answer is what the reply to the step before it comes to."""
    value, last = read_number(answers.get("number")), answers.get("answer")
    if value is None or last is None or last.label is None:
        return None
    expected = follows(case.ask, (value - ROUNDING, value + ROUNDING))
    said = {"yes": True, "no": False}.get(last.span.strip(" .").casefold())
    return None if expected is None or said is None else float(said == expected)


def place(item: str) -> tuple[str, Step]:
    """Return the question and the step of an item."""
    question, _, step = item.rpartition("/")
    return question, cast("Step", step)
