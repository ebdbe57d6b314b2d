"""A line of records.jsonl: what stands in it, how a record becomes one and back, and its columns in tables and exports.

All of it follows from the types of `harness.types`: a field that a `Response` gets is checked, stored and shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any, Literal, get_args, get_type_hints

from msgspec import UNSET, Struct, UnsetType, to_builtins

from harness.codec import as_json, set_fields
from harness.scoring.grades import grade_of_rule
from harness.types import JSON, Amount, Answer, Failure, Judgement, LabelCode, Record, Response, Tally, Usage

PLACE = ("task", "variant", "prompt", "model")
"""The parts of a run's place, from the outermost folder to the innermost."""
OF_ITEM = ("item", "cluster", "unit", "groups", "labels")
"""The fields that describe the item of a record, or of a line."""


class Words(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A text by its digest, and in full where it has not stood before; of a conversation with its role."""

    role: str | None = None
    sha256: str
    text: str | None = None


class Asked(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A request: its kind, and what `codec.request_json` writes of one."""

    digest: str
    kind: Literal["chat", "choice", "pair"]
    messages: list[Words] = []
    premise: Words | None = None
    hypothesis: Words | None = None
    choices: list[str] | None = None
    max_tokens: Tally | None = None
    stop: list[str] | None = None
    sample: Tally | None = None
    form: dict[str, JSON] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError where the words are not where the kind has them."""
        if self.kind == "pair" and (self.premise is None or self.hypothesis is None):
            raise ValueError("a pair has a premise and a hypothesis")

    @property
    def words(self) -> list[Words]:
        """Its texts, in the order in which they are sent."""
        return self.messages if self.premise is None or self.hypothesis is None else [self.premise, self.hypothesis]


class Judged(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a judge was asked, by its digest, and what it said."""

    request: str
    response: Response | None = None
    failure: Failure | None = None

    def __post_init__(self) -> None:
        """Raise ValueError where the outcome is not one."""
        if (self.response is None) == (self.failure is None):
            raise ValueError("a judge has a request and a response, or a request and a failure")


class Line(Struct, kw_only=True, forbid_unknown_fields=True):
    """A record, its request, and what follows from them: in the order of the file."""

    item: str
    cluster: str
    unit: str = ""
    groups: dict[str, str]
    labels: dict[str, LabelCode]
    sample: Tally
    request: Asked | None
    response: Response | None = None
    failure: Failure | None = None
    answer: Answer | None = None
    judge: Judged | None = None
    gold: LabelCode
    correct: bool | None
    cost_usd: Amount | UnsetType | None = UNSET
    """None where it is not known, and not there for what is free."""

    def __post_init__(self) -> None:
        """Raise ValueError where the outcome is not one, or has what does not go with it."""
        if not self.labels:
            raise ValueError("a record has a label")
        if (self.response is None) == (self.failure is None) or (self.response is None) != (self.answer is None):
            raise ValueError("a record has a response and its answer, or a failure")
        if self.judge is not None and self.response is None:
            raise ValueError("a failed call has no reply that a judge could read")

    @classmethod
    def of(cls, record: Record, headline: str) -> Line:
        """Return the line of a record, its request and its cost apart."""
        label = None if record.answer is None else record.answer.label
        judgement = record.judgement
        return cls(
            **{name: getattr(record, name) for name in (*OF_ITEM, "sample", "answer")},
            request=None,
            **_outcome(record.outcome),
            judge=None if judgement is None else Judged(request=judgement.request, **_outcome(judgement.outcome)),
            gold=record.labels[headline],
            correct=None if label is None else label == record.labels[headline],
        )

    @property
    def record(self) -> Record:
        """The record that the line is of."""
        return Record(
            **{name: getattr(self, name) for name in (*OF_ITEM, "sample", "answer")},
            request=self.request.digest if self.request else None,
            outcome=self.outcome,
            judgement=None if self.judge is None else Judgement(self.judge.request, _outcome_of(self.judge)),
        )

    @property
    def outcome(self) -> Response | Failure:
        return _outcome_of(self)

    @property
    def usd(self) -> float | None:
        """What its answer cost; None where that is not known, or where it is free."""
        return self.cost_usd if isinstance(self.cost_usd, float) else None

    @property
    def as_json(self) -> dict[str, Any]:
        content: dict[str, Any] = as_json(self, {Asked: to_builtins})
        return content

    @property
    def turns(self) -> list[dict[str, str]]:
        """The messages that the model was sent, as role and content."""
        if self.request is None:
            return []
        if self.request.kind == "pair":
            return [{"role": "user", "content": "\n\n".join(words.text or "" for words in self.request.words)}]
        return [{"role": words.role or "", "content": words.text or ""} for words in self.request.words]


def _outcome(outcome: Response | Failure) -> Mapping[str, Any]:
    return {"failure" if isinstance(outcome, Failure) else "response": outcome}


def _outcome_of(part: Line | Judged) -> Response | Failure:
    outcome = part.failure if part.response is None else part.response
    assert outcome is not None
    return outcome


_CALLED = {"label": "answer", "kind": "failure", "detail": "failure_detail"}
"""Columns of a table that have another name than the field that they show."""
_SHOWN = (Failure, Answer, Response, Usage)
"""The parts of a line whose fields have a column each; what an answer cost is one for all."""


def _kind(hint: Any) -> type:
    """Return the type of a field's column; a list or an object stands there as JSON."""
    kind = next(iter(get_args(hint)), hint) if NoneType in get_args(hint) else hint
    return kind if kind in (str, int, float, bool) else str


_COLUMNS: Mapping[type, Mapping[str, str]] = {
    part: {
        name: f"{name}_tokens" if part is Usage else _CALLED.get(name, name)
        for name in get_type_hints(part)
        if name not in ("usage", "usd")
    }
    for part in _SHOWN
}
"""The columns of a reply by field, for each part of a line."""
_EMPTY: tuple[Any, ...] = (None, (), {})
_FIRST = [
    "answer",
    "probability",
    "correct",
    "readable",
    "failure",
    "failure_detail",
    "asked",
    "text",
    "reasoning",
    "span",
    "grade",
]
_TYPES = {
    **{name: _kind(get_type_hints(part)[field]) for part in _SHOWN for field, name in _COLUMNS[part].items()},
    **dict.fromkeys(("asked", "grade"), str),
    **dict.fromkeys(("correct", "readable"), bool),
}
REPLY_TYPES: Mapping[str, type] = {name: _TYPES[name] for name in (*_FIRST, *_TYPES)}
"""Name and type of each column of a reply, in order."""


def reply_columns(line: Line) -> dict[str, Any]:
    """Return all that a line says of the reply and of what was read in it, by column."""
    columns = {}
    for part in (line.failure, line.answer, line.response, line.response.usage if line.response else None):
        names = _COLUMNS.get(type(part), {})
        for name, value in set_fields(part).items() if part is not None else ():
            if name in names and value not in _EMPTY:
                columns[names[name]] = value
    if line.usd is not None:
        columns["cost_usd"] = line.usd
    if line.answer and line.answer.label is not None:
        columns["grade"] = grade_of_rule(line.answer.rule)
    return columns


def item_columns(line: Line) -> dict[str, Any]:
    """Return all that a line says of its item, by column, and which of several replies it is."""
    return {
        "item": line.item,
        "cluster": line.cluster,
        **({"unit": line.unit} if line.unit else {}),
        "sample": line.sample,
        **{f"group_{name}": group for name, group in line.groups.items()},
        **{f"label_{name}": label for name, label in line.labels.items()},
    }
