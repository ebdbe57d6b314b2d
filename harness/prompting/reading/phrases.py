"""Set phrases that `clauses` would misread word by word, put into words that it reads."""

from __future__ import annotations

import re

ASIDE = re.compile(
    r",\s*(?:however|though|therefore|thus|hence|then|in fact|of course|indeed|moreover|furthermore|nevertheless"
    r"|in general"
    r"|strictly speaking)\s*,\s*"
)
"""An aside between commas, which does not end a clause."""
CONDITION = re.compile(
    r"\b(?:provided that|as long as|in the case that|on (?:the )?condition that|depending on"
    r"|(?:only )?when(?= (?:it|there|[a-z]"
    r"|[a-z] and [a-z]|(?:the|every|each|no) \w+) (?:is|are|were|was|holds?|has|have)\b)"
    r"|(?:critics|people|students?|others|(?:my|a|the|one) (?:colleague|friend|user|author|student|textbook"
    r"|paper|prompt)s?)"
    r" (?:say|claim|think|argue|believe|conclude|suggest|state)(?:s|d|ed)?\b|(?:check|ensure|make sure) that)"
)
"""Conditions without an "if", what is still to be seen, and what others say: none of them asserts."""
FAILS = re.compile(r"\bfail(?:s|ed)? to\b")
WRONG_TO_CONCLUDE = re.compile(
    r"\b(?:it|that)(?:'s| is| would be)(?: simply| just)? (?:wrong|incorrect|an? (?:mistake|error|fallacy)"
    r"|invalid|premature|rash|hasty"
    r"|not (?:valid|correct|right|legitimate|justified|warranted|possible)|unjustified|unwarranted|fallacious) to "
    r"(?=(?:conclude|deduce|infer)\b(?![^.;]*\b(?:not|no|cannot|h0|false|invalid)\b))",
    re.IGNORECASE,
)
VERDICT_ON_IT = re.compile(
    r"\b(?:i|we)(?: must| can| have to| therefore| thus| would| should| will)* (?P<verb>reject"
    r"|accept)(?= (?:the|this|that) "
    r"(?:hypothesis|claim|statement|conclusion)\b)"
)
SHORT = re.compile(
    r"^(\W*(?:the )?(?:hypothesis|claim|statement)) (?=(?:rejected|accepted|refuted|confirmed"
    r"|supported|not supported)\W*$)"
)
FOLLOWING = re.compile(
    r"\b(?P<words>(?:deduc|deduct|infer|conclu|deriv|establish|determin|confirm|prov)\w*\b[^.;:?H-]{0,40})\s*[:-]+\s*"
    r"(?=H[01]\b)"
)
"""What is deduced, or not, and stands after a colon: "we cannot deduct the following: H1"."""
NO_DOUBT = re.compile(r"\b(?:no|without(?: any| a)?|beyond(?: any)?) (?:reasonable )?(?:doubt|question)\b")
NOT_TRUE = re.compile(
    r"\b(?:it|that)(?:(?:'s| is| would be) not| isn't) (?:the case|true|correct|right)\b(?: to (?:say"
    r"|claim))?(?: that|,)\s+"
    r"|\b(?:it|that)(?:'s| is| would be)(?: simply| just)? (?:false|incorrect|wrong|untrue|a mistake|an error)"
    r"(?: to (?:say|claim|conclude|assert|believe|think))?(?: that|,)\s+"
)
"""What turns round the whole of what follows in its sentence."""


def plainly(sentence: str) -> str:
    """Return a sentence with its set phrases as the words that the clauses are read by."""
    if "," in sentence:
        sentence = ASIDE.sub(" ", sentence)
    if "doubt" in sentence or "question" in sentence:
        sentence = NO_DOUBT.sub("certainly", sentence)
    if "fail" in sentence:
        sentence = FAILS.sub("cannot", sentence)
    sentence = CONDITION.sub("if", sentence)
    if " to " in sentence:
        sentence = WRONG_TO_CONCLUDE.sub("we cannot ", sentence)
    if "ject" in sentence or "accept" in sentence:
        sentence = VERDICT_ON_IT.sub(lambda said: f"the hypothesis is {said['verb']}ed ,", sentence)
    if "H1" in sentence or "H0" in sentence:
        sentence = FOLLOWING.sub(r"\g<words> that ", sentence)
    return SHORT.sub(r"\1 is ", sentence) if len(sentence) < 60 else sentence
