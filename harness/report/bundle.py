"""Data and scripts as one HTML file, or as one with a folder of answers beside it.

Data travels as gzip in base64: it cannot end a script element, whatever a reply says, and ten runs with their prompts
stay small. Answers beside the page are classic scripts, as fetch does not work from disk.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import msgspec

from harness.errors import StoreError
from harness.storage.atomic_write import atomic_file
from harness.types import JSON

SCRIPT = "bundle.js"
STYLE = "bundle.css"
"""The page's modules as one script and its styles as one sheet: `make page` makes both from what stands in page/."""
INSIDE = 20_000_000
"""Characters of packed chunks up to which they stand in the page itself."""
AT_ONCE = 1000
"""Entries of a list that become JSON at a time: a text of all replies is never in memory."""

Place = Literal["inside", "beside"]

_OWN = re.compile(r"\.?[a-z]+-\d+\.[0-9a-f]{12}\.js(\.tmp)?")
"""The names of the scripts beside a page: what is in them is part of the name, so that no page takes another's."""


def pack(value: JSON) -> str:
    """Return a value as gzip in base64; the same value gives the same text."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31, 9)
    parts = [squeeze.compress(text.encode(errors="replace")) for text in _texts(value)]
    return base64.b64encode(b"".join([*parts, squeeze.flush()])).decode()


def _texts(value: JSON) -> Iterator[str]:
    """Yield JSON in pieces: a long list of a mapping slice by slice."""
    if isinstance(value, dict) and value:
        for number, (name, part) in enumerate(value.items()):
            yield f"{',' if number else '{'}{_encode(str(name))}:"
            yield from _texts(part)
        yield "}"
    elif isinstance(value, list) and len(value) > AT_ONCE:
        for start in range(0, len(value), AT_ONCE):
            yield f"{',' if start else '['}{_encode_list(value[start : start + AT_ONCE])[1:-1]}"
        yield "]"
    else:
        yield _encode(value)


def _encode_list(values: list[Any]) -> str:
    """Return a list as `_encode` does, in a fifth of the time where it is one of texts: numbers have another form."""
    if _PLAIN.issuperset(map(type, values)):
        with suppress(ValueError):  # half a character
            return msgspec.json.encode(values).decode()
    return _encode(values)


def _encode(value: JSON) -> str:
    try:
        return _JSON.encode(value)
    except ValueError:  # a model of low precision may have given NaN as a probability
        return _JSON.encode(_finite(value))


def _finite(value: JSON) -> JSON:
    """Return the value with null for numbers that JSON cannot write: for one of them a browser would read nothing."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


_PLAIN = frozenset((str, int, bool, type(None)))
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def write(
    out: Path, title: str, data: dict[str, JSON], chunks: dict[str, str], place: Place | None = None
) -> Path | None:
    """Write the page, its `chunks` packed; the folder beside it where they stand there, as they do from INSIDE on.

    The page that was there stays until the new one is whole. Raises StoreError.
    """
    folder = out.with_name(f"{out.stem}_files")
    beside = place == "beside" or (place is None and sum(map(len, chunks.values())) > INSIDE)
    files = {name: _file(name, text) for name, text in chunks.items()} if beside else {}
    if files:
        _prepare(folder)
        for name, file in files.items():
            with atomic_file(str(folder / file), "out=") as script:
                script.write(f'harnessChunk("{name}","{chunks[name]}");\n')
    data = data | {"beside": {name: f"{quote(folder.name)}/{file}" for name, file in files.items()}}
    with atomic_file(str(out), "out=") as html:
        html.writelines(page(title, pack(data), {} if beside else chunks))
    _tidy(folder, set(files.values()))
    return folder if files else None


def page(title: str, data: str, chunks: dict[str, str]) -> Iterator[str]:
    """Yield the HTML in parts: `data` is needed at once, each chunk when somebody looks at it; all are packed."""
    script = _asset(SCRIPT)
    filled = {
        "title": [escape(title)],
        "policy": [policy(script, "'self' file:")],
        "style": [_asset(STYLE)],
        "data": [_block("data", data)],
        "chunks": (_block(name, text) for name, text in chunks.items()),
        "script": [f"<script>{script}</script>\n"],
    }
    for number, part in enumerate(re.split(r"\{\{(\w+)\}\}", _asset("page.html"))):
        yield from filled[part] if number % 2 else [part]


def _file(name: str, text: str) -> str:
    return f"{name.replace('/', '-')}.{hashlib.sha256(text.encode()).hexdigest()[:12]}.js"


def _prepare(folder: Path) -> None:
    """Make the folder. Raise StoreError where something else is in it: what a page leaves behind is removed later."""
    if folder.is_symlink():
        raise StoreError(f"{folder} is a link: answers are not written through it. Remove it, or choose another out=.")
    try:
        folder.mkdir(exist_ok=True)
        foreign = sorted(file.name for file in folder.iterdir() if not _OWN.fullmatch(file.name) or not file.is_file())
    except OSError as error:
        raise StoreError(f"{folder} cannot be made ({error.strerror}): choose another out=.") from error
    if foreign:
        raise StoreError(
            f"{folder} holds something else ({foreign[0]}): the answers of this page would stand there. Remove it, or "
            "choose another out=."
        )


def _tidy(folder: Path, current: set[str]) -> None:
    """Remove what an earlier page had beside it; what cannot be removed does no harm."""
    with suppress(OSError):
        for file in folder.iterdir():
            if _OWN.fullmatch(file.name) and file.name not in current:
                file.unlink()
        if not current:
            folder.rmdir()


def _block(name: str, text: str) -> str:
    return f'<script type="text/plain" data-chunk="{escape(name)}">{text}</script>\n'


def policy(script: str, others: str = "") -> str:
    """Return the policy of a page: nothing from anywhere but its own script and the `others`."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    nothing = "default-src 'none'; base-uri 'none'; form-action 'none'"
    return f"{nothing}; style-src 'unsafe-inline'; script-src {others} 'sha256-{digest}'"


def escape(text: str) -> str:
    encodable = text.encode(errors="replace").decode()
    return encodable.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _asset(name: str) -> str:
    return (resources.files("harness") / "report" / "page" / name).read_text(encoding="utf-8")
