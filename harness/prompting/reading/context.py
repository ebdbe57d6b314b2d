"""Stage 4 of reading: whether a verdict in a sentence is given, or only supposed, mentioned, doubted or denied."""

from __future__ import annotations

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
    r"|opposite|hypothetical|different|alternative|first|second|third)(?![^,;]{0,20}, «so»\b))\b"
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
    r"\b(?:«provisional»|(?:first|wrong|incorrect|earlier|previous|original|intuitive|tempting) \Z|(?<!second )thought"
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
    r"|C\d+ *(?:,|\?|/|&|\||,? ?(?:and|or|nor)) *C\d+|\b(?:yes, no|no, yes)\b(?! \w)"
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
