"""Stage 2 of reading: the words of a reply without their decoration, in lower case."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from html import unescape

_INVISIBLE = re.compile(
    r"[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]"
)
_PUNCTUATION = str.maketrans(
    {
        **dict.fromkeys("。।۔｡", "."),
        **dict.fromkeys("、،", ","),
        **dict.fromkeys("؟", "?"),
        **dict.fromkeys("؛", ";"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("→⟶⇒⟹➔➜➡►▶", "→"),
        **dict.fromkeys("“”„‟«»‹›「」『』【】〈〉《》", '"'),
        **dict.fromkeys("‘’‚‛`´", "'"),
        **dict.fromkeys("¿¡", " "),
        "\u20e3": ")",
    }
)
_FOREIGN_LABEL = re.compile(
    r"(?P<label>答案|正解|回答|结论|結論|答え|정답|답변|답|คำตอบ|الإجابة|الجواب|jawaban|odpowiedź|antwort|antwoord|cevap"
    r"|câu trả lời)\s*(?:是|为|為|は|은|는|คือ|هي|هو|adalah|brzmi|lautet|là|\bis\b|(?<=cevap) )\s*",
    re.IGNORECASE,
)
# "The answer is" in languages that write no blank there, or use no copula.
_FOREIGN_DENIAL = re.compile(
    r"(?:不能|无法|無法|不可以?|不足以)(?:被|从[^,.\n]{0,20})?(?:推断出?|推出|推导|得出|确定|推論|推斷)"
)
_TAGS = r"(?:p|br|div|li|ul|ol|h[1-6]|tr|hr|section|answer|final|verdict|explanation|rationale)\b[^<>]{0,200}"
_STEPS = tuple(
    (signs, re.compile(pattern, re.IGNORECASE | re.MULTILINE), plain)
    for signs, pattern, plain in (
        ("~", r"~~[^~\n]{1,200}~~", " "),
        (
            "<",
            r"[<\[]\s*(?:final[_ -]?)?(?:answer|verdict|final|conclusion|label|result|output)(?:[_ -]answer)?\s*[>\]]",
            "\nanswer: ",
        ),
        ("<", r"<([a-z]\w{3,24})>\s*(\w[^<>\n]{0,60})</\1>", r"\n\1: \2\n"),
        ("<", r"<\s*/?(yes|no|true|false)\s*/?\s*>", r" \1 "),
        ("<", r"</t[dh]>\s*<t[dh]\b[^<>]{0,200}>", " : "),
        ("<", rf"</?{_TAGS}>", "\n"),
        ("<", r"</?[a-z!][^<>\n]{0,200}>|<\|[^<>|\n]{1,60}\|>", " "),
        ("\\", r"\\n(?=(?-i:[A-Z\\\s*#-])|$)", "\n"),
        ("\\>", r"\\(?:(?:long)?(?:right)?arrow|to|implies)\b|<?[-=]+>", " → "),
        ("\\", r"\\(?:boxed|fbox|framebox|bbox)\s*\{", "\nanswer: "),
        ("\\", r"\\[a-z]+\*?\s?|\\.", " "),
        ("?", r"[?.][\"'](?=\s+(?:is|was|would|must|should)\b)", " "),
        # A member of JSON is a line, and its name a label.
        ("\"'", r"[\"'\]}]\s*,\s*(?=[\"'])|(?:(?<=true)|(?<=false)|(?<=\d)),\s*(?=\")", "\n"),
        ("\"'", r"[\"']\s*:\s*[\[{\"'\s]*", ": "),
        ("|", r"^[ \t|:=-]{3,}$", ""),
        ("|", r"^[ \t]*\|(.*?)\|?[ \t]*$", lambda row: row[1].strip(" |").replace("|", ": ")),
    )
)
"""What is taken off or made plain where one of the signs stands in a text, in this order."""
_UNTICKED = re.compile(r"(?:\[ ?\]|☐|□)[^\n☐☑☒✅\[]*")
_TICKED = re.compile(r"\[[xX✓✔]\]|☑|☒|✅")
_EMPHASIS = str.maketrans(dict.fromkeys('*#<>"~$[]{}|', " "))
_EDGES = re.compile(r"(?<!\w)'|'(?!\w)|(?<!\w)_+|_+(?!\w)|={2,}")
"""Quotation marks, underscores and rulers around words; those inside of them stay."""
_BLANKS = re.compile(r"[^\S\n]+")
_SHORTENED = {
    "tl;dr": "tldr",
    "non sequitur": "non-sequitur",
    "e.g.": "eg",
    "i.e.": "ie",
    " cf.": " cf",
    " vs.": " vs",
    " etc.": " etc",
}
_NOT_SAID = re.compile(r"\((?:yes|no)(?: ?/ ?| or )(?:no|yes)\)|\bno\. (?=of\b|\d)")
"""What the prompt asks for, in parentheses ("The answer (yes or no) is no"), and numbers."""


def normalised(text: str) -> str:
    """Return the words in lower case, a statement a line where the reply has lines, cells or members of JSON.

    Takes off HTML and XML tags, Markdown, LaTeX, JSON's braces, quotation marks, emoji and invisible characters; what
    has been struck out goes with its words. A box and an answer's tag become the words that announce an answer.
    """
    text = unescape(text) if "&" in text else text
    if ("[" in text or "☐" in text) and _TICKED.search(text):
        text = _TICKED.sub(" ", _UNTICKED.sub("", text))
    if not text.isascii():
        text = _plain_characters(text)
    elif not text.isprintable():
        text = _INVISIBLE.sub("", text)
    text = text.replace("`", "'")
    for signs, pattern, plain in _STEPS:
        if any(sign in text for sign in signs):
            text = pattern.sub(plain, text)
    text = _BLANKS.sub(" ", _EDGES.sub(" ", text.translate(_EMPHASIS)))
    text = "\n".join(stripped for line in text.split("\n") if (stripped := line.strip())).lower()
    for short, plain in _SHORTENED.items():
        text = text.replace(short, plain)
    if not text.isascii() or any(label in text for label in ("antwo", "jawaban", "cevap")):
        text = _FOREIGN_LABEL.sub(r"\g<label>: ", text)
    return _NOT_SAID.sub(" ", text)


def _plain_characters(text: str) -> str:
    """Return compatible characters, Latin punctuation, and no emoji or control characters."""
    text = unicodedata.normalize("NFKC", text.translate(_PUNCTUATION)).translate(_PUNCTUATION)
    text = _FOREIGN_DENIAL.sub("\n不能. ", text)
    text = _INVISIBLE.sub("", text)
    strange = {character for character in set(text) if not character.isascii() and _pictured(character)}
    return text.translate(dict.fromkeys(map(ord, strange), " ")) if strange else text


@lru_cache(maxsize=4096)
def _pictured(character: str) -> bool:
    """Return whether a character is a picture or a mark: no letter, digit, or punctuation."""
    return character != "→" and unicodedata.category(character) in ("So", "Sk", "Cf", "Co", "Cn", "Cs", "Cc")
