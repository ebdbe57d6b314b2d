"""The bodies that servers send, whatever their shape: read without the key, and the words of an error found in them.

Each server has a shape of its own for errors, and proxies wrap one in another: {"error": {"message": …}}, {"error":
"…"}, {"detail": [{"loc": …, "msg": …}]}, [{"error": …}], JSON in a text in JSON, a page. So no one shape is looked for:
the body is walked, fields named like a message first, until there are words.
"""

from __future__ import annotations

import binascii
import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from http import HTTPStatus
from itertools import islice
from typing import Any

from harness.models.api.replies import one_line
from harness.runtime.secrets import SECRET
from harness.types import Failure, Response

_REFERENCES = (("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&apos;"), ("&", "&amp;"))
"""Characters that HTML writes by name."""
_ENCODED = re.compile(rb"%[2-7][0-9A-Fa-f]|\\u00[2-7]")
"""An escape of a printable ASCII character, of which keys consist."""


class Secret:
    """The key of a server, hidden in everything it sends: some servers repeat it in their errors.

    Hidden are the key itself; the key with characters escaped, once or repeatedly (JSON, percent-encoding, HTML); and
    its base64, as in a quoted header. UTF-16 and UTF-32 are decoded first. A server that sends the key in a code of its
    own (reversed, in hexadecimal) is not caught.
    """

    def __init__(self, key: str) -> None:
        """Prepare the patterns of a key. A text too short to be a key is not hidden."""
        self._key = key if len(key) >= SECRET else ""
        forms = {key, key.replace("/", r"\/"), *(key.replace(*pair) for pair in _REFERENCES), *_base64(key)}
        signs = (*(form.encode() for form in forms), b"\\u00", b"\0", b"%", b"&#", b"&amp;")
        self._signs = signs if self._key else ()
        """A body with the key in any spelling contains one of these; an ordinary body contains none."""

    def loads(self, content: bytes) -> Any:
        """Parse the JSON of a body, with the key hidden in every string. Raises ValueError and RecursionError."""
        value = json.loads(content)
        if self._may_be_in(content):
            # Dumped again, strings have no escapes but those of quotes and line ends.
            return json.loads(self.hide(json.dumps(value, ensure_ascii=False)))
        return value

    def cleared(self, outcome: Response | Failure) -> Response | Failure:
        """Return an outcome without the key, which may have come in parts that were joined since."""
        if isinstance(outcome, Failure):
            return replace(outcome, detail=self.hide(outcome.detail))
        if not self._may_be_in(f"{outcome.text}\n{outcome.reasoning}".encode(errors="surrogatepass")):
            return outcome
        return replace(outcome, text=self.hide(outcome.text), reasoning=self.hide(outcome.reasoning))

    def _may_be_in(self, content: bytes) -> bool:
        for sign in self._signs:  # no generator: this runs for each reply
            if sign in content and (sign not in (b"%", b"\\u00") or _ENCODED.search(content)):
                return True
        return False

    def body(self, content: bytes) -> Any:
        """Return the JSON of a body, or its text if it is not JSON, without the key."""
        try:
            return self.loads(content)
        except (ValueError, RecursionError):
            return self.text(content)

    def text(self, content: bytes) -> str:
        """Return a body as text, without the key, and without the zeros of UTF-16 and UTF-32."""
        return self.hide(content.decode("utf-8", "replace").replace("\0", ""))

    def hide(self, text: str) -> str:
        return self._pattern.sub("[the key]", text) if self._key else text

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        spellings = "".join(map(_spellings, self._key))
        return re.compile("|".join((spellings, *map(re.escape, _base64(self._key)))))


@lru_cache(maxsize=16)
def secret_of(key: str) -> Secret:
    return Secret(key)


def _spellings(sign: str) -> str:
    """Return a pattern for the escapes of a character. Repetitions are bounded, since the server chooses the text."""
    number = ord(sign)
    digits = "".join(f"[{digit}{digit.upper()}]" for digit in f"{number:02x}")
    entities = rf"&(?:amp;){{0,3}}#(?:0{{0,6}}{number}|[xX]0{{0,6}}{digits});?"
    forms = [rf"\\{{0,8}}{re.escape(sign)}", rf"\\{{1,8}}u00{digits}", rf"%(?:25){{0,4}}{digits}", entities]
    forms += [reference for plain, reference in _REFERENCES if plain == sign]
    return f"(?:{'|'.join(forms)})"


def _base64(key: str) -> Iterator[str]:
    """Yield the base64 of a key for each of its three possible offsets, without the ends that depend on neighbours."""
    for before in range(3):
        coded = binascii.b2a_base64(b"\0" * before + key.encode(), newline=False).decode()
        yield coded[-(-before * 8 // 6) : (before + len(key)) * 8 // 6]


_MESSAGES = (
    *("message", "msg", "error", "errors", "detail", "details", "error_message", "errormessage", "error_description"),
    *("error_msg", "errormsg", "description", "reason", "faultstring", "fault", "exception", "cause", "raw", "title"),
)
"""Fields that hold the words, the most telling first; compared in lower case."""
_NAMES = ("code", "type", "status", "error_type", "error_code", "errortype", "errorcode", "param")
"""Fields that hold a server's names for what is wrong, which count as words only if there are no others."""
_SILENT = {
    *_NAMES,
    *("object", "id", "request_id", "requestid", "trace_id", "timestamp", "path", "url", "documentation_url", "ok"),
    *(
        "ctx",
        "model",
        "provider_name",
        "user_id",
        "@type",
        "stack",
        "traceback",
        "help",
        "instance",
        "success",
        "input",
    ),
}
"""Fields whose texts explain nothing."""
_WRAPPED = re.compile(r"metadata|raw|inner_?error|upstream|original", re.IGNORECASE)
"""Fields in which a router passes on the error of the server behind it; its own message then says nothing ("Provider
returned error")."""
_DEEPEST, _MOST_PARTS = 12, 4
LONGEST_WORDS = 4000
_LONGEST_TEXT = 64 << 10
"""Characters that are read of a page, or of JSON inside a text."""
_UNSEEN = re.compile(
    r"<(script|style|head|svg)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE
)
_SECONDS = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,9})?)s")
_TITLE = re.compile(r"<title\b[^>]*>(.*?)</title", re.DOTALL | re.IGNORECASE)


def words_of(body: Any, status: int | None = None) -> str:
    """Return the words of an error's body, else what its status means; at most LONGEST_WORDS characters.

    `body` is parsed JSON, or text. Names of fields are included only where the words need them.
    """
    words = _words(body, 0)[:LONGEST_WORDS].strip()
    return words or next(_named(body, 0), "") or reason(status)


def reason(status: int | None) -> str:
    """Return HTTP's phrase for a status."""
    try:
        return HTTPStatus(status or 0).phrase
    except ValueError:
        return "no explanation"


def names_of(body: Any) -> str:
    """Return a body's names for what is wrong (codes, types), wherever they stand."""
    return one_line(" ".join(dict.fromkeys(islice(_named(body, 0), 12))))


def parameter_of(body: Any) -> str:
    """Return the parameter that a body blames in a field `param`; "" if none."""
    return next((text for text in _values(body, 0, ("param",)) if text), "")


def delay_of(body: Any) -> float | None:
    """Return the seconds to wait that a body asks for, as Google's do ("retryDelay": "36s"); else None."""
    matches = (_SECONDS.fullmatch(text) for text in _values(body, 0, ("retrydelay",)))
    return next((float(match[1]) for match in matches if match), None)


def is_page(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def _words(value: Any, depth: int) -> str:
    if depth > _DEEPEST:
        return ""
    if isinstance(value, str):
        return _of_text(value, depth)
    if isinstance(value, list):
        parts = (_words(part, depth + 1) for part in value[:_MOST_PARTS])
        return "; ".join(dict.fromkeys(filter(None, parts)))
    return _of_object(value, depth) if isinstance(value, dict) else ""


def _of_text(text: str, depth: int) -> str:
    text = text[:_LONGEST_TEXT].strip("\ufeff \t\r\n")
    if text.startswith(("{", "[")):
        inner = _parsed(text)
        if inner is not None:
            return _words(inner, depth + 1)
    return _of_page(text) if is_page(text) else text


def _of_object(value: Mapping[str, Any], depth: int) -> str:
    fields = {str(name).lower(): part for name, part in value.items()}
    if isinstance(where := fields.get("loc"), list):  # FastAPI puts the place beside the words
        place = ".".join(str(part) for part in where if part != "body")
        return f"{place}: {_words(fields.get('msg'), depth + 1)}" if place else _words(fields.get("msg"), depth + 1)
    message = next((words for name in _MESSAGES if (words := _words(fields.get(name), depth + 1))), "")
    wrapped = [_words(part, depth + 1) for name, part in fields.items() if _WRAPPED.search(name)]
    inner = next((words for words in wrapped if words and words not in message), "")
    if message and inner:
        return inner if message in inner else f"{message}: {inner}"
    if message or inner:
        return message or inner
    others = (
        f"{name}: {words}" if isinstance(part, list) else words
        for name, part in fields.items()
        if name not in _SILENT and (words := _words(part, depth + 1))
    )
    return "; ".join(islice(others, _MOST_PARTS))


def _of_page(page: str) -> str:
    """Return the title of a page and its first words."""
    title = _TITLE.search(page)
    heading = " ".join(html.unescape(title[1]).split()) if title else ""
    text = " ".join(html.unescape(_UNSEEN.sub(" ", page)).split())
    if heading and heading in text:
        return text
    return ": ".join(filter(None, (heading, text)))


def _named(value: Any, depth: int) -> Iterator[str]:
    yield from _values(value, depth, _NAMES[:-1])


def _values(value: Any, depth: int, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the texts and numbers in fields with these names, from the outside in."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")) and len(value) <= _LONGEST_TEXT:
        value = _parsed(value)
    if isinstance(value, dict):
        for name, part in value.items():
            if str(name).lower() in names and isinstance(part, str | int) and not isinstance(part, bool):
                yield str(part)[:200]
        for part in value.values():
            yield from _values(part, depth + 1, names)
    elif isinstance(value, list):
        for part in value[:_MOST_PARTS]:
            yield from _values(part, depth + 1, names)


def _parsed(text: str) -> Any:
    """Return the JSON in a text; None if it is not JSON, as Python's notation is not, which some proxies quote."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
