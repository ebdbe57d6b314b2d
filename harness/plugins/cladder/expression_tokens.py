"""The signs and words of an expression of probabilities, whether it is plain text, LaTeX or Unicode."""

from __future__ import annotations

import re
from collections.abc import Sequence


class UnreadableExpression(ValueError):
    """A text that is no expression, or one that can be taken in two ways."""


_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉−–∣×·⋅∗;′’ʹ", "0123456789--|****,'''")
_WORDS: Sequence[tuple[re.Pattern[str], str]] = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"\\(?:left|right|limits|displaystyle|[bB]igg?[lrm]?|middle|quad|qquad|,|;|!|:|\s|\(|\)|\[|\])", " "),
        (r"\\(?:mathrm|text|operatorname|mathbb|mathit|mathbf|textbf|textit|mathsf)\s?\{ ?(\w+) ?\}", r" \1 "),
        (r"\\(?:mathbb|mathrm) ?([EP])\b", r" \1 "),
        (r"\\(?:cdot|times|ast)\b", "*"),
        (r"\\(?:mid|vert|given)\b", "|"),
        (r"\\(?:land|wedge|cap)\b|[∧∩&]", ","),
        (r"\\(?:neg|lnot)\b|~", "¬"),
        (r"\\in\b", "∈"),
        (r"\\[dt]?frac\b", " frac "),
        (r"\\div\b|÷", "/"),
        (r"\\sum|[∑Σ]|\b[Ss]um(?=_|\b)", " sum "),
        (r"\\(?:Pr|Prob)\b|\b(?:Pr|Prob)\b|ℙ", " P "),
        (r"\\do\b", " do "),
        (r"𝔼|\\E\b", " E "),
        (r"\^\{?\\prime\}?|\\prime\b|\^'", "'"),
        (r"\\([{}|_])", r"\1"),
        (r"\b([A-Za-z])_(?:\{ ?(\d) ?\}|(\d))", r"\1\2\3"),
        (r"[$`]", " "),
    )
)
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?|\.\d+)|(?P<name>[A-Za-z][A-Za-z0-9]*'*)|(?P<sign>[-+*/=|,_^∈¬(){}\[\]]))"
)


def tokens(text: str) -> list[str]:
    """Return the parts of an expression, and "" for its end. Raises UnreadableExpression."""
    text = text.translate(_SUBSCRIPTS)
    for pattern, replacement in _WORDS:
        text = pattern.sub(replacement, text)
    text = text.strip().rstrip(".,")
    parts, place = list[str](), 0
    while place < len(text):
        if not (match := _TOKEN.match(text, place)):
            if not text[place:].strip():
                break
            raise UnreadableExpression(f"{text[place : place + 20]!r} is no part of an expression")
        parts.append(match[0].strip())
        place = match.end()
    return [*parts, ""]
