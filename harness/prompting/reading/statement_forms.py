"""The statement that the prompt asks about, as a reply may assert or deny it in its own words."""

from __future__ import annotations

import re
from functools import lru_cache

from harness.prompting.reading.normalise import normalised
from harness.prompting.reading.words import compiled

ASSERTED, DENIED = "H1", "H0"
"""What stands in a reply's text, else all in lower case, for the statement and for its negation."""

_CANNOT = (
    r"(?P<cannot>\b(?:cannot|can't|can not|unable to|not possible to)(?: \w+){0,3} (?:dedu\w+|infer\w*|conclud\w+) )"
)
_WAYS = (
    (
        r"((?:(?! causes ).)+)(?<! directly) causes ((?:(?! causes ).)+)",
        (
            *("{0} is a cause of {1}", "{0} is a cause for {1}", "{0} has a causal effect on {1}", "{0} → {1}"),
            "{0} does cause {1}",
        ),
    ),
    (
        r"(.+) directly causes (.+)",
        (
            *("{0} is a direct cause of {1}", "{0} is a direct cause for {1}", "{0} must be a direct cause of {1}"),
            *("{0} has a direct effect on {1}", "{0} has a direct causal effect on {1}", "{0} causes {1} directly"),
            *("{0} does directly cause {1}", "{0} must directly cause {1}", "{0} directly causing {1}", "{0} → {1}"),
            *(f"there is a direct causal {link} from {{0}} to {{1}}" for link in ("link", "effect", "influence")),
        ),
    ),
    (r"there exists at least one (\w+) \(ie, ([\w ]+)\) of (.+)", ("there is a {0} of {2}", "there is a {1} of {2}")),
    (
        r"there (?:exists|is) a(?:t least one)? ((?!direct )[\w ]+) of (.+)",
        (
            *("there is a {0} of {1}", "there is at least one {0} of {1}", "there exists a {0} of {1}"),
            *("there exists at least one {0} of {1}", "existence of a {0} of {1}", "{1} have a {0}", "is a {0} of {1}"),
        ),
    ),
    (
        r"(.+ and .+) are causally related|there is a causal connection between (.+)",
        (
            *("{0} are causally related", "{0} are causally connected", "{0} are causally linked"),
            *("there is a causal connection between {0}", "there is a causal relationship between {0}"),
            *("there is a causal link between {0}", "there is a causal relation between {0}"),
        ),
    ),
)
"""Statements, and other ways to say each. Of "is a collider of A and B" the variable stands before."""
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
    return _denied_effect(statement).sub(rf"\g<cannot>that {ASSERTED}", text)


@lru_cache(maxsize=4096)
def _denied_effect(statement: str) -> re.Pattern[str]:
    """Return the pattern of "we cannot deduce that A causes B", which denies more than that A causes B directly."""
    first, *_, last = map(re.escape, statement.lower().rstrip(". ").split() * 2)
    effect = r"(?:is an? cause|causes|has an effect|affects|influences)(?! direct)"
    return re.compile(rf"{_CANNOT}that {first} {effect}[^.;:\n]{{0,20}}\b{last}\b[^.;:\n]*")


@lru_cache(maxsize=4096)
def _forms(statement: str) -> tuple[tuple[str, str], ...]:
    """Return the ways to say a statement, and to deny it, the longest first."""
    plain = normalised(statement).rstrip(".?! ")
    ways = {plain, plain.replace(",", "")}
    for pattern, others in _WAYS:  # what a row adds, a later one may say in further ways
        for way in [found for way in ways if (found := compiled(pattern).fullmatch(way))]:
            ways |= {other.format(*filter(None, way.groups())) for other in others}
    denials = {denial for form in ways for denial in _denials(form)}
    forms = [(form, ASSERTED) for form in ways] + [(form, DENIED) for form in denials]
    return tuple(sorted(forms, key=lambda form: -len(form[0])))


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
