"""Sentences that say the verdict in other words: "the hypothesis does not hold", "it cannot be deduced".

A sentence is taken apart into clauses, and a clause is read word by word: what it says of the statement (valid, follows,
can be deduced), turned round by its negations. There is one list of predicates and one of negations for both verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.prompting.reading.statement_forms import ASSERTED, DENIED
from harness.prompting.reading.verdicts import NEGATIVE, POSITIVE

_TOKEN = re.compile(r"H[01]|[\w%]+(?:['-]\w+)*|[,;:()→?-]")
_PREDICATES = (
    "deduc-e-ed-es-ible-ing-tion deduct-ed-ion infer-red-s-able-rable-ence conclu-de-ded-des-sion deriv-e-ed-es-able determin-e-ed-es-able establish-ed-es "
    "prov-e-ed-en-es confirm-ed-s follow-s-ed hold-s stand-s fail-s-ed entail-ed-s impl-y-ies-ied guarantee-d-s justif-y-ied support-ed-s verif-y-ied "
    "necessarily contradict-s-ed compelled say said tell claim-ed assert-ed ascertain-ed drawn reached mean-s show-s indicate-s"
)
_ANCHORS = frozenset(
    {stem + end for stem, *ends in (word.split("-") for word in _PREDICATES.split()) for end in ("", *ends)}
    | set(re.findall("[a-z]+", f"{POSITIVE} {NEGATIVE}"))
    | {ASSERTED, DENIED}
)


def may_conclude(words: Sequence[str]) -> bool:
    """Return whether a sentence of these words may say anything of the statement: a quick look."""
    return not _ANCHORS.isdisjoint(words)


_SUBJECTS = frozenset(
    "hypothesis statement claim conclusion assertion proposition inference deduction implication H1 thesis".split()
)
_PRONOUNS = frozenset("it this that which".split())
_COPULAS = frozenset(
    "is are was be isn't aren't wasn't it's that's seems appears remains being become becomes been".split()
)
_BAD = frozenset((*(word for word in NEGATIVE.split("|") if word.isalpha()), "inconclusive"))
_VERBS = {
    "contradicts": -1,
    "follow": 1,
    "follows": 1,
    "hold": 1,
    "holds": 1,
    "stand": 1,
    "stands": 1,
    "fail": -1,
    "fails": -1,
}
_REASON = re.compile(
    r"(?:deduc(?:e|ed|ible)|deduct(?:ed)?|infer(?:red)?|conclude[ds]?|derived?|determined?|establish(?:ed)?|prove[dn]?|confirm(?:ed)?"
    r"|assert(?:ed)?|claim(?:ed)?|say|said|tell|drawn|reached|guaranteed?|justif(?:y|ied)|ascertain(?:ed)?|verif(?:y|ied)|support(?:ed)?)\Z"
)
_GOOD = frozenset(word for word in POSITIVE.split("|") if " " not in word and not _REASON.match(word)) | {"compelled"}
_MEANS = frozenset(
    "means mean implies imply shows show proves prove confirms establishes follows entails indicates conclude deduce infer find see deduct".split()
)
_ABLE = frozenset("can could able possible allows allow enables sufficient enough lets let".split())
_NEGATIONS = frozenset(
    "not never cannot can't couldn't don't doesn't didn't isn't aren't wasn't won't wouldn't impossible unable insufficient no none nothing neither "
    "nor lack lacks lacking nowhere nobody hardly needn't without".split()
)
_HEDGES = frozenset(
    "may might possibly perhaps maybe potentially likely probably partly partially sometimes seemingly apparently unclear uncertain unlikely unknown".split()
)
_LIMITS = frozenset("some one two only few several half certain sometimes partly partially part".split())
_CONDITIONS = frozenset("if unless whether suppose supposing assuming otherwise assume had until".split())
_REASONS = frozenset("because since as given although though while whereas even despite".split())
_BREAKS = frozenset(
    ", ; : ( ) so but and because since as although though while whereas however yet given or nor - ?".split()
)
_OTHER = frozenset("reverse opposite converse other another inverse reversed different".split())
_QUALIFIED = frozenset("alone solely merely just itself marginals marginal only".split())
_SOMEBODY = frozenset("one people some someone others critics students many you user".split())


_LONGEST = 60
"""Words of a clause that are looked at."""
_STRENGTH = frozenset(
    "necessarily therefore thus definitely clearly always indeed strictly logically in fact fully".split()
)
# An aside between commas does not end a clause.
_ASIDE = re.compile(
    r",\s*(?:however|though|therefore|thus|hence|then|in fact|of course|indeed|moreover|furthermore|nevertheless|in general|strictly speaking)\s*,\s*"
)
_NOT_TRUE = re.compile(
    r"\b(?:it|that)(?:(?:'s| is| would be) not| isn't|'s not) (?:the case|true|correct|right)\b(?: to (?:say|claim))?(?: that|,)\s+"
    r"|\b(?:it|that)(?:'s| is| would be)(?: simply| just)? (?:false|incorrect|wrong|untrue|a mistake|an error)"
    r"(?: to (?:say|claim|conclude|assert|believe|think))?(?: that|,)\s+"
)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a sentence says of the statement."""

    label: int
    words: str
    weak: bool
    """Said of another world, or of a part of what is known."""
    names_it: bool
    """It speaks of the hypothesis by name or in its words, not of "it" or of something close to it."""


def conclusions(sentence: str, *, knows_statement: bool) -> Iterator[Conclusion]:
    """Yield what a normalised sentence, marked with H1 and H0, says of the statement.

    `knows_statement` is False where the statement was not given: "we cannot conclude that …" is then taken to be about it.
    """
    sentence = _ASIDE.sub(" ", sentence).replace("provided that", "if")
    tokens = _TOKEN.findall(sentence)
    if "?" in tokens[-1:]:
        return
    denied = _NOT_TRUE.search(sentence)
    outer = denied is not None
    if denied is not None:
        tokens = _TOKEN.findall(sentence[: denied.start()] + sentence[denied.end() :])
    conditional = subject_before = False
    for head, clause, rest in _clauses(tokens):
        conditional = conditional or any(token in _CONDITIONS for token in (head, *clause[:3]))
        if conditional:
            if head == ";":
                conditional = False
            else:
                continue
        if head in _REASONS and head not in ("given",):
            continue
        found = _conclusion(clause, rest, knows_statement, subject_before)
        subject_before = subject_before or any(token in _SUBJECTS for token in clause)
        if found is not None:
            yield replace(found, label=1 - found.label) if outer else found
        conditional = (
            conditional
            or ("both" in clause and not _GOOD.isdisjoint(clause))
            or any(token in _CONDITIONS for token in clause)
        )


def _clauses(tokens: Sequence[str]) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    """Yield each clause with the word before it and the words after it, all of bounded length."""
    start, head = 0, ""
    for k, token in enumerate((*tokens, ".")):
        if token in _BREAKS or k == len(tokens):
            if k > start:
                yield head, tokens[start : min(k, start + _LONGEST)], tokens[k : k + _LONGEST]
            if token not in (",", "(", ")", ":", "-") or k > start:
                head = token
            start = k + 1


def _conclusion(
    clause: Sequence[str], rest: Sequence[str], knows_statement: bool, subject_before: bool
) -> Conclusion | None:
    negations = [k for k, token in enumerate(clause) if token in _NEGATIONS]
    hedged = any(token in _HEDGES for token in clause)
    if any(token in ("would", "wouldn't", "both") for token in clause):
        return None
    weak = False
    for k, token in enumerate(clause):
        if token in _CONDITIONS:
            return None
        if token in (ASSERTED, DENIED) and (found := _asserted(clause, k, rest)) is not None:
            return Conclusion(found, " ".join(clause[: k + 1]), weak, True)
        base = _predicate(clause, k, subject_before)
        if base is not None:
            label = _polarity(base, clause, k, rest, negations, hedged)
            if label is None:
                continue
            subject = any(word in _SUBJECTS for word in clause[:k])
            return Conclusion(label, " ".join(clause[max(0, k - 4) : k + 1]), weak, subject)
        if _REASON.match(token) and (found := _deduced(clause, k, rest, knows_statement)) is not None:
            label, names_it, part = found
            return Conclusion(label, " ".join(clause[max(0, k - 4) : k + 1]), weak or part, names_it)
        if (
            token == "necessarily"
            and k
            and clause[k - 1] == "not"
            and not any(w in _SUBJECTS | _PRONOUNS for w in clause[:k])
        ):
            if len(clause) <= 4:
                return Conclusion(0, "not necessarily", weak, False)
    return None


def _predicate(clause: Sequence[str], k: int, subject_before: bool) -> int | None:
    """Return what word k says of its subject: 1 valid, -1 invalid; None where it is no such predicate."""
    word, before = clause[k], clause[:k]
    if word in _VERBS:
        subject = next((w for w in reversed(before) if w in _SUBJECTS or w in _PRONOUNS), None)
        if subject is None or "as" in before[-1:]:
            return None
        after = clause[k + 1 : k + 2]
        if word.startswith("fail") and after == ["to"]:
            return -1
        if after[:1] and after[0] in ("that", "for", "up"):
            return None
        return _VERBS[word]
    if word in _GOOD or word in _BAD:
        copula = next((j for j in range(k - 1, max(-1, k - 7), -1) if before[j] in _COPULAS), None)
        if copula is None and all(w in _NEGATIONS or w in _STRENGTH for w in before) and subject_before:
            return 1 if word in _GOOD else -1
        if copula is None or clause[k + 1 : k + 2] in (["that"], ["answer"], ["to"]):
            return None
        named = any(w in _SUBJECTS for w in before[:copula]) or before[copula] in ("it's", "that's")
        pronoun = copula > 0 and before[copula - 1] in _PRONOUNS
        if not named and not pronoun:
            return None
        return 1 if word in _GOOD else -1
    return None


def _polarity(
    base: int, clause: Sequence[str], k: int, rest: Sequence[str], negations: Sequence[int], hedged: bool
) -> int | None:
    """Return the label that a predicate and the negations of its clause make, or None."""
    count = sum(j < k or clause[j] in ("not", "never") for j in negations)
    after = clause[k + 1 : k + 12]
    if any(word in _OTHER for word in clause):
        return None
    if base < 0:
        return 0 if count == 0 and not hedged else None
    if count == 1:
        return 0
    if count > 1 or hedged or any(word in _LIMITS for word in (*after, *rest[:0])):
        return None
    if rest[:1] and rest[0] in _CONDITIONS:
        return None
    if any(word in _CONDITIONS for word in after):
        return None
    return 1


def _asserted(clause: Sequence[str], k: int, rest: Sequence[str]) -> int | None:
    """Return the label of a clause that says the statement itself, after nothing but "therefore" or "this means that"."""
    before = [word for word in clause[:k] if word not in _CONNECTING]
    if any(word in _CONDITIONS for word in clause[k + 1 :]) or any(w in _LIMITS for w in clause[k + 1 : k + 3]):
        return None
    said = clause[k] == ASSERTED
    if not before:
        return int(said) if not clause[k + 1 :] else None
    if any(word in _HEDGES or word in _OTHER or word in _SOMEBODY for word in before):
        return None
    negated = sum(word in _NEGATIONS for word in before)
    if negated:
        # "We cannot conclude that H1" is read as a deduction; "it is not true that H0" says nothing.
        return None
    if any(word in _MEANS for word in before) and before[-1] in (_MEANS | {"that"}):
        return int(said)
    return None


_CONNECTING = frozenset(
    "therefore thus hence so then and but consequently accordingly overall finally in conclusion to conclude summary ultimately clearly indeed "
    "yes no result a as conclusion final answer we".split()
) - {"a"}


def _deduced(
    clause: Sequence[str], k: int, rest: Sequence[str], knows_statement: bool
) -> tuple[int, bool, bool] | None:
    """Return what is said to be (no) deduction: its label, whether the statement is named, whether from a part only."""
    before, after = clause[:k], clause[k + 1 :]
    able = any(
        word in _ABLE or word in ("cannot", "can't", "couldn't", "impossible", "unable", "insufficient")
        for word in before
    )
    evidence = any(word in ("information", "evidence", "data", "way", "basis", "reason", "grounds") for word in before)
    denied = sum(word in _NEGATIONS for word in before)
    if before[-1:] and before[-1] in ("don't", "doesn't", "does", "do"):
        return None
    passive = any(word in ("be", "being") for word in before[-3:])
    copula = any(word in _COPULAS for word in before) and clause[k].endswith(("ed", "en", "n", "ible"))
    if not able and not evidence and not (copula and (denied or any(w in _SUBJECTS for w in before))):
        return None
    if any(word in _HEDGES - {"may", "might"} for word in before) or any(word in _SOMEBODY for word in before[:1]):
        return None
    refuses = before[:1] == ["i"] and re.match(r"determin|say|tell|verif|confirm|ascertain", clause[k]) is not None
    thing = [*after, *rest]
    part = any(word in _QUALIFIED for word in after)
    if part and any(word in ("but", "however", "yet") for word in rest[:3]):
        return None
    if any(word in _OTHER for word in after):
        return None
    named = any(word in _SUBJECTS for word in (*before, *after[:6]))
    if "nothing" in before and not named and ASSERTED not in thing[:6]:
        return None
    plain_object = [
        word
        for word in after
        if word not in ("that", "the", "whether", "indeed", "therefore", "following", "from", ",")
    ]
    about_it = (
        ASSERTED in thing[:6]
        or (passive and any(w in _PRONOUNS | _SUBJECTS for w in before) and after[:1] != ["that"])
        or (after[:1] != ["that"] and plain_object[:1] and plain_object[0] in (_PRONOUNS | _SUBJECTS | {"so"}))
        or not after
        or after[:1] in (["from"], ["based"], ["with"], ["given"], ["here"], ["for"], ["in"])
    )
    if denied:
        if denied > 1 or refuses:
            return None
        if DENIED in thing[:6] or any(word in _NEGATIONS for word in after):
            return None
        if any(word in ("false", "invalid", "incorrect", "wrong") for word in after):
            return None
        return 0, bool(named or ASSERTED in thing[:6]), part
    if any(word in _CONDITIONS or word in _LIMITS or word in _HEDGES for word in after):
        return None
    if DENIED in thing[:5]:
        return 0, True, part
    if any(word in _NEGATIONS for word in after):
        return None
    if about_it and (ASSERTED in thing[:6] or named or passive or plain_object[:1]):
        return 1, bool(named or ASSERTED in thing[:6]), part
    return None
