"""The words of a verdict, and where one may stand: one definition for all verdicts, so that they are read alike."""

from __future__ import annotations

import re
from dataclasses import dataclass

YES = (
    "yes yeah yep yup yea aye affirmative sí sì oui ja sim evet tak ya đúng có да はい 예 네 ใช่ "
    "是 是的 肯定 肯定的 对 對 可以 能 正确 正確 成立 نعم ہاں هاں جی हाँ हां হ্যাঁ"
).split()
NO = (
    "no nope nah nay negative nein non não nao hayır nie tidak sai không nee нет いいえ 아니요 아니오 아뇨 ไม่ใช่ ไม่ "
    "否 否定 否定的 不 不是 不是的 不能 不可以 不对 不對 错误 錯誤 不成立 لا نہیں नहीं না"
).split()
ASSENT = "absolutely|definitely|certainly|indeed|of course|without (?:a )?doubt|undoubtedly|exactly"
DISSENT = (
    "(?:absolutely|definitely|certainly|of course|probably|surely|clearly|indeed|maybe) not"
    "|not (?:necessarily|at all|really|in general|always|quite)|no way|hardly"
    "|by no means|in no way|under no circumstances"
)
POSITIVE = (
    "true|valid|correct|right|sound|entailed|implied|deducible|derivable|inferable|inferrable|supported|justified"
    "|warranted|proven|proved|confirmed|established|guaranteed|deducted|deduced|inferred|concluded|derived|entailment"
    "|logically valid|accurate|accepted|upheld"
)
NEGATIVE = (
    "false|invalid|incorrect|wrong|unsound|untrue|unsupported|unjustified|unwarranted|unproven|refuted|disproved|disproven"
    "|contradicted|undeducible|contradiction|neutral|inaccurate|rejected|falsified|non-?entailment|undetermined"
    "|non-sequitur"
)


def _words(words: list[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


# What may follow the word: the end of the statement, a reason, a number, or "to the question". "No variable separates
# them" is no verdict, and so neither is "Yes variable".
END = (
    r"(?=\s*(?:$|[.,;:!?(){}<>/…\n%✓]|-+(?:\s|$|>)|→|\d|です|입니다|이다)|\s+(?:because|since|as|we|it|its|this|that|that's"
    r"|you|they|he|she|the|there|these|those|in|for|under|on|at|by|from|to|with|without|based|given|here|due|although"
    r"|though|however|but|and|or|both|while|whereas|not|i|i'm|[b-z]|a (?=[a-z]+s\b|does|is|do|can)|H[01]|is the|is my"
    r"|would|confidence|only|if|unless|provided|assuming|when|rather|instead|yes|no|indeed|sir|then|of course|is"
    r" correct)\b)"
)
WORD = rf"(?P<yes>ye+s+|{_words(YES)})|(?P<no>no+|{_words(NO)})"
_OFFER = (
    r"(?!, let(?: me|'s| us) (?:think|see|check|analy[sz]e|look|start|begin|work|consider|examine|walk|go|break)\b|,"
    r" i(?:'m| am) (?:quite |very )?(?:sure|certain|confident)\W*$|\W*(?:i|we)(?:'d| would| can| could| will|'ll)(?:"
    r" be)? (?:happy|glad|help|assist|explain|provide|walk)|\W*i (?:understand|see)\b)"
)
PLAIN = rf"(?<![\w-])(?:{WORD}){END}{_OFFER}"
"""Yes and No in the words of many languages."""
NAMED = (
    rf"(?<![\w-])(?:(?P<dissent>{DISSENT})|(?P<denied>not |isn't |non-|un)?(?:(?P<positive>{POSITIVE})"
    rf"|(?P<negative>{NEGATIVE})))\b"
    r"(?!\s+(?:that|to\b|answer|choice|option|conclusion|statement|hypothesis|if and only|positive|negative|only"
    r"|variable|about))"
)
"""True, valid, entailed, not necessarily … : words that decide where an answer is announced, or stand alone."""


TELLING = frozenset(
    {word for word in (*YES, *NO) if word.isascii()}
    | set(re.findall(r"[a-z]{4,}", f"{ASSENT} {POSITIVE} {NEGATIVE}"))
    | {"not", "y", "n"}
) - {"with", "course", "logically", "a"}
"""A sentence without any of these has no verdict in it, but for the words of other scripts."""


_CHOICE_END = (
    r"(?=\s*(?:$|[.,;!()%/\n]|:(?!\s*\d)|-+(?:\s|$)|→|\d|です|입니다)|\s+(?:because|since|as|with|due|given|for|in|which|here"
    r"|based|confidence|it|this|that|but)\b)"
)
_CHOICE = r"(?<!\w)C(?P<option>\d+)"
_CAUSE_IS = (
    r"(?<!least likely )(?:cause|effect|reason|explanation|event)(?: (?:is|must be|has to be|would be))\s+(?:option )?"
)
_IS_RIGHT = (
    r"\s+(?:fits best|makes (?:the )?most sense|best (?:fits|explains|describes)|(?:is|seems|appears"
    r"|looks|must be|would be)\s+(?:(?:the"
    r"|clearly|most|definitely|therefore|indeed|thus|by far|single)\s+){0,3}(?:correct|right|best|answer|likely"
    r"|likeliest|plausible))\b(?!\s*\?)"
)


@dataclass(frozen=True)
class Vocabulary:
    """The words in which an answer may come, as patterns; `label_of` tells what a match of one of them says."""

    plain: str
    """Words that say it wherever a verdict may stand."""
    named: str
    """Words that say it where an answer is announced, or alone."""
    alone: str
    """Words that say it where nothing else is said."""
    right: str
    """A sentence that says of one of the words that it is the answer."""


YES_AND_NO = Vocabulary(
    PLAIN,
    NAMED,
    rf"(?P<assent>{ASSENT})|(?P<y>y)|(?P<n>n)",
    r"(?<![\w-])(?P<verdict>(?P<yes>yes)|(?P<no>no)) is the (?:correct|right|final) answer\b",
)
CHOICES = Vocabulary(
    _CHOICE + _CHOICE_END,
    r"(?!)",
    r"(?!)",
    rf"(?P<because>{_CAUSE_IS})?(?P<verdict>{_CHOICE})(?(because){_CHOICE_END}|{_IS_RIGHT})",
)
"""Of choices, which stand in the text as C0, C1, …: see `marks`."""


def label_of(match: re.Match[str]) -> int | None:
    """Return what the word found says: 1 for Yes, 0 for No, or a choice's place; None for a denied No ("not false")."""
    groups = match.groupdict()
    if option := groups.get("option"):
        return int(option)
    if groups.get("yes") or groups.get("assent") or groups.get("y"):
        return 1
    if groups.get("no") or groups.get("dissent") or groups.get("n"):
        return 0
    if groups.get("positive"):
        return 0 if groups.get("denied") else 1
    return None if groups.get("denied") or not groups.get("negative") else 0
