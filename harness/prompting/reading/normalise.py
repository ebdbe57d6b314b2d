"""Stage 2 of reading: the words of a reply without their decoration, in lower case."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

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
_ENTITIES = {"&nbsp;": " ", "&quot;": '"', "&#39;": "'", "&apos;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&"}
_FORMAT = re.compile(r"\((?:yes|no)(?: ?/ ?| or )(?:no|yes)\)")
"""What the prompt asks for, in parentheses: "The answer (yes or no) is no"."""
_CELLS = re.compile(r"</t[dh]>\s*<t[dh]\b[^<>]{0,200}>", re.IGNORECASE)
_FOREIGN_LABEL = re.compile(
    r"(?P<label>答案|正解|回答|结论|結論|答え|정답|답변|답|คำตอบ|الإجابة|الجواب|jawaban|odpowiedź|antwort|antwoord|cevap"
    r"|câu trả lời)\s*(?:是|为|為|は|은|는|คือ|هي|هو|adalah|brzmi|lautet|là|\bis\b|(?<=cevap) )\s*",
    re.IGNORECASE,
)
# "The answer is" in languages that write no blank there, or use no copula.
_FOREIGN_DENIAL = re.compile(
    r"(?:不能|无法|無法|不可以?|不足以)(?:被|从[^,.\n]{0,20})?(?:推断出?|推出|推导|得出|确定|推論|推斷)"
)
_STRUCK_OUT = re.compile(r"~~[^~\n]{1,200}~~")
_ANSWER_TAG = re.compile(
    r"[<\[]\s*(?:final[_ -]?)?(?:answer|verdict|final|conclusion|label|result|output)(?:[_ -]answer)?\s*[>\]]",
    re.IGNORECASE,
)
_FIELD_TAG = re.compile(r"<([a-zA-Z]\w{3,24})>\s*(\w[^<>\n]{0,60})</\1>")
_LINE_TAG = re.compile(
    r"</?(?:p|br|div|li|ul|ol|h[1-6]|tr|hr|section|answer|final|verdict|explanation|rationale)\b[^<>]{0,200}>",
    re.IGNORECASE,
)
_VERDICT_TAG = re.compile(r"<\s*/?(yes|no|true|false)\s*/?\s*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z!][^<>\n]{0,200}>|<\|[^<>|\n]{1,60}\|>")
_ARROW = re.compile(r"\\(?:long)?(?:right)?arrow\b|\\to\b|\\implies\b|\\Rightarrow\b|<?[-=]+>")
_BOX = re.compile(r"\\(?:boxed|fbox|framebox|bbox)\s*\{")
_ESCAPED_LINE = re.compile(r"\\n(?=[A-Z\\\s*#-]|$)")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?\s?|\\.")
_MEMBERS = re.compile(
    r"[\"'\]}]\s*,\s*(?=[\"'])|(?<=true),\s*(?=\")|(?<=false),\s*(?=\")|(?<=\d),\s*(?=\")", re.IGNORECASE
)
_QUOTED_KEY = re.compile(r"[\"']\s*:\s*[\[{\"'\s]*")
_TABLE_ROW = re.compile(r"^[ \t]*\|(.*?)\|?[ \t]*$", re.MULTILINE)
_UNTICKED = re.compile(r"(?:\[ ?\]|☐|□)[^\n☐☑☒✅\[]*")
_TICKED = re.compile(r"\[[xX✓✔]\]|☑|☒|✅")
_EMPHASIS = str.maketrans(dict.fromkeys('*#<>"~$[]{}', " "))
_QUOTES = re.compile(r"(?<!\w)'|'(?!\w)")
_UNDERSCORES = re.compile(r"(?<!\w)_+|_+(?!\w)")
_RULERS = re.compile(r"={2,}")
_QUOTED_QUESTION = re.compile(r"[?.][\"'](?=\s+(?:is|was|would|must|should)\b)", re.IGNORECASE)
_RULE = re.compile(r"^[ \t|:=-]{3,}$", re.MULTILINE)
_BLANKS = re.compile(r"[^\S\n]+")
_SHORTENED = (
    ("non sequitur", "non-sequitur"),
    ("e.g.", "eg"),
    ("i.e.", "ie"),
    (" cf.", " cf"),
    (" vs.", " vs"),
    (" etc.", " etc"),
)
_NUMBER = re.compile(r"\bno\. (?=of\b|\d)")


def normalised(text: str) -> str:
    """Return the words in lower case, a statement a line where the reply has lines, cells or members of JSON.

    Takes off HTML and XML tags, Markdown, LaTeX, JSON's braces, quotation marks, emoji and invisible characters; what
    has been struck out goes with its words. A box and an answer's tag become the words that announce an answer.
    """
    if "&" in text:
        for entity, character in _ENTITIES.items():
            text = text.replace(entity, character)
    if ("[" in text or "☐" in text) and _TICKED.search(text):
        text = _TICKED.sub(" ", _UNTICKED.sub("", text))
    if not text.isascii():
        text = _plain_characters(text)
    else:
        text = _INVISIBLE.sub("", text) if not text.isprintable() else text
        text = text.replace("`", "'")
    if "~~" in text:
        text = _STRUCK_OUT.sub(" ", text)
    if "<" in text:
        text = _FIELD_TAG.sub(r"\n\1: \2\n", _ANSWER_TAG.sub("\nanswer: ", text))
        text = _CELLS.sub(" : ", _VERDICT_TAG.sub(r" \1 ", text))
        text = _TAG.sub(" ", _LINE_TAG.sub("\n", text))
    if "\\n" in text:
        text = _ESCAPED_LINE.sub("\n", text)
    if "\\" in text or "->" in text or "=>" in text:
        text = _BOX.sub("\nanswer: ", _ARROW.sub(" → ", text))
        text = _COMMAND.sub(" ", text)
    if "?" in text:
        text = _QUOTED_QUESTION.sub(" ", text)
    if '"' in text or "'" in text:
        text = _QUOTED_KEY.sub(": ", _MEMBERS.sub("\n", text))
    if "|" in text:
        text = _RULE.sub("", text)
        text = _TABLE_ROW.sub(lambda row: row[1].strip(" |").replace("|", ": "), text).replace("|", " ")
    text = text.translate(_EMPHASIS)
    if "'" in text:
        text = _QUOTES.sub(" ", text)
    if "__" in text or " _" in text or "_ " in text or text[:1] == "_" or text[-1:] == "_":
        text = _UNDERSCORES.sub(" ", text)
    if "==" in text:
        text = _RULERS.sub(" ", text)
    if "  " in text or "\t" in text or "\r" in text:
        text = _BLANKS.sub(" ", text)
    text = "\n".join(stripped for line in text.split("\n") if (stripped := line.strip())).lower()
    if "tl;dr" in text:
        text = text.replace("tl;dr", "tldr")
    for short, plain in _SHORTENED:
        if short in text:
            text = text.replace(short, plain)
    if not text.isascii() or any(label in text for label in ("antwo", "jawaban", "cevap")):
        text = _FOREIGN_LABEL.sub(r"\g<label>: ", text)
    if "yes" in text and "no" in text:
        text = _FORMAT.sub(" ", text)
    return _NUMBER.sub("number ", text) if "no. " in text else text


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
