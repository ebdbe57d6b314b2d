"""The key of a server, hidden in what the server sends back."""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from harness.runtime.secrets import SECRET

_REFERENCES = (("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&apos;"), ("&", "&amp;"))
"""What HTML writes by name."""
_ENCODED = re.compile(rb"%[2-7][0-9A-Fa-f]|\\u00[2-7]")
"""A sign of ASCII, of which keys consist: no other letter, no control character, no percentage."""


class Secret:
    """The key of a server, which is hidden in all that it sends: some repeat it in their errors.

    Found are the key as it is, and what encoders make of it sign by sign, once or over and over: escapes of JSON,
    percent-encoding, references of HTML; and its base64, as in a header that is quoted. UTF-16 and UTF-32 are decoded
    first. A server that sets out to send the key in a code of its own (reversed, in hexadecimal) cannot be caught.
    """

    def __init__(self, key: str) -> None:
        """Prepare the patterns of a key; one that is too short to be a key is hidden nowhere."""
        self._key = key if len(key) >= SECRET else ""
        forms = {key, key.replace("/", r"\/"), *(key.replace(*pair) for pair in _REFERENCES), *_base64(key)}
        signs = (*(form.encode() for form in forms), b"\\u00", b"\0", b"%", b"&#", b"&amp;")
        self._signs = signs if self._key else ()
        """What a body holds that holds the key in any spelling; an ordinary one holds none of these."""

    def loads(self, content: bytes) -> Any:
        """Return the JSON in a body, the key hidden in every string. Raises ValueError and RecursionError."""
        value = json.loads(content)
        for sign in self._signs:  # no generator: this is done for each reply
            if sign in content and (sign not in (b"%", b"\\u00") or _ENCODED.search(content)):
                # Written anew, strings hold what they say and no escapes but those of quotes and line ends.
                return json.loads(self.hide(json.dumps(value, ensure_ascii=False)))
        return value

    def body(self, content: bytes) -> Any:
        """Return the JSON in a body, or its text where it is none, without the key."""
        try:
            return self.loads(content)
        except (ValueError, RecursionError):
            return self.text(content)

    def text(self, content: bytes) -> str:
        """Return a body that is no JSON as text, without the key; letters of two or four bytes lose their zeros."""
        return self.hide(content.decode("utf-8", "replace").replace("\0", ""))

    def hide(self, text: str) -> str:
        return self._pattern.sub("[the key]", text) if self._key else text

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        spellings = "".join(map(_spellings, self._key))
        return re.compile("|".join((spellings, *map(re.escape, _base64(self._key)))))


def _spellings(sign: str) -> str:
    """Return a pattern for the ways in which encoders write a sign. Repetitions are few: a server chooses the text."""
    number = ord(sign)
    digits = "".join(f"[{digit}{digit.upper()}]" for digit in f"{number:02x}")
    entities = rf"&(?:amp;){{0,3}}#(?:0{{0,6}}{number}|[xX]0{{0,6}}{digits});?"
    forms = [rf"\\{{0,8}}{re.escape(sign)}", rf"\\{{1,8}}u00{digits}", rf"%(?:25){{0,4}}{digits}", entities]
    forms += [reference for plain, reference in _REFERENCES if plain == sign]
    return f"(?:{'|'.join(forms)})"


def _base64(key: str) -> Iterator[str]:
    """Yield the base64 of a key at each of the three places where it may begin, less the ends that neighbours share."""
    for before in range(3):
        coded = binascii.b2a_base64(b"\0" * before + key.encode(), newline=False).decode()
        yield coded[-(-before * 8 // 6) : (before + len(key)) * 8 // 6]
