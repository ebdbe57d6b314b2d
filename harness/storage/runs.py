"""The one reader of finished runs: where they are, what each one is, and its records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from msgspec import MsgspecError, convert

from harness.codec import digest
from harness.errors import DataError
from harness.prompting.reading import by_other_rules
from harness.storage import records
from harness.storage.columns import row_of, types_of
from harness.storage.files import DamagedError, read_json
from harness.storage.manifest import FORMAT, NO_MANIFEST, Manifest, upgraded
from harness.storage.records import fill
from harness.storage.result_json import OfRun, counts, result_from_json
from harness.storage.run_folder import MANIFEST, RECORDS, RESULT, records_in
from harness.types import Line, Metric, Result, Role

Content = TypeVar("Content")


@dataclass(frozen=True, repr=False)
class Run:
    """A finished run, as its folder holds it."""

    folder: Path
    """Where it stands: records, result and manifest."""
    place: Mapping[str, str]
    """task, variant, prompt and model."""
    complete: bool
    """Whether the run has ended with an answer or a lasting failure for every item, by all that its folder says."""
    result: Result
    """All scores, by label set, breakdown and group, and what stands beside them."""
    result_json: Mapping[str, Any] = field(default_factory=dict)
    """result.json as it stands."""
    manifest: Manifest = NO_MANIFEST
    """manifest.json with today's names of classes (`manifest.upgraded`); NO_MANIFEST where it cannot be read."""
    manifest_json: Mapping[str, Any] = field(default_factory=dict)
    """manifest.json as it stands: what its digests are of."""
    manifest_error: DataError | None = None
    """Why the manifest could not be read."""
    trouble: str = ""
    """Why a complete result must not be ranked: its manifest does not bear it out. Empty where it does."""
    source: str = ""
    """The folder on the command line below which it lies; empty where the run's own folder was given."""

    def __repr__(self) -> str:
        """Return the run's place and its main scores."""
        from harness.tables.results import brief

        ending = "" if self.complete else ", NOT COMPLETE"
        return f"<run {' · '.join(self.place.values())}: {brief(self.result.overall)}{ending}>"

    def _repr_markdown_(self) -> str:
        """Return what a notebook shows: its place, its tables, and what has to be said of them."""
        from harness.tables import results
        from harness.tables.write import Tables

        heading = f"{' · '.join(self.place.values())}{'' if self.complete else ' (NOT COMPLETE)'}"
        return Tables((heading, *results.result_tables(self.result), *results.remarks(self.result)))._repr_markdown_()

    @property
    def task(self) -> str:
        return self.place["task"]

    @property
    def variant(self) -> str:
        return self.place["variant"]

    @property
    def prompt(self) -> str:
        """The name of its prompt; of an algorithm, that of its data."""
        return self.place["prompt"]

    @property
    def model(self) -> str:
        return self.place["model"]

    @property
    def unanswered(self) -> bool:
        """Whether every call failed: there is nothing to rank."""
        overall = self.result.overall
        return overall.items > 0 and overall.failed == overall.items

    @property
    def sound(self) -> bool:
        """Whether it may stand in tables: complete, with answers, and its manifest says so of this very result."""
        return self.complete and not self.trouble and not self.unanswered

    @property
    def ranked(self) -> bool:
        """Whether it may be the best of a table: baselines, solvers and cheats are there to compare with."""
        return self.role in ("model", "algorithm")

    @property
    def results_folder(self) -> str:
        """The results folder that it lies in by its place, however it was named; elsewhere the folder given."""
        parts = Path(*self.place.values()).parts
        folder = self.folder.absolute()
        return str(folder.parents[len(parts) - 1]) if folder.parts[-len(parts) :] == parts else self.source

    @property
    def usd(self) -> float | None:
        """What its answers cost; None where nothing was paid, or where some answer's cost is not known."""
        cost = self.result_json.get("cost") or {}
        return None if cost.get("answers_without_cost") else cost.get("usd")

    @property
    def scores(self) -> Mapping[str, Metric]:
        """Return the headline scores of all items, by metric: `scores["f1"].value`, and `.interval` beside it."""
        return {metric.name: metric for metric in self.result.overall.metrics}

    @property
    def configuration(self) -> Mapping[str, Any]:
        """Return what the answers depend on (task, data, prompt, model); empty where there is no manifest."""
        return self.manifest.configuration

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return the settings of the task that are not their defaults."""
        return self.configuration.get("task") or {}

    @property
    def items(self) -> str | None:
        """Return the SHA-256 of the items that were asked; None where there is no manifest."""
        return (self.manifest.items or {}).get("sha256")

    @property
    def role(self) -> Role:
        """Return what answered, as it has declared itself; a language model where there is no manifest."""
        return self.manifest.role or "model"

    @property
    def recorded(self) -> str:
        """Return by whom its answers were recorded, as a sentence; "" for those of a run of this program."""
        facts = self.manifest.recorded
        if facts is None:
            return ""
        unknown = f" Not known: {', '.join(missing)}." if (missing := facts.get("unknown")) else ""
        without = f" {count:,} items of the task have no answer there." if (count := facts.get("items_without")) else ""
        source = f"{facts.get('source')}; licence: {facts.get('licence')}"
        return f"recorded by {facts.get('by')} ({source}).{unknown}{without}"

    @property
    def learned(self) -> bool:
        """Return whether a graph that was learned from data has answered, and no words were read."""
        return (self.manifest.config or {}).get("algorithm") is not None

    @property
    def data(self) -> Mapping[str, int]:
        """Return what the data are that an algorithm has learned from: observations and seed; empty for a model."""
        data = (self.configuration.get("data") or {}) if self.learned else {}
        return {name: data[name] for name in ("observations", "seed") if type(data.get(name)) is int}

    @property
    def samples(self) -> int:
        """How many answers each item has; an algorithm's are its observations."""
        number = 1 if self.learned else self.settings.get("samples", 1)
        return number if type(number) is int and number > 0 else 1

    @property
    def records_file(self) -> Path | None:
        """Return the file of its records; None where it came without. Raises DataError where there are two."""
        return records_in(self.folder)

    @property
    def read_by_other_rules(self) -> bool:
        """Return whether its replies were read by other rules than today's. Those of an algorithm are none."""
        manifest = self.manifest
        return manifest is not NO_MANIFEST and not self.learned and by_other_rules(manifest.reading)

    @property
    def unreadable_is_no(self) -> bool:
        return bool(self.settings.get("unreadable") == "no")

    def time(self, name: Literal["started", "ended"]) -> datetime:
        """Return when the run started or ended: as the manifest has it, else when its result was written."""
        try:
            return datetime.fromisoformat(getattr(self.manifest, name))
        except (TypeError, ValueError):
            return datetime.fromtimestamp((self.folder / RESULT).stat().st_mtime, UTC)

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame with a line for each record."""
        return frame([self])

    def records(self) -> Iterator[Line]:
        """Yield the records: each item with its labels, what it was asked in full, and what became of it.

        Raises DataError where there are none, for a line that is no record, and for an answer that is there twice.
        """
        if (file := self.records_file) is None:
            raise no_records(self.folder)
        texts: dict[str, str] = {}
        answers: set[tuple[str, int]] = set()
        number = 0
        for number, line in enumerate(records.read(file), start=1):
            answers.add((line.item, line.sample))
            if len(answers) < number:
                raise DataError(f"{file}, line {number}: the item {line.item} is there twice.")
            try:
                fill(line.request, texts)
            except KeyError as missing:
                raise DataError(
                    f"{file}, line {number}: the words with the digest {missing.args[0]:.12}… stand in no line before "
                    "it."
                ) from None
            if max(line.gold, (line.answer and line.answer.label) or 0) >= len(self.result.answers):
                raise DataError(f"{file}, line {number}: its answers are {' and '.join(self.result.answers)} only.")
            yield line
        if not number:
            raise DataError(f"{file} holds no records.")

    def right(self, line: Line) -> bool | None:
        """Return whether the answer of a line counts as right; None for a failed call."""
        if line.answer is None:
            return None
        if (label := line.answer.label) is None:
            return self.unreadable_is_no and line.gold == 0 and not self.result.choices
        return label == line.gold


def load(folder: Path) -> Run:
    """Return the run that a folder holds. Raises DamagedError, or DataError where there is no result."""
    manifest_json: Mapping[str, Any] = {}
    manifest, manifest_error = NO_MANIFEST, None
    try:
        manifest_json, manifest = _read(folder / MANIFEST, _manifest)
    except LaterFormat:
        raise
    except DataError as error:
        manifest_error = error
    content, result = _read(folder / RESULT, _result)
    place, complete = content["run"], content["complete"]
    ended = complete is True and manifest_json.get("complete", True) is True
    trouble = _trouble(manifest_json, place, result) if ended else ""
    return Run(folder, place, ended, result, content, manifest, manifest_json, manifest_error, trouble)


def no_records(folder: Path) -> DataError:
    return DataError(f"{folder} holds no {RECORDS} (git leaves most of them out): its command makes them again.")


class LaterFormat(DataError):
    """A later version made the run, in files that this one would misread."""


def _result(content: Mapping[str, Any]) -> Result:
    convert(content, OfRun)
    return result_from_json(content)


def _manifest(content: Mapping[str, Any]) -> Manifest:
    number = content.get("format")
    if isinstance(number, int) and number > FORMAT:
        raise LaterFormat(
            f"a later version of harness made this run (its files are of format {number}, this version reads up "
            f"to {FORMAT}): update harness to read it."
        )
    return Manifest.from_json(upgraded(content))


def _read(path: Path, parse: Callable[[Mapping[str, Any]], Content]) -> tuple[dict[str, Any], Content]:
    """Return what a file holds, as JSON and as `parse` reads it."""
    try:
        content = read_json(path)
    except FileNotFoundError:
        raise DataError(f"{path.parent} holds no {path.name}: give the whole folder of a run.") from None
    try:
        return content, parse(content)
    except (MsgspecError, ValueError) as error:
        raise DamagedError(path, str(error)) from None


def _trouble(manifest: Mapping[str, Any], place: Mapping[str, str], result: Result) -> str:
    """Return why the manifest contradicts a complete result, or "".

    The manifest is written last: a run that was killed before left one that says so, or one of an earlier run.
    """
    if not manifest:
        return f"no {MANIFEST} that can be read"
    items = (manifest.get("items") or {}).get("count")
    differing = {
        "run": manifest.get("run") != place,
        "items": items != result.overall.items,
        "counts": manifest.get("counts") != json.loads(json.dumps(counts(result))),
        "configuration_digest": manifest.get("configuration_digest") != digest(manifest.get("configuration")),
    }
    names = [name for name, differs in differing.items() if differs]
    return f"a {MANIFEST} that is not of this {RESULT} ({', '.join(names)})" if names else ""


def frame(runs: Sequence[Run]) -> Any:
    """Return a pandas.DataFrame with a line for each record."""
    import pandas

    types = columns(runs)
    table = pandas.DataFrame(rows(runs, types), columns=list(types))
    # None stays a missing value, beside whole numbers too.
    nullable = {int: "Int64", float: "Float64", bool: "boolean", str: "string"}
    return table.astype({name: nullable[kind] for name, kind in types.items()})


def columns(runs: Sequence[Run]) -> dict[str, type]:
    """Return name and type of each column that the records of the runs have together. Reads all of them."""
    return types_of(line for run in runs for line in run.records())


def rows(runs: Sequence[Run], types: Mapping[str, type]) -> Iterator[dict[str, Any]]:
    """Yield a dictionary with all columns for each record; None where there is nothing."""
    return (row_of(line, run.place, run.right(line), types) for run in runs for line in run.records())
