"""A batch whose answers stand in its own description: {"id": …, "status": …, "results": [{…}, {…}]}, in one document.

It may take hundreds of megabytes, so it is never held whole: one result is, and what stands beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

from harness.plugins.batches.lines import LONGEST

_PIECE = 1 << 20
# A whole text, or a sign that opens or ends something; a quotation mark alone begins a text whose end is not read yet.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}:]|"', re.DOTALL)


class NestedResults:
    """The document in a file, read once from its beginning."""

    def __init__(self, file: IO[bytes]) -> None:
        """Take a file that holds one JSON object."""
        self._file = file
        self._held, self._at = bytearray(), 0
        """What is read and not handed out, and how far it has been looked at."""
        self._head = bytearray()

    @property
    def head(self) -> bytes:
        """Return the document without its results, once they were read: [0] in their place, or [] for none."""
        return bytes(self._head + self._held)

    def __iter__(self) -> Iterator[bytes | None]:
        """Yield each of the results as it stands; None for one that is too long."""
        depth, name, text, inside, begins, count = 0, b"", b"", False, 0, 0
        for sign, start in self._tokens():
            if sign[:1] == b'"':
                text = sign if depth == 1 else text
            elif sign == b":":
                name = text if depth == 1 else name
            elif sign in b"[{":
                depth += 1
                if depth == 2 and sign == b"[" and name == b'"results"':
                    inside = True
                    self._head += self._take()
                elif inside and depth == 3:
                    begins = start
            else:
                depth -= 1
                if inside and depth == 2:
                    result = self._take()[begins:]
                    count += 1
                    yield None if len(result) > LONGEST else result
                elif inside and depth == 1:
                    inside = False
                    self._take()
                    self._head += b"0]" if count else b"]"

    def _tokens(self) -> Iterator[tuple[bytes, int]]:
        """Yield the signs of the document, and where in `_held` each begins."""
        while len(self._held) <= 2 * LONGEST and (piece := self._file.read(_PIECE)):
            self._held += piece
            while (token := _TOKEN.search(self._held, self._at)) and (sign := token[0]) != b'"':
                self._at = token.end()
                start = token.start()
                del token  # what is matched in cannot be cut
                yield bytes(sign), start

    def _take(self) -> bytes:
        """Return what has been looked at, and hold it no more."""
        taken = bytes(self._held[: self._at])
        del self._held[: self._at]
        self._at = 0
        return taken
