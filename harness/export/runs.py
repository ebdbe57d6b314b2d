"""Runs as an export reads them: the folder's JSON, and its records line by line with their words in full."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import DataError, StoreError
from harness.records import REMEMBERED
from harness.result_json import result_from_json
from harness.results import MANIFEST, RECORDS, RESULT
from harness.types import Result

PLACE = ("task", "variant", "prompt", "model")

Line = dict[str, Any]
"""A line of records.jsonl; messages have their text, whether it stood there or before."""


@dataclass(frozen=True)
class Run:
    """One folder."""

    folder: Path
    records: Path
    place: Mapping[str, str]
    """task, variant, prompt and model."""
    complete: bool
    result: Result
    manifest: Mapping[str, Any]

    @property
    def unreadable_is_no(self) -> bool:
        """Whether a reply that cannot be read counts as No, not as wrong."""
        return bool(self.manifest.get("configuration", {}).get("task", {}).get("unreadable") == "no")

    def lines(self) -> Iterator[Line]:
        """The records. Raises DataError for a line that is not one."""
        known: dict[str, str] = {}
        number = 0
        try:
            with gzip.open(self.records) if self.records.suffix == ".gz" else self.records.open("rb") as file:
                for raw in file:
                    number += 1
                    line = clean(json.loads(raw))
                    _check(line)
                    _fill(line["request"], known)
                    yield line
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{self.records}, line {number} is not a record ({error!r}).") from None
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{self.records} cannot be read ({getattr(error, 'strerror', None) or error}).") from None
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
    """The runs in or below the folders. Raises DataError, also where a run has no records."""
    folders: dict[Path, None] = {}
    for name in given:
        top = Path(name)
        if not top.is_dir():
            raise DataError(f"there is no folder {name}: give one that a run wrote to, or one above it.")
        below = sorted(file.parent for file in top.rglob(RESULT) if ".sweeps" not in file.parts)
        if not below:
            raise DataError(f"no {RESULT} below {name}: give a folder of a run that has ended, or one above it.")
        folders |= {folder.resolve(): None for folder in below}
    return [_run(folder) for folder in folders]


def place_for(out: str) -> Path:
    """A folder to write to, made where it is not there. Raises StoreError where something is in it."""
    path = Path(out)
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise StoreError(f"{out} is not empty: remove it, or choose another out=.")
    except OSError as error:
        raise cannot_write(out, error) from error
    return path


def cannot_write(out: str, error: OSError) -> StoreError:
    """The error to raise where writing failed."""
    return StoreError(f"{out} cannot be written ({error.strerror or error}): choose another out=.")


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
    records = next((folder / name for name in (RECORDS, f"{RECORDS}.gz") if (folder / name).is_file()), None)
    if records is None:
        raise DataError(f"{folder} holds no {RECORDS} (git leaves them out): the command of its run makes them again.")
    said, manifest = _json(folder / RESULT), _json(folder / MANIFEST)
    try:
        place = {name: str(said["run"][name]) for name in PLACE}
        result = result_from_json(said)
        _ = result.overall
        return Run(folder, records, place, bool(said["complete"]), result, manifest)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise DataError(f"{folder / RESULT} is not a result of this program.") from None


def _json(path: Path) -> dict[str, Any]:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path.parent} holds no {path.name}: give the whole folder of a run.") from None
    except (OSError, ValueError):
        raise DataError(f"{path} is not the JSON that a run leaves.") from None
    return clean(said) if isinstance(said, dict) else {}


def _check(line: Line) -> None:
    """Raises KeyError or TypeError where a part that every record has is missing."""
    for name in ("item", "cluster", "groups", "labels", "sample", "request"):
        _ = line[name]
    if "failure" in line:
        _ = line["failure"]["kind"], line["failure"]["detail"]
    else:
        _ = line["response"]["text"], line["answer"]["label"]


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
