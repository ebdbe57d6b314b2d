"""Stages 3 and 4 of reading: the places of a reply that assert a verdict, without those that only suppose or mention one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from harness.prompting.reading.clauses import conclusions, may_conclude
from harness.prompting.reading.verdicts import ASSENT, NAMED, PLAIN, label_of, tells

Kind = Literal["announced", "opening", "answered", "closing", "concluded"]
"""Announced as the answer; the first word; the answer to a question of its own; a sentence of its own; in other words."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A place that asserts Yes (1) or No (0)."""

    label: int
    kind: Kind
    span: str
    sentence: int
    """Which sentence of the reply, counted from 0."""
    weak: bool = False
    """Said of another world ("the answer would be") or of a part of what is known: it counts where nothing else does."""
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
    r"(?:answers?|ans|verdict|conclusion|decision|judge?ment|result|response|reply|output|label|prediction|determination|assessment|choice"
    r"|classification|solution|final|tldr|(?:right|correct|proper|best|better) (?:one|word|option)|respuesta|réponse|reponse|antwort|resposta|ответ|risposta|cevap|odpowiedź|jawaban|đáp án|trả lời|उत्तर"
    r"|الجواب|الإجابة|উত্তর|جواب)"
)
_FILLER = (
    r"(?:[\s:=,(→-]*+(?!\w+ not\b)(?:therefore|thus|then|simply|clearly|a|an|definitely|indeed|still|also|again|hence|just|actually|obviously"
    r"|certainly|likely|most likely|probably|very likely|option|choice|[b-e]|\([a-e]|answer|final|my answer is|in fact|firmly|now|that it is)"
    r"\b[),.:]?){0,6}+[\s:=,(→-]*+"
)
_LINK = (
    r"(?:\s*(?:[:=→]|-+(?=[\s>]))+|\s+(?:is|was|es|est|ist|é|è|remains|stays|becomes)\b"
    r"|\s+(?:(?P<would>would)|should|must|will|has to)(?:\s+(?:also|then|still|therefore|thus|instead))?\s+be\b)"
)
_ANNOUNCED = re.compile(
    rf"(?:(?<![\w-]){_LABEL}(?:\s+(?:to|for|of)\s+(?:the|this|your|that|our)\s+[\w ]{{1,60}}?|\s+here)?\)?(?:,? (?:though|however|then|therefore|thus),?)?{_LINK}"
    r"|(?:答案|回答|结论|結論|答え|정답|답변|답|คำตอบ)(?:是|为|為|は|은|는|คือ)?\s*:?)"
    rf"(?P<not_it>\s+(?:not|never)(?=\s+(?:yes|no|a (?:clear )?(?:yes|no))\b))?{_FILLER}(?:{PLAIN}|{NAMED})"
)
_SAID = re.compile(
    r"(?:\b(?P<speaker>(?:i|we)(?:'d|'ll| would| will| must| shall| should| have to| can| do)?(?: (?:therefore|thus|then|definitely|simply|still|also)){0,2} )?"
    r"(?:say|answer|go with|choose|pick|vote|respond|reply|select|conclude|lean towards?|lean|opt for|stick with|settle on|justif(?:y|ies) the answer|supports? the answer|warrants? the answer|suggests?)(?: with| for| that)?(?: the answer is| a| an)?"
    r"|\b(?:it|this|that)(?:'s| is|'d be| would be) an?(?: (?:clear|definite|definitive|firm|resounding|hard|solid|simple|plain|strong|straight)){0,2}"
    rf"|\bgets? an?)[\s:,]*{PLAIN}"
)
_LEAD = (
    r"(?:(?:answer|assistant|response|reply|so|therefore|thus|hence|well|ok|okay|sure|hmm|in short|short answer|to answer your question|then|and|but"
    r"|in conclusion|to conclude|in summary|overall|finally|consequently|accordingly|still|in the end|ultimately|actually|wait|sorry|hold on|oh"
    r"|tldr|correction|scratch that|on second thoughts?|on reflection|conclusion|again|however|as a result|option [a-e]|[a-e]\)|\([a-e]\)|\d{1,2}[.)])"
    r"\s*[,:.!)-]*\s*)*"
)
_SENTENCE = re.compile(rf"[^\w(]*\(?{_LEAD}(?P<verdict>{PLAIN}|{NAMED}(?=\s*(?:[.,;!?()\n-]|$)))")
_ALONE = re.compile(rf"[^\w]*{_LEAD}(?:(?P<assent>{ASSENT})|(?P<y>y)|(?P<n>n)|{PLAIN}|{NAMED})[\s.!,)(\d%-]*$")
_SHORT_FORM = re.compile(
    r"\W*(?:(?P<assents>(?:i (?:think|believe|suppose|guess|would say) so|it (?:does|can|is|follows)|(?:we|you|one) can|that's (?:right|correct)|that is (?:right|correct)|they (?:do|are))"
    r")|i (?:don't|do not) (?:think|believe) so|i (?:think|believe|guess|suppose) not|i'm afraid not|afraid not|it (?:does not|doesn't|cannot|can't|is not|isn't)"
    r"|(?:we|you|one) (?:cannot|can't|can not)|they (?:do not|don't|are not|aren't))\W*"
)
_AT_END = re.compile(rf"(?:[,:]|\bso|\bthus|\btherefore|\bhence)\s+{PLAIN}[\s.!)]*$")
_LABELLED = re.compile(rf"(?P<of>[^:\n]{{1,200}}?)\s*:[\s:]*(?:{PLAIN}|{NAMED})(?:\s*\(?\s*\d[\d.]*%?\)?)?[\s.!)]*$")
_OTHER_STATEMENT = re.compile(r"\b(?:converse|reverse|opposite|inverse|other (?:direction|way)|counterfactual|variant|bonus|if|unless)\b")
_LONGEST_LINE = 400
_ABOUT_IT = re.compile(
    r"H[01]|deduc|infer|hypothes|statement|claim|conclu|entail|follow|valid|answer|verdict|hold|\btrue\b|correct|\bit\b|final|suppl|determin"
)

# What stands before a verdict that is not given: in its sentence, or just before it.
_CONDITION = re.compile(
    r"\b(?:if|unless|whether|suppose|supposing|assuming|provided (?:that|there|it|we|no)|otherwise|in case|had (?:the|a|b|it|there|we)|were (?:the|there|it)|should (?:the|it)|as long as|under (?:the|an?) (?:additional|further|stronger|extra)"
    r"|in (?:the|a|that|this|such an?) (?:reverse|other|opposite|hypothetical|different|alternative|first|second|third)|si|wenn|falls|如果)\b"
)
_CONDITION_AFTER = re.compile(r",? *\(?(?:but )?(?:only )?(?:if|unless|provided|assuming|as long as|in case|only when)\b")
_STANDING = re.compile(
    r"\b(?:assuming|if we assume|provided|under)\b(?=[^.;\n]{0,60}\b(?:markov|faithful\w*|causal sufficiency|acyclic\w*|no (?:hidden|latent|unobserved)|closed system|standard assumptions)\b)"
)
"""Assumptions that the question makes anyway: a verdict that names them is given all the same."""
_SUPPOSITION = re.compile(r"\W*(?:ps\b|note|remark|aside)?\W*(?:but |now |let us |let's )?(?:suppose|imagine|consider|assume|what if|say|pretend)\b")
_THEN = re.compile(r"\W*(?:then|in that case|in this case|in which case|now|so|here)\b")
_PROVISIONAL = re.compile(
    r"\b(?:maybe|perhaps|possibly|at first|first glance|first sight|initially|first thought|thought|seems?|seemed|looks?|appears?|tempt\w*|intuiti\w*|naive\w*|superficial\w*"
    r"|might|may (?:say|think|answer)|could (?:say|think|argue|answer)|some(?:one|body)?(?: people)?(?: would| might| may| could)? (?:say|think|argue|claim|answer)s?"
    r"|people|others|critics|students?|another model|most would|many would|(?:premise|prompt|user|question|hypothesis|textbook|paper|author|colleague|friend|they|he|she|you)"
    r" (?:says?|said|claims?|claimed|thinks?|suggests?|asked|asks?|states?|stated|wants?|expects?|answered|would)|expected|pretend|imagine|guess(?:ed)? (?:was|would))\b"
)
_DENIES = re.compile(
    r"\b(?:nothing|no reason|no grounds|no basis|wrong|incorrect|mistake|mistaken|error)\b[\w' ]{0,60}\b(?:to (?:say|answer|reply|conclude|respond|claim)|justif\w+|supports?|warrants?|suggests?)(?: that)?(?: the answer(?: is)?)?\s*\Z|"
    r"(?:\bwrong to|\bincorrect to|\ba mistake to|\bmistaken to|\berror to|\bnot|\bnever|n't|\bfalse that|\buntrue that|\bcannot|\bno reason to|\bno grounds to|\bno basis to"
    r"|\bno justification (?:to|for)|\bno evidence)\s*(?:\w+\s+){0,4}(?:say|claim|answer|conclude|conclud\w+|think|believe|assert|suppose|infer|deduce|that|true|case|saying|answering)"
    r"(?:\s+(?:that|with|the|an?))*\s*\Z"
)
_BARE_SAYING = re.compile(r"(?:say|answer|go|choose|pick|vote|respond|reply|select|conclude|lean|opt|stick|settle|justif|support|warrant|suggest)")
_CANNOT_KNOW = re.compile(r"\b(?:cannot|can't|no reason|no grounds|no basis|no evidence|not (?:able|possible|clear)|don't)\b")
_MENTION = re.compile(
    r"(?:\b(?:if|whether|unless|not|cannot|either|neither|instead of|rather than|between|say|says|word|words|than|of)|n't)"
    r"(?: \w+)?(?: (?:a|an|the|your|my|final|correct|then|simply|clear|definite|say|be|answer|with))* ?\Z"
)
_JUST_ANSWER = re.compile(r"\b(?:just|only|please|simply|must|to|should|asked to|and|line that says|with) (?:answer|reply|respond|say|says)(?: with)?:? ?\Z")
_BOTH = re.compile(
    r"\byes *-?,? *(?:and|or|but also|/|&|\|) *-?(?:(?:a|also|answer:) )? *no\b|\bno *-?,? *(?:and|or|but also|/|&|\|) *-?(?:(?:a|also|answer:) )? *yes\b"
    r"|\byes, no\b|\bno, yes\b|\byes no\b(?! (?:variable|other))|\bno yes\b"
)
_STEP = re.compile(r"^\W*(?:step|part|check|test|case|sub-?question|example|graph|dag|member|option|scenario|condition|requirement|criterion|premise)\b[^:]{0,40}\d|\bstep \d|\?[\s)]*(?:answer|a)\b|\b(?:first|second|third|other|previous) example\b")
_CORRECTS = re.compile(r".{0,20}?\b(?:wait|actually|tldr|correction|scratch that|hold on|on second thoughts?|on reflection|i was wrong|mistake|i misspoke|sorry|let me (?:correct|revise|reconsider)|hmm|oops|no,? wait|strike that|reconsider\w*|revis\w+)\b")
_CONCLUDES = re.compile(r"\b(?:so|therefore|thus|hence|but|however|conclusion|conclude|consequently|overall|in short|in summary|finally|ultimately|as a result|accordingly|final)\b|^answer\b")
_QUESTION = re.compile(r"\?[\s)]*$")


def verdicts(text: str, *, knows_statement: bool) -> Reading:
    """Return what a normalised reply asserts, sentence by sentence."""
    parts = list(_sentences(_headings_joined(text)))
    sentences = tuple(sentence for sentence, _ in parts)
    found: list[Verdict] = []
    corrected = False
    for number, (sentence, begins_line) in enumerate(parts):
        # A correction may stand in a sentence of its own ("Wait. No.").
        corrected = corrected or (number > 0 and bool(_CORRECTS.match(sentence)))
        telling, concluding = tells(sentence), may_conclude(sentence)
        if number and not telling and not concluding:
            continue
        before = "" if begins_line else sentences[number - 1]
        here = list(
            _in_sentence(sentence, number, before, len(sentences) == 1, knows_statement, telling or not number, concluding)
        )
        if corrected and here:
            here = [replace(verdict, corrects=True) for verdict in here]
            corrected = False
        elif len(here) and _CORRECTS.search(sentence):
            here = [*here[:1], *(replace(verdict, corrects=True) for verdict in here[1:])]
        found += here
    return Reading(tuple(found), sentences)


_HEADING = re.compile(rf"^((?:[\d.]+\s*)?(?:the |my |so the )?(?:final |short |correct )?{_LABEL})\s*(?: is)?[:.]?\n(?=\S)", re.MULTILINE)


def _headings_joined(text: str) -> str:
    """Return the text with a heading such as "Final answer" on the line of what stands below it."""
    return _HEADING.sub(r"\1: ", text)


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


def _in_sentence(sentence: str, number: int, before: str, only: bool, knows_statement: bool, telling: bool, concluding: bool) -> Iterator[Verdict]:
    """Yield what one sentence asserts, in its order."""
    if _QUESTION.search(sentence) and not only:
        return
    sentence = _STANDING.sub("given", sentence)
    condition = _CONDITION.search(sentence)
    supposed_from = condition.start() if condition else len(sentence) + 1
    if _THEN.match(sentence) and _SUPPOSITION.match(before):
        return
    both = [match.span() for match in _BOTH.finditer(sentence)]
    concludes = bool(_CONCLUDES.search(sentence[:60]))
    words = list(_in_words(sentence, number, before, only, supposed_from, both)) if telling else []
    yield from (replace(verdict, concludes=concludes) for verdict in words)
    if any(verdict.kind == "announced" for verdict in words):
        return
    if concluding:
        for said in conclusions(sentence, knows_statement=knows_statement):
            yield Verdict(said.label, "concluded", said.words, number, said.weak, False, False, concludes, said.names_it)


def _in_words(
    sentence: str, number: int, before: str, only: bool, supposed_from: int, both: list[tuple[int, int]]
) -> Iterator[Verdict]:
    """Yield the verdicts in the words yes and no and their kind."""
    announced = False
    taken = 0
    partial = bool(_STEP.search(sentence[:300])) or (_QUESTION.search(before) is not None and not _ABOUT_IT.search(before))
    for pattern in (_ANNOUNCED, _SAID):
        for match in pattern.finditer(sentence):
            verdict = _announced(sentence, match, number, supposed_from, both, partial=partial)
            announced = True
            if verdict is not None:
                yield verdict
        if announced:
            return
    lead = _SENTENCE.match(sentence)
    if lead is not None:
        taken = 1
        label = label_of(lead)
        given = label is not None and _given(sentence, lead.start("verdict"), lead.end(), supposed_from, both)
        if given and label is not None:
            alone = _ALONE.match(sentence) is not None
            kind: Kind = "opening" if number == 0 else "closing"
            partial = False
            if _QUESTION.search(before):
                kind, partial = "answered", not _ABOUT_IT.search(before)
            if alone or kind != "closing" or lead["yes"] or lead["no"]:
                yield Verdict(label, kind, lead[0].strip(), number, partial=partial, alone=alone)
        return
    if only and (short := _SHORT_FORM.fullmatch(sentence)) is not None:
        yield Verdict(int(short["assents"] is not None), "opening", sentence, number, alone=True)
        return
    if (alone := _ALONE.match(sentence)) is not None and (only or number == 0):
        label = 1 if alone["assent"] or alone["y"] else 0 if alone["n"] else label_of(alone)
        if label is not None and (only or not (alone["y"] or alone["n"] or alone["assent"])):
            yield Verdict(label, "opening", sentence.strip(" ."), number, alone=True)
        return
    for pattern, kind in ((_LABELLED, "announced"), (_AT_END, "closing")):
        match = pattern.search(sentence) if not taken and len(sentence) < _LONGEST_LINE else None
        if match is None:
            continue
        taken = 1
        label = label_of(match)
        start = match.start("yes") if match["yes"] else match.start("no") if match["no"] else match.end()
        if label is not None and _given(sentence, start, match.end(), supposed_from, both):
            if kind == "announced" and _OTHER_STATEMENT.search(match["of"]):
                return
            about_it = kind == "closing" or bool(_ABOUT_IT.search(match["of"]))
            yield Verdict(label, kind, match[0].strip()[-80:], number, partial=not about_it)  # type: ignore[arg-type]


def _announced(
    sentence: str, match: re.Match[str], number: int, supposed_from: int, both: list[tuple[int, int]], *, partial: bool
) -> Verdict | None:
    label = label_of(match)
    groups = match.groupdict()
    start = next(match.start(name) for name in ("yes", "no", "positive", "negative", "dissent") if groups.get(name))
    before = sentence[max(0, match.start() - 160) : match.start()]
    if label is None or match.start() > supposed_from or _CONDITION_AFTER.match(sentence, match.end()):
        return None
    if any(first <= start < last for first, last in both) or _JUST_ANSWER.search(before) or "?" in sentence[-2:]:
        return None
    up_to_verdict = before + sentence[match.start() : start]
    denied = bool(_DENIES.search(before) or _DENIES.search(up_to_verdict) or groups.get("not_it"))
    if denied:
        if label == 0 and _CANNOT_KNOW.search(before):
            return None
        label = 1 - label
    elif "speaker" in groups and not groups["speaker"] and _BARE_SAYING.match(match[0]):
        return None
    elif _PROVISIONAL.search(before) or _MENTION.search(before):
        return None
    return Verdict(label, "announced", match[0].strip(), number, bool(groups.get("would")), partial)


def _given(sentence: str, start: int, end: int, supposed_from: int, both: list[tuple[int, int]]) -> bool:
    """Return whether a verdict is given, not just supposed, mentioned, or one of two."""
    if start > supposed_from or _CONDITION_AFTER.match(sentence, end):
        return False
    if any(first <= start < last for first, last in both):
        return False
    before = sentence[max(0, start - 80) : start]
    return not _MENTION.search(before) and not _PROVISIONAL.search(before)


def flips(reading: Reading) -> int:
    """Return how often the plain verdicts of a reply change from one to the other."""
    labels = [v.label for v in reading.verdicts if v.kind in ("announced", "opening", "closing") and not v.weak]
    return sum(one != other for one, other in pairwise(labels))
