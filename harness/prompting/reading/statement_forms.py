"""The statement that the prompt asks about, as a reply may assert or deny it in its own words (statements.yaml)."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from harness.prompting.reading.normalise import normalised
from harness.prompting.reading.words import compiled, in_file

ASSERTED, DENIED = "H1", "H0"
"""What stands in a reply's text, else all in lower case, for the statement and for its negation."""

_CANNOT = (
    r"(?P<cannot>\b(?:cannot|can't|can not|unable to|not possible to)(?: \w+){0,3} (?:dedu\w+|infer\w*|conclud\w+) )"
)
_NEGATIONS = ("does not", "doesn't", "do not", "don't", "cannot", "can't", "did not")
_OPPOSITE = {
    "is": ("is not", "isn't"),
    "are": ("are not", "aren't"),
    "has": ("has no", "does not have", "doesn't have"),
}


def marked(text: str, statement: str) -> str:
    """Return a normalised text with H1 wherever it says the statement and H0 where it says the opposite.

    Of an unknown statement, whatever cannot be concluded: no reply denies that of what was not asked.
    """
    if not statement:
        return compiled(rf"{_CANNOT}(?:that|whether) [^.;:\n]+").sub(rf"\g<cannot>that {ASSERTED}", text)
    forms = _forms(statement)
    if not any(last in text for last in {form.rpartition(" ")[2] for form, _ in forms}):
        return text
    for form, mark in forms:
        if form in text:
            # "A" may be an article, and an arrow of a longer path ("a → b → c") does not say that the path is.
            alone = rf"(?<!→ ){re.escape(form)}(?! →)" if "→" in form else re.escape(form)
            text = re.sub(rf"(?<!\w)(?<!\bsuch )(?<!\bhave ){alone}(?!\w)", mark, text)
    # "We cannot deduce that A causes B" denies more than that A causes B directly.
    first, *_, last = map(re.escape, statement.lower().rstrip(". ").split() * 2)
    effect = r"(?:is an? cause|causes|has an effect|affects|influences)(?! direct)"
    denied = rf"{_CANNOT}that {first} {effect}[^.;:\n]{{0,20}}\b{last}\b[^.;:\n]*"
    return re.sub(denied, rf"\g<cannot>that {ASSERTED}", text)


@lru_cache(maxsize=4096)
def _forms(statement: str) -> tuple[tuple[str, str], ...]:
    """Return the ways to say a statement, and to deny it, the longest first."""
    plain = normalised(statement).rstrip(".?! ")
    ways = {plain, plain.replace(",", "")}
    for pattern, others in _rows():
        for way in [found for way in ways if (found := pattern.fullmatch(way))]:
            ways |= {other.format(**way.groupdict()) for other in others}
    denials = {denial for form in ways for denial in _denials(form)}
    forms = [(form, ASSERTED) for form in ways] + [(form, DENIED) for form in denials]
    return tuple(sorted(forms, key=lambda form: -len(form[0])))


@cache
def _rows() -> list[tuple[re.Pattern[str], list[str]]]:
    """Return the patterns of statements, and other ways to say each."""
    name = r"(?P<\1>(?:(?! causes | directly\\b|\\().)+)"
    return [
        (re.compile(re.sub(r"\\{(\w)\\}", name, re.escape(statement))), others)
        for statement, others in in_file("statements.yaml").items()
    ]


def _denials(form: str) -> set[str]:
    """Return the ways to deny a simple sentence: "there is no …", "is not", "does not directly cause"."""
    if there := compiled(r"there (?:exists|is) (?:at least one |an? )?(.+)").fullmatch(form):
        denials = {f"there is no {there[1]}", f"there exists no {there[1]}", f"there is not a {there[1]}"}
        return denials | {f"there does not exist {one}{there[1]}" for one in ("", "a ", "any ", "at least one ")}
    if verb := compiled(r"(.*?\b)(is|are|has) (.*)").fullmatch(form):
        return {f"{verb[1]}{opposite} {verb[3]}" for opposite in _OPPOSITE[verb[2]]}
    if verb := compiled(r"(.*?\b)(directly )?causes (.*)").fullmatch(form):
        return {f"{verb[1]}{negation} {verb[2] or ''}cause {verb[3]}" for negation in _NEGATIONS}
    return set()
