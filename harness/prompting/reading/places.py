"""Where a verdict may stand in a sentence: announced, at its beginning or end, alone, after a label."""

from __future__ import annotations

from functools import cache

from harness.prompting.reading.words import compiled

_END = (
    r"(?=\s*(?:$|[.,;:!?(){}<>/…\n%✓]|-+(?:\s|$|>)|→|\d|です|입니다|이다)"
    r"|\s+(?:«after_a_verdict»|[b-z]|a (?=[a-z]+s\b|does|is|do|can)|H[01])\b)"
)
"""What follows a verdict. "No variable separates them" is none, and so neither is "Yes variable"."""
_OFFER = (
    r"(?!, let(?: me|'s| us) \w+\b|, i(?:'m| am) (?:quite |very )?(?:sure|certain|confident)\W*$"
    r"|\W*(?:i|we)(?:'d| would| can| could| will|'ll)(?: be)? (?:happy|glad|help|assist|explain|provide|walk)"
    r"|\W*i (?:understand|see)\b)"
)
# The words of an answer: wherever a verdict may stand; where an answer is announced, or alone; where nothing else is
# said; and a sentence that says of one of the words that it is the answer. `label_of` tells what a match says.
_YES_AND_NO = (
    rf"(?<![\w-])(?:(?P<yes>ye+s+|«yes»)|(?P<no>no+|«no»)){_END}{_OFFER}",
    r"(?<![\w-])(?:(?P<dissent>«dissent»)|(?P<denied>not |isn't |non-|un)?(?:(?P<positive>«positive»)"
    r"|(?P<negative>«negative»)))\b(?!\s+(?:that|to\b|answer|choice|option|conclusion|statement|hypothesis"
    r"|if and only|positive|negative|only|variable|about))",
    r"(?P<assent>«assent»)|(?P<y>y)|(?P<n>n)",
    r"(?<![\w-])(?P<verdict>(?P<yes>yes)|(?P<no>no)) is the (?:correct|right|final) answer\b",
)
_CHOICE = r"(?<!\w)C(?P<option>\d+)"
_CHOICE_END = r"(?=\s*(?:$|[.,;!()%/\n]|:(?!\s*\d)|-+(?:\s|$)|→|\d|です|입니다)|\s+«after_a_choice»\b)"
_CAUSE_IS = (
    r"(?<!least likely )(?:\b(?:leaves|leaving|queda)(?= C\d+\W*$)"
    r"|(?:cause|effect|reason|explanation|event|«kind») (?:is|must be|has to be|would be))\s+(?:option )?"
)
_IS_RIGHT = (
    r"\s+(?:fits best|makes (?:the )?most sense|best (?:fits|explains|describes)"
    r"|(?:is|seems|appears|looks|must be|would be)\s+(?:(?:the|clearly|most|definitely|therefore|indeed|thus|by far"
    r"|single)\s+){0,3}(?:correct|right|best|answer|likely|likeliest|plausible))\b(?!\s*\?)"
)
_CHOICES = (
    _CHOICE + _CHOICE_END,
    r"(?!)",
    r"(?!)",
    rf"(?P<because>{_CAUSE_IS})?(?P<verdict>{_CHOICE})(?(because){_CHOICE_END}|{_IS_RIGHT})",
)
# Choices stand in the text as C0, C1, …: see `choices_marked`.
SENTENCE_BREAK = (
    r"(?:(?<=[.!?;])(?<!^\d\.)|(?<=[.!?]\)))\s+"
    r"|(?:,| -+) (?:no,? )?(?=(?:i mean|sorry|or rather|make that|(?:actually|wait),? (?:yes|no|C\d+))\b)"
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
    r"(?:(?:(?:«before_a_verdict»|«so»|«degree»|«corrects»)\b|option [a-e]|[a-e]\)|\([a-e]\)|\d{1,2}[.)]"
    r"|(?<=actually, )no(?=\W+C\d))\s*+[,:.!)-]*+\s*+){0,6}"
)
CONCEDES = (
    r"\W*(?:true|right|correct), (?!because|since|as\b|it\b|we\b|the (?:hypo|stat|claim|concl)|H1|this|that|so\b)"
)
"""What is granted before the verdict: "True, they correlate"."""
SHORT_FORM = (
    r"\W*+(?:indeed|sure|of course|well|so|sorry)?\W*+"
    r"(?P<verdict>(?P<yes>«short_assent»)|(?P<no>«short_dissent»))\W*\Z"
)
SEPARATED = r":|→| - "
OTHER_STATEMENT = r"\b«another_statement»\b"
IN_THAT_CASE = r"\bin (?:this|that|such a|which|either|the (?:first|second|other)) (?:case|scenario)\b"
LONGEST_LINE = 400
ABOUT_IT = (
    r"H[01]|«stem»|answer|verdict|\bit\b|final|suppl|\bword\b|bottom line|short|checking|(?:yes|no) or (?:yes|no)"
)
STEP = (
    r"^\W*(?:long(?:er)?|detailed|full) answer\b|^\W*(?:«step»\b[^:]{0,40}\d|«kind» \d|(?:scenario|case|graph|dag"
    r"|example|situation) [\da-e]\b)|\bstep \d|\?[\s)]*(?:answer|a)\b|\b(?:first|second|third|other|previous) example\b"
)
ELSEWHERE = (
    r"\W*(?:(?:ps|note(?: that)?|also|similarly|conversely|by contrast|but|and|bonus|remark|aside)\b\W*)*"
    r"(?:with|without|for|once|adding|after adding|replacing|in an?|on an?) (?!(?:«of_this_world»|regard\w*"
    r"|the (?:given|above|information|premise|hypothesis|question|statement|relations|reasons?)"
    r"|\w+ (?:confidence|in mind|considered|listed|checked|said|done|words?))\b)"
)
"""What begins a sentence on another world than the premise's ("with a collider at C, …")."""
CORRECTS = r"\b(?:«corrects»|no,? wait)\b"
QUESTION = r"\?[\s)]*$"
HEADING = rf"(?m)^((?:[\d.]+\s*)?(?:the |my |so the )?(?:final |short |correct )?{_LABEL})\s*(?: is)?[:.]?\n(?=\S)"


class Places:
    """Where a verdict in the words of a vocabulary may stand, as patterns."""

    def __init__(self, choices: bool) -> None:
        plain, named, alone, right = _CHOICES if choices else _YES_AND_NO
        self.choices = choices
        self.announced = compiled(
            rf"(?<![a-z\d_-]){_LABEL}(?:\s+«right»)?(?:\s+here"
            r"|\s+(?:to|for|of)\s+(?:the|this|your|that|our|will|would|does|do|is|are)\s+[\w ,:()]{1,160}?)?\)?"
            rf"(?:,? (?:though|however|then|therefore|thus),?)?{_LINK}"
            rf"(?P<not_it>\s+(?:not|never)(?=\s+(?:yes|no|a (?:clear )?(?:yes|no)|C\d+)\b))?{_FILLER}"
            rf"(?P<verdict>{plain}|{named})"
        )
        self.said = compiled(
            r"(?:\b(?P<speaker>(?:i|we|let's|let me)(?:'d|'ll|'m| am| would| will| must| shall| should| can| do)?"
            r"(?: going to| have to| going)?(?: (?:therefore|thus|then|definitely|simply|still|also)){0,2} )?"
            r"(?:(?(speaker)(?:«say»|with)|(?!))|(?:(?<=go )|(?<=going )|(?<=stick )|(?<=sticking ))with"
            r"|inclined to (?:say|answer))(?: this| it)?(?: with| for| that)?"
            r"(?: the answer is| it's| it is)?(?: an?)?(?: «degree»)?|\b(?:it|this|that)(?:'s| is|'d be| would be"
            rf"| has to be| must be| should be)(?: an?)?(?: «degree»){{0,2}}|\bgets? an?)[\s:,]*(?P<verdict>{plain})"
        )
        self.sentence = compiled(
            rf"[^\w(]*\(?{_LEAD}(?P<verdict>{plain}|{named}"
            r"(?=\s*(?:[.,;!?()\n-]|:(?! (?:yes|no|not|true|false)\b)|$)))"
        )
        self.alone = compiled(rf"[^\w]*{_LEAD}(?P<verdict>{alone}|{plain}|{named})[\s.!,)(\d%-]*$")
        self.at_end = compiled(
            rf"(?:(?P<so>\b«so»,?)|[,:]|\bbut)\s+(?P<verdict>{plain})(?:[\s.!)]*$|(?(so)\s*[(-]|(?!)))"
        )
        self.labelled = compiled(
            rf"(?P<of>[^:\n]{{1,200}}?)\s*(?::|→|-(?=\s))[\s:]*(?P<verdict>{plain}|{named})"
            r"(?:\s*\(?\s*\d[\d.]*%?\)?)?[\s.!)]*$"
        )
        self.right = compiled(right)


places = cache(Places)
