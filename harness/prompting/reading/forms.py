"""Replies in a form: JSON, letters of options, and the statement that the prompt asks about, asserted or denied.

Letters are put into what they stand for: Yes and No of a list in the reply, or the choices of the item. How a statement
may be asserted in a reply's own words, statements.yaml has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from harness.prompting.reading.words import any_of, compiled, in_file, normalised
from harness.types import LETTERS

_BEGINS = r"""\{\s*(["'])[\w -]{1,60}\1\s*:|\A\s*(")\w[\w -]{0,60}"\s*:(?=\s*")"""
_TOKENS = r"""{0}(?:[^{0}\\]|\\.)*+{0}|{0}|[{{}}\[\],:]|[\w.+-]+"""
_ANSWER = r"""(?i)["'](?:[a-z]{2,12}[ _-]){0,2}(?:«answer»|value|text)(?:[ _-][a-z]{2,12})?["']"""
_NOTHING = frozenset(('""', "''", "null", "None"))


def of_json(text: str) -> str:
    """Return a reply with the answer alone of the JSON in it: without it, where it was cut off before its answer.

    The answer is a member of the outermost object, or of an object in the place of its answer: those of steps are not.
    JSON that names no answer stays.
    """
    begins = compiled(_BEGINS).search(text)
    if begins is None:
        return text
    quote = begins[1] or begins[2]
    of_answer = [True] if begins[2] else []  # of each object or list that is open
    last, value_is_next, empty, end = "", False, False, len(text)
    answers: list[str] = []
    for token in re.compile(_TOKENS.format(quote)).finditer(text, begins.start()):
        sign = token[0]
        if sign in "{[":
            of_answer.append(value_is_next or not of_answer)
            value_is_next = value_is_next and sign == "["
            continue
        if sign in "}]":
            del of_answer[-1:]
        elif value_is_next and sign != quote:
            empty = empty or sign in _NOTHING
            answers += [] if sign in _NOTHING else [f"{last}: {sign}"]
        if sign == quote or not of_answer:
            end = token.end()
            break
        value_is_next = sign == ":" and of_answer[-1] and compiled(_ANSWER).fullmatch(last) is not None
        last = sign if sign != ":" else last
    if answers:
        return "\n".join([text[: begins.start()], *answers, text[end:]])
    return text[: begins.start()] if of_answer or empty else text


_LISTED_WORDS = r"\(?\ba[).:]\s*(yes|no|true|false)\b\W{0,5}(?:and |or )?\(?b[).:]\s*(yes|no|true|false)\b"
_DENIES = r"\b«denies_a_choice»\b|n't\b"
_CONCLUSION = r"(?:^|[.!?] )\W{0,3}«so»\b[^.!?\n]*+\W*+\Z"
_COMPARED = r"\b(?:rather )?than\b|\b(?:instead of|as opposed to)\b|[(,] ?not\b"
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_ORDINAL = rf"\b(?:the )?({'|'.join(_ORDINALS)}) (?:one|option|alternative|choice|answer)\b"
_LISTED = r"(?m)^(?:[^\w\n]|1[.)])*C0[^\w\n]*\n(?:(?:[^\w\n]|\d[.)])*C[1-9]\d*[^\w\n]*(?:\n|\Z))+"
_RIGHT = (
    r"(?:(?:the|an?|most|more|very|quite|clearly|only) )*(?:«positive»|yes|likely|likeliest|plausible|possible|best"
    r"|cause|answer|reason)\b"
)
_WRONG = (
    r"(?:(?:the|an?|very|quite|clearly|highly) )*(?:«negative»|no|not|isn't|cannot|never|neither|unlikely|implausible"
    r"|impossible|irrelevant|eliminated|excluded|ruled out|rejected|(?:less|least) \w+)\b"
)
_JUDGED = (
    r"(?m)(?:^|(?<=[.;,!?)])\s)[^\w\n]{0,4}(?:(?:option|choice) )?C(?P<option>\d+)\b"
    rf"(?:\s*[:=→(]|\s*-+\s|[.)]?\s+(?={_RIGHT}|{_WRONG}))\W*(?:(?:it|this|that)(?: is|'s) )?"
    rf"(?:(?P<right>{_RIGHT})|(?P<wrong>{_WRONG})|)(?:(?![,)]\s*C\d)[^.;\n])*+[.;,)]*"
)
"""What is said of one option, in a list of them: "C0: wrong. C1: right, because …"."""
_LETTER_JUDGED = (
    r"(?m)(?:^|(?<=[.;,!?)])\s)[^\w\n]{0,4}(?:(?:option|choice|statement) )?(?P<option>[a-j])\b"
    r"(?:\s*[:=→(]|\s*-+|[.)])?\s+(?:is )?(?:(?P<right>«positive»)|«negative»)\s*(?:[.;,)!]+|$)"
)
"""What is said of a letter that is no choice of the item: "A: wrong. B: right.", where Yes or No was asked."""
_LONG = 5  # characters of words that are no others' by chance
_BEFORE = (
    r"^[^\w\n]*|[:=→/,]\s*|-\s+|[.!?;]\s+|\b(?:leaves|leaving|queda|is|was|be|not|est|es|ist|é|è|answer|with"
    r"|choos(?:e|ing)|prefer|alternativa|réponse|pick|select|say|so|actually|towards|thus|therefore|hence|and|or|nor"
    r"|either|neither|between|but|la|die|der|das|mean|meant|it's|wait,|opt for|vote for)\s+"
)
"""What stands before a letter that names a choice: also the words that name two of them, or deny one."""
_AFTER = (
    r"(?=\s*[.):,!?;%/]|\s*$|\s*[-→(]|\s+(?:because|since|as|with|given|and|or|is|are|seems|appears|looks|must be"
    r"|would be|fits|makes|\d|C\d)|です|입니다)"
)


def listed_words(text: str) -> tuple[str, ...]:
    """Return Yes and No in the order in which a normalised reply lists them with letters; () if it does not."""
    listed = compiled(_LISTED_WORDS).search(text)
    return listed.groups() if listed and listed[1] != listed[2] else ()


def choices_marked(text: str, choices: Sequence[str]) -> str:
    """Return a normalised text with C0, C1, … for the item's choices: for their words, and their letters in places.

    A letter counts where an answer may stand: with a bracket, after "option", as the first of a line or a statement,
    after "is", "with" and their kind. "B. The dog barked" is one mark; a letter with another choice's words is neither.
    """
    words, letters = _choice_patterns(tuple(choices))
    text = words.sub(lambda found: str(found.lastgroup), text)
    text = compiled(_ORDINAL).sub(lambda found: f"C{_ORDINALS.index(found[1])}", text)
    places = _letters_and_short_words(tuple(choices))

    def mark(found: re.Match[str]) -> str:
        place, word = places[found["bare"] or found["sure"]], found["word"] or ""
        same = int(word[1:]) if word[:1] == "C" else places.get(word)
        return f"{found['before'] or ''}C{place}{'' if same in (None, place) else f' or C{same}'}"

    return compiled(_LISTED).sub("", letters.sub(mark, text))


def judged(text: str) -> tuple[str, int | None]:
    """Return a text marked with choices without what it says of each, and the one that it alone calls right."""
    said = list(compiled(_JUDGED).finditer(text))
    if len({each["option"] for each in said}) < 2 and not any(each["wrong"] for each in said):
        return text, None
    right = {int(each["option"]) for each in said if each["right"]}
    return compiled(_JUDGED).sub("\n", text), right.pop() if len(right) == 1 else None


def without_judged_letters(text: str) -> str:
    """Return a normalised text without what it says of letters, where it calls one of them right and another wrong."""
    said = {(bool(each["right"]), each["option"]) for each in compiled(_LETTER_JUDGED).finditer(text)}
    both = len(dict(said)) > 1 and len({letter for _, letter in said}) > 1
    return compiled(_LETTER_JUDGED).sub("\n", text) if both else text


def held_alone(text: str, choices: Sequence[str]) -> int | None:
    """Return the only choice that a normalised text, or its last sentence, holds; None where that denies something."""
    for part in (text, *compiled(_CONCLUSION).findall(text)):
        named = _choice_patterns(tuple(choices))[0].search(part)
        said, *others = compiled(_COMPARED).split(choices_marked(part, choices))
        alone = named and set(compiled(r"C\d+").findall(said)) == {named.lastgroup}
        if named and alone and not any(compiled(_DENIES).search(words) for words in (said, *others)):
            return int(str(named.lastgroup)[1:])
    return None


@lru_cache(maxsize=1024)
def _choice_patterns(choices: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of the choices' long words, and of their letters and short words."""
    ways = sorted(_plain(choices).items(), key=lambda way: -len(way[0]))
    long = "|".join(rf"(?P<C{place}>{re.escape(text)})" for text, place in ways if len(text) >= _LONG)
    short = any_of(tuple(_letters_and_short_words(choices)))
    letters = (
        rf"(?m)(?:(?:\b(?:option|choice|alternative)\s+\(?|\()(?P<sure>{short})\b|(?P<before>{_BEFORE})"
        rf"(?P<bare>(?!a C\d)(?:{short})){_AFTER})\)?(?:[ .:-]{{1,3}}(?P<word>C\d+|(?:{short})(?=\s*(?:[.,;:-]|$)))\b)?"
    )
    return re.compile(rf"(?<![\w-])(?:{long or '(?!)'})(?![\w-])"), re.compile(letters)


@lru_cache(maxsize=1024)
def _letters_and_short_words(choices: tuple[str, ...]) -> dict[str, int]:
    letters = {letter: place for place, letter in enumerate(LETTERS[: len(choices)].lower())}
    return {text: place for text, place in _plain(choices).items() if len(text) < _LONG} | letters


def _plain(choices: tuple[str, ...]) -> dict[str, int]:
    """Return the words of each choice as a normalised reply has them, but for those that two choices share."""
    texts = [normalised(text).strip(" .?!\n") for text in choices]
    return {text: place for place, text in enumerate(texts) if text and texts.count(text) == 1}


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
