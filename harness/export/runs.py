"""Runs as an export reads them: the folder's JSON, and its records line by line with their words in full."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.errors import DataError, StoreError
from harness.storage import files, records
from harness.storage.atomic_write import cannot_write
from harness.storage.files import DAMAGED, read_json
from harness.storage.forms import check_manifest
from harness.storage.records import REMEMBERED
from harness.storage.result_json import result_from_json
from harness.storage.run_folder import MANIFEST, RECORDS, RESULT, WITHOUT_RECORDS, records_in
from harness.types import Result

UNFINISHED = ".unfinished"
"""Where an export writes, inside its folder, until all of it is whole."""
PLACE = ("task", "variant", "prompt", "model")

Line = dict[str, Any]
"""A line of records.jsonl; messages have their text, whether it stood there or before."""


@dataclass(frozen=True)
class Run:
    """One folder."""

    folder: Path
    records: Path | None
    """None where the run came without them."""
    place: Mapping[str, str]
    """task, variant, prompt and model."""
    complete: bool
    result: Result
    stored: Mapping[str, Any]
    """result.json as it stands."""
    manifest: Mapping[str, Any]

    @property
    def unreadable_is_no(self) -> bool:
        """Whether a reply that cannot be read counts as No, not as wrong."""
        return bool(self.manifest.get("configuration", {}).get("task", {}).get("unreadable") == "no")

    def time(self, name: str) -> datetime:
        """When the run `started` or `ended`: as the manifest has it, else when its result was written."""
        try:
            return datetime.fromisoformat(self.manifest[name])
        except (KeyError, TypeError, ValueError):
            return datetime.fromtimestamp((self.folder / RESULT).stat().st_mtime, UTC)

    def draws(self) -> Iterator[list[Line]]:
        """The records of each item together. With samples=K they lie apart: answers stand in the order they came in."""
        number = self.result.samples.get("number") or 1
        waiting: dict[str, list[Line]] = {}
        for line in self.lines():
            found = waiting.setdefault(line["item"], [])
            found.append(line)
            if len(found) == number:
                yield sorted(waiting.pop(line["item"]), key=lambda one: one["sample"])
        yield from waiting.values()

    def lines(self) -> Iterator[Line]:
        """The records. Raises DataError where there are none, and for a line that is not one."""
        if self.records is None:
            raise no_records(self.folder)
        known: dict[str, str] = {}
        answers: set[tuple[str, int]] = set()
        number = 0
        try:
            for read in records.checked(self.records):
                number += 1
                answers.add((read.record.item, read.record.sample))
                if len(answers) < number:
                    raise DataError(f"{self.records}, line {number}: the item {read.record.item} is there twice.")
                _fill(read.line["request"], known)
                yield clean(read.line)
        except KeyError as missing:
            raise DataError(
                f"{self.records}, line {number}: the words with the digest {missing.args[0]:.12}… stand in no line "
                "before it."
            ) from None
        if not number:
            raise DataError(f"{self.records} holds no records.")

    def right(self, line: Line) -> bool | None:
        """Whether the answer counts as right; None for a failed call."""
        if "failure" in line:
            return None
        label = line["answer"]["label"]
        gold = self.gold(line)
        return self.unreadable_is_no and gold == 0 if label is None else bool(label == gold)

    def gold(self, line: Line) -> int:
        """The headline label."""
        labels = line["labels"]
        return int(line["gold"] if "gold" in line else labels[self.result.headline])


def found(given: Sequence[str]) -> list[Run]:
    """The runs in or below the folders, with records and without. Raises DataError."""
    folders: dict[Path, None] = {}
    for name in given:
        top = Path(name)
        if not top.is_dir():
            raise DataError(f"there is no folder {name}: give one that a run wrote to, or one above it.")
        below = [file.parent for file in files.below(top, RESULT) if ".sweeps" not in file.parts]
        if not below:
            raise DataError(f"no {RESULT} below {name}: give a folder of a run that has ended, or one above it.")
        folders |= {folder.resolve(): None for folder in below}
    return [_run(folder) for folder in folders]


def with_records(runs: Sequence[Run]) -> list[Run]:
    """The runs that have records. Raises DataError where none has."""
    kept = [run for run in runs if run.records]
    if not kept and len(runs) == 1:
        raise no_records(runs[0].folder)
    if not kept:
        raise DataError(
            f"none of the {len(runs):,} runs has its {RECORDS} (git leaves most of them out): their commands make them "
            "again."
        )
    return kept


def no_records(folder: Path) -> DataError:
    """The error to raise for a run whose records are needed and are not there."""
    return DataError(f"{folder} {WITHOUT_RECORDS}.")


@contextmanager
def filled(out: str) -> Iterator[Path]:
    """A folder to write to, made where it is not there: what is written appears in `out` once all of it is whole.

    Raises StoreError where something is in `out`, or cannot be written. An interruption leaves nothing behind.
    """
    path = Path(out)
    there, unfinished = path.exists(), path / UNFINISHED
    try:
        path.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(unfinished, ignore_errors=True)  # of an export that was killed
        if any(path.iterdir()):
            raise StoreError(f"{out} is not empty: choose another out=, or remove it.")
        unfinished.mkdir()
        yield unfinished
        for part in sorted(unfinished.iterdir()):
            part.rename(path / part.name)
    except OSError as error:
        raise cannot_write(out, error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not there:
            with suppress(OSError):  # what was written is in it
                path.rmdir()


def counted(runs: Sequence[Run], what: str = "run") -> str:
    """How many, in words: 1 run, 2 runs."""
    return f"{len(runs):,} {what}{'s' * (len(runs) != 1)}"


def clean(value: Any) -> Any:
    """Half characters as question marks, everywhere inside: UTF-8 cannot write them."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {clean(name): clean(one) for name, one in value.items()}
    return [clean(one) for one in value] if isinstance(value, list) else value


def turns(line: Line) -> list[dict[str, str]]:
    """What was said to the model, as role and content."""
    asked = line["request"] or {}
    if asked.get("kind") == "pair":
        return [{"role": "user", "content": f"{asked['premise']['text']}\n\n{asked['hypothesis']['text']}"}]
    return [{"role": one["role"], "content": one["text"]} for one in asked.get("messages", [])]


def _run(folder: Path) -> Run:
    file = records_in(folder)
    stored, manifest = _json(folder / RESULT), _json(folder / MANIFEST)
    try:
        result, place, complete = result_from_json(stored), stored["run"], stored["complete"]
    except (ValueError, KeyError):
        raise DataError(f"{folder / RESULT} {DAMAGED}.") from None
    try:
        check_manifest(manifest)
    except ValueError:
        raise DataError(f"{folder / MANIFEST} {DAMAGED}.") from None
    return Run(folder, file, place, complete, result, stored, manifest)


def _json(path: Path) -> dict[str, Any]:
    try:
        return read_json(path)
    except FileNotFoundError:
        raise DataError(f"{path.parent} holds no {path.name}: give the whole folder of a run.") from None


def _fill(request: dict[str, Any] | None, known: dict[str, str]) -> None:
    """Gives messages that stand by their digest their text; forgets it when the writer of the records did."""
    if request is None:
        return
    pair = [request[name] for name in ("premise", "hypothesis") if name in request]
    for message in pair or request["messages"]:
        if "text" not in message:
            message["text"] = known[message["sha256"]]
        elif message["sha256"] not in known:
            known[message["sha256"]] = message["text"]
            if len(known) > REMEMBERED:
                del known[next(iter(known))]
