"""What is wrong in the authors' sample questions, counted: harness published table=cladder/audit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from harness.plugins.cladder.models import sample
from harness.plugins.cladder.queries import NUMERIC, TITLES, Query
from harness.plugins.cladder.questions import NO_EFFECT, ExactNumbers, Question, percents, printed_tables
from harness.plugins.cladder.stated import XY
from harness.tables.table import Part, Table

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
        for _, question in model.questions():
            _count(found[question.ask.query], question)
    return {query: found[query] for query in TITLES}


def _count(counts: AuditCounts, question: Question) -> None:
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


def _errors(question: Question) -> Iterator[float]:
    """Yield how far each printed probability is from that of the model."""
    query, scm = question.ask.query, question.model.scm
    exact = printed_tables(ExactNumbers(scm), query, scm.graph)
    for key, table in question.model.facts(query).tables.items():
        yield from (abs(theirs - ours) for theirs, ours in zip(table, exact[key], strict=True))


def _other_sign(question: Question) -> bool:
    """Test whether the printed percents, taken as they are, give another sign than the key of the two questions.

    Only where they give the value without another formula than P(Y | X): marginal, correlation, and ATE and ETT
    without a confounder. The authors' rule holds here too: an effect below 0.005 is none.
    """
    model, query = question.model, question.ask.query
    told = {key: [percent / 100 for percent in table] for key, table in percents(model.facts(query).tables).items()}
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


def table() -> Sequence[Part]:
    """Return the audit as tables, with what they say in a sentence each."""
    found = counts()
    total = AuditCounts()
    for one in found.values():
        total.add(one)
    rows = [*((TITLES[query], one) for query, one in found.items()), ("all", total)]
    return (
        "The 4,164 sample questions of CLadder's repository, each made again from its parameters.",
        "Values and probabilities, as the files have them and as the models imply them:",
        _table(
            ("questions", "values", "wrong", "largest error", "printed", "wrong", "largest error", "other sign"),
            [(name, _numbers(one)) for name, one in rows],
        ),
        "other sign: the printed percents give another sign of the effect than the answer rests on (an effect below "
        "0.005 is none); of marginal probabilities, the other answer.",
        "Answers of the key against those that models imply (exact) and those that follow from the words (stated):",
        _table(
            ("other effect", "turned", "small effect", "rule", "exact differs", "open", "by words", "stated differs"),
            [(name, _answers(one)) for name, one in rows],
        ),
        "other effect: the right value says more, less or none where the stored one says otherwise; turned: answers "
        "that this turns by the authors' rule. small effect: one below 0.005, which they count as none; rule: both "
        "methods of a back-door question are right. open: left out of stated.",
    )


def _numbers(one: AuditCounts) -> list[str]:
    return [
        f"{one.questions:,}",
        f"{one.values:,}",
        f"{one.wrong_values:,}",
        f"{one.largest:.4f}" if one.wrong_values else "–",
        f"{one.printed:,}",
        f"{one.wrong_printed:,}",
        f"{one.largest_printed:.4f}" if one.wrong_printed else "–",
        f"{one.other_sign:,}",
    ]


def _answers(one: AuditCounts) -> list[str]:
    differs = one.turned + one.small + one.by_rule
    numbers = (one.other_effect, one.turned, one.small, one.by_rule, differs, one.open, one.open_words, one.against)
    return [f"{number:,}" for number in numbers]


def _table(titles: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> Table:
    return Table.of(["query", *titles], [[name, *cells] for name, cells in rows], text_columns=1)
