"""What a line of records has to look like before anything reads it. By hand, since a run may have millions."""

from __future__ import annotations

from typing import Any


def check_record(line: Any) -> None:
    """Raise ValueError, TypeError or KeyError where a line of records is of another form, its response apart."""
    _texts(line["item"], line["cluster"], *line["groups"].keys(), *line["groups"].values(), *line["labels"])
    if any(type(label) is not int or label not in (0, 1) for label in line["labels"].values()) or not line["labels"]:
        raise ValueError("labels are 0 or 1 by the name of their set")
    if type(line["sample"]) is not int or line["sample"] < 0:
        raise ValueError("sample is the number of an answer, from 0")
    if line["request"] is not None:
        _check_request(line["request"])
    if ("failure" in line) == ("response" in line):
        raise ValueError("a record has a response or a failure")
    if (usd := line.get("cost_usd")) is not None and not (type(usd) in (int, float) and 0 <= usd < float("inf")):
        raise ValueError("cost_usd is an amount or null")
    if "failure" in line:
        if set(line["failure"]) != {"kind", "detail"}:
            raise ValueError("a failure has kind and detail")
        _texts(line["failure"]["kind"], line["failure"]["detail"])
        return
    if type(line["response"]["cached"]) is not bool:
        raise ValueError("cached is true or false")
    _texts(line["response"]["text"], line["answer"]["span"])
    _check_answer(line["answer"])


def _check_answer(answer: Any) -> None:
    label, probability = answer["label"], answer["probability"]
    if label is not None and (type(label) is not int or label not in (0, 1)):
        raise ValueError("an answer is 1, 0 or null")
    if probability is not None and not (type(probability) in (int, float) and 0 <= probability <= 1):
        raise ValueError("a probability is between 0 and 1")
    if set(answer) != {"label", "probability", "span"}:
        raise ValueError("an answer has label, probability and span")


def _check_request(request: Any) -> None:
    """Check kind, digest and words; `kind` decides where the words stand."""
    places = [request["premise"], request["hypothesis"]] if request["kind"] == "pair" else request["messages"]
    if not isinstance(places, list):
        raise TypeError("messages are a list")
    for place in places:
        _texts(place["sha256"], place.get("text", ""), place.get("role", ""))
    _texts(request["digest"], request["kind"])


def _texts(*values: Any) -> None:
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{value!r:.40} is no text")
        if not value.isascii():
            value.encode()
