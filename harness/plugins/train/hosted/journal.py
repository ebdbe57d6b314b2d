"""The steps of one job in a file: prepared, uploaded, creating, created. Each stands there before the next is taken.

So whoever finds the file, after whatever end of the process that wrote it, knows what may have happened and goes on.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from harness.errors import StoreError
from harness.storage import json_files

Step = Literal["prepared", "uploaded", "creating", "created"]
JOURNAL = "job.json"


@dataclass(frozen=True)
class Entry:
    """What is known of a job."""

    step: Step = "prepared"
    since: float = 0.0
    """When it came to that step, in seconds since 1970."""
    file: str = ""
    """The server's name for the training file; "" before it is there."""
    validation: str = ""
    """The same of the validation file."""
    job: str = ""
    """The server's name for the job; "" where none is known."""
    event: str = ""
    """The last of its events that was told."""


class Journal:
    """The file of one job."""

    def __init__(self, folder: Path) -> None:
        """Take the folder as it is; nothing is written before there is something to note."""
        self._file = folder / JOURNAL

    @property
    def entry(self) -> Entry:
        """What was last noted."""
        noted: dict[str, Any] = json_files.object_in(self._file)
        known = {f.name: noted[f.name] for f in fields(Entry) if type(noted.get(f.name)) is type(f.default)}
        return Entry(**known)

    def note(self, step: Step, **known: str) -> Entry:
        """Note a step, the time, and what is known by then. Raises StoreError: what is not noted is not done."""
        entry = replace(self.entry, step=step, since=time.time(), **known)
        self._write(entry)
        return entry

    def note_event(self, event: str) -> None:
        """Note the last event that was told."""
        self._write(replace(self.entry, event=event))

    def _write(self, entry: Entry) -> None:
        try:
            json_files.write(self._file, asdict(entry))
        except OSError as error:
            raise StoreError(
                f"{self._file} cannot be written ({error.strerror}), and without it a job could be made twice: make "
                "room, or choose another out=."
            ) from error
