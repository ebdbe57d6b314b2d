"""What is wrong in the authors' sample questions of CLadder, counted: python tools/cladder_audit.py."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields

from harness.tasks.cladder.models import sample
from harness.tasks.cladder.queries import NUMERIC, TITLES, Query
from harness.tasks.cladder.questions import NO_EFFECT, ExactNumbers, ToldQuestion, percents, printed_tables
from harness.tasks.cladder.stated import XY

SAME = 1e-6
"""Numbers nearer than this are one."""


@dataclass
class AuditCounts:
    """What is counted of questions of one kind."""

    questions: int = 0
    values: int = 0
    """Those with a value that decides them."""
    wrong_values: int = 0
    largest: float = 0.0
    """The largest error of a value."""
    other_effect: int = 0
    """Questions of which the right value says more, less or no effect where the stored one says otherwise,"""
    turned: int = 0
    """and the answers that this turns, by the authors' own rule;"""
    small: int = 0
    """answers that an effect turns which they count as none;"""
    by_rule: int = 0
    """answers that the rule of the question turns where no number decides."""
    printed: int = 0
    wrong_printed: int = 0
    """Probabilities in the texts; of these the wrong ones,"""
    largest_printed: float = 0.0
    other_sign: int = 0
    """Questions of which the printed percents give another sign than the key."""
    open: int = 0
    """Questions that their words leave open,"""
    open_words: int = 0
    """of these as words say the opposite of what they should, the same of both values, or tell no direction."""
    against: int = 0
    """Questions of which the words say another answer than the key."""

    def add(self, other: AuditCounts) -> None:
        for one in fields(self):
            mine, theirs = getattr(self, one.name), getattr(other, one.name)
            setattr(self, one.name, max(mine, theirs) if one.name.startswith("largest") else mine + theirs)


def counts() -> dict[Query, AuditCounts]:
    """Return the counts by kind of question."""
    found: dict[Query, AuditCounts] = defaultdict(AuditCounts)
    for model in sample():
        for question in model.questions():
            _count(found[question.ask.query], question)
    return {query: found[query] for query in TITLES}


def _count(counts: AuditCounts, question: ToldQuestion) -> None:
    ask, key = question.ask, question.published()
    counts.questions += 1
    right = question.by_rule(question.value) if ask.query in NUMERIC else key
    counts.turned += right != key
    if ask.query in NUMERIC:
        stored = question.model.numbers.value(ask.query)
        error = abs(stored - question.value)
        counts.other_effect += _side(ask.query, stored) != _side(ask.query, question.value)
        counts.values += 1
        counts.wrong_values += error > SAME
        counts.largest = max(counts.largest, error)
        counts.small += question.exact != right
        for error in _errors(question):
            counts.printed += 1
            counts.wrong_printed += error > SAME
            counts.largest_printed = max(counts.largest_printed, error)
        counts.other_sign += _other_sign(question)
    else:
        counts.by_rule += question.exact != key
    counts.open += question.stated is None
    counts.open_words += question.misleading
    counts.against += question.stated not in (None, key)


def _errors(question: ToldQuestion) -> Iterator[float]:
    """Yield how far each printed probability is from that of the model."""
    query, scm = question.ask.query, question.model.scm
    exact = printed_tables(ExactNumbers(scm), query, scm.graph)
    for key, table in question.model.tables(query).items():
        yield from (abs(theirs - ours) for theirs, ours in zip(table, exact[key], strict=True))


def _other_sign(question: ToldQuestion) -> bool:
    """Test whether the printed percents, taken as they are, give another sign than the key of the two questions.

    Only where they give the value without another formula than P(Y | X): marginal, correlation, and ATE and ETT
    without a confounder. The authors' rule holds here too: an effect below 0.005 is none.
    """
    model, query = question.model, question.ask.query
    told = {key: [percent / 100 for percent in table] for key, table in percents(model.tables(query)).items()}
    if query == "marginal":
        share, y = told["X", ()][0], told["Y", ("X",)]
        effect = (1 - share) * y[0] + share * y[1]
    elif query == "correlation":
        share, both = told["X", ()][0], told[XY, ()]
        effect = both[1] / share - both[0] / (1 - share)
    elif query in ("ate", "ett") and ("Y", ("X",)) in told:
        effect = told["Y", ("X",)][1] - told["Y", ("X",)][0]
    else:
        return False
    return _side(query, effect) != _side(query, model.numbers.value(query))


def _side(query: Query, value: float) -> int:
    """Return whether a value says more (1), less (-1) or neither, by the authors' rule."""
    if query == "marginal":
        return 1 if value > 0.5 else -1
    return _sign(value)


def _sign(effect: float) -> int:
    return 0 if abs(effect) < NO_EFFECT else 1 if effect > 0 else -1


def main() -> None:
    """Print the counts by kind of question, a line for each, and of all."""
    found = counts()
    total = AuditCounts()
    for one in found.values():
        total.add(one)
    rows = [("", *(one.name for one in fields(AuditCounts)))]
    for name, one in (*found.items(), ("all", total)):
        numbers = (getattr(one, field.name) for field in fields(one))
        rows.append((name, *(f"{number:.4f}" if isinstance(number, float) else f"{number:,}" for number in numbers)))
    for name, *cells in zip(*rows, strict=True):
        print(f"{name:>16}" + "".join(f"{cell:>19}" for cell in cells))


if __name__ == "__main__":
    main()
