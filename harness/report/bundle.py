"""Data and scripts as one HTML file, or as one with a folder of answers beside it.

Data travels as gzip in base64: it cannot end a script element, whatever a reply says, and ten runs with their prompts
stay small. Answers beside the page are classic scripts, as fetch does not work from disk.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import msgspec

from harness.errors import StoreError
from harness.storage.atomic_write import atomic_file, cannot_write
from harness.types import JSON

SCRIPT = "bundle.js"
STYLE = "bundle.css"
"""The page's modules as one script and its styles as one sheet: `make page` makes both from what stands in page/."""
INSIDE = 20_000_000
"""Characters of packed chunks up to which they stand in the page itself."""

Place = Literal["inside", "beside"]

_OWN = re.compile(r"\.?[a-z]+-\d+\.[0-9a-f]{12}\.js(\.tmp)?")
"""The names of the scripts beside a page: what is in them is part of the name, so that no page takes another's."""


def pack(value: JSON) -> str:
    """Return a value as gzip in base64; the same value gives the same text. A number that is none in JSON is null."""
    try:
        text = msgspec.json.encode(value)
    except ValueError:  # half a character
        text = msgspec.json.encode(_encodable(value))
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31, 9)
    return base64.b64encode(squeeze.compress(text) + squeeze.flush()).decode()


def _encodable(value: JSON) -> JSON:
    """Return the value with a question mark for each half character."""
    if isinstance(value, dict):
        return {_encodable(name): _encodable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(part) for part in value]
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


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
    with atomic_file(str(out), "out=") as whole:
        whole.writelines(page(title, pack(data), {} if beside else chunks))
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
    """Make the folder of answers. Raises StoreError where it is a link, or holds something else."""
    try:
        folder.mkdir(exist_ok=True)
        foreign = sorted(file.name for file in folder.iterdir() if not _OWN.fullmatch(file.name) or not file.is_file())
    except OSError as error:
        raise cannot_write(str(folder), error) from error
    if folder.is_symlink() or foreign:
        what = f"holds something else ({foreign[0]})" if foreign else "is a link"
        raise StoreError(
            f"{folder} {what}: the answers of this page would stand there. Remove it, or choose another out=."
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
    return html.escape(text.encode(errors="replace").decode())


def _asset(name: str) -> str:
    return (resources.files("harness") / "report" / "page" / name).read_text(encoding="utf-8")
