"""The verdict in other words: "the hypothesis does not hold", "we cannot deduce that A causes B".

A clause counts where it is one of a few plain sentences from its first word to its last: who or what, "not", what is
said of it, and nothing after it that narrows it. Whatever is said otherwise is not read: it was right less often than
it did harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.prompting.reading.context import Context
from harness.prompting.reading.words import NEGATIVE, POSITIVE

_TELLS = re.compile(
    r"H[01]|deduc|deduct|infer|conclu|deriv|determin|follow|hold|stand|hypothes|statement|claim|entail|impl|support"
    r"|establish|prov|valid|true|false|correct|wrong|right|confirm|sound|contradict|justif|guarant|possible|draw"
)
_CONTRACTED = re.compile(
    r"\b(?P<can>can|could)(?:'t|not|n't)\b|(?P<fails>\bfails? to)\b|(?<=[a-z])n't\b|\b(?P<it>it|that|this)'s\b"
)
_ADVERBS = (
    r"(?:,?\s+(?:therefore|thus|hence|then|so|indeed|clearly|definite(?:ly)?|definitively|certainly|necessarily"
    r"|logically|always|strictly|also|still|simply|actually|validly|correctly|reliably|conclusively|unambiguously"
    r"|safely|really|firmly|uniquely|however|in fact|in general|formally|itself|directly|just|fully)(?![\w-]),?){0,3}+"
)
_NOT = rf"{_ADVERBS}(?P<not>\s+(?:not|never))?{_ADVERBS}"
_KIND = r"(?:hypothesis|statement|claim|conclusion|assertion|proposition|inference|deduction|implication|argument)"
_OF_IT = r"(?:(?:the|this|that|such an?|your|our|its|proposed|given|above|stated|original|suggested|final)\s+)*+"
_NAMED = rf"{_OF_IT}{_KIND}(?:,?\s+(?:namely\s+|of\s+)?(?:that\s+)?H1)?"
_IT = (
    rf"(?:(?P<named>{_NAMED}|(?:that\s+|the\s+)?(?:edge\s+|existence of\s+an?\s+)?H1"
    r"|consistent with [\w ]{1,30} but)|it|this(?: one)?|that)\b,?"
)
_VERB = (
    r"(?:deduce|deduct|infer|conclude|derive|determine|establish|prove|confirm|say|assert|claim|state|know|verify"
    r"|justify|tell|guarantee)"
)
_VERBED = (
    r"(?:deduced|deducted|infer+ed|concluded|derived|determined|established|prove[dn]|confirmed|said|drawn|guaranteed"
    r"|justified|verified|ascertained|asserted|claimed|supported|reached)"
)
_THING = rf"(?:(?:{_OF_IT}{_KIND}(?:,?\s+(?:that\s+)?(?P<object>H[01]))?|it|this|that|so|such a thing)\b(?!\s+\w+s\b))"
_SAYS = (
    rf"(?:\s+(?:from (?:the|this|these) \w+|that|whether|if|the following:?|:|-|the following {_KIND}:?))*+"
    r"\s*(?P<said>H[01])\b"
)
_THAT = rf"(?:{_SAYS}|\s+{_THING})"
_WHO = (
    r"(?:(?:we|you|one|i|there is|(?:(?:the|this|these|that|all)\s+)?(?:(?:given|above|available|statistical"
    r"|observed)\s+)*+(?:premises?|information|data|relations|evidence|correlations?|independences|relationships"
    r"|facts?)(?:\s+(?:given|provided|in the premise))?|this|that|it|which)\b)"
)
_KNOWLEDGE = r"(?:information|evidence|data|way|basis|grounds?|reason)(?:\s+(?:here|given|in the premise))?"
_GOOD = rf"(?:{POSITIVE}|compelled)"
_BAD = rf"(?:{NEGATIVE}|inconclusive)"
_DERIVED = (
    r"(?:\s+(?:deduction|inference|conclusion|consequence|claim|statement|one|hypothesis|implication|to be true"
    r"|to hold))?"
)
_SAYINGS = (
    # The hypothesis does not follow.
    rf"(?P<subject>{_IT}){_ADVERBS}(?:\s+(?:does|can|do|will|would|must))?{_NOT}\s+(?:follow|hold|stand)s?(?: true"
    rf"| up)?",
    # The hypothesis is (not) valid.
    rf"(?P<subject>{_IT})(?:\s+(?:is|are|remains|(?:must|has to|can|should) be|(?:must|has to) (?=be"
    rf" )))?(?:\s+be)?{_NOT}\s+(?:an?\s+)?(?:(?P<good>(?:logical(?:ly)?\s+|necessar(?:y|ily)\s+)?(?:{_GOOD}"
    rf"|consequence))"
    rf"|(?P<bad>{_BAD})){_DERIVED}",
    # It cannot be deduced that A causes B.
    rf"(?P<subject>{_IT})?{_ADVERBS}\s*\b(?:can|could|may|might){_NOT}\s+be{_ADVERBS}\s+(?P<may>{_VERBED})(?:{_SAYS})?",
    # Cannot be deduced.  Does not follow.
    rf"\A\W*(?:can(?P<not>\s+not) be{_ADVERBS}\s+{_VERBED}|follows"
    rf"|does(?P<also_not>\s+not){_ADVERBS}\s+(?:follow|hold))",
    # We cannot deduce that A causes B.
    rf"(?:{_WHO}|\A\W*)\s*\b(?:can|could|(?:is|are|am)(?= (?:not )?able to)){_NOT}(?:\s+able to)?{_ADVERBS}"
    rf"\s+{_VERB}{_THAT}",
    rf"{_WHO}(?:\s+(?:does|do))?{_NOT}\s+(?:allow|permit|let|enable)s?(?:\s+(?:us|one"
    rf"|you))?(?:\s+to)?\s+{_VERB}{_THAT}",
    rf"{_WHO}(?:\s+(?:does|do))?{_NOT}\s+(?:entail|impl(?:y|ie)|support|establish|guarantee|justif(?:y|ie)|prove|mean"
    rf"|warrant)"
    rf"(?:e?s)?{_THAT}",
    rf"(?:{_WHO}(?:\s+(?:is|are|has|have|does|do))?|\A\W*){_NOT}\s*(?:have\s+|be\s+)?(?:(?P<bad>insufficient|no)|enough"
    rf"|sufficient)(?:\s+{_KNOWLEDGE})?\s+to{_ADVERBS}\s+{_VERB}{_THAT}",
    rf"\b(?:it|that) (?:is|would be)(?:{_NOT}\s+(?:possible|valid|correct|right|justified|warranted|legitimate)"
    rf"|{_ADVERBS}\s+(?P<bad>impossible|wrong|incorrect|a mistake|an error|invalid|premature)) to {_VERB}{_THAT}",
)
_CONCLUDES = (
    r"(?:so|thus|therefore|hence|consequently|accordingly|ergo|in conclusion|to conclude|everything considered|in"
    r" summary|(?:it|this|that|which|(?:we|i) can|we|i|one can|and)(?:\s+(?:can|must|therefore|thus|then|indeed"
    r"|definitely|necessarily|logically))*\s+(?:follows?|means?|shows?|proves?|implies|conclude|see|find|deduce|infer"
    r"|say|establishes)(?:\s+from the \w+)?(?:\s+that)?|(?:it|this)\s+(?:must be|is)\s+(?:the case|true|clear|certain"
    r"|established|well established)\s+that|(?:there is |without )?no doubt(?: that)?)"
)
_PLAINLY = re.compile(rf"(?P<so>\b{_CONCLUDES}{_ADVERBS},?\s+)?(?P<said>(?<![\w-])H[01])\b")
_PATTERNS = (*map(re.compile, _SAYINGS), _PLAINLY)
_BEFORE = re.compile(
    r"(?:\A\W*|[,;:(]\s*|-\s+)(?:(?:so|thus|therefore|hence|but|and|then|however|consequently|yes|no|that|in conclusion"
    r"|overall|finally|ultimately|indeed|clearly|(?:the )?answer is|to conclude|here|accordingly|in summary|in short"
    rf"|(?:i|we)(?P<not> do not)? (?:think|believe)(?: that)?|{_CONCLUDES})\b,?\s*)*\Z"
    r"|\b(?:so|thus|therefore|hence|but|and|however|consequently)(?: that)?,?\s+\Z"
)
_TURNED = re.compile(
    r"\b(?:it|that) (?:is|would be)(?:(?: simply| just)? (?:not|never)(?: the case| true| correct| right)"
    r"|(?: simply| just)? (?:false|incorrect|wrong|untrue))(?: to (?:say|claim|assert))?(?: that|,)\s+"
)
_NARROWED = re.compile(
    r"[^.;:]{0,80}?\b(?:if|unless|only|some|one|two|several|certain|sometimes|partly|except|until|or|nor|but not|alone"
    r"|yet|that)\b"
)
_ENDS = re.compile(
    r"\s*(?:\Z|[.;:!),-]|(?:because|since|as(?! long| well)|given|so|hence|thus|based|due|from|by|in|under|on|here"
    r"|with|at all|either|after all|and|too|logically|necessarily|therefore|regardless|anymore|but)\b)"
)


def may_tell(sentence: str) -> bool:
    """Return whether a sentence may say anything of the statement: a quick look."""
    return _TELLS.search(sentence) is not None


def clauses(context: Context) -> Iterator[tuple[int, str, bool]]:
    """Yield what a normalised sentence, marked with H1 and H0, says of the statement in plain clauses.

    Of each the label, the words, and whether they name the hypothesis and do not speak of "it".
    """
    plain = _CONTRACTED.sub(_in_full, context.sentence)
    denial = _TURNED.search(plain)
    if denial is not None:
        plain = plain[: denial.start()] + plain[denial.end() :]
    here = Context(plain, context.before)
    ends: set[int] = set()
    for pattern in _PATTERNS:
        for match in pattern.finditer(plain):
            if match.end() in ends or here.supposes(match.start(), match.end()):
                continue
            if (label := _label(plain, match, turned=denial is not None)) is not None:
                ends.add(match.end())
                groups = match.groupdict()
                named = bool(groups.get("named") or groups.get("said") or groups.get("object"))
                yield label, match[0].strip().replace("can not", "cannot"), named


def _in_full(short: re.Match[str]) -> str:
    if short["fails"]:
        return "can not"
    return f"{short['can']} not" if short["can"] else f"{short['it']} is" if short["it"] else " not"


def _label(plain: str, match: re.Match[str], *, turned: bool) -> int | None:
    """Return what a clause says; None where it is a part of another one, narrowed, or of no definite direction.

    `turned`: words that stood before it deny it ("It is not true that …").
    """
    groups = match.groupdict()
    denied = bool(groups.get("not") or groups.get("also_not"))
    bad = bool(groups.get("bad"))
    about = groups.get("said") or groups.get("object")
    if (denied and bad) or (groups.get("may") and not denied and "can" not in match[0] and "could" not in match[0]):
        return None
    if about == "H0" and (denied or bad):
        return None  # what cannot be denied is not asserted
    if not denied and not bad and re.search(r"\b(?:whether|if)\b", match[0]):
        return None
    opposite = about == "H0" and not plain[: match.start()].strip("-> (")  # nobody restates it
    if "so" in groups and not (groups["so"] or turned or opposite):
        return None
    before = _BEFORE.search(plain, max(0, match.start() - 80), match.start())
    if before is None or _ENDS.match(plain, match.end()) is None or _NARROWED.match(plain, match.end()):
        return None
    return int((denied or bad or about == "H0") == ((before["not"] is not None) != turned))
