"""Where a verdict may stand in a sentence: announced, at its beginning or end, alone, after a label."""

from __future__ import annotations

import re
from functools import lru_cache

from harness.prompting.reading.words import CHOICES, YES_AND_NO, Vocabulary

SENTENCE_BREAK = re.compile(
    r"(?:(?<=[.!?;])|(?<=[.!?]\)))\s+|(?:,| -+) (?:no,? )?(?=(?:i mean|sorry|or rather|make that|actually,? (?:yes"
    r"|no|C\d+))\b)"
)
LABEL = (
    r"(?:answers?|ans|verdict|conclusion|decision|judge?ment|result|response|reply|output|label|prediction|guess"
    r"|opinion|pick|determination|assessment|choice|classification|solution|final|one-word answer|tldr|(?:right|correct"
    r"|proper|best|better) (?:one|word|option)|respuesta|réponse|reponse|antwort|resposta|ответ|risposta|cevap"
    r"|odpowiedź|jawaban|đáp án|trả lời|उत्तर|الجواب|الإجابة|উত্তর|جواب)"
)
FILLER = (
    r"(?:[\s:=,(→-]*+(?!\w{1,20} not\b)(?:therefore|thus|then|simply|clearly|a|an|definitely|indeed|still|also|again"
    r"|hence|just|actually|obviously|certainly|likely|most likely|probably|very likely|clear|definite|definitive|firm"
    r"|resounding|simple|hard|strong|option|choice|[b-e]|\([a-e]\)|answer|final|la|le|el|die|der|das|donc|dunque"
    r"|entonces|portanto|my answer is|in fact|firmly|now|that it is|that|a alternativa)\b[),.:]?){0,6}+[\s:=,(→-]*+"
)
LINK = (
    r"(?:\s*(?:[:=→]|-+(?=[\s>]))+|(?:'s|\s+(?:is|was|es|est|ist|é|è|remains|stays|becomes))\b"
    r"|\s+(?:(?P<would>would)|should|must|will|has to|can only|turns out to|i give|i arrive at|comes out)"
    r"(?:\s+(?:also|then|still|therefore|thus|instead))?\s+(?:be|is|as)\b)"
)
LEAD = (
    r"(?:(?:(?:answer|assistant|response|reply|edit|i mean|or rather|make that|so|therefore|thus|hence|well|ok|okay"
    r"|sure|hmm|in short|short answer|to answer your question|then|and|but|in conclusion|to conclude|in summary"
    r"|overall|finally|consequently|accordingly|still|in the end|ultimately|actually|wait|sorry|hold on|oh|ergo"
    r"|simply|just|clearly|definitely|probably|most likely|almost certainly|certainly|likely|obviously|a|big|hard"
    r"|firm|clear|simple|definite|resounding|tldr|correction|scratch that|on second thoughts?|on reflection"
    r"|conclusion|again|however|as a result)\b|option [a-e]|[a-e]\)|\([a-e]\)|\d{1,2}[.)])\s*+[,:.!)-]*+\s*+){0,6}"
)
CONCEDES = re.compile(
    r"\W*(?:true|right|correct), (?!because|since|as\b|it\b|we\b|the (?:hypo|stat|claim|concl)|H1|this|that|so\b)"
)
"""What is granted before the verdict: "True, they correlate"."""
SHORT_FORM = re.compile(
    r"\W*+(?:indeed|sure|of course|well|so|sorry)?\W*+(?:(?P<assents>(?:i (?:think|believe|suppose|guess|would say)"
    r" so|it (?:does|can|is|follows)|(?:we|you|one) can|that's (?:right|correct)|that is (?:right|correct)|they (?:do"
    r"|are)))|i (?:don't|do not) (?:think|believe) so|i (?:think|believe|guess|suppose) not|i'm afraid not|afraid not"
    r"|it (?:does not|doesn't|cannot|can't|is not|isn't)|(?:we|you|one) (?:cannot|can't|can not)|they (?:do not|don't"
    r"|are not|aren't)|(?:that's |this is )?(?:not possible|impossible))\W*"
)
SEPARATED = re.compile(r":|→| - ")
OTHER_STATEMENT = re.compile(
    r"\b(?:converse|reverse|opposite|inverse|other (?:direction|way)|counterfactual|variant|bonus|if|unless)\b"
)
IN_THAT_CASE = re.compile(r"\bin (?:this|that|such a|which|either|the (?:first|second|other)) (?:case|scenario)\b")
LONGEST_LINE = 400
ABOUT_IT = re.compile(
    r"H[01]|deduc|infer|hypothes|statement|claim|conclu|entail|follow|valid|answer|verdict|hold|\btrue\b|correct"
    r"|\bit\b|final|suppl|determin|\bword\b|bottom line|short|checking|(?:yes|no) or (?:yes|no)"
)

STEP = re.compile(
    r"^\W*(?:long(?:er)?|detailed|full) answer\b"
    r"|^\W*(?:step|part|check|test|case|sub-?question|example|graph|dag|member|option|scenario|condition"
    r"|requirement|criterion|premise)\b[^:]{0,40}\d|\bstep \d|\?[\s)]*(?:answer|a)\b|\b(?:first|second|third|other"
    r"|previous) example\b|^\W*(?:scenario|case|graph|dag|example|situation) (?:\d|[a-e])\b"
)
ELSEWHERE = re.compile(
    r"\W*(?:(?:ps|note(?: that)?|also|similarly|conversely|by contrast|but|and|bonus|remark|aside)\b\W*)*(?:with"
    r"|without|for|once|adding|after adding|replacing|in an?|on an?) (?!(?:this|these|those|that|it|its|us|all|both"
    r"|only|two|three|four|several|many|multiple|now|me|which|any|every|what|my|sure|respect|regard\w*|certainty|no"
    r" further|the (?:given|above|information|premise|hypothesis|question|statement|relations|reasons?)|reasons?"
    r"|example|now|word|nutshell|sentence|sum|short|high|\w+ confidence|\w+ (?:in mind|considered|listed|checked|said"
    r"|done|words?)|completeness|clarity)\b)"
)
"""What begins a sentence on another world than the premise's ("with a collider at C, …")."""
CORRECTS = re.compile(
    r"\b(?:wait|actually|tldr|correction|scratch that|hold on|on second thoughts?|on reflection|i was wrong"
    r"|mistake|i misspoke|sorry|let me (?:correct|revise|reconsider)|hmm|oops|no,? wait|strike that|reconsider\w*"
    r"|revis\w+|edit|i mean|or rather|make that)\b"
)
BREAKS_OFF = re.compile(rf"{CORRECTS.pattern}\W*$")
"""A correction that ends its sentence: "No, wait. Yes."."""
QUESTION = re.compile(r"\?[\s)]*$")


HEADING = re.compile(
    rf"^((?:[\d.]+\s*)?(?:the |my |so the )?(?:final |short |correct )?{LABEL})\s*(?: is)?[:.]?\n(?=\S)", re.MULTILINE
)
WORD = re.compile(r"\w+")


class Places:
    """Where a verdict in the words of a vocabulary may stand, as patterns."""

    def __init__(self, words: Vocabulary) -> None:
        """Compile the patterns."""
        self.choices = words is CHOICES
        self.announced = re.compile(
            rf"(?:(?<![\w-]){LABEL}(?:\s+(?:correct[aeo]?|corretta|giusta|certa|richtige|final[ea]?))?(?:\s+here"
            r"|\s+(?:to|for|of)\s+(?:the|this|your|that|our|will|would|does|do|is|are)\s+[\w ,:()]{1,160}?)?\)?"
            rf"(?:,? (?:though|however|then|therefore|thus),?)?{LINK}"
            r"|(?:答案|回答|结论|結論|答え|正解|정답|답변|답|คำตอบ)(?:是|为|為|は|은|는|คือ)?\s*:?)"
            rf"(?P<not_it>\s+(?:not|never)(?=\s+(?:yes|no|a (?:clear )?(?:yes|no)|C\d+)\b))?{FILLER}"
            rf"(?P<verdict>{words.plain}|{words.named})"
        )
        self.said = re.compile(
            r"(?:\b(?P<speaker>(?:i|we|let's|let me)(?:'d|'ll|'m| am| would| will| must| shall| should| can| do)?"
            r"(?: going to| have to| going)?(?: (?:therefore|thus|then|definitely|simply|still|also)){0,2} )?"
            r"(?:(?P<verb>say|answer|go with|choos(?:e|ing)|prefer|pick|vote|respond|reply|select|conclude"
            r"|lean(?:ing)? towards?|lean|opt for|stick with|settle on|guess|think|believe"
            r"|(?:justif(?:y|ies)|supports?|warrants?) the answer|suggests?)|with|inclined to (?:say|answer))"
            r"(?: this| it)?(?: with| for| that)?(?: the answer is| it's| it is)?(?: an?)?"
            r"(?: (?:clear|definite|firm|plain|simple))?|\b(?:it|this|that)(?:'s| is|'d be"
            r"| would be| has to be| must be| should be)(?: an?)?(?: (?:clear|definite|definitive|firm|resounding"
            r"|hard|solid|simple|plain|strong|straight)){0,2}"
            rf"|\bgets? an?)[\s:,]*(?P<verdict>{words.plain})"
        )
        self.sentence = re.compile(
            rf"[^\w(]*\(?{LEAD}(?P<verdict>{words.plain}|{words.named}(?=\s*(?:[.,;!?()\n-]|:(?! (?:yes|no|not"
            rf"|true|false)\b)|$)))"
        )
        self.alone = re.compile(rf"[^\w]*{LEAD}(?:{words.alone}|{words.plain}|{words.named})[\s.!,)(\d%-]*$")
        self.at_end = re.compile(
            rf"(?:[,:]|\bso|\bthus|\btherefore|\bhence|\bbut)\s+(?P<verdict>{words.plain})[\s.!)]*$"
        )
        self.labelled = re.compile(
            rf"(?P<of>[^:\n]{{1,200}}?)\s*(?::|→|-(?=\s))[\s:]*(?:{words.plain}"
            rf"|{words.named})(?:\s*\(?\s*\d[\d.]*%?\)?)?[\s.!)]*$"
        )
        self.right = re.compile(words.right)


@lru_cache
def places(choices: bool) -> Places:
    """Return where a verdict may stand that is one of the item's choices, or Yes or No."""
    return Places(CHOICES if choices else YES_AND_NO)
