"""Where a verdict may stand in a sentence: announced, at its beginning or end, alone, after a label."""

from __future__ import annotations

from functools import cache

from harness.prompting.reading.words import CHOICES, YES_AND_NO, Vocabulary, compiled

SENTENCE_BREAK = (
    r"(?:(?<=[.!?;])|(?<=[.!?]\)))\s+"
    r"|(?:,| -+) (?:no,? )?(?=(?:i mean|sorry|or rather|make that|actually,? (?:yes|no|C\d+))\b)"
)
_LABEL = r"(?:«answer»|«answer_unspaced»|«right» (?:one|word|option))"
_FILLER = (
    r"(?:[\s:=,(→-]*+(?!\w{1,20} not\b)(?:«so»|«degree»|«article»|a|an|still|also|again|option|choice|[b-e]|\([a-e]\)"
    r"|answer|final|my answer is|in fact|now|that it is|that)\b[),.:]?){0,6}+[\s:=,(→-]*+"
)
_LINK = (
    r"(?:\s*(?:[:=→]|-+(?=[\s>]))+|(?:'s|\s+«is»)\b|(?<=cevap|ответ)(?=\s)"
    r"|\s+(?:(?P<would>would)|should|must|will|has to|can only|turns out to|i give|i arrive at|comes out)"
    r"(?:\s+(?:also|then|still|therefore|thus|instead))?\s+(?:be|is|as)\b)"
)
_LEAD = (
    r"(?:(?:(?:«before_a_verdict»|«so»|«degree»|«corrects»)\b|option [a-e]|[a-e]\)|\([a-e]\)|\d{1,2}[.)])"
    r"\s*+[,:.!)-]*+\s*+){0,6}"
)
CONCEDES = (
    r"\W*(?:true|right|correct), (?!because|since|as\b|it\b|we\b|the (?:hypo|stat|claim|concl)|H1|this|that|so\b)"
)
"""What is granted before the verdict: "True, they correlate"."""
SHORT_FORM = (
    r"\W*+(?:indeed|sure|of course|well|so|sorry)?\W*+(?P<verdict>"
    r"(?P<assent>i (?:think|believe|suppose|guess|would say) so|it (?:does|can|is|follows)|(?:we|you|one) can"
    r"|that(?:'s| is) (?:right|correct)|they (?:do|are))"
    r"|(?P<no>i (?:don't|do not) (?:think|believe) so|i (?:think|believe|guess|suppose) not|(?:i'm )?afraid not"
    r"|(?:it|we|you|one|they) (?:does not|doesn't|do not|don't|cannot|can't|can not|is not|isn't|are not|aren't)"
    r"|(?:that's |this is )?(?:not possible|impossible)))\W*\Z"
)
SEPARATED = r":|→| - "
OTHER_STATEMENT = (
    r"\b(?:converse|reverse|opposite|inverse|other (?:direction|way)|counterfactual|variant|bonus|if|unless)\b"
)
IN_THAT_CASE = r"\bin (?:this|that|such a|which|either|the (?:first|second|other)) (?:case|scenario)\b"
LONGEST_LINE = 400
ABOUT_IT = (
    r"H[01]|«stem»|answer|verdict|\bit\b|final|suppl|\bword\b|bottom line|short|checking|(?:yes|no) or (?:yes|no)"
)
STEP = (
    r"^\W*(?:long(?:er)?|detailed|full) answer\b|^\W*«step»\b[^:]{0,40}\d|\bstep \d|\?[\s)]*(?:answer|a)\b"
    r"|\b(?:first|second|third|other|previous) example\b|^\W*(?:scenario|case|graph|dag|example|situation) [\da-e]\b"
)
ELSEWHERE = (
    r"\W*(?:(?:ps|note(?: that)?|also|similarly|conversely|by contrast|but|and|bonus|remark|aside)\b\W*)*"
    r"(?:with|without|for|once|adding|after adding|replacing|in an?|on an?) (?!(?:«of_this_world»|regard\w*"
    r"|the (?:given|above|information|premise|hypothesis|question|statement|relations|reasons?)"
    r"|\w+ (?:confidence|in mind|considered|listed|checked|said|done|words?))\b)"
)
"""What begins a sentence on another world than the premise's ("with a collider at C, …")."""
CORRECTS = r"\b(?:«corrects»|no,? wait)\b"
BREAKS_OFF = rf"{CORRECTS}\W*$"
"""A correction that ends its sentence: "No, wait. Yes."."""
QUESTION = r"\?[\s)]*$"
HEADING = rf"(?m)^((?:[\d.]+\s*)?(?:the |my |so the )?(?:final |short |correct )?{_LABEL})\s*(?: is)?[:.]?\n(?=\S)"


class Places:
    """Where a verdict in the words of a vocabulary may stand, as patterns."""

    def __init__(self, words: Vocabulary) -> None:
        """Compile the patterns."""
        self.choices = words is CHOICES
        self.announced = compiled(
            rf"(?<![a-z\d_-]){_LABEL}(?:\s+«right»)?(?:\s+here"
            r"|\s+(?:to|for|of)\s+(?:the|this|your|that|our|will|would|does|do|is|are)\s+[\w ,:()]{1,160}?)?\)?"
            rf"(?:,? (?:though|however|then|therefore|thus),?)?{_LINK}"
            rf"(?P<not_it>\s+(?:not|never)(?=\s+(?:yes|no|a (?:clear )?(?:yes|no)|C\d+)\b))?{_FILLER}"
            rf"(?P<verdict>{words.plain}|{words.named})"
        )
        self.said = compiled(
            r"(?:\b(?P<speaker>(?:i|we|let's|let me)(?:'d|'ll|'m| am| would| will| must| shall| should| can| do)?"
            r"(?: going to| have to| going)?(?: (?:therefore|thus|then|definitely|simply|still|also)){0,2} )?"
            r"(?:(?P<verb>«say»|(?:justif(?:y|ies)|supports?|warrants?) the answer|suggests?)|with"
            r"|inclined to (?:say|answer))(?: this| it)?(?: with| for| that)?(?: the answer is| it's| it is)?(?: an?)?"
            r"(?: «degree»)?|\b(?:it|this|that)(?:'s| is|'d be| would be| has to be| must be| should be)(?: an?)?"
            rf"(?: «degree»){{0,2}}|\bgets? an?)[\s:,]*(?P<verdict>{words.plain})"
        )
        self.sentence = compiled(
            rf"[^\w(]*\(?{_LEAD}(?P<verdict>{words.plain}|{words.named}(?=\s*(?:[.,;!?()\n-]|:(?! (?:yes|no|not"
            r"|true|false)\b)|$)))"
        )
        self.alone = compiled(rf"[^\w]*{_LEAD}(?P<verdict>{words.alone}|{words.plain}|{words.named})[\s.!,)(\d%-]*$")
        self.at_end = compiled(rf"(?:[,:]|\bso|\bthus|\btherefore|\bhence|\bbut)\s+(?P<verdict>{words.plain})[\s.!)]*$")
        self.labelled = compiled(
            rf"(?P<of>[^:\n]{{1,200}}?)\s*(?::|→|-(?=\s))[\s:]*(?P<verdict>{words.plain}|{words.named})"
            r"(?:\s*\(?\s*\d[\d.]*%?\)?)?[\s.!)]*$"
        )
        self.right = compiled(words.right)


@cache
def places(choices: bool) -> Places:
    """Return where a verdict may stand that is one of the item's choices, or Yes or No."""
    return Places(CHOICES if choices else YES_AND_NO)
