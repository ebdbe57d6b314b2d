"""The verdict in other words: "the hypothesis does not hold", "we cannot deduce that A causes B".

A clause counts where it is one of a few plain sentences from its first word to its last: who or what, "not", what is
said of it, and nothing after it that narrows it. Whatever is said otherwise is not read: it was right less often than
it did harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.prompting.reading.context import Context
from harness.prompting.reading.words import compiled

_CONTRACTED = (
    r"\b(?P<can>can|could)(?:'t|not|n't)\b|(?P<fails>\bfails? to)\b|(?<=[a-z])n't\b|\b(?P<it>it|that|this)'s\b"
)
_ADVERBS = r"(?:,?\s+(?:«adverb»|«so»)(?![\w-]),?){0,3}+"
_NOT = rf"{_ADVERBS}(?P<not>\s+(?:not|never))?{_ADVERBS}"
_OF_IT = r"(?:(?:the|this|that|such an?|your|our|its|proposed|given|above|stated|original|suggested|final)\s+)*+"
_IT = (
    rf"(?:(?P<named>{_OF_IT}«kind»(?:,?\s+(?:namely\s+|of\s+)?(?:that\s+)?H1)?"
    r"|(?:that\s+|the\s+)?(?:edge\s+|existence of\s+an?\s+)?H1)|it|this(?: one)?|that)\b,?"
)
_SAYS = (
    r"(?:\s+(?:from (?:the|this|these) \w+|that|whether|if|the following:?|:|-|the following «kind»:?))*+"
    r"\s*(?P<said>H[01])\b"
)
_THAT = (
    rf"(?:{_SAYS}|\s+(?:{_OF_IT}«kind»(?:,?\s+(?:that\s+)?(?P<object>H[01]))?|it|this|that|so|such a thing)\b"
    r"(?!\s+\w+s\b))"
)
_WHO = (
    r"(?:(?:we|you|one|i|there is|(?:(?:the|this|these|that|all)\s+)?(?:(?:given|above|available|statistical|observed)"
    r"\s+)*+«premise»(?:\s+(?:given|provided|in the premise))?|this|that|it|which)\b)"
)
_SAYINGS = (
    # The hypothesis does not follow.
    rf"{_IT}{_ADVERBS}(?:\s+(?:does|can|do|will|would|must))?{_NOT}\s+(?:follow|hold|stand)s?(?: true| up)?",
    # The hypothesis is (not) valid.
    rf"{_IT}(?:\s+(?:is|are|remains|(?:must|has to|can|should) be))?(?:\s+be)?{_NOT}\s+(?:an?\s+)?"
    r"(?:(?:(?:logical|necessar)(?:l?y|ily)?\s+)?(?:«positive»|compelled|consequence)"
    r"|(?P<bad>«negative»|inconclusive))(?:\s+«derived»)?",
    # It cannot be deduced that A causes B.
    rf"(?:{_IT})?{_ADVERBS}\s*\b(?:can|could|may|might){_NOT}\s+be{_ADVERBS}\s+«deduced»(?:{_SAYS})?",
    # Cannot be deduced.  Does not follow.
    rf"\A\W*(?:can(?P<not>\s+not) be{_ADVERBS}\s+«deduced»|follows|does(?P<also_not>\s+not){_ADVERBS}\s+"
    r"(?:follow|hold))",
    # We cannot deduce that A causes B.  The premise does not allow us to deduce it.  It does not imply this.
    rf"(?:{_WHO}|\A\W*)\s*\b(?:can|could|(?:is|are|am)(?= (?:not )?able to)){_NOT}(?:\s+able to)?{_ADVERBS}"
    rf"\s+«deduce»{_THAT}",
    rf"{_WHO}(?:\s+do(?:es)?)?{_NOT}\s+(?:allow|permit|let|enable)s?(?:\s+(?:us|one|you))?(?:\s+to)?\s+«deduce»{_THAT}",
    rf"{_WHO}(?:\s+do(?:es)?)?{_NOT}\s+(?:entail|impl(?:y|ie)|support|establish|guarantee|justif(?:y|ie)|prove|mean"
    rf"|warrant)(?:e?s)?{_THAT}",
    # There is not enough information to deduce it.  It would be wrong to conclude that A causes B.
    rf"(?:{_WHO}(?:\s+(?:is|are|has|have|does|do))?|\A\W*){_NOT}\s*(?:have\s+|be\s+)?(?:(?P<bad>insufficient|no)"
    r"|enough|sufficient)(?:\s+«knowledge»(?:\s+(?:here|given|in the premise))?)?"
    rf"\s+to{_ADVERBS}\s+«deduce»{_THAT}",
    rf"\b(?:it|that) (?:is|would be)(?:{_NOT}\s+(?:possible|valid|correct|right|justified|warranted|legitimate)"
    rf"|{_ADVERBS}\s+(?P<bad>impossible|wrong|incorrect|a mistake|an error|invalid|premature)) to «deduce»{_THAT}",
)
_CONCLUDES = (
    r"(?:«so»|based on (?:(?!«kind»)[^,;:]){1,60},|(?:it|this|that|which|(?:we|i) can|we|i|one can|and)"
    r"(?:\s+(?:can|must|«so»|«adverb»))*\s+(?:follows?|means?|shows?|proves?|implies|conclude|see|find|deduce|infer"
    r"|say|establishes)(?:\s+from the \w+)?(?:\s+that)?|(?:it|this)\s+(?:must be|is)\s+(?:the case|true|clear"
    r"|certain|(?:well )?established)\s+that|(?:there is |without )?no doubt(?: that)?)"
)
_PATTERNS = (*_SAYINGS, rf"(?P<so>\b{_CONCLUDES}{_ADVERBS},?\s+)?(?P<said>(?<![\w-])H[01])\b")
_BEFORE = (
    r"(?:\A\W*|[,;:(]\s*|-\s+)(?:(?:«so»|but|and|however|yes|no|that|indeed|clearly|(?:the )?answer is|here"
    rf"|(?:i|we)(?P<not> do not)? (?:think|believe)(?: that)?|{_CONCLUDES})\b,?\s*)*\Z"
    r"|\b(?:so|thus|therefore|hence|but|and|however|consequently)(?: that)?,?\s+\Z"
)
_TURNED = (
    r"\b(?:it|that) (?:is|would be)(?:(?: simply| just)? (?:not|never)(?: the case| true| correct| right)"
    r"|(?: simply| just)? (?:false|incorrect|wrong|untrue))(?: to (?:say|claim|assert))?(?: that|,)\s+"
)
_NARROWED = r"[^.;:]{0,80}?\b«narrows»\b"
_ENDS = r"\s*(?:\Z|[.;:!),-]|(?:«gives_a_reason»|as(?! long| well))\b)"


def clauses(context: Context) -> Iterator[tuple[int, str, bool]]:
    """Yield what a normalised sentence, marked with H1 and H0, says of the statement in plain clauses.

    Of each the label, the words, and whether they name the hypothesis and do not speak of "it".
    """
    plain = compiled(_CONTRACTED).sub(_in_full, context.sentence)
    denial = compiled(_TURNED).search(plain)
    if denial is not None:
        plain = plain[: denial.start()] + plain[denial.end() :]
    here = Context(plain, context.before)
    ends: set[int] = set()
    for pattern in _PATTERNS:
        for match in compiled(pattern).finditer(plain):
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
    if (denied and bad) or (about == "H0" and (denied or bad)):
        return None  # what cannot be denied is not asserted
    if not denied and not bad and compiled(r"\b(?:whether|if)\b").search(match[0]):
        return None
    opposite = about == "H0" and not plain[: match.start()].strip("-> (")  # nobody restates it
    if "so" in groups and not (groups["so"] or turned or opposite):
        return None
    before = compiled(_BEFORE).search(plain, max(0, match.start() - 80), match.start())
    ends, narrowed = (compiled(pattern).match(plain, match.end()) for pattern in (_ENDS, _NARROWED))
    if before is None or ends is None or narrowed is not None:
        return None
    return int((denied or bad or about == "H0") == ((before["not"] is not None) != turned))
