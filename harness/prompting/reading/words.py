"""The words of replies, by role and language in words.yaml, and patterns of them.

Stage 2 of reading is here, too: the words of a reply without their decoration, in lower case.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern in which «role» stands for any of the words of a role; compiled when first asked for."""
    return re.compile(re.sub("«([a-z_]+)»", lambda role: f"(?:{any_of(_words()[role[1]])})", pattern))


def any_of(phrases: tuple[str, ...]) -> str:
    """Return the alternatives of a pattern that finds one of some words, the longest first."""
    return "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))


def in_file(name: str) -> Mapping[str, Any]:
    """Return what a YAML file beside this one holds, all of it as text: to YAML itself, yes and no are no words."""
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # ten times as fast, where it was built
    content: Mapping[str, Any] = yaml.load(Path(__file__).with_name(name).read_text(encoding="utf-8"), loader)
    return content


@cache
def _words() -> Mapping[str, tuple[str, ...]]:
    """Return the words of each role in all languages."""
    roles = in_file("words.yaml").items()
    lists = {role: ", ".join(text.values()) if isinstance(text, dict) else text for role, text in roles}
    return {role: tuple(text.split(", ")) for role, text in lists.items()}


def label_of(match: re.Match[str]) -> int | None:
    """Return what the word found says: 1 for Yes, 0 for No, or a choice's place; None for a denied No ("not false")."""
    groups = match.groupdict()
    if option := groups.get("option"):
        return int(option)
    for label, names in enumerate((("no", "dissent", "n"), ("yes", "assent", "y"))):
        if any(groups.get(name) for name in names):
            return label
    if groups.get("denied"):
        return 0 if groups["positive"] else None
    return 1 if groups.get("positive") else 0 if groups.get("negative") else None


INVISIBLE = (
    r"[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]"
)
_SIGNS = {".": "。।۔｡", ",": "、،", "?": "؟", ";": "؛", "-": "‐‑‒–—―−", "→": "⟶⇒⟹➔➜➡►▶", " ": "¿¡", ")": "\u20e3"}
_QUOTATION_MARKS = {'"': "“”„‟«»‹›「」『』【】〈〉《》", "'": "‘’‚‛`´"}
_PUNCTUATION = str.maketrans({sign: plain for plain, signs in (_SIGNS | _QUOTATION_MARKS).items() for sign in signs})
_FOREIGN_DENIAL = r"(?:不能|无法|無法|不可以?|不足以)(?:被|从[^,.\n]{0,20})?(?:推断出?|推出|推导|得出|确定|推論|推斷)"
_FOREIGN_ANSWER = r"(?P<answer>«answer_unspaced»)\s*«is_unspaced»\s*"
_BLOCK = r"(?:p|br|div|li|ul|ol|h[1-6]|tr|hr|section|answer|final|verdict|explanation|rationale)\b[^<>]{0,200}"
_ANSWER_TAG = r"(?:final[_ -]?)?(?:answer|verdict|final|conclusion|label|result|output)(?:[_ -]answer)?"
_STEPS = (
    ("~", r"~~[^~\n]{1,200}~~", " "),
    ("<", rf"[<\[]\s*{_ANSWER_TAG}\s*[>\]]", "\nanswer: "),
    ("<", r"<([a-z]\w{3,24})>\s*(\w[^<>\n]{0,60})</\1>", r"\n\1: \2\n"),
    ("<", r"<\s*/?(yes|no|true|false)\s*/?\s*>", r" \1 "),
    ("<", r"</t[dh]>\s*<t[dh]\b[^<>]{0,200}>", " : "),
    ("<", rf"</?{_BLOCK}>", "\n"),
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
"""What is taken off or made plain where one of the signs stands in a text, in this order."""
_PICTURES = ("So", "Sk", "Cf", "Co", "Cn", "Cs", "Cc")  # categories of what is no letter, digit or punctuation
_TICK, _CROSS = r"\[[xX✓✔]\]|[☑☒✅✓✔]", r"\[ ?\]|[☐□✗✘❌✖❎]"
_UNTICKED = rf"(?:(?!{_TICK}|{_CROSS})[^\n])*"
_MARKS_LEAD = rf"(?m)[\[☐□]|^[^\w\n]*(?:{_TICK}|{_CROSS})"
_LONGEST_LIST = 200
"""Characters of a list of answers with crosses; in a longer reply they are marks of an argument, but for boxes."""
_EMPHASIS = str.maketrans(dict.fromkeys('*#<>"~$[]{}|', " "))
_EDGES = r"(?<!\w)'|'(?!\w)|(?<!\w)_+|_+(?!\w)|={2,}"
"""Quotation marks, underscores and rulers around words; those inside of them stay."""
_SHORTENED = r"\b(e)\.(g)\.|\b(i)\.(e)\.|(?<= )(cf|vs|etc)\."
_NOT_SAID = r"\((?:yes|no)(?: ?/ ?| or )(?:no|yes)\)|\bno\. (?=of\b|\d)"
"""What the prompt asks for, in parentheses ("The answer (yes or no) is no"), and numbers."""


def normalised(text: str) -> str:
    """Return the words in lower case, a statement a line where the reply has lines, cells or members of JSON.

    Takes off HTML and XML tags, Markdown, LaTeX, JSON's braces, quotation marks, emoji and invisible characters; what
    has been struck out goes with its words. A box and an answer's tag become the words that announce an answer.
    """
    text = unescape(text) if "&" in text else text
    if "[" in text or not text.isascii():
        text = _ticked(text)
    if not text.isascii():
        text = _plain_characters(text)
    elif not text.isprintable():
        text = compiled(INVISIBLE).sub("", text)
    text = text.replace("`", "'")
    for signs, pattern, plain in _STEPS:
        if any(sign in text for sign in signs):
            text = compiled(f"(?im){pattern}").sub(plain, text)
    text = compiled(r"[^\S\n]+").sub(" ", compiled(_EDGES).sub(" ", text.translate(_EMPHASIS)))
    text = "\n".join(stripped for line in text.split("\n") if (stripped := line.strip())).lower()
    text = compiled(_SHORTENED).sub(r"\1\2\3\4\5", text) if "." in text else text
    return compiled(_NOT_SAID).sub(" ", text)


def _ticked(text: str) -> str:
    """Return a text without ticks, and without what bears a cross or an empty box beside what is ticked."""
    tick, cross = (compiled(marks).search(text) for marks in (_TICK, _CROSS))
    if tick and cross and (cross[0][0] in "[☐□" or len(text) <= _LONGEST_LIST):
        crossed = rf"(?:{_CROSS}){_UNTICKED}" if compiled(_MARKS_LEAD).search(text) else rf"{_UNTICKED}(?:{_CROSS})"
        text = compiled(crossed).sub("\n", text).strip(" \n,;:")
    return compiled(_TICK).sub(" ", text) if tick else text


def _plain_characters(text: str) -> str:
    """Return compatible characters, Latin punctuation, and no emoji or control characters."""
    text = unicodedata.normalize("NFKC", text.translate(_PUNCTUATION)).translate(_PUNCTUATION)
    text = compiled(_FOREIGN_DENIAL).sub("\n不能. ", text)
    text = compiled(_FOREIGN_ANSWER).sub(r"\g<answer>: ", text)
    text = compiled(INVISIBLE).sub("", text)
    pictures = {sign for sign in set(text) if sign not in "→`^\n\t" and unicodedata.category(sign) in _PICTURES}
    return text.translate(dict.fromkeys(map(ord, pictures), " "))
