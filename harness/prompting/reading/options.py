"""Options that a reply lists with letters: taken off, with each later letter put into its word."""

from __future__ import annotations

import re

_LIST = re.compile(
    r"\(?\ba[).:]\s*(?P<a>yes|no|true|false)\b[.,;]?\s*(?:and |or )?\s*\(?b[).:]\s*(?P<b>yes|no|true|false)\b[.,;]?"
    r"(?:\s*(?:and |or )?\s*\(?c[).:]\s*(?P<c>[a-z' ]{2,40}))?"
)
_SECOND = re.compile(r"b[).:]\s*(?:yes|no|true|false)\b")
_LETTER = re.compile(
    r"(?:\boption |\bchoice )?\((?P<one>[ab])\)|\b(?:option|choice) (?P<two>[ab])\b"
    r"|(?<=answer: )(?P<three>[ab])(?=\W|$)|(?<=answer is )(?P<four>[ab])(?=\W|$)"
)


def options_resolved(text: str) -> str:
    """Return a normalised text without its list of options, and "option b" as the word that the list gives it."""
    listed = _LIST.search(text) if _SECOND.search(text) else None
    if listed is None or listed["a"] == listed["b"]:
        return text
    words = {"a": listed["a"], "b": listed["b"]}

    def word(letter: re.Match[str]) -> str:
        """Return the option's word, but nothing where the word itself follows."""
        name = words[next(group for group in letter.groups() if group)]
        return "" if text_after(letter.end()).startswith(name) else name

    rest = text[: listed.start()] + " " + text[listed.end() :]

    def text_after(position: int) -> str:
        return rest[position : position + 8].lstrip(" ,:.-")

    return _LETTER.sub(word, rest)
