"""Data and scripts as one HTML file, or as one with a folder of answers beside it.

Data travels as gzip in base64: it cannot end a script element, whatever a reply says, and ten runs with their prompts
stay small. Answers beside the page are classic scripts, as fetch does not work from disk.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import msgspec

from harness.storage.atomic_write import atomic_file
from harness.types import JSON

SCRIPT = "bundle.js"
STYLE = "bundle.css"
"""The page's modules as one script and its styles as one sheet: `make page` makes both from what stands in page/."""
INSIDE = 20_000_000
"""Characters of packed chunks up to which they stand in the page itself."""

Place = Literal["auto", "inside", "beside", "none"]
"""What `answers=` may say."""

_OWN = re.compile(r"\.?[a-z]+-\d+\.[0-9a-f]{12}\.js(\.tmp)?")
"""The names of the scripts beside a page: what is in them is part of the name, so that no page takes another's."""


def pack(value: JSON) -> str:
    """Return a value as gzip in base64; the same value gives the same text. A number that is none in JSON is null."""
    try:
        text = msgspec.json.encode(value)
    except ValueError:  # half a character, which stays an escape
        text = json.dumps(value).encode()
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31, 9)
    return base64.b64encode(squeeze.compress(text) + squeeze.flush()).decode()


def write(out: Path, data: dict[str, JSON], chunks: dict[str, str], place: Place = "auto") -> Path | None:
    """Write the page, its `chunks` packed; the folder beside it where they stand there, as they do from INSIDE on.

    The page that was there stays until the new one is whole. Raises StoreError.
    """
    folder, files = out.with_name(f"{out.stem}_files"), {}
    if chunks and (place == "beside" or (place == "auto" and sum(map(len, chunks.values())) > INSIDE)):
        for name, text in chunks.items():
            files[name] = f"{name.replace('/', '-')}.{hashlib.sha256(text.encode()).hexdigest()[:12]}.js"
            with atomic_file(str(folder / files[name]), "out=") as script:
                script.write(f'harnessChunk("{name}","{text}");\n')
    data = data | {"beside": {name: f"{quote(folder.name)}/{file}" for name, file in files.items()}}
    with atomic_file(str(out), "out=") as whole:
        whole.writelines(page(data["title"], pack(data), {} if files else chunks))
    with suppress(OSError):  # what an earlier page had beside it and cannot be removed does no harm
        for file in folder.iterdir():
            if _OWN.fullmatch(file.name) and file.name not in files.values():
                file.unlink()
        if not files:
            folder.rmdir()
    return folder if files else None


def page(title: str, data: str, chunks: dict[str, str]) -> Iterator[str]:
    """Yield the HTML in parts: `data` is needed at once, each chunk when somebody looks at it; all are packed."""
    script = _asset(SCRIPT)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'"
    filled = {
        "title": [html.escape(title)],
        "policy": [f"{nothing}; script-src 'self' file: 'sha256-{digest}'"],
        "style": [_asset(STYLE)],
        "data": [_block("data", data)],
        "chunks": (_block(name, text) for name, text in chunks.items()),
        "script": [f"<script>{script}</script>\n"],
    }
    for number, part in enumerate(re.split(r"\{\{(\w+)\}\}", _asset("page.html"))):
        yield from filled[part] if number % 2 else [part]


def _block(name: str, text: str) -> str:
    return f'<script type="text/plain" data-chunk="{name}">{text}</script>\n'


def _asset(name: str) -> str:
    return (resources.files("harness") / "report" / "page" / name).read_text(encoding="utf-8")
