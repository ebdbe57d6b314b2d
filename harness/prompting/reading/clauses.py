"""Stage 4 of reading: whether a verdict in a sentence is given, or only supposed, mentioned, doubted or denied.

And verdicts in other words: "the hypothesis does not hold", "we cannot deduce that A causes B". Such a clause counts
where it is one of a few plain sentences from its first word to its last: who or what, "not", what is said of it, and
nothing after it that narrows it. Whatever is said otherwise is not read: it was right less often than it did harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from harness.prompting.reading.words import compiled

_WHEN = (
    r"(?:when(?:ever)? (?:it|there|[a-z]|[a-z] and [a-z]|(?:the|every|each|no) \w+) (?:is|are|were|was|holds?|has"
    r"|have)\b(?! (?:checked|considered|compared|listed|enumerated|read|asked))|in the case that\b|on (?:the"
    r" )?condition that\b|depending on\b)"
)
"""A condition without an "if"; "when all DAGs are checked" is none."""
_CONDITION = (
    rf"\b{_WHEN}|^\W*(?:yes|no|true|false) (?:means|stands for|would mean|indicates)\b"
    r"|\b(?:«condition»|provided (?:that|there|it|we|no)|(?:^\W*|[.] )were \w+|were (?:the|there|it|[a-z] and)"
    r"|under (?:the|an?) (?:additional|further|stronger|extra)|in (?:the|a|that|this|such an?) (?:reverse|other"
    r"|opposite|hypothetical|different|alternative|first|second|third)(?![^,;]{0,20}, «so»\b))\b|«condition_unspaced»"
)
"""What stands before a verdict that is only supposed: in its sentence, or just before it."""
_CONDITION_AFTER = (
    rf",? *\(?(?:but )?(?:only )?(?:if|«condition_after»)\b| {_WHEN}"
    r"| (?:would (?:need|require|be (?!my\b|the\b))|is (?:too|what|premature|tempting)|requires|needs)\b"
)
_STANDING = (
    r"\b(?:assuming|if we assume|provided|under)\b(?=[^.;\n]{0,60}\b(?:markov|faithful\w*|causal sufficiency"
    r"|acyclic\w*|no (?:hidden|latent|unobserved)|closed system|standard assumptions)\b)|\beven if\b|\bif i(?:'m| am"
    r"| have to| had to| were to| must| understand| see)\b|\bif you (?:want|insist|prefer|need|ask)\b|\bif no"
    r" (?:hidden|latent|unobserved)\b|\bwhether\b[^,;.\n]{0,60}\bor not,"
)
"""Assumptions that the question makes anyway, and conditions that change nothing ("even if", "if I had to choose"): a
verdict that names them is given all the same."""
_SUPPOSITION = (
    r"\W*(?:ps\b|note|remark|aside)?\W*(?:but |now |let us |let's )?"
    r"(?:suppose|imagine|consider|assume|what if|say|pretend)\b"
)
_THEN = r"\W*(?:then|in (?:that|this|which) case|now|so|here)\b"
_PROVISIONAL = (
    r"\b(?:wrong|incorrect|intuitive|tempting|least \w+|second[- ]best) \Z|\b(?:«provisional»|(?<!second )thought"
    r"|according to (?:my|some|others|people|chatgpt|gpt|the (?:user|student|textbook|author|paper))|«somebody»"
    r" (?:says?|said|claims?|claimed|thinks?|suggests?|asked|asks?|states?|stated|wants?|expects?|answered|would))\b"
)
_SAY = r"(?:say|claim|answer|conclude|think|believe|assert|suppose|infer|deduce|reply|respond|write)"
_DENIES = (
    r"(?:\b(?:nothing|no (?:reason|grounds|basis|justification|evidence)|wrong|incorrect|mistaken?|error)\b[\w' ]{0,60}"
    rf"\b(?:to {_SAY}|for \w+ing|justif\w+|supports?|warrants?|suggests?)"
    rf"|(?:\bnot|\bnever|n't|\b(?:false|untrue) that|\bcannot)\s*(?:\w+\s+){{0,4}}(?:{_SAY}|conclud\w+|that|true|case"
    r"|saying|answering))(?:\s+(?:that|with|the|an?|answer|is))*\s*\Z"
)
_BOTH = (
    r"\b(?:yes|no) *-?,? *(?:and|or|but also|/|&|\|) *-?(?:(?:a|also|answer:) )? *(?:yes|no)\b"
    r"|C\d+(?: *(?:,|\?|/|&|\||,? ?(?:and|or|nor)) *C\d+)+|\b(?:yes, no|no, yes)\b(?! \w)"
    r"|\b(?:yes no|no yes)\b(?! (?:variable|other))"
)
_OF_SOME = r"(?:for|in|with|without|under|if|when|to|on|at|by|some\w*|half|part\w*)\b|\("
_MIXED = (
    rf"\b(?:(?P<yes>yes|true|correct)|no|false|incorrect)\b\W{{0,3}}(?:{_OF_SOME})[^.;:\n]{{0,60}}\W"
    rf"(?(yes)(?:no|false|incorrect|not(?= (?:for|in|to) (?:the )?(?:others?|rest|all)\b))|(?:yes|true|correct))\b"
    rf"\W{{0,3}}(?:{_OF_SOME}|otherwise\b)"
    r"|\b(?:yes|true)\b,? (?:but )?(?:only )?(?:(?:for|in|under|with) (?:some|certain|a few|part|half|many|several|one)"
    r"(?: (?:of (?:the|these|them)|\w+)){0,3}|sometimes|partly|partially|at times)\W*$"
    r"|\b(?:in|for|under) (?:some|certain|a few)(?: \w+){0,2},? yes\W*$"
)
"""Yes for some, no for others; of some alone, where nothing else is said."""
_TURN = r"\b(?:but|however|yet|instead)\b"
"""At first I thought yes, but the answer is no: what was said before is taken back."""


class Context:
    """One normalised sentence of a reply, the one before it on its line ("" for none), and what surrounds a verdict."""

    def __init__(self, sentence: str, before: str) -> None:
        self.sentence = compiled(_STANDING).sub("given", sentence)
        self.before = before

    @cached_property
    def supposed_from(self) -> int:
        """Where a condition begins: what comes after it in the sentence is supposed."""
        if compiled(_THEN).match(self.sentence) and compiled(_SUPPOSITION).match(self.before):
            return -1
        condition = compiled(_CONDITION).search(self.sentence)
        return condition.start() if condition else len(self.sentence) + 1

    def supposes(self, start: int, end: int) -> bool:
        """Return whether a verdict between the two places stands under a condition, before or after it."""
        return start > self.supposed_from or compiled(_CONDITION_AFTER).match(self.sentence, end) is not None

    def offers_both(self, start: int) -> bool:
        """Return whether the word at this place is one of two ("yes or no", "yes for some, no for others")."""
        both = (found for offer in (_BOTH, _MIXED) for found in compiled(offer).finditer(self.sentence))
        return any(offer.start() <= start < offer.end() for offer in both)

    def mentions(self, start: int) -> bool:
        """Return whether what stands before the place makes it a mention, a first thought or somebody else's view."""
        before = self.sentence[max(0, start - 160) : start]
        return compiled(_PROVISIONAL).search(compiled(_TURN).split(before)[-1]) is not None

    def denies(self, start: int, verdict: int) -> bool:
        """Return whether what is announced between the places is denied ("it is wrong to say")."""
        before = max(0, start - 160)
        return any(compiled(_DENIES).search(self.sentence[before:end]) for end in (start, verdict))

    def given(self, start: int, end: int) -> bool:
        """Return whether a verdict between the two places is the reply's own."""
        return not (self.supposes(start, end) or self.offers_both(start) or self.mentions(start))


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
    rf"{_IT}{_ADVERBS}(?:\s+(?:does|can|do|will|would|must))?{_NOT}\s+(?:follow|hold|stand)s?"
    rf"(?: true| up|{_SAYS})?",
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
    rf"(?:{_WHO}(?:\s+(?:is|are|has|have|does|do))?|\A\W*){_NOT}\s*(?:(?:be|(?:have|provide|contain|offer|give)s?)\s+)?"
    r"(?:(?P<bad>insufficient|no)|enough|sufficient)(?:\s+«knowledge»(?:\s+(?:here|given|in the premise))?)?"
    rf"(?:\s+to{_ADVERBS}\s+«deduce»|(?<=evidence)){_THAT}",
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
    if about is None and compiled(r"\W*i\b.* (?:determine|tell|say|know|verify|confirm|state)\b").match(match[0]):
        return None  # "I cannot determine it" tells of the speaker
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
