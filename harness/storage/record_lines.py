"""A line of records.jsonl: its form, how a record becomes one and back, and its columns in tables, page and exports.

All of it follows from the types of `Record`: a field that a `Response` gets is checked, stored and shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any, Protocol, get_args, get_type_hints

from msgspec import UNSET, UnsetType, structs

from harness.codec import response_from_json, response_json
from harness.scoring.grades import grade_of_rule
from harness.storage.forms import LIMITS, Amount, Strict, Whole, form_of
from harness.types import Answer, AnswerForm, ChatRequest, Failure, Judgement, Record, Response, Usage

Line = dict[str, Any]
"""A line of records.jsonl, checked; for `Run.lines`, every message with its text, wherever in the file it stands."""
PLACE = ("task", "variant", "prompt", "model")
"""The parts of a run's place, from the outermost folder to the innermost."""


class MessageForm(Strict):
    """A text, or its digest where it has stood before; of a conversation with its role."""

    sha256: str
    text: str | UnsetType = UNSET
    role: str | UnsetType = UNSET


class _Request(Strict):
    def __post_init__(self: Any) -> None:
        """Raise ValueError where the words are not where the kind has them."""
        if self.kind == "pair":
            if self.premise is UNSET or self.hypothesis is UNSET:
                raise ValueError("a pair has a premise and a hypothesis")
        elif self.messages is UNSET or any(message.role is UNSET for message in self.messages):
            raise ValueError("a request has messages, and a message has a role")


class _Judged(Strict):
    def __post_init__(self: Any) -> None:
        """Raise ValueError where the outcome is not one."""
        if (self.response is UNSET) == (self.failure is UNSET):
            raise ValueError("a judge has a request and a response, or a request and a failure")


class _Line(Strict):
    def __post_init__(self: Any) -> None:
        """Raise ValueError where the outcome is not one, or has what does not go with it."""
        if not self.labels:
            raise ValueError("a record has a label")
        has_response = self.response is not UNSET
        if (self.failure is not UNSET) == has_response or (self.answer is not UNSET) != has_response:
            raise ValueError("a record has a response and its answer, or a failure")
        if self.judge is not UNSET and not has_response:
            raise ValueError("a failed call has no reply that a judge could read")


RequestForm = form_of(
    ChatRequest,
    base=_Request,
    without=("messages", "max_tokens", "stop", "ahead"),
    also={"digest": str, "kind": str},
    more={"messages": list[MessageForm], "premise": MessageForm, "hypothesis": MessageForm}
    | {"max_tokens": Whole, "stop": list[str]},
    AnswerForm=form_of(AnswerForm, Means=str),
)
_OUTCOME = {
    "response": form_of(Response, required=("seconds", "cached"), Usage=form_of(Usage)),
    "failure": form_of(Failure),
}
JudgementForm = form_of(Judgement, base=_Judged, without=("outcome",), more=_OUTCOME)
_ALWAYS = ("sample", "label", "probability", "span")
"""Fields of a record and of its answer that a line holds even where they are as by default."""
LineForm = form_of(
    Record,
    base=_Line,
    required=_ALWAYS,
    without=("outcome", "answer", "judgement", "request"),
    also={"request": RequestForm | None, "gold": LIMITS["LabelCode"], "correct": bool | None},
    more={
        **_OUTCOME,
        "answer": form_of(Answer, required=_ALWAYS),
        "judge": JudgementForm,
        "cost_usd": Amount | None,
    },
)
"""A line of records.jsonl: a record, its request and its outcome by name, and what follows from them."""

_OF_REPLY = ("request", "outcome", "answer", "judgement")
_IN_LINE = object()
"""In the place of a default: a field that a line always holds."""


def _defaults(kind: type, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the fields that a line has of a record or of an answer, and with which value each is left out."""
    every = fields(kind) if is_dataclass(kind) else structs.fields(kind)  # type: ignore[arg-type]
    parts = [part for part in every if part.name not in without]
    return {part.name: _IN_LINE if part.name in _ALWAYS else part.default for part in parts}


_OF_RECORD = _defaults(Record, _OF_REPLY)
_BESIDE_REPLY = {name: _OF_RECORD[name] for name in ("item", "cluster", "unit", "groups", "labels", "sample")}
_OF_ANSWER = _defaults(Answer)
_NO_ANSWER = Answer(label=None)
OF_ITEM = tuple(name for name in _BESIDE_REPLY if name != "sample")
"""The fields of a record that describe its item; a line has them under the same names."""


def line_of(record: Record, headline: str) -> dict[str, Any]:
    """Return the line of a record, its request and its cost apart, in the order of the file."""
    label = None if record.answer is None else record.answer.label
    return {
        **_plain(record, _BESIDE_REPLY),
        "request": None,
        **_outcome(record),
        "gold": record.labels[headline],
        "correct": None if label is None else label == record.labels[headline],
    }


def _outcome(record: Record) -> dict[str, Any]:
    if isinstance(record.outcome, Failure):
        return _outcome_json(record.outcome)
    judgement = record.judgement
    return {
        **_outcome_json(record.outcome),
        "answer": _plain(record.answer or _NO_ANSWER, _OF_ANSWER),
        **({"judge": {"request": judgement.request, **_outcome_json(judgement.outcome)}} if judgement else {}),
    }


def _plain(value: Record | Answer, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return these fields as JSON, without those that are as by default and need not be there."""
    content = {name: part for name, default in defaults.items() if (part := getattr(value, name)) != default}
    for name, part in content.items():
        if not isinstance(part, str | int) and isinstance(part, Mapping):  # whether one is a Mapping takes longest
            content[name] = dict(part)
    return content


def _outcome_json(outcome: Response | Failure) -> dict[str, Any]:
    if isinstance(outcome, Failure):
        return {"failure": {"kind": outcome.kind, "detail": outcome.detail}}
    return {"response": response_json(outcome) | {"cached": outcome.cached}}


def _outcome_from_json(line: Mapping[str, Any]) -> Response | Failure:
    if "failure" in line:
        return Failure(**line["failure"])
    return response_from_json(line["response"], cached=line["response"]["cached"])


def record_of(line: Mapping[str, Any]) -> Record:
    """Return the record of a line that has the form of one."""
    answer = Answer(**line["answer"]) if "answer" in line else None
    judgement = Judgement(line["judge"]["request"], _outcome_from_json(line["judge"])) if "judge" in line else None
    return Record(
        **{name: line[name] for name in (*OF_ITEM, "sample") if name in line},
        request=line["request"]["digest"] if line["request"] else None,
        outcome=_outcome_from_json(line),
        answer=answer,
        judgement=judgement,
    )


def turns(line: Line) -> list[dict[str, str]]:
    """Return the messages that the model was sent, as role and content."""
    request = line["request"] or {}
    if request.get("kind") == "pair":
        return [{"role": "user", "content": f"{request['premise']['text']}\n\n{request['hypothesis']['text']}"}]
    return [{"role": message["role"], "content": message["text"]} for message in request.get("messages", [])]


_CALLED = {"label": "answer", "kind": "failure", "detail": "failure_detail"}
"""Columns of a table that have another name than the field that they show."""
_SHOWN = {"failure": Failure, "answer": Answer, "response": Response, "usage": Usage}
"""The parts of a line whose fields have a column each; what an answer cost is one for all."""


def _kind(hint: Any) -> type:
    """Return the type of a field's column; a list or an object stands there as JSON."""
    kind = next(iter(get_args(hint)), hint) if NoneType in get_args(hint) else hint
    return kind if kind in (str, int, float, bool) else str


_REPLY: Mapping[str, tuple[str, str, type]] = {
    f"{name}_tokens" if part == "usage" else _CALLED.get(name, name): (part, name, _kind(hint))
    for part, form in _SHOWN.items()
    for name, hint in get_type_hints(form).items()
    if name not in ("usage", "usd")
}
"""The columns of a reply, and where in a line each comes from: part, field and type."""
_COLUMNS = tuple({name: column for column, (of, name, _) in _REPLY.items() if of == part} for part in _SHOWN)
"""The same by field, for each part of a line: this is asked of every reply of a page."""
_NOTHING: Mapping[str, Any] = {}
_EMPTY: tuple[Any, ...] = (None, [], {})
_FIRST = (
    "answer",
    "probability",
    "correct",
    "failure",
    "failure_detail",
    "asked",
    "text",
    "reasoning",
    "span",
    "grade",
)


def reply_columns(line: Line) -> dict[str, Any]:
    """Return all that a line says of the reply and of what was read in it, by column."""
    response, columns = line.get("response", _NOTHING), {}
    parts = (line.get("failure"), line.get("answer"), response, response.get("usage"))
    for content, names in zip(parts, _COLUMNS, strict=True):
        for name, value in (content or _NOTHING).items():
            if name in names and value not in _EMPTY:
                columns[names[name]] = value
    if line.get("cost_usd") is not None:
        columns["cost_usd"] = line["cost_usd"]
    answer = line.get("answer")
    if answer and answer["label"] is not None:
        columns["grade"] = grade_of_rule(answer.get("rule", ""))
    return columns


def item_columns(line: Line) -> dict[str, Any]:
    """Return all that a line says of its item, by column, and which of several replies it is."""
    return {
        **{name: line[name] for name in OF_ITEM if name in line and name not in ("groups", "labels")},
        "sample": line["sample"],
        **{f"group_{name}": group for name, group in line["groups"].items()},
        **{f"label_{name}": label for name, label in line["labels"].items()},
    }


class RecordSource(Protocol):
    """What the table needs of a run."""

    @property
    def place(self) -> Mapping[str, str]:
        """task, variant, prompt and model."""

    def lines(self) -> Iterator[Line]:
        """Yield the lines of its records."""

    def gold(self, line: Line) -> int:
        """Return the headline label of a line."""


def frame(runs: Sequence[RecordSource]) -> Any:
    """Return a pandas.DataFrame with a line for each record."""
    import pandas

    types = columns(runs)
    table = pandas.DataFrame(rows(runs, types), columns=list(types))
    # None stays a missing value, beside whole numbers too.
    nullable = {int: "Int64", float: "Float64", bool: "boolean", str: "string"}
    return table.astype({name: nullable[kind] for name, kind in types.items()})


def columns(runs: Sequence[RecordSource]) -> dict[str, type]:
    """Return name and type of each column, among them the unit and every group and label set that any record has.

    Reads all records.
    """
    names = dict.fromkeys(name for run in runs for line in run.lines() for name in item_columns(line))
    labels = [name for name in names if name.startswith("label_")]
    groups = [name for name in names if name.startswith("group_")]
    plain = [name for name in names if name not in (*groups, *labels, "sample")]
    types = {name: kind for name, (_, _, kind) in _REPLY.items()} | dict.fromkeys(("asked", "grade"), str)
    types["correct"] = bool
    return {
        **dict.fromkeys((*PLACE, *plain), str),
        "sample": int,
        **dict.fromkeys(groups, str),
        **dict.fromkeys(labels, int),
        "gold": int,
        **{name: types[name] for name in (*_FIRST, "grade", *types)},
        "cost_usd": float,
        "request": str,
    }


def rows(runs: Sequence[RecordSource], types: Mapping[str, type]) -> Iterator[dict[str, Any]]:
    """Yield a dictionary with all columns for each record; None where there is nothing."""
    for run in runs:
        for line in run.lines():
            row = dict.fromkeys(types) | {**run.place, **item_columns(line), **reply_columns(line), **_rest(run, line)}
            yield {name: _cell(row[name], kind) for name, kind in types.items()}


def _cell(value: Any, kind: type) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else None if value is None else kind(value)


def _rest(run: RecordSource, line: Line) -> dict[str, Any]:
    messages = turns(line)
    return {
        "gold": run.gold(line),
        "correct": line.get("correct"),
        "asked": "\n\n".join(message["content"] for message in messages) if messages else None,
        "request": (line["request"] or {}).get("digest"),
    }
