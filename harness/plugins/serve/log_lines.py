"""What a server's log says of its end: the lines that tell most, in a sentence."""

from __future__ import annotations

import re
from pathlib import Path

from harness.runtime.console import clean, shortened

_TAIL = 1 << 16
"""Bytes of the log's end that are looked at."""
_LAST = 3
"""Lines that are told where none names an error."""
_LONGEST = 300
"""Characters of a line that are told."""
_ERROR = re.compile(
    r"^(?:\S+: )?(?:[\w.]*(?:Error|Exception)\b|fatal\b)|^Value error|out of memory|address already in use", re.I
)
"""With what an error's own line begins: a warning may speak of errors that there could be."""
_NO_ERROR = re.compile(r"^(?:\([^()]*\)\s*)?(?:WARNING|INFO|DEBUG)\b")
_PREFIX = re.compile(
    r"^(?:\([^()]*pid=\d+[^()]*\)\s*|(?:ERROR|WARNING|INFO|CRITICAL)\s*:?\s+|\d\d-\d\d \d\d:\d\d:\d\d\s+"
    r"|\[[\w./]+:\d+\]\s*)+"
)
"""What vLLM and uvicorn write before a message: process, level, time, place."""
_NO_ROOT_CAUSE = re.compile(r"initialization failed|see root cause above|Traceback|cleanup", re.I)
_MEMORY = re.compile(
    r"out of memory|no available memory|free memory on device|larger than the (?:available|maximum)", re.I
)
_PORT_TAKEN = re.compile(r"address already in use|errno 98|errno 48|couldn't bind|bind.* failed", re.I)


def errors_in(log: Path) -> str:
    """Return what the end of a log says: the first and the last error of its end, else its last lines; "" for none."""
    raw = _lines(log)
    lines = [_PREFIX.sub("", line) for line in raw]
    said = [line for line, whole in zip(lines, raw, strict=True) if not _NO_ERROR.match(whole)]
    errors = [line for line in said if _ERROR.search(line) and not _NO_ROOT_CAUSE.search(line)]
    chosen = list(dict.fromkeys([*errors[:1], *errors[-1:]])) or lines[-_LAST:]
    return " / ".join(shortened(line, _LONGEST) for line in chosen)


def last_line(log: Path) -> str:
    """Return the last line of a log, for a line about how far a server is."""
    lines = _lines(log)
    return shortened(_PREFIX.sub("", lines[-1]), 100) if lines else ""


def way_out(log: Path) -> str:
    """Return what to do where the log speaks of memory; "" where it does not."""
    if not _MEMORY.search("\n".join(_lines(log))):
        return ""
    return (
        "its memory is too small for this: give it a smaller model, more GPUs (model.args=[--tensor-parallel-size,2]), "
        "a shorter context (model.args=[--max-model-len,4096]), or a GPU that nobody else uses"
    )


def port_was_taken(log: Path) -> bool:
    """Test whether a server ended because somebody else had its port."""
    return _PORT_TAKEN.search("\n".join(_lines(log))) is not None


def _lines(log: Path) -> list[str]:
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _TAIL))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    lines = (clean(line).strip() for line in re.split(r"[\r\n]+", text))
    return [line for line in lines if line]
