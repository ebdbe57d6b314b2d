"""Sentences that say the verdict in other words: "the hypothesis does not hold", "it cannot be deduced".

A sentence is taken apart into clauses, and a clause is read word by word: what it says of the statement (valid,
follows, can be deduced), turned round by its negations. One list of predicates and one of negations serve both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.prompting.reading.statement_forms import ASSERTED, DENIED
from harness.prompting.reading.verdicts import NEGATIVE, POSITIVE

_TOKEN = re.compile(r"H[01]|[\w%]+(?:['-]\w+)*|[,;:()→?-]")
_LONGEST = 60
"""Words of a clause that are looked at."""

_PREDICATES = (
    "deduc-e-ed-es-ible-ing-tion deduct-ed-ion infer-red-s-able-rable-ence conclu-de-ded-des-sion deriv-e-ed-es-able "
    "determin-e-ed-es-able establish-ed-es prov-e-ed-en-es confirm-ed-s follow-s-ed hold-s stand-s fail-s-ed "
    "entail-ed-s "
    "impl-y-ies-ied guarantee-d-s justif-y-ied support-ed-s verif-y-ied necessarily contradict-s-ed compelled "
    "say said tell "
    "claim-ed assert-ed ascertain-ed drawn reached mean-s show-s indicate-s"
)
_ANCHORS = frozenset(
    {stem + end for stem, *ends in (word.split("-") for word in _PREDICATES.split()) for end in ("", *ends)}
    | set(re.findall("[a-z]+", f"{POSITIVE} {NEGATIVE}"))
    | {ASSERTED, DENIED}
)

# What is spoken of.
_SUBJECTS = frozenset(
    {
        *"hypothesis statement claim conclusion assertion proposition inference deduction implication thesis".split(),
        ASSERTED,
    }
)
_PRONOUNS = frozenset("it this that which".split())
_OTHER = frozenset("reverse opposite converse other another inverse reversed different".split())
_SOMEBODY = frozenset("one people some someone others critics students many you user".split())
# What is said of it.
_COPULAS = frozenset(
    "is are was be isn't aren't wasn't it's that's seems appears remains being become becomes been".split()
)
_REASONED = re.compile(
    r"(?:deduc(?:e|ed|ible)|deduct(?:ed)?|infer(?:red)?|conclude[ds]?|derived?|determined?|establish(?:ed)?|prove[dn]?"
    r"|confirm(?:ed)?|assert(?:ed)?|claim(?:ed)?|say|said|tell|drawn|reached|guaranteed?|justif(?:y|ied)"
    r"|ascertain(?:ed)?"
    r"|verif(?:y|ied)|support(?:ed)?)\Z"
)
_GOOD = frozenset(word for word in POSITIVE.split("|") if " " not in word and not _REASONED.match(word)) | {
    "compelled",
    "consequence",
}
_BAD = frozenset((*(word for word in NEGATIVE.split("|") if word.isalpha()), "inconclusive"))
_VERBS = {
    "follow": 1,
    "follows": 1,
    "hold": 1,
    "holds": 1,
    "stand": 1,
    "stands": 1,
    "fail": -1,
    "fails": -1,
    "contradicts": -1,
}
_MEANS = frozenset(
    "means mean implies imply shows show proves prove confirms establishes follows entails indicates conclude "
    "deduce infer find "
    "see deduct".split()
)
_SUPPORTS = frozenset(
    (
        "supports support entails entail implies imply establishes establish guarantees guarantee justifies "
        "justify warrants warrant"
    ).split()
)
_ABLE = frozenset("can could able possible allows allow enables sufficient enough lets let".split())
_UNABLE = frozenset("cannot can't couldn't impossible unable insufficient".split())
_EVIDENCE = frozenset("information evidence data way basis reason grounds".split())
# What turns it round, or takes its edge off.
_NEGATIONS = _UNABLE | frozenset(
    "not never don't doesn't didn't isn't aren't wasn't won't wouldn't no none nothing neither nor lack lacks "
    "lacking nowhere "
    "nobody hardly needn't without".split()
)
_HEDGES = frozenset(
    "may might possibly perhaps maybe potentially likely probably partly partially sometimes seemingly "
    "apparently unclear "
    "uncertain unlikely unknown".split()
)
_LIMITS = frozenset("some one two only few several half certain sometimes partly partially part".split())
_PART = frozenset("alone solely merely just itself marginals marginal only".split())
_STRENGTH = frozenset(
    "necessarily therefore thus definitely clearly always indeed strictly logically in fact fully".split()
)
_CONDITIONS = frozenset("if unless whether suppose supposing assuming otherwise assume had until".split())
# How clauses hang together.
_REASONS = frozenset("because since as although though while whereas even despite".split())
_BREAKS = _REASONS - {"even", "despite"} | frozenset(", ; : ( ) so but and however yet given or nor - ?".split())
_CONNECTING = frozenset(
    "therefore thus hence so then and but consequently accordingly overall finally in conclusion summary ultimately "
    "clearly indeed yes no result as final answer we".split()
)
_ASIDE = re.compile(
    r",\s*(?:however|though|therefore|thus|hence|then|in fact|of course|indeed|moreover|furthermore|nevertheless"
    r"|in general"
    r"|strictly speaking)\s*,\s*"
)
"""An aside between commas, which does not end a clause."""
_NO_DOUBT = re.compile(r"\b(?:no|without(?: any| a)?|beyond(?: any)?) (?:reasonable )?(?:doubt|question)\b")
_NOT_TRUE = re.compile(
    r"\b(?:it|that)(?:(?:'s| is| would be) not| isn't) (?:the case|true|correct|right)\b(?: to (?:say"
    r"|claim))?(?: that|,)\s+"
    r"|\b(?:it|that)(?:'s| is| would be)(?: simply| just)? (?:false|incorrect|wrong|untrue|a mistake|an error)"
    r"(?: to (?:say|claim|conclude|assert|believe|think))?(?: that|,)\s+"
)
"""What turns round the whole of what follows in its sentence."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a sentence says of the statement."""

    label: int
    words: str
    names_it: bool
    """It speaks of the hypothesis by name or in its words, not of "it" or of something close to it."""
    in_part: bool = False
    """It speaks of what a part of the premise shows ("from the correlation alone")."""


@dataclass(frozen=True, slots=True)
class _Clause:
    head: str
    """The conjunction or the mark before it."""
    words: Sequence[str]
    following: Sequence[str]
    """The words of the sentence after it."""


def may_conclude(words: Sequence[str]) -> bool:
    """Return whether a sentence of these words may say anything of the statement: a quick look."""
    return not _ANCHORS.isdisjoint(words)


def conclusions(sentence: str) -> Iterator[Conclusion]:
    """Yield what a normalised sentence, marked with H1 and H0, says of the statement, clause by clause.

    Conditions, reasons and concessions say nothing. "We cannot conclude that …" is taken to be about the statement,
    whatever follows: no reply denies that it could conclude what was not asked. "We can conclude that …" is so only
    where it names the statement.
    """
    sentence = _NO_DOUBT.sub("certainly", _ASIDE.sub(" ", sentence)).replace("provided that", "if")
    turned = _NOT_TRUE.search(sentence)
    if turned is not None:
        sentence = sentence[: turned.start()] + sentence[turned.end() :]
    tokens = _TOKEN.findall(sentence)
    if tokens[-1:] == ["?"]:
        return
    supposed = names_it = False
    for clause in _clauses(tokens):
        supposed = clause.head != ";" and (
            supposed or clause.head in _CONDITIONS or not _CONDITIONS.isdisjoint(clause.words[:3])
        )
        if supposed or clause.head in _REASONS:
            continue
        conclusion = _conclusion(clause, names_it)
        names_it = names_it or not _SUBJECTS.isdisjoint(clause.words)
        if conclusion is not None:
            yield replace(conclusion, label=1 - conclusion.label) if turned else conclusion
        both = "both" in clause.words and not _GOOD.isdisjoint(clause.words)
        # "It is open whether it holds, so it cannot be deduced": the question ends with its clause.
        open_question = "whether" in clause.words and clause.following[:1] not in (["or"], ["and"])
        supposed = both or not (_CONDITIONS - ({"whether"} if open_question else set())).isdisjoint(clause.words)


def _clauses(tokens: Sequence[str]) -> Iterator[_Clause]:
    """Yield each clause, with at most so many of its words and of those after it as are looked at."""
    start, head = 0, ""
    for k, token in enumerate((*tokens, ".")):
        if token in _BREAKS or k == len(tokens):
            if k > start:
                yield _Clause(head, tokens[start : min(k, start + _LONGEST)], tokens[k : k + _LONGEST])
            if token not in (",", "(", ")", ":", "-") or k > start:
                head = token
            start = k + 1


def _conclusion(clause: _Clause, named_before: bool) -> Conclusion | None:
    """Return what the first predicate that says anything says; `named_before`: the subject may stand before."""
    words = clause.words
    if not _SPOILING.isdisjoint(words):
        return None
    for k, word in enumerate(words):
        if word in _CONDITIONS:
            return None
        if word in (ASSERTED, DENIED) and (label := _asserted(clause, k)) is not None:
            return Conclusion(label, " ".join(words[: k + 1]), names_it=True)
        decisive = " ".join(words[max(0, k - 4) : k + 1])
        if word in _SUPPORTS and _SUBJECTS.intersection([*words[k + 1 : k + 4], *clause.following[:5]]) and words[:k]:
            support = _turned(1, clause, k)
            return None if support is None else Conclusion(support, decisive, names_it=True)
        base = _predicate(words, k, named_before)
        if base is not None and (label := _turned(base, clause, k)) is not None:
            return Conclusion(label, decisive, names_it=not _SUBJECTS.isdisjoint(words[:k]))
        if base is None and _REASONED.match(word) and (conclusion := _deduced(clause, k, decisive)) is not None:
            return conclusion
        if word == "necessarily" and words[k - 1 : k] == ["not"] and len(words) <= 4 and _nothing_named(words[:k]):
            return Conclusion(0, "not necessarily", names_it=False)
    return None


_SPOILING = frozenset(("would", "wouldn't", "both"))
"""Of another world, or of two things at once."""


def _nothing_named(words: Sequence[str]) -> bool:
    return _SUBJECTS.isdisjoint(words) and _PRONOUNS.isdisjoint(words)


def _predicate(words: Sequence[str], k: int, named_before: bool) -> int | None:
    """Return what word k says of its subject: 1 valid, -1 invalid; None where it is no such predicate."""
    word, before, after = words[k], words[:k], words[k + 1 : k + 2]
    if word in _VERBS:
        if _nothing_named(before) or before[-1:] == ["as"] or after in (["that"], ["for"], ["up"]):
            return None
        return _VERBS[word]
    if word not in _GOOD and word not in _BAD:
        return None
    sign = 1 if word in _GOOD else -1
    copula = next((j for j in range(k - 1, max(-1, k - 7), -1) if before[j] in _COPULAS), None)
    if copula is None:  # "consistent with the premise but not entailed by it"
        return sign if named_before and all(w in _NEGATIONS or w in _STRENGTH for w in before) else None
    if before[copula] == "be" and before[copula - 1 : copula] == ["to"] and "for" in before[:copula]:
        return None  # "for it to be valid, …"
    named = not _SUBJECTS.isdisjoint(before[:copula]) or before[copula] in ("it's", "that's")
    if after in (["that"], ["answer"], ["to"]) or not (named or before[copula - 1 : copula] in _PRONOUN_ALONE):
        return None
    return sign


_PRONOUN_ALONE = [[word] for word in _PRONOUNS]


def _turned(base: int, clause: _Clause, k: int) -> int | None:
    """Return the label that a predicate and the negations of its clause make; None where they make none."""
    words = clause.words
    negations = sum(word in _NEGATIONS and (j < k or word in ("not", "never")) for j, word in enumerate(words))
    hedged = not _HEDGES.isdisjoint(words)
    after = words[k + 1 : k + 12]
    if not _OTHER.isdisjoint(words):
        return None
    if base < 0:
        if negations == 1 and words[k] in ("invalid", "incorrect", "wrong", "unsound"):
            return 1
        return 0 if negations == 0 and not hedged else None
    if negations == 1:
        return 0
    if (
        negations
        or hedged
        or not _LIMITS.isdisjoint(after)
        or not _CONDITIONS.isdisjoint((*after, *clause.following[:1]))
    ):
        return None
    return 1


def _asserted(clause: _Clause, k: int) -> int | None:
    """Return the label of a clause that says the statement itself, after at most "therefore" or "this means that"."""
    words = clause.words
    before = [word for word in words[:k] if word not in _CONNECTING]
    if not _CONDITIONS.isdisjoint(words[k + 1 :]) or not _LIMITS.isdisjoint(words[k + 1 : k + 3]):
        return None
    label = int(words[k] == ASSERTED)
    if not before or (len(before) == 1 and len(before[0]) == 1):  # "C", which is a collider
        listed = clause.following[:1] in (["and"], ["or"], ["nor"])
        return None if listed or not _ends_there(words[k + 1 :]) else label
    if before[-1] == "that" and not {"case", "true"}.isdisjoint(before) and _HEDGES.isdisjoint(before):
        negations = sum(word in _NEGATIONS for word in before)
        return label if negations == 0 else 0 if negations == 1 and label else None
    if any(word in _HEDGES or word in _OTHER or word in _SOMEBODY or word in _NEGATIONS for word in before):
        return None
    return label if not _MEANS.isdisjoint(before) and before[-1] in _MEANS | {"that"} else None


def _ends_there(after: Sequence[str]) -> bool:
    """Return whether what follows a statement leaves it as it is ("in this system"), and names no part of the world."""
    return not after or (after[0] in _PLACES and _LIMITS.isdisjoint(after) and _OTHER_WORLDS.isdisjoint(after))


_PLACES = frozenset("in within here among from given by based".split())
_OTHER_WORLDS = frozenset("case cases graph dag scenario first second third that then another other".split())


def _deduced(clause: _Clause, k: int, decisive: str) -> Conclusion | None:
    """Return what word k says can or cannot be deduced: the statement or "it"; None for something else."""
    words = clause.words
    before, after = words[:k], words[k + 1 :]
    if not _says_whether_able(words, k) or not _OTHER.isdisjoint(after):
        return None
    in_part = not _PART.isdisjoint(after)
    if in_part and not {"but", "however", "yet"}.isdisjoint(clause.following[:3]):
        return None
    soon = [*after, *clause.following][:6]
    named = ASSERTED in soon or not _SUBJECTS.isdisjoint((*before, *after[:6]))
    negations = sum(word in _NEGATIONS for word in before)
    further = not _NEGATIONS.isdisjoint(after)
    if negations:
        refuses = before[:1] == ["i"] and re.match(r"determin|say|tell|verif|confirm|ascertain", words[k]) is not None
        of_nothing = "nothing" in before and not named
        if negations > 1 or refuses or of_nothing or further or DENIED in soon or not _BAD.isdisjoint(after):
            return None
        return Conclusion(0, decisive, named, in_part)
    if any(word in _CONDITIONS or word in _LIMITS or word in _HEDGES for word in after):
        return None
    if DENIED in soon[:5]:
        return Conclusion(0, decisive, names_it=True, in_part=in_part)
    if further or not _about_it(before, after, soon, named):
        return None
    return Conclusion(1, decisive, named, in_part)


def _says_whether_able(words: Sequence[str], k: int) -> bool:
    """Return whether word k is what somebody can or cannot do, or what there is or is no evidence for."""
    before = words[:k]
    if before[-1:] in (["don't"], ["doesn't"], ["does"], ["do"]):
        return False
    if any(word in _HEDGES and word not in ("may", "might") for word in before) or not _SOMEBODY.isdisjoint(before[:1]):
        return False
    if not (_ABLE | _UNABLE | _EVIDENCE).isdisjoint(before):
        return True
    stated = not _COPULAS.isdisjoint(before) and words[k].endswith(("ed", "en", "n", "ible"))
    return stated and not (_NEGATIONS | _SUBJECTS).isdisjoint(before)


def _about_it(before: Sequence[str], after: Sequence[str], soon: Sequence[str], named: bool) -> bool:
    """Return whether what can be deduced is the statement: in its words, by name, or as "it"."""
    if ASSERTED in soon:
        return True
    passive = not {"be", "being", "is", "are", "was"}.isdisjoint(before[-3:])
    if after[:1] == ["that"]:
        return False
    thing = next((word for word in after if word not in _ARTICLES), "")
    if passive:
        return not (_PRONOUNS | _SUBJECTS).isdisjoint(before) or named or bool(thing)
    return thing in _PRONOUNS or thing in _SUBJECTS or thing == "so" or (named and not thing)


_ARTICLES = frozenset(("that", "the", "whether", "indeed", "therefore", "following", "from", ","))
