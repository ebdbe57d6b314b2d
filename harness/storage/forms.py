"""What files of a run have to look like before anything reads them: forms that follow from the types of their content.

A run of this program always leaves files of this form. Another form is damage, or somebody's attempt to end a reader
with a traceback; either way it is a ValueError here and one sentence for the user.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, TypeVar, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from harness.types import LETTERS

Form = TypeVar("Form")
MOST = 10**15
"""No number of a run is beyond it; what readers compute of such numbers stays finite."""
Whole = Annotated[int, Meta(ge=0, le=MOST)]
Finite = Annotated[float, Meta(ge=-MOST, le=MOST)]
Amount = Annotated[float, Meta(ge=0, le=MOST)]
Pair = Annotated[list[Finite], Meta(min_length=2, max_length=2)]
Part = dict[str, Any]
LIMITS: Mapping[str, Any] = {
    "Tally": Whole,
    "LabelCode": Annotated[int, Meta(ge=0, lt=len(LETTERS))],
    "Probability": Annotated[float, Meta(ge=0, le=1)],
    "LogProbability": Annotated[float, Meta(lt=1)],
    "Finite": Finite,
}
"""What numbers may be in a file, by the names that harness.types has for their types."""
_NOUNS = {"str": "text", "int": "whole number", "float": "number", "array": "list", "bool": "true or false"}
_EXPECTED = re.compile(r"Expected `(?P<types>[^`]+)`(?:, got `\w+`|(?P<bound> [<>=]+ \S+))")
_LENGTH = re.compile(r"Expected `(?P<types>[^`]+)` of (?P<bound>length .+)")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`")


class Strict(Struct, kw_only=True, forbid_unknown_fields=True):
    """A form without parts that it does not know."""


class Open(Struct, kw_only=True):
    """A form that may have parts which it does not know."""


def form_of(
    kind: type,
    /,
    *,
    required: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
    also: Mapping[str, Any] = MappingProxyType({}),
    more: Mapping[str, Any] = MappingProxyType({}),
    base: type[Struct] = Strict,
    partial: bool = False,
    **types: Any,
) -> type[Struct]:
    """Return the form of a dataclass's JSON: its fields, each optional that has a default and is not `required`.

    `types` says what a type of the dataclass is in the file, by its name; `also` adds parts, `more` optional
    ones. Of a `partial` form any field may be missing, or null.
    """
    hints = get_type_hints(kind, localns={**LIMITS, **types}, include_extras=True)
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for field in dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else structs.fields(kind):
        hint = hints[field.name]
        if field.name in without:
            continue
        if partial:
            fields.append((field.name, hint | None, None))
        elif field.name in required or field.default is field.default_factory:  # both are missing
            fields.append((field.name, hint))
        else:  # an empty part is left out of the file, and null is refused
            filled = hint.__args__[0] if field.default is None else hint
            fields.append((field.name, filled | UnsetType, UNSET))
    fields += [*also.items(), *((name, hint | UnsetType, UNSET) for name, hint in more.items())]
    return msgspec.defstruct(f"{kind.__name__}Form", fields, bases=(base,), kw_only=True)


def checked(content: Any, form: type[Form], at: str = "") -> Form:
    """Return JSON as its form. Raises ValueError, which says what is wrong and where below `at`."""
    try:
        return msgspec.convert(content, form)
    except msgspec.ValidationError as error:
        raise ValueError(_in_words(str(error), at)) from None


def _in_words(message: str, at: str) -> str:
    """Return what msgspec says of a value in the words of a user who looks at the file."""
    what, _, path = message.partition(" - at `$")
    place = f"{at}{path.rstrip('`')}".lstrip(".")
    if match := _MISSING.fullmatch(what):
        return f"{f'{place}.' if place else ''}{match['name']} is missing"
    if match := _UNKNOWN.fullmatch(what):
        return f"{place or 'it'} holds {match['name']!r:.80}, which is no part of it"
    if match := _EXPECTED.fullmatch(what) or _LENGTH.fullmatch(what):
        nouns = " or ".join(_NOUNS.get(name, name) for name in match["types"].split(" | "))
        return f"{place or 'it'} is no {nouns}{f' of {bound.strip()}' if (bound := match['bound']) else ''}"
    return f"{place}: {what}" if place else what


class PlaceForm(Strict):
    """Where a run stands in every table."""

    task: str
    variant: str
    prompt: str
    model: str
