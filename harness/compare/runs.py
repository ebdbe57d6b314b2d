"""What a run left, read for a comparison: its replies by item, and how it was scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import DataError
from harness.scoring.classification import Unreadable
from harness.scoring.samples import Draws
from harness.storage import records
from harness.storage.files import read_json
from harness.storage.forms import check_manifest, check_result
from harness.storage.run_folder import MANIFEST, PARTIAL, RECORDS, RESULT, WITHOUT_RECORDS, records_in
from harness.types import Record

_PLACE = ("model", "prompt", "variant", "task")


class Reply(NamedTuple):
    """One item's record, as small as it can be: a run may have a million."""

    cluster: str
    groups: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, int], ...]
    answer: int | None
    """1, 0, or None where nothing could be read or the call failed."""
    failed: bool
    span: str
    """The words that decided, or the kind of failure."""


@dataclass(frozen=True)
class Run:
    """The replies of one run."""

    path: Path
    place: Mapping[str, str]
    """task, variant, prompt and model; empty for records without their folder."""
    headline: str | None
    unreadable: Unreadable
    complete: bool
    replies: Mapping[str, Reply]
    """By item, in the order of the file."""

    @property
    def label_sets(self) -> list[str]:
        """Those that every item has."""
        sets = [[name for name, _ in labels] for labels in {reply.labels for reply in self.replies.values()}]
        return [name for name in sets[0] if all(name in other for other in sets)] if sets else []


def load(name: str) -> Run:
    """The run that a results folder holds, or a file of records (.jsonl, .jsonl.gz). Raises DataError."""
    file = _file(Path(name))
    manifest = _json(file.parent / MANIFEST, check_manifest)
    result = _json(file.parent / RESULT, check_result)
    replies: dict[str, Reply] = {}
    known: dict[Any, Any] = {}
    for record in _votes(records.read(file), manifest, result):
        if record.item in replies:
            raise DataError(f"{file} holds the item {record.item} twice: a comparison takes one run.")
        replies[record.item] = _reply(record, known)
    if not replies:
        raise DataError(f"{file} holds no records.")
    unreadable = manifest.get("configuration", {}).get("task", {}).get("unreadable", "wrong")
    place = dict((result or manifest).get("run") or {})
    complete = bool((result or manifest or {"complete": True}).get("complete"))
    return Run(Path(name), place, result.get("headline"), "no" if unreadable == "no" else "wrong", complete, replies)


def _votes(read: Iterable[Record], manifest: Mapping[str, Any], result: Mapping[str, Any]) -> Iterable[Record]:
    """One record an item: of a run with several answers to each, the vote, as its scores have it."""
    samples = samples_of(manifest)
    return read if samples == 1 else Draws(result.get("headline", "published"), samples).votes(read)


def samples_of(manifest: Mapping[str, Any]) -> int:
    """Return how many answers each item of a run has, by its manifest."""
    number = manifest.get("configuration", {}).get("task", {}).get("samples", 1)
    return number if type(number) is int and number > 0 else 1


def names(runs: Sequence[Run]) -> list[str]:
    """What to call each: the parts of its place that tell it from the others, else its path."""
    parts = [part for part in _PLACE if len({run.place.get(part) for run in runs}) > 1]
    called = [" ".join(run.place[part] for part in parts) if run.place and parts else str(run.path) for run in runs]
    return called if len(set(called)) == len(called) else [str(run.path) for run in runs]


def _file(path: Path) -> Path:
    if path.is_file():
        return path
    if not path.exists():
        raise DataError(f"there is no {path}: give the folder that a run printed when it ended, or its {RECORDS}.")
    if file := records_in(path):
        return file
    if (path / PARTIAL).is_file():
        raise DataError(f"{path} holds a run that has not ended: start its command again, then compare.")
    if (path / MANIFEST).is_file():
        raise DataError(f"{path} {WITHOUT_RECORDS}.")
    below = sorted(str(file.parent) for file in path.rglob(f"{RECORDS}*"))
    hint = f": {', '.join(below[:3])}{', …' if len(below) > 3 else ''}" if below else ""
    raise DataError(f"{path} is not the folder of one run{'; there are some below it' if below else ''}{hint}.")


def _reply(record: Record, known: dict[Any, Any]) -> Reply:
    """`known` keeps one copy of what many records share."""
    groups, labels = tuple(record.groups.items()), tuple(record.labels.items())
    failed = record.answer is None
    span = getattr(record.outcome, "kind", "") if record.answer is None else record.answer.span
    return Reply(
        known.setdefault(record.cluster, record.cluster),
        known.setdefault(groups, groups),
        known.setdefault(labels, labels),
        None if record.answer is None else record.answer.label,
        failed,
        known.setdefault(span, span),
    )


def _json(path: Path, check: Callable[[Mapping[str, Any]], None]) -> dict[str, Any]:
    """Return what a file beside the records holds; empty where there is none. Raises DataError for another form."""
    try:
        content = read_json(path)
        check(content)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise DataError(
            f"{path} is not what a run of this program leaves ({error}): give the file of records alone, or run its "
            "command again."
        ) from None
    return content
