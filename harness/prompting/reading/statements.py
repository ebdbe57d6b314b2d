"""Stage 3 of reading: the places of a reply that assert a verdict; `context` leaves out what is only supposed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from harness.prompting.reading.clauses import conclusions, may_conclude
from harness.prompting.reading.context import Context, leaves_open
from harness.prompting.reading.verdicts import ASSENT, NAMED, PLAIN, TELLING, label_of

Kind = Literal["announced", "opening", "answered", "closing", "concluded"]
"""Announced as the answer; the first word; the answer to its own question; a sentence of its own; in other words."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A place that asserts Yes (1) or No (0)."""

    label: int
    kind: Kind
    span: str
    sentence: int
    """Which sentence of the reply, counted from 0."""
    weak: bool = False
    """Said of another world ("the answer would be") or of a part of the premise: it counts where nothing else does."""
    partial: bool = False
    """Announced for a step or a question on the way."""
    corrects: bool = False
    """It takes back what was said before ("wait, no")."""
    concludes: bool = False
    """It stands after "therefore", "so", "but" and their kind."""
    alone: bool = False
    """Nothing but the verdict stands in its sentence; or, in other words, it names the hypothesis."""


@dataclass(frozen=True, slots=True)
class Reading:
    """All that a reply asserts, in its order."""

    verdicts: tuple[Verdict, ...]
    sentences: tuple[str, ...]


_SENTENCE_END = re.compile(r"[.!?]+[)\s]*(?:\s|$)|;\s|\n")
_LABEL = (
    r"(?:answers?|ans|verdict|conclusion|decision|judge?ment|result|response|reply|output|label|prediction|guess"
    r"|opinion|determination|assessment|choice"
    r"|classification|solution|final|tldr|(?:right|correct|proper|best|better) (?:one|word|option)|respuesta"
    r"|réponse|reponse|antwort|resposta|ответ|risposta|cevap|odpowiedź|jawaban|đáp án|trả lời|उत्तर"
    r"|الجواب|الإجابة|উত্তর|جواب)"
)
_FILLER = (
    r"(?:[\s:=,(→-]*+(?!\w+ not\b)(?:therefore|thus|then|simply|clearly|a|an|definitely|indeed|still|also|again"
    r"|hence|just|actually|obviously"
    r"|certainly|likely|most likely|probably|very likely|clear|definite|definitive|firm|resounding|simple|hard"
    r"|strong|option|choice|[b-e]|\([a-e]|answer|final|my answer is|in fact|firmly|now|that it is)"
    r"\b[),.:]?){0,6}+[\s:=,(→-]*+"
)
_LINK = (
    r"(?:\s*(?:[:=→]|-+(?=[\s>]))+|(?:'s|\s+(?:is|was|es|est|ist|é|è|remains|stays|becomes))\b"
    r"|\s+(?:(?P<would>would)|should|must|will|has to)(?:\s+(?:also|then|still|therefore|thus|instead))?\s+be\b)"
)
_ANNOUNCED = re.compile(
    rf"(?:(?<![\w-]){_LABEL}(?:\s+(?:to|for|of)\s+(?:the|this|your|that|our)\s+[\w ,:()]{{1,160}}?"
    rf"|\s+here)?\)?(?:,? (?:though|however|then|therefore|thus),?)?{_LINK}"
    r"|(?:答案|回答|结论|結論|答え|정답|답변|답|คำตอบ)(?:是|为|為|は|은|는|คือ)?\s*:?)"
    rf"(?P<not_it>\s+(?:not|never)(?=\s+(?:yes|no|a (?:clear )?(?:yes|no))\b))?{_FILLER}(?:{PLAIN}|{NAMED})"
)
_SAID = re.compile(
    r"(?:\b(?P<speaker>(?:i|we|let's|let me)(?:'d|'ll|'m| am| would| will| must| shall| should| can"
    r"| do)?(?: going to| have to| going)?(?: (?:therefore|thus|then|definitely|simply|still|also)){0,2} )?"
    r"(?:say|answer|go with|with|choose|pick|vote|respond|reply|select|conclude|lean towards?|lean|opt for"
    r"|stick with|settle on|justif(?:y|ies) the answer|supports? the answer|warrants? the answer"
    r"|suggests?)(?: with| for| that)?(?: the answer is| a| an)?"
    r"|\b(?:it|this|that)(?:'s| is|'d be| would be| has to be| must be| should be)(?: an?)?(?: (?:clear|definite"
    r"|definitive|firm|resounding|hard|solid|simple|plain|strong|straight)){0,2}"
    rf"|\bgets? an?)[\s:,]*{PLAIN}"
)
_LEAD = (
    r"(?:(?:(?:answer|assistant|response|reply|so|therefore|thus|hence|well|ok|okay|sure|hmm|in short|short answer"
    r"|to answer your question|then|and|but"
    r"|in conclusion|to conclude|in summary|overall|finally|consequently|accordingly|still|in the end|ultimately"
    r"|actually|wait|sorry|hold on|oh|ergo|simply|just|clearly|definitely|probably|most likely|almost certainly"
    r"|certainly|likely|obviously|a|big|hard|firm|clear|simple|definite|resounding"
    r"|tldr|correction|scratch that|on second thoughts?|on reflection|conclusion|again|however|as a result)\b"
    r"|option [a-e]|[a-e]\)|\([a-e]\)|\d{1,2}[.)])"
    r"\s*+[,:.!)-]*+\s*+){0,6}"
)
_SENTENCE = re.compile(rf"[^\w(]*\(?{_LEAD}(?P<verdict>{PLAIN}|{NAMED}(?=\s*(?:[.,;!?()\n-]|$)))")
_ALONE = re.compile(rf"[^\w]*{_LEAD}(?:(?P<assent>{ASSENT})|(?P<y>y)|(?P<n>n)|{PLAIN}|{NAMED})[\s.!,)(\d%-]*$")
_SHORT_FORM = re.compile(
    r"\W*(?:indeed|sure|of course|well|so|sorry)?\W*(?:(?P<assents>(?:i (?:think|believe|suppose|guess"
    r"|would say) so|it (?:does|can|is|follows)|(?:we|you"
    r"|one) can|that's (?:right|correct)|that is (?:right|correct)|they (?:do|are))"
    r")|i (?:don't|do not) (?:think|believe) so|i (?:think|believe|guess|suppose) not|i'm afraid not|afraid not"
    r"|it (?:does not|doesn't|cannot|can't|is not|isn't)"
    r"|(?:we|you|one) (?:cannot|can't|can not)|they (?:do not|don't|are not|aren't))\W*"
)
_AT_END = re.compile(rf"(?:[,:]|\bso|\bthus|\btherefore|\bhence)\s+{PLAIN}[\s.!)]*$")
_LABELLED = re.compile(rf"(?P<of>[^:\n]{{1,200}}?)\s*:[\s:]*(?:{PLAIN}|{NAMED})(?:\s*\(?\s*\d[\d.]*%?\)?)?[\s.!)]*$")
_OTHER_STATEMENT = re.compile(
    r"\b(?:converse|reverse|opposite|inverse|other (?:direction|way)|counterfactual|variant|bonus|if|unless)\b"
)
_IN_THAT_CASE = re.compile(r"\bin (?:this|that|such a|which|either|the (?:first|second|other)) (?:case|scenario)\b")
_LONGEST_LINE = 400
_ABOUT_IT = re.compile(
    r"H[01]|deduc|infer|hypothes|statement|claim|conclu|entail|follow|valid|answer|verdict|hold|\btrue\b|correct"
    r"|\bit\b|final|suppl|determin"
)

_STEP = re.compile(
    r"^\W*(?:step|part|check|test|case|sub-?question|example|graph|dag|member|option|scenario|condition"
    r"|requirement|criterion|premise)\b[^:]{0,40}\d|\bstep \d|\?[\s)]*(?:answer|a)\b|\b(?:first|second|third|other"
    r"|previous) example\b"
)
_CORRECTS = re.compile(
    r"\b(?:wait|actually|tldr|correction|scratch that|hold on|on second thoughts?|on reflection|i was wrong"
    r"|mistake|i misspoke|sorry|let me (?:correct|revise|reconsider)|hmm|oops|no,? wait|strike that|reconsider\w*"
    r"|revis\w+)\b"
)
_CONCLUDES = re.compile(
    r"\b(?:so|therefore|thus|hence|but|however|conclusion|conclude|consequently|overall|in short|in summary"
    r"|finally|ultimately|as a result|accordingly|final)\b|^answer\b"
)
_QUESTION = re.compile(r"\?[\s)]*$")


_HEADING = re.compile(
    rf"^((?:[\d.]+\s*)?(?:the |my |so the )?(?:final |short |correct )?{_LABEL})\s*(?: is)?[:.]?\n(?=\S)", re.MULTILINE
)
_CORRECTING = frozenset(
    "wait actually correction scratch hold second reflection wrong mistake misspoke sorry hmm oops strike "
    "reconsider reconsidering reconsidered revise revised "
    "revising correct".split()
)
_LABELS = frozenset(
    "answer answers ans verdict conclusion decision judgment judgement result response reply output label prediction "
    "determination assessment choice classification solution guess opinion final tldr one word option right better "
    "best correct proper antwort respuesta resposta risposta cevap jawaban reponse".split()
)
_SAYING = frozenset(
    "say answer go choose pick vote respond reply select conclude lean opt stick settle justify justifies "
    "support supports warrant warrants suggest suggests "
    "it this that gets get".split()
)
_VERDICT_GROUPS = ("yes", "no", "positive", "negative", "dissent")

_WORD = re.compile(r"H[01]|\w+")
_LENGTHENED = re.compile(r"\b(?:ye+s+|no+)\b")
_BARE_SAYING = re.compile(
    r"(?:say|answer|go|choose|pick|vote|respond|reply|select|conclude|lean|opt|stick|settle|justif|support|warrant"
    r"|suggest)"
)


def verdicts(text: str) -> Reading:
    """Return what a normalised reply asserts, sentence by sentence."""
    parts = list(_sentences(_HEADING.sub(r"\1: ", text) if "\n" in text else text))
    sentences = tuple(sentence for sentence, _ in parts)
    found: list[Verdict] = []
    corrected = False
    for number, (sentence, begins_line) in enumerate(parts):
        words = _WORD.findall(sentence)
        corrects = not _CORRECTING.isdisjoint(words) and _CORRECTS.search(sentence) is not None
        # A correction may stand in a sentence of its own ("Wait. No."), or in the middle of one ("Yes, no, wait: no").
        corrected = corrected or (number > 0 and corrects and _CORRECTS.search(sentence, 0, 40) is not None)
        here = list(
            _in_sentence(sentence, words, number, "" if begins_line else sentences[number - 1], len(parts) == 1)
        )
        if here and corrected:
            here, corrected = [replace(verdict, corrects=True) for verdict in here], False
        elif here and corrects:
            here = [*here[:1], *(replace(verdict, corrects=True) for verdict in here[1:])]
        found += here
    return Reading(tuple(found), sentences)


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each sentence, and whether it begins a line."""
    position, begins_line = 0, True
    for end in _SENTENCE_END.finditer(text):
        if sentence := text[position : end.end()].strip():
            yield sentence, begins_line
        begins_line = text[end.end() - 1] == "\n"
        position = end.end()
    if sentence := text[position:].strip():
        yield sentence, begins_line


def _in_sentence(sentence: str, words: list[str], number: int, before: str, only: bool) -> list[Verdict]:
    """Return what one sentence asserts, in its order: in the words yes and no, or in other words."""
    telling = (
        number == 0
        or not sentence.isascii()
        or not TELLING.isdisjoint(words)
        or _LENGTHENED.search(sentence) is not None
    )
    concluding = may_conclude(words)
    if not (telling or concluding) or (sentence[-1] in "?)" and _QUESTION.search(sentence) and not only):
        return []
    context = Context(sentence, before)
    found = list(_in_words(context, words, number, only)) if telling else []
    if concluding and all(verdict.kind != "announced" for verdict in found) and context.supposed_from >= 0:
        found += [
            Verdict(said.label, "concluded", said.words, number, weak=said.in_part, alone=said.names_it)
            for said in conclusions(context.sentence)
        ]
    if found and _CONCLUDES.search(sentence, 0, 60):
        found = [replace(verdict, concludes=True) for verdict in found]
    return found


def _in_words(context: Context, words: list[str], number: int, only: bool) -> Iterator[Verdict]:
    """Yield the verdicts in the words yes and no and their kind: those announced, or else one that stands alone."""
    sentence, announced = context.sentence, False
    for pattern, needed in ((_ANNOUNCED, _LABELS), (_SAID, _SAYING)):
        if needed.isdisjoint(words) and sentence.isascii():
            continue
        for match in pattern.finditer(sentence):
            said_by_nobody = "speaker" in match.groupdict() and not match["speaker"] and _BARE_SAYING.match(match[0])
            announced = announced or not said_by_nobody
            if (verdict := _announced(context, match, number)) is not None:
                yield verdict
        if announced:
            return
    verdict = (
        _leading(context, number)
        or _alone(context, number, only)
        or _labelled(context, number)
        or _ending(context, number)
    )
    if verdict is not None:
        yield verdict


def _announced(context: Context, match: re.Match[str], number: int) -> Verdict | None:
    """Return the verdict of "the answer is no" or "I would say no", turned round where it is denied."""
    groups = match.groupdict()
    label = label_of(match)
    start = next(match.start(name) for name in _VERDICT_GROUPS if groups.get(name))
    if label is None or context.supposes(match.start(), match.end()) or context.offers_both(start):
        return None
    if context.asks_for(match.start()) or "?" in context.sentence[-2:]:
        return None
    denial = "not" if groups.get("not_it") else context.denies(match.start(), start)
    if denial:
        if label == 0 and leaves_open(denial):
            return None  # that one cannot conclude No leaves the answer open
        label = 1 - label
    elif ("speaker" in groups and not groups["speaker"] and _BARE_SAYING.match(match[0])) or context.mentions(
        match.start()
    ):
        return None
    weak = bool(groups.get("would"))
    if " would " in match[0] and _IN_THAT_CASE.search(context.sentence, 0, match.start()):
        return None
    partial = bool(_STEP.search(context.sentence, 0, 300)) or _on_the_way(context.before)
    return Verdict(
        label,
        "announced",
        match[0].strip(),
        number,
        weak=weak,
        partial=partial,
        alone=match.end() > len(context.sentence) - 2,
    )


def _leading(context: Context, number: int) -> Verdict | None:
    """Return the verdict that a sentence begins with ("No, because …"); the first word of a reply is its opening."""
    lead = _SENTENCE.match(context.sentence)
    label = label_of(lead) if lead else None
    if lead is None or label is None or not context.given(lead.start("verdict"), lead.end()):
        return None
    alone = _ALONE.match(context.sentence) is not None
    asked = bool(_QUESTION.search(context.before))
    if number and not asked and not (alone or lead["yes"] or lead["no"]):
        return None
    kind: Kind = "answered" if asked else "closing" if number else "opening"
    return Verdict(label, kind, lead[0].strip(), number, partial=asked and _on_the_way(context.before), alone=alone)


def _alone(context: Context, number: int, only: bool) -> Verdict | None:
    """Return the verdict of a first sentence that is nothing else: "Absolutely.", "I don't think so.", "Y"."""
    if number:
        return None
    sentence = context.sentence
    if only and (short := _SHORT_FORM.fullmatch(sentence)) is not None:
        return Verdict(int(short["assents"] is not None), "opening", sentence, number, alone=True)
    alone = _ALONE.match(sentence)
    if alone is None or (not only and (alone["y"] or alone["n"] or alone["assent"])):
        return None
    label = 1 if alone["assent"] or alone["y"] else 0 if alone["n"] else label_of(alone)
    return None if label is None else Verdict(label, "opening", sentence.strip(" ."), number, alone=True)


def _labelled(context: Context, number: int) -> Verdict | None:
    """Return the verdict of a line such as "Deducible: No"; of one about something else, it is on the way."""
    match = (
        _LABELLED.search(context.sentence)
        if len(context.sentence) < _LONGEST_LINE and ":" in context.sentence
        else None
    )
    label = label_of(match) if match else None
    if match is None or label is None or _OTHER_STATEMENT.search(match["of"]):
        return None
    if not context.given(match.end("of"), match.end()):
        return None
    return Verdict(label, "announced", match[0].strip()[-80:], number, partial=not _ABOUT_IT.search(match["of"]))


def _ending(context: Context, number: int) -> Verdict | None:
    """Return the verdict that a sentence ends with ("the edge may be reversed, so no")."""
    match = _AT_END.search(context.sentence, max(0, len(context.sentence) - 40))
    label = label_of(match) if match else None
    if match is None or label is None or not context.given(match.start(), match.end()):
        return None
    return Verdict(label, "closing", match[0].strip(), number)


def _on_the_way(question: str) -> bool:
    """Return whether a sentence asks about something else than the statement, on the way to it."""
    return _QUESTION.search(question) is not None and not _ABOUT_IT.search(question)


def flips(reading: Reading) -> int:
    """Return how often the plain verdicts of a reply change from one to the other."""
    labels = [v.label for v in reading.verdicts if v.kind in ("announced", "opening", "closing") and not v.weak]
    return sum(one != other for one, other in pairwise(labels))
