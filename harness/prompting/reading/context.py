"""Stage 4 of reading: whether a verdict in a sentence is given, or only supposed, mentioned, doubted or denied."""

from __future__ import annotations

import re
from functools import cached_property

_WHEN = (
    r"(?:when(?:ever)? (?:it|there|[a-z]|[a-z] and [a-z]|(?:the|every|each|no) \w+) (?:is|are|were|was|holds?|has"
    r"|have)\b(?! (?:checked|considered|compared|listed|enumerated|read|asked))|in the case that\b|on (?:the"
    r" )?condition that\b|depending on\b)"
)
"""A condition without an "if"; "when all DAGs are checked" is none."""
# What stands before a verdict that is not given: in its sentence, or just before it.
_CONDITION = re.compile(
    rf"\b{_WHEN}|given that (?:we|you|one) (?:knew|had)\b|\bassume(?: that)? the answer\b"
    r"|^\W*(?:yes|no|true|false) (?:means|stands for|would mean|indicates)\b|\b(?:if|unless|whether|suppose|supposing"
    r"|assuming|provided (?:that|there|it|we|no)|otherwise|in case|had (?:the|a|b|it|there|we)|(?:^\W*|[.] )were \w+"
    r"|were (?:the|there|it|[a-z] and)|should (?:the|it)|as long as|under (?:the|an?) (?:additional|further|stronger"
    r"|extra)|in (?:the|a|that|this|such an?) (?:reverse|other|opposite|hypothetical|different|alternative|first"
    r"|second|third)(?![^,;]{0,20}, (?:so|hence|thus|therefore)\b)|si|wenn|falls|如果)\b"
)
_CONDITION_AFTER = re.compile(
    r",? *\(?(?:but )?(?:only )?(?:if|unless|provided|assuming|as long as|in case|only when|on (?:the )?condition"
    rf"|in the case that)\b| {_WHEN}| (?:would (?:need|require|be (?!my\b|the\b))|is (?:too|what|premature"
    rf"|tempting)|requires|needs)\b"
)
_STANDING = re.compile(
    r"\b(?:assuming|if we assume|provided|under)\b(?=[^.;\n]{0,60}\b(?:markov|faithful\w*|causal sufficiency"
    r"|acyclic\w*|no (?:hidden|latent|unobserved)|closed system|standard assumptions)\b)|\beven if\b|\bif i(?:'m| am|"
    r" have to| had to| were to| must| understand| see)\b|\bif you (?:want|insist|prefer|need|ask)\b|\bif no"
    r" (?:hidden|latent|unobserved)\b|\bwhether\b[^,;.\n]{0,60}\bor not,"
)
"""Assumptions that the question makes anyway, and conditions that change nothing ("even if", "if I had to choose"): a
verdict that names them is given all the same."""
_SUPPOSITION = re.compile(
    r"\W*(?:ps\b|note|remark|aside)?\W*(?:but |now |let us |let's )?(?:suppose|imagine|consider|assume|what if|say"
    r"|pretend)\b"
)
_THEN = re.compile(r"\W*(?:then|in that case|in this case|in which case|now|so|here)\b")
_PROVISIONAL = re.compile(
    r"\b(?:maybe|perhaps|possibly|at first|first glance|first sight|initially|initial|preliminary|tentative"
    r"|provisional|(?:first|wrong|incorrect|earlier|previous|original|intuitive|tempting) \Z|first thought|(?<!second"
    r" )thought|according to (?:my|some|others|people|chatgpt|gpt|the (?:user|student|textbook|author|paper))|seems?"
    r"|seemed|looks?|appears?|tempt\w*|intuiti\w*|naive\w*|superficial\w*|might|may (?:say|think|answer)|could (?:say"
    r"|think|argue|answer)|some(?:one|body)?(?: people)?(?: would| might| may| could)? (?:say|think|argue|claim"
    r"|answer)s?|people|others|critics|students?|another model|most would|many would|(?:premise|prompt|user|question"
    r"|hypothesis|textbook|paper|author|colleague|friend|they|he|she|you) (?:says?|said|claims?|claimed|thinks?"
    r"|suggests?|asked|asks?|states?|stated|wants?|expects?|answered|would)|expected|pretend|imagine|guess(?:ed)?"
    r" (?:was|would))\b"
)
_DENIES = re.compile(
    r"\b(?:nothing|no reason|no grounds|no basis|wrong|incorrect|mistake|mistaken|error)\b[\w' ]{0,60}\b(?:to (?:say"
    r"|answer|reply|conclude|respond|claim)|for (?:saying|answering|concluding|replying)|justif\w+|supports?"
    r"|warrants?|suggests?)(?: that)?(?: the answer(?: is)?)?\s*\Z|(?:\bwrong to|\bincorrect to|\ba mistake to"
    r"|\bmistaken to|\berror to|\bnot|\bnever|n't|\bfalse that|\buntrue that|\bcannot|\bno reason to|\bno grounds to"
    r"|\bno basis to|\bno justification (?:to|for)|\bno evidence)\s*(?:\w+\s+){0,4}(?:say|claim|answer|conclude"
    r"|conclud\w+|think|believe|assert|suppose|infer|deduce|reply|respond|write|that|true|case|saying|answering)(?:\s+(?:that|with|the"
    r"|an?))*\s*\Z"
)
_BOTH = re.compile(
    r"\b(?:yes|no) *-?,? *(?:and|or|but also|/|&|\|) *-?(?:(?:a|also|answer:) )? *(?:yes|no)\b"
    r"|C\d+ *(?:,|\?|/|&|\||,? ?(?:and|or|nor)) *C\d+|\b(?:yes, no|no, yes)\b(?! \w)"
    r"|\b(?:yes no|no yes)\b(?! (?:variable|other))"
)
# "At first I thought yes, but the answer is no": what was said before is taken back.
_TURN = re.compile(r"\b(?:but|however|yet|instead)\b")
_CONTRAST = re.compile(
    rf"{_TURN.pattern},? (?:(?:the|my|our|its|a|final|correct|right|actual|real|true|i would|i'd|i"
    r"|it is|it's) )*\Z"
)


class Context:
    """One sentence of a reply, and what stands around a place in it; looked up once, and only where it is asked for."""

    def __init__(self, sentence: str, before: str) -> None:
        """Take a normalised sentence and the one before it on the same line ("" for none)."""
        self.sentence = _STANDING.sub("given", sentence)
        self.before = before

    @cached_property
    def supposed_from(self) -> int:
        """Where a condition begins: what comes after it in the sentence is supposed."""
        if _THEN.match(self.sentence) and _SUPPOSITION.match(self.before):
            return -1
        condition = _CONDITION.search(self.sentence)
        return condition.start() if condition else len(self.sentence) + 1

    def supposes(self, start: int, end: int) -> bool:
        """Return whether a verdict between the two places stands under a condition, before or after it."""
        supposed = start > self.supposed_from and not (
            self.supposed_from >= 0 and _CONTRAST.search(self.sentence, max(0, start - 60), start)
        )
        return supposed or _CONDITION_AFTER.match(self.sentence, end) is not None

    def offers_both(self, start: int) -> bool:
        """Return whether the word at this place is one of two ("yes or no")."""
        return any(both.start() <= start < both.end() for both in _BOTH.finditer(self.sentence))

    def mentions(self, start: int) -> bool:
        """Return whether what stands before the place makes it a mention, a first thought or somebody else's view."""
        before = self.sentence[max(0, start - 160) : start]
        return _PROVISIONAL.search(_TURN.split(before)[-1]) is not None

    def denies(self, start: int, verdict: int) -> bool:
        """Return whether what is announced between the places is denied ("it is wrong to say")."""
        before = max(0, start - 160)
        return any(_DENIES.search(self.sentence[before:end]) for end in (start, verdict))

    def given(self, start: int, end: int) -> bool:
        """Return whether a verdict between the two places is the reply's own."""
        return not (self.supposes(start, end) or self.offers_both(start) or self.mentions(start))
