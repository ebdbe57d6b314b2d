"""The words of a verdict: by role and language in words.yaml, and the patterns of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ROLE = re.compile("«([a-z_]+)»")


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern in which «role» stands for any of the words of a role; compiled when first asked for."""
    return re.compile(_ROLE.sub(lambda role: f"(?:{any_of(words(role[1]))})", pattern))


def any_of(phrases: tuple[str, ...]) -> str:
    """Return the alternatives of a pattern that finds one of some words, the longest first."""
    return "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))


def words(role: str) -> tuple[str, ...]:
    """Return the words of a role in all languages."""
    return _roles()[role]


@cache
def _roles() -> Mapping[str, tuple[str, ...]]:
    import yaml

    # All is text: to YAML itself, yes and no are no words.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # ten times as fast, where it was built
    roles = yaml.load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"), loader)
    lists = {role: ", ".join(text.values()) if isinstance(text, dict) else text for role, text in roles.items()}
    return {role: tuple(text.split(", ")) for role, text in lists.items()}


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
YES_AND_NO = Vocabulary(
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
    r"(?<!least likely )(?:cause|effect|reason|explanation|event) (?:is|must be|has to be|would be)\s+(?:option )?"
)
_IS_RIGHT = (
    r"\s+(?:fits best|makes (?:the )?most sense|best (?:fits|explains|describes)"
    r"|(?:is|seems|appears|looks|must be|would be)\s+(?:(?:the|clearly|most|definitely|therefore|indeed|thus|by far"
    r"|single)\s+){0,3}(?:correct|right|best|answer|likely|likeliest|plausible))\b(?!\s*\?)"
)
CHOICES = Vocabulary(
    _CHOICE + _CHOICE_END,
    r"(?!)",
    r"(?!)",
    rf"(?P<because>{_CAUSE_IS})?(?P<verdict>{_CHOICE})(?(because){_CHOICE_END}|{_IS_RIGHT})",
)
"""Of choices, which stand in the text as C0, C1, …: see `choices_marked`."""


def label_of(match: re.Match[str]) -> int | None:
    """Return what the word found says: 1 for Yes, 0 for No, or a choice's place; None for a denied No ("not false")."""
    groups = match.groupdict()
    if option := groups.get("option"):
        return int(option)
    if any(groups.get(name) for name in ("yes", "assent", "y")):
        return 1
    if any(groups.get(name) for name in ("no", "dissent", "n")):
        return 0
    if groups.get("denied"):
        return 0 if groups["positive"] else None
    return 1 if groups.get("positive") else 0 if groups.get("negative") else None
