"""One run's folder: results/<task>/<variant>/<prompt>/<model>/ with records, result and manifest.

Records are written beside those of an earlier run and take their place only when the run has ended; a complete result
is replaced by a complete one only. All that a run leaves is first written beside its place, then renamed: manifest.json
last, and where a complete one is there, it says first that the run has not ended. So whatever kills a run, and at
whatever moment: where manifest.json says complete, everything is of one run; elsewhere the same command makes it so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from harness.codec import digest, text_digest
from harness.errors import ConfigError, DataError, StoreError
from harness.storage.atomic_write import beside, format_json, full, json_round_trip, object_in, prepare, write
from harness.storage.configuration import difference
from harness.storage.files import DAMAGED, inside
from harness.storage.manifest import Items, Manifest, SealedRecords
from harness.storage.records import Writer, read
from harness.storage.result_json import counts, result_json
from harness.types import JSON, Response, Result, Usage, replace

RECORDS, PARTIAL, RESULT, MANIFEST = "records.jsonl", "records.partial.jsonl", "result.json", "manifest.json"
COMPRESSED = f"{RECORDS}.gz"
"""Records that somebody has compressed since: every command reads them, and a run writes them plain."""
_REPEATED = ("run", "configuration_digest", "complete", "items", "counts", "records", "reading")
"""The parts of a manifest that are the same when the run is repeated."""


class Account(Protocol):
    """The account of what the answers of a run cost."""

    @property
    def paid(self) -> bool:
        """Whether the answers may cost money."""

    @property
    def usage(self) -> Usage:
        """The tokens of all distinct requests."""

    @property
    def cost_json(self) -> dict[str, JSON]:
        """The cost for result.json."""

    def cost(self, response: Response) -> float | None:
        """Return the cost of one answer in USD; None where it is unknown."""


@dataclass
class Folder:
    """The folder that one run writes to."""

    path: Path
    manifest: Manifest
    """What is known of the run before it begins, and what stays where its records are only read again."""
    renamed_by: str = "model.name"
    """The setting that gives a run another name."""
    overwrite: bool = False
    """Whether a run with another configuration that the folder holds is removed."""
    ledger: Account | None = None
    """The account of what is asked in this run, where a model is."""
    judge_ledger: Account | None = None
    """The account of its judge, where it has one."""
    records_file: Path = field(init=False)
    """The file of this run's records: partial until the run has ended."""
    _records: SealedRecords | None = field(init=False, default=None)
    """Their digest."""

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder from the first record to the result. Raises StoreError if another run holds it."""
        import filelock

        lock = filelock.FileLock(self.path / ".lock", timeout=0)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock.acquire()
            self._claim()
        except filelock.Timeout:
            raise self._in_use() from None
        except OSError as error:
            raise self._trouble(error) from error
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def open_records(self, headline: str) -> Iterator[Writer]:
        """Open a writer for this run's records."""
        cost = self.ledger.cost if self.ledger is not None and self.ledger.paid else None
        with self._writer(self.path / PARTIAL, headline, cost) as writer:
            yield writer

    @contextmanager
    def rewrite_records(self, headline: str) -> Iterator[Writer]:
        """Yield a writer for the records once more, with other answers; they replace those of this run so far."""
        place = beside(self.path / RECORDS)
        with self._writer(place, headline) as writer:
            yield writer
        try:
            place.replace(self.path / PARTIAL)
        except OSError as error:
            raise self._trouble(error) from error

    @contextmanager
    def _writer(
        self, place: Path, headline: str, cost: Callable[[Response], float | None] | None = None
    ) -> Iterator[Writer]:
        try:
            place.unlink(missing_ok=True)  # of a run that was killed, or a link that leads elsewhere
            file = place.open("w", encoding="utf-8")
        except OSError as error:
            raise self._trouble(error) from error
        self.records_file = self.path / PARTIAL
        with closing(Writer(file, headline, cost)) as writer:
            yield writer
        self._records = writer.seal.as_json

    def with_usage(self, result: Result) -> Result:
        """Return the result with the tokens of every distinct request once, openings included, if there is a ledger."""
        return result if self.ledger is None else replace(result, usage=self.ledger.usage)

    def finish(self, result: Result, *, items: Items, complete: bool) -> None:
        """Move the records into place and write result.json and manifest.json.

        `items` is the digest of the items.
        """
        ready: dict[Path, Path] = {}
        try:
            if not complete and self._complete():
                self.records_file.unlink()  # an earlier complete run of the same configuration stays, by itself
                return
            if not complete and not self.records_file.stat().st_size:
                return  # nothing was answered, so the place is not taken
            cost = self.ledger.cost_json if self.ledger is not None else {}
            content = json_round_trip({"run": self.manifest.run, "complete": complete, **result_json(result), **cost})
            if "judge" in content and self.judge_ledger is not None:
                content["judge"] |= json_round_trip(self.judge_ledger.cost_json)
            final = replace(
                self.manifest,
                items=items,
                counts=counts(result),
                records=self._records,
                files={name: text_digest(text) for name, text in result.files.items()} or None,
                ended=self.manifest.ended or datetime.now(UTC).isoformat(timespec="seconds"),
                complete=complete,
                result=digest(content),
            )
            ready[self.path / RECORDS] = self.records_file
            for name, text in result.files.items():
                (self.path / name).parent.mkdir(parents=True, exist_ok=True)
                prepare(ready, self.path / name, text)
            if not (complete and self._same(content, final)):
                prepare(ready, self.path / RESULT, f"{format_json(content)}\n")
                prepare(ready, self.path / MANIFEST, f"{format_json(final.sealed.as_json)}\n")
                if self._complete():  # what is renamed from now on is of two runs until all of it is
                    write(self.path / MANIFEST, self.manifest.unfinished.as_json)
            for place, temporary in ready.items():
                temporary.replace(place)
                if place.name == RECORDS:
                    self.records_file = place
                    (self.path / COMPRESSED).unlink(missing_ok=True)  # of the run before, compressed since
        except OSError as error:
            for temporary in ready.values():
                if temporary.name != PARTIAL:
                    with suppress(OSError):  # gives back the room that it takes
                        temporary.unlink(missing_ok=True)
            raise self._trouble(error) from error

    def _same(self, content: Mapping[str, JSON], final: Manifest) -> bool:
        """Return whether this result is there already, complete, from the same items, and its manifest agrees.

        Such a manifest is kept: it says how the result first came about.
        """
        expected = {name: part for name, part in json_round_trip(final.as_json).items() if name in _REPEATED}
        manifest = object_in(self.path / MANIFEST)
        return {name: manifest.get(name) for name in expected} == expected and object_in(self.path / RESULT) == content

    def _complete(self) -> bool:
        return (self.path / RESULT).exists() and object_in(self.path / MANIFEST).get("complete") is True

    def _claim(self) -> None:
        """Write the manifest of an unfinished run; raise ConfigError if another configuration has used the folder."""
        for unfinished in self.path.rglob(".*.tmp"):  # of a run that was killed
            unfinished.unlink(missing_ok=True)
        held = self._held()
        mine = object_in(self.path / MANIFEST).get("configuration") == json_round_trip(self.manifest.configuration)
        if held and (mine or not self.overwrite) and (mine or self._holds_answers()):
            self._refuse_another()
            return
        for file in held:
            file.unlink()
        write(self.path / MANIFEST, self.manifest.unfinished.as_json)

    def check(self) -> None:
        """Raise ConfigError or StoreError now if the run could not begin in this folder. Changes nothing."""
        import filelock

        lock = self.path / ".lock"
        try:
            if lock.exists():
                with filelock.FileLock(lock, timeout=0):
                    pass
        except filelock.Timeout:  # an OSError, too
            raise self._in_use() from None
        except OSError:
            pass  # the run itself will say so
        if self._held() and not self.overwrite and self._holds_answers():
            self._refuse_another()

    def _held(self) -> list[Path]:
        """Return the files that a run has left here, without its manifest."""
        return [file for name in (RESULT, RECORDS, COMPRESSED) if (file := self.path / name).exists()]

    def _refuse_another(self) -> None:
        """Raise ConfigError if the run in the folder has another configuration, with the way out."""
        manifest, mine = self.path / MANIFEST, json_round_trip(self.manifest.configuration)
        if not manifest.exists():
            raise StoreError(f"{self.path} holds a run without its {MANIFEST}: move it away, or choose results=….")
        if not isinstance(there := object_in(manifest).get("configuration"), dict):
            raise StoreError(f"{manifest} {DAMAGED}.")
        if there != mine:
            raise ConfigError(f"{self.path} holds {difference(there, mine, self.renamed_by)}")

    def _in_use(self) -> StoreError:
        return StoreError(f"another run is writing to {self.path}: wait for it or choose another results=.")

    def _holds_answers(self) -> bool:
        """Return whether the folder holds any answer; a run in which every call failed may be overwritten."""
        try:
            file = records_in(self.path)
            return file is None or any(isinstance(record.outcome, Response) for record in read(file))
        except DataError:
            return True  # what cannot be read may hold some

    def _trouble(self, error: OSError) -> StoreError:
        way_out = "make room, or choose another results=, and start again" if full(error) else "choose another results="
        return StoreError(f"the results folder {self.path} cannot be written ({error.strerror}): {way_out}.")


def records_in(folder: Path) -> Path | None:
    """Return the records of the run that a folder holds; None where there are none. Raises DataError where two are."""
    files = [folder / name for name in (RECORDS, COMPRESSED) if inside(folder, name)]
    if len(files) > 1:
        raise DataError(f"{folder} holds {RECORDS} and {COMPRESSED}, which need not be of one run: remove one of them.")
    return files[0] if files else None
