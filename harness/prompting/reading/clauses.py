"""Sentences that say the verdict in other words: "the hypothesis does not hold", "it cannot be deduced".

A sentence is taken apart into clauses, and a clause is read word by word: what it says of the statement (valid,
follows, can be deduced), turned round by its negations. One list of predicates and one of negations serve both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.prompting.reading import lexicon, phrases
from harness.prompting.reading.statement_forms import ASSERTED, DENIED

_TOKEN = re.compile(r"H[01]|[\w%]+(?:['-]\w+)*|[,;:()→?-]")
_LONGEST = 60
"""Words of a clause that are looked at."""


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
    return not lexicon.ANCHORS.isdisjoint(words)


def conclusions(sentence: str) -> Iterator[Conclusion]:
    """Yield what a normalised sentence, marked with H1 and H0, says of the statement, clause by clause.

    Conditions, reasons and concessions say nothing. "We cannot conclude that …" is taken to be about the statement,
    whatever follows: no reply denies that it could conclude what was not asked. "We can conclude that …" is so only
    where it names the statement.
    """
    sentence = phrases.plainly(sentence)
    turned = phrases.NOT_TRUE.search(sentence)
    if turned is not None:
        sentence = sentence[: turned.start()] + sentence[turned.end() :]
    tokens = _TOKEN.findall(sentence)
    if tokens[-1:] == ["?"]:
        return
    supposed = names_it = elsewhere = concludes = False
    for clause in _clauses(tokens):
        concludes = concludes or clause.head in _CONCLUDING or not _CONCLUDING.isdisjoint(clause.words)
        if clause.head == "nor" and "neither" in tokens[:_LONGEST]:
            clause = replace(clause, words=["not", *clause.words])
        supposed = clause.head != ";" and (
            supposed or clause.head in lexicon.CONDITIONS or not lexicon.CONDITIONS.isdisjoint(clause.words[:3])
        )
        if supposed or clause.head in lexicon.REASONS:
            continue
        conclusion = None if elsewhere and _states(clause.words) else _conclusion(clause, names_it, concludes)
        elsewhere = _is_heading(clause)
        names_it = names_it or not lexicon.SUBJECTS.isdisjoint(clause.words)
        if conclusion is not None:
            yield replace(conclusion, label=1 - conclusion.label) if turned else conclusion
        both = "both" in clause.words and not lexicon.GOOD.isdisjoint(clause.words)
        # "It is open whether it holds, so it cannot be deduced": the question ends with its clause.
        open_question = "whether" in clause.words and clause.following[:1] not in (["or"], ["and"])
        supposed = both or not (lexicon.CONDITIONS - ({"whether"} if open_question else set())).isdisjoint(clause.words)


def _clauses(tokens: Sequence[str]) -> Iterator[_Clause]:
    """Yield each clause, with at most so many of its words and of those after it as are looked at."""
    start, head = 0, ""
    for k, token in enumerate((*tokens, ".")):
        # Before a verb "and" joins names: "no cause of A and B can be deduced" is one clause.
        joins = token == "and" and _VERBAL.isdisjoint(tokens[start:k])
        if (token in lexicon.BREAKS and not joins) or k == len(tokens):
            if k > start:
                yield _Clause(head, tokens[start : min(k, start + _LONGEST)], tokens[k : k + _LONGEST])
            if token not in (",", "(", ")", ":", "-") or k > start:
                head = token
            start = k + 1


_VERBAL = (
    lexicon.COPULAS
    | lexicon.ABLE
    | lexicon.UNABLE
    | lexicon.MEANS
    | frozenset(lexicon.VERBS)
    | frozenset("does do did has have had H1 H0 causes correlates correlate".split())
)


def _states(words: Sequence[str]) -> bool:
    """Return whether a clause begins with the statement itself."""
    return words[0] in (ASSERTED, DENIED)


def _is_heading(clause: _Clause) -> bool:
    """Return whether a clause sets the scene for what follows: "in the first graph", "hypothesis:"."""
    words = clause.words
    if clause.following[:1] == [":"] and len(words) <= 4 and words[-1] in lexicon.NAMES:
        return True
    scene = len(words) <= 6 and not lexicon.WORLDS.isdisjoint(words) and (len(words) <= 2 or words[:2] in _THE_FIRST)
    return scene and clause.following[:1] in ([":"], [","]) and lexicon.ALL_OF_THEM.isdisjoint(words)


_THE_FIRST = [[place, word] for place in ("in", "for") for word in ("the", "one", "some", "a", "graph", "dag", "case")]


def _conclusion(clause: _Clause, named_before: bool, concludes: bool) -> Conclusion | None:
    """Return what the first predicate that says anything says; `named_before`: the subject may stand before."""
    words = clause.words
    if not _SPOILING.isdisjoint(words) or (words[0] == "to" and len(words) > 2):
        return None
    for k, word in enumerate(words):
        if word in lexicon.CONDITIONS:
            return None
        if word in (ASSERTED, DENIED) and (label := _asserted(clause, k, concludes)) is not None:
            return Conclusion(label, " ".join(words[: k + 1]), names_it=True)
        decisive = " ".join(words[max(0, k - 4) : k + 1])
        if k and word in lexicon.SUPPORTS and _has_subject([*words[k + 1 : k + 4], *clause.following[:5]]):
            support = _turned(1, clause, k)
            return None if support is None else Conclusion(support, decisive, names_it=True)
        base = _predicate(words, k, named_before)
        if base is None and word in lexicon.VERBS and _says_no_more(clause, k):
            base = lexicon.VERBS[word]
        if base is not None and (label := _turned(base, clause, k)) is not None:
            return Conclusion(label, decisive, names_it=not lexicon.SUBJECTS.isdisjoint(words[:k]))
        if base is None and lexicon.REASONED.match(word) and (conclusion := _deduced(clause, k, decisive)) is not None:
            return conclusion
        if word == "necessarily" and words[k - 1 : k] == ["not"] and len(words) <= 4 and _nothing_named(words[:k]):
            return Conclusion(0, "not necessarily", names_it=False)
    return None


def _says_no_more(clause: _Clause, k: int) -> bool:
    """Return whether the verb k is all that a reply or its label says ("Does not follow.", "Verdict: holds")."""
    alone = clause.head in ("", ":") and k == len(clause.words) - 1 and not clause.following
    return alone and all(word in lexicon.NEGATIONS or word == "does" for word in clause.words[:k])


_SPOILING = frozenset(("would", "wouldn't", "both"))
"""Of another world, or of two things at once."""


def _has_subject(words: Sequence[str]) -> bool:
    return not lexicon.SUBJECTS.isdisjoint(words)


def _nothing_named(words: Sequence[str]) -> bool:
    return lexicon.SUBJECTS.isdisjoint(words) and lexicon.PRONOUNS.isdisjoint(words)


def _predicate(words: Sequence[str], k: int, named_before: bool) -> int | None:
    """Return what word k says of its subject: 1 valid, -1 invalid; None where it is no such predicate."""
    word, before, after = words[k], words[:k], words[k + 1 : k + 2]
    if word in lexicon.VERBS:
        if "that" in words[k + 1 :] or "both" in words[k + 1 :]:
            return None
        if _nothing_named(before) or before[-1:] == ["as"] or after in (["that"], ["for"], ["up"]):
            return None
        return lexicon.VERBS[word]
    if word not in lexicon.GOOD and word not in lexicon.BAD:
        return None
    sign = 1 if word in lexicon.GOOD else -1
    copula = next((j for j in range(k - 1, max(-1, k - 7), -1) if before[j] in lexicon.COPULAS), None)
    if copula is None:  # "consistent with the premise but not entailed by it"
        return sign if named_before and all(w in lexicon.NEGATIONS or w in lexicon.STRENGTH for w in before) else None
    if before[copula] == "be" and before[copula - 1 : copula] == ["to"] and "for" in before[:copula]:
        return None  # "for it to be valid, …"
    named = not lexicon.SUBJECTS.isdisjoint(before[:copula]) or before[copula] in ("it's", "that's")
    if after == ["for"] and before[copula - 1 : copula] in _PRONOUN_ALONE:
        return None  # "this is true for a and c"
    if after in (["that"], ["answer"], ["to"]) or not (
        named or before[copula - 1 : copula] in _PRONOUN_ALONE or (copula == 0 and named_before)
    ):
        return None
    return sign


_PRONOUN_ALONE = [[word] for word in lexicon.PRONOUNS]


def _turned(base: int, clause: _Clause, k: int) -> int | None:
    """Return the label that a predicate and the negations of its clause make; None where they make none."""
    words = clause.words
    negations = sum(word in lexicon.NEGATIONS and (j < k or word in ("not", "never")) for j, word in enumerate(words))
    hedged = not lexicon.HEDGES.isdisjoint(words)
    after = words[k + 1 : k + 12]
    if not lexicon.OTHER.isdisjoint(words):
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
        or not lexicon.LIMITS.isdisjoint(after)
        or not lexicon.CONDITIONS.isdisjoint((*after, *clause.following[:1]))
    ):
        return None
    return 1


def _asserted(clause: _Clause, k: int, concludes: bool) -> int | None:
    """Return the label of a clause that says the statement itself, after at most "therefore" or "this means that"."""
    words = clause.words
    before = [word for word in words[:k] if word not in lexicon.CONNECTING]
    if not lexicon.CONDITIONS.isdisjoint(words[k + 1 :]) or not lexicon.LIMITS.isdisjoint(words[k + 1 : k + 3]):
        return None
    label = int(words[k] == ASSERTED)
    if not before or (len(before) == 1 and len(before[0]) == 1):  # "C", which is a collider
        listed = clause.following[:1] in (["and"], ["or"], ["nor"], [","], ["?"])
        named = (label == 1 and not concludes) or clause.head == "("
        return None if named or listed or not _ends_there(words[k + 1 :]) else label
    if before[-1] == "that" and not lexicon.KNOWN.isdisjoint(before) and lexicon.HEDGES.isdisjoint(before):
        negations = sum(word in lexicon.NEGATIONS for word in before)
        return label if negations == 0 else 0 if negations == 1 and label else None
    if before[-4:] in _NOT_FOLLOWING and label:
        return 0
    if any(
        word in lexicon.HEDGES or word in lexicon.OTHER or word in lexicon.SOMEBODY or word in lexicon.NEGATIONS
        for word in before
    ):
        return None
    return label if not lexicon.MEANS.isdisjoint(before) and before[-1] in lexicon.MEANS | {"that"} else None


_NOT_FOLLOWING = [["does", "not", "follow", "that"], ["it", "doesn't", "follow", "that"]]
_CONCLUDING = frozenset(
    "so therefore thus hence then consequently accordingly overall finally ultimately clearly".split()
)
"""What tells a conclusion from the statement named, quoted, asked or listed: none of these says that it is so."""


def _ends_there(after: Sequence[str]) -> bool:
    """Return whether what follows a statement leaves it as it is ("in this system"), and names no part of the world."""
    return not after or (
        after[0] in lexicon.PLACES and lexicon.LIMITS.isdisjoint(after) and lexicon.OTHER_WORLDS.isdisjoint(after)
    )


def _deduced(clause: _Clause, k: int, decisive: str) -> Conclusion | None:
    """Return what word k says can or cannot be deduced: the statement or "it"; None for something else."""
    words = clause.words
    before, after = words[:k], words[k + 1 :]
    if not _says_whether_able(words, k) or not lexicon.OTHER.isdisjoint(after[:6]):
        return None
    if words[k] in lexicon.SUBJECTS and before[-1:] in _NOUN:  # "let us check the claim"
        return None
    in_part = not lexicon.PART.isdisjoint(after)
    if in_part and not {"but", "however", "yet"}.isdisjoint(clause.following[:3]):
        return None
    soon = [*after, *clause.following][:6]
    named = ASSERTED in soon or not lexicon.SUBJECTS.isdisjoint((*before, *after[:6]))
    negations = sum(word in lexicon.NEGATIONS for word in before)
    further = not lexicon.NEGATIONS.isdisjoint(after)
    if negations:
        refuses = (before[:1] == ["i"] or len(words) <= 2) and re.match(
            r"determin|say|tell|verif|confirm"
            r"|ascertain",
            words[k],
        ) is not None
        of_nothing = ("nothing" in before or before[:1] == ["no"]) and not named and after[:1] != ["that"]
        if negations > 1 or refuses or of_nothing or further or DENIED in soon or not lexicon.BAD.isdisjoint(after):
            return None
        return Conclusion(0, decisive, named, in_part)
    if any(word in lexicon.CONDITIONS or word in lexicon.LIMITS or word in lexicon.HEDGES for word in after):
        return None
    if DENIED in soon[:5]:
        return Conclusion(0, decisive, names_it=True, in_part=in_part)
    if further or not _about_it(before, after, soon, named):
        return None
    return Conclusion(1, decisive, named, in_part)


_NOUN = [[word] for word in ("the", "this", "that", "following", "a", "any")]


def _says_whether_able(words: Sequence[str], k: int) -> bool:
    """Return whether word k is what somebody can or cannot do, or what there is or is no evidence for."""
    before = words[:k]
    if before[-1:] in (["don't"], ["doesn't"], ["does"], ["do"]):
        return False
    if not (lexicon.HEDGES - {"may", "might"}).isdisjoint(before) or (
        not lexicon.SOMEBODY.isdisjoint(before[:1])
        and (before[0] not in ("one", "you") or lexicon.UNABLE.isdisjoint(before))
    ):
        return False
    if not (lexicon.ABLE | lexicon.UNABLE | lexicon.EVIDENCE).isdisjoint(before):
        return True
    stated = not lexicon.COPULAS.isdisjoint(before) and words[k].endswith(("ed", "en", "n", "ible"))
    return stated and not (lexicon.NEGATIONS | lexicon.SUBJECTS).isdisjoint(before)


def _about_it(before: Sequence[str], after: Sequence[str], soon: Sequence[str], named: bool) -> bool:
    """Return whether what can be deduced is the statement: in its words, by name, or as "it"."""
    if ASSERTED in soon:
        return True
    passive = not {"be", "being", "is", "are", "was"}.isdisjoint(before[-3:])
    if after[:1] == ["that"]:
        return False
    thing = next((word for word in after if word not in lexicon.ARTICLES), "")
    if passive:
        return not (lexicon.PRONOUNS | lexicon.SUBJECTS).isdisjoint(before) or named or bool(thing)
    return thing in lexicon.PRONOUNS or thing in lexicon.SUBJECTS or thing == "so" or (named and not thing)
