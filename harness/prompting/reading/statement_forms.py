"""The statement that the prompt asks about, as a reply may assert or deny it in its own words."""

from __future__ import annotations

import re
from functools import lru_cache

from harness.prompting.reading.normalise import normalised

ASSERTED, DENIED = "H1", "H0"
"""What stands in a reply's text, else all in lower case, for the statement and for its negation."""

_CANNOT = (
    r"(?P<cannot>\b(?:cannot|can't|can not|unable to|not possible to)(?: \w+){0,3} (?:dedu\w+|infer\w*|conclud\w+) )"
)
_DENIED_ANYTHING = re.compile(rf"{_CANNOT}(?:that|whether) [^.;:\n]+")
"""Where the statement is unknown: no reply denies that it could conclude what was not asked."""
_DIRECT = (
    "is a direct cause of",
    "is a direct cause for",
    "has a direct effect on",
    "has a direct causal effect on",
    "→",
)
_CAUSE = ("is a cause of", "is a cause for", "has a causal effect on", "→")
_EXISTS = re.compile(
    r"there exists at least one (?P<name>\w+)(?: \(ie, (?P<other>[\w ]+)\))? of (?P<ends>\w+ and \w+)$"
)
_MUST = ("must directly cause", "directly causing", "must be a direct cause of")
_HAS_NOT = ("does not", "doesn't", "do not", "don't", "cannot", "can't", "did not")
_OPPOSITE = {
    "is": ("is not", "isn't"),
    "are": ("are not", "aren't"),
    "has": ("has no", "does not have", "doesn't have"),
}


def marked(text: str, statement: str) -> str:
    """Return a normalised text with H1 wherever it says the statement and H0 where it says the opposite."""
    if not statement:
        return _DENIED_ANYTHING.sub(rf"\g<cannot>that {ASSERTED}", text)
    forms = _forms(statement)
    if not any(last in text for last in {form.rpartition(" ")[2] for form, _ in forms}):
        return text
    for form, mark in forms:
        text = _replaced(text, form, mark)
    return _denied_effect(statement).sub(rf"\g<cannot>that {ASSERTED}", text)


@lru_cache(maxsize=4096)
def _denied_effect(statement: str) -> re.Pattern[str]:
    """Return the pattern of "we cannot deduce that A causes B", which denies more than that A causes B directly."""
    first, last = (re.escape(word.lower()) for word in (statement.split()[0], statement.rstrip(". ").split()[-1]))
    effect = (
        rf"that {first} (?:is an? cause|causes|has an effect|affects|influences)(?! direct)[^.;:\n]{{0,20}}\b{last}\b"
    )
    return re.compile(rf"{_CANNOT}{effect}[^.;:\n]*")


@lru_cache(maxsize=4096)
def _forms(statement: str) -> tuple[tuple[str, str], ...]:
    """Return the ways to say a statement, and to deny it, the longest first."""
    plain = normalised(statement).rstrip(".?! ")
    ways = {plain, plain.replace(",", "")}
    if plain.count(" causes ") == 1:
        phrase, others = (" directly causes ", _DIRECT) if " directly causes " in plain else (" causes ", _CAUSE)
        ways |= {plain.replace(phrase, f" {other} ") for other in others}
    ways |= {plain.replace(" directly causes ", " does directly cause "), plain.replace(" causes ", " does cause ")}
    ways |= _existences(plain) | _links(plain)
    ways |= {plain.replace(" directly causes ", f" {must} ") for must in _MUST}
    if " directly causes " in plain:
        ways.add(plain.replace(" directly causes ", " causes ") + " directly")
    denials = {denial for form in ways for denial in _denials(form)}
    forms = [(form, ASSERTED) for form in ways] + [(form, DENIED) for form in denials]
    return tuple(sorted(forms, key=lambda form: -len(form[0])))


def _links(statement: str) -> set[str]:
    """Return the ways to say that one variable has an effect on another, or that two are related; {} for others."""
    if (ends := re.match(r"(\w+) directly causes (\w+)$", statement)) is not None:
        return {
            f"there is a direct causal {link} from {ends[1]} to {ends[2]}" for link in ("link", "effect", "influence")
        }
    ends = re.match(
        r"(\w+) and (\w+) are causally related$|there is a causal connection between (\w+) and (\w+)$", statement
    )
    first, second = [name for name in ends.groups() if name] if ends else ("", "")
    if not first:
        return set()
    pair = f"{first} and {second}"
    links = {f"there is a causal {link} between {pair}" for link in ("connection", "relationship", "link", "relation")}
    return links | {f"{pair} are causally {linked}" for linked in ("related", "connected", "linked")}


def _existences(statement: str) -> set[str]:
    """Return the ways to say that two variables have a common cause or effect; none for other statements."""
    match = _EXISTS.match(statement)
    if match is None:
        return set()
    ends, ways = match["ends"], set()
    for name in filter(None, (match["name"], match["other"])):
        ways |= {f"there {there} {one} {name} of {ends}" for there in ("is", "exists") for one in ("a", "at least one")}
        # The variable that is one stands before it: "C is a collider of A and B".
        ways |= {f"{ends} have a {name}", f"existence of a {name} of {ends}", f"is a {name} of {ends}"}
    return ways


def _denials(form: str) -> set[str]:
    """Return the ways to deny a simple sentence: "there is no …", "is not", "does not directly cause"."""
    if form.startswith(("there exists ", "there is ")):
        rest = re.sub(r"^there (?:exists|is) (?:at least one |an? )?", "", form)
        denials = {f"there is no {rest}", f"there exists no {rest}", f"there is not a {rest}"}
        return denials | {f"there does not exist {article}{rest}" for article in ("", "a ", "any ", "at least one ")}
    words = form.split(" ")
    for k, word in enumerate(words):
        before, after = words[:k], words[k + 1 :]
        if word in _OPPOSITE:
            return {" ".join((*before, opposite, *after)) for opposite in _OPPOSITE[word]}
        if word == "causes":
            return {" ".join((*before, negation, "cause", *after)) for negation in _HAS_NOT}
        if word == "directly" and after[:1] == ["causes"]:
            return {" ".join((*before, negation, "directly", "cause", *after[1:])) for negation in _HAS_NOT}
    return set()


def _replaced(text: str, form: str, mark: str) -> str:
    """Return the text with a mark for each place where the whole words of a form stand."""
    start = text.find(form)
    if start < 0:
        return text
    parts, position = [], 0
    while start >= 0:
        end = start + len(form)
        whole = not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())
        whole = whole and not (form[:2] == "a " and text[max(0, start - 5) : start] in ("such ", "have "))  # an article
        # An arrow of a longer path ("a → b → c") does not say that the path is.
        if whole and not ("→" in form and "→" in (text[start - 2 : start].strip(), text[end : end + 2].strip())):
            parts += [text[position:start], mark]
            position = end
        start = text.find(form, end)
    return "".join((*parts, text[position:]))
