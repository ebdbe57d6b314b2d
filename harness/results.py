"""One run's folder: results/<task>/<variant>/<prompt>/<model>/ with records, result and manifest.

Records are written beside those of an earlier run and take their place only when the run has ended; a
complete result is replaced by a complete one only. So a run that was cut short leaves no complete result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.codec import digest, text_digest
from harness.errors import ConfigError, DataError, StoreError
from harness.records import Writer, compress
from harness.result_json import result_json
from harness.storage.files import DAMAGED, inside
from harness.types import JSON, Result

if TYPE_CHECKING:
    from harness.money.ledger import Ledger
    from harness.settings import Form

RECORDS, PARTIAL, RESULT, MANIFEST = "records.jsonl", "records.partial.jsonl", "result.json", "manifest.json"
COMPRESSED = f"{RECORDS}.gz"
SEALS = "digest"
"""The part of a manifest that is the digest of all its others."""
WITHOUT_RECORDS = f"holds no {RECORDS} (git leaves most of them out): the command of its run makes them again"


@dataclass
class Folder:
    """Where one run leaves what it found."""

    path: Path
    run: Mapping[str, str]
    """task, variant, prompt and model: the run's place in every table."""
    configuration: Mapping[str, JSON]
    """All that can change the records or the scores. A folder takes one configuration."""
    provenance: Mapping[str, JSON]
    """How the numbers came about; does not decide whether two runs are the same."""
    renamed_by: str = "model.name"
    """The setting that gives a run another name."""
    ledger: Ledger | None = None
    """The account of what is asked in this run, where a model is."""
    form: Form | None = None
    """None: as in the folder already, plain in a new one."""
    recorded: Path = field(init=False)
    """The records of this run, wherever they stand at the moment."""
    _records: Mapping[str, JSON] = field(init=False, default_factory=dict)
    """Their digest."""

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Holds the folder for this run, from the first record to the result; one process at a time."""
        import filelock

        lock = filelock.FileLock(self.path / ".lock", timeout=0)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock.acquire()
            self._claim()
        except filelock.Timeout:
            raise StoreError(
                f"another run is writing to {self.path}: wait for it or choose another results=."
            ) from None
        except OSError as error:
            raise self._trouble(error) from error
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def recording(self, headline: str) -> Iterator[Writer]:
        """A writer for this run's records."""
        self.recorded = self.path / PARTIAL
        try:
            file = self.recorded.open("w", encoding="utf-8")
        except OSError as error:
            raise self._trouble(error) from error
        cost = self.ledger.cost if self.ledger is not None and self.ledger.paid else None
        with closing(Writer(file, headline, cost)) as writer:
            yield writer
        self._records = writer.seal.as_json

    def accounted(self, result: Result) -> Result:
        """The result with the tokens of every distinct request once, openings included, where there is a ledger."""
        return result if self.ledger is None else replace(result, usage=self.ledger.usage)

    def finish(self, result: Result, *, items: Mapping[str, JSON], complete: bool) -> None:
        """Puts the records in their place and writes result.json and manifest.json; `items` tells what was asked."""
        try:
            if not complete and self._complete():
                return  # an earlier complete run of the same configuration stays
            if not complete and not self.recorded.stat().st_size:
                return  # nothing was answered, so the place is not taken
            self._keep_records()
            spent = self.ledger.told if self.ledger is not None else {}
            said = json.loads(json.dumps({"run": self.run, "complete": complete, **result_json(result), **spent}))
            for name, text in result.files.items():
                file = self.path / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            if complete and self._same(said, items):
                return  # the manifest goes on telling how the result first came about
            _write(self.path / RESULT, said)
            ended = datetime.now(UTC).isoformat(timespec="seconds")
            became = {"items": items, "counts": counts_of(result), "ended": ended, "complete": complete}
            manifest = {**self._manifest(), **became, "records": self._records, "result": digest(said)}
            _write(self.path / MANIFEST, manifest | {SEALS: digest(manifest)})
        except OSError as error:
            raise self._trouble(error) from error

    def _keep_records(self) -> None:
        """Puts the records in their place, in one form."""
        plain, compressed = self.path / RECORDS, self.path / COMPRESSED
        if self.form == "gzip" or (self.form is None and compressed.exists()):
            compress(self.recorded, compressed)
            plain.unlink(missing_ok=True)
            self.recorded.unlink()
            self.recorded = compressed
        else:
            compressed.unlink(missing_ok=True)
            self.recorded = self.recorded.replace(plain)

    def _same(self, said: Mapping[str, JSON], items: Mapping[str, JSON]) -> bool:
        """Whether the result is there already, complete and from the same items."""
        manifest = _load(self.path / MANIFEST)
        return (
            self._complete()
            and _load(self.path / RESULT) == said
            and manifest.get("items") == items
            and manifest.get("records") == self._records
        )

    def _complete(self) -> bool:
        result = self.path / RESULT
        return result.exists() and bool(_load(result).get("complete"))

    def _claim(self) -> None:
        """Takes the place for this configuration, or refuses where another one has left something."""
        manifest = self.path / MANIFEST
        if not any((self.path / name).exists() for name in (RECORDS, COMPRESSED, RESULT)):
            _write(manifest, self._manifest() | {"ended": None, "complete": False})
            return
        if not manifest.exists():
            raise StoreError(
                f"{self.path} holds a run without its {MANIFEST}: move it away or choose another results=."
            )
        there = _load(manifest).get("configuration", {})
        mine = json.loads(json.dumps(self.configuration))
        if there.get("prompt") != mine.get("prompt") and there | {"prompt": mine.get("prompt")} == mine:
            raise ConfigError(
                f"{self.path} holds a run with other words of the prompt {self.run['prompt']}: save the new words "
                "under another name, remove the folder, or choose another results=."
            )
        if there != mine:
            raise ConfigError(
                f"{self.path} holds a run with another configuration ({_difference(there, mine)}): give this one "
                f"another name ({self.renamed_by}=…) or another place (results=…), or remove the folder."
            )

    def _manifest(self) -> dict[str, JSON]:
        return {
            "run": self.run,
            "configuration": self.configuration,
            "configuration_digest": digest(self.configuration),
            **self.provenance,
        }

    def _trouble(self, error: OSError) -> StoreError:
        return StoreError(
            f"the results folder {self.path} cannot be written ({error.strerror}): choose another results=."
        )


def records_in(folder: Path) -> Path | None:
    """Return the records of the run that a folder holds; None where there are none. Raises DataError where two are."""
    found = [folder / name for name in (RECORDS, COMPRESSED) if inside(folder, name)]
    if len(found) > 1:
        raise DataError(f"{folder} holds {RECORDS} and {COMPRESSED}, which need not be of one run: remove one of them.")
    return found[0] if found else None


def safe(name: str) -> str:
    """A name as one part of a path: a/b becomes a__b; what is too long for one ends in a digest."""
    part = re.sub(r"[^\w.,=+()\[\]-]", "-", name.replace("/", "__")).strip(".") or "-"
    return part if len(part.encode()) <= 160 else f"{part[:100]}-{text_digest(name)[:12]}"


def variant(settings: Mapping[str, Any]) -> str:
    """Settings as one name, such as limit=100,split=dev; `default` where there are none."""
    return ",".join(f"{name}={_shown(value)}" for name, value in settings.items()) or "default"


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "+".join(map(_shown, value))
    return safe(str(value))


def _difference(there: Any, mine: Any, at: str = "") -> str:
    """The first setting in which two configurations differ."""
    if isinstance(there, dict) and isinstance(mine, dict):
        for name in {**there, **mine}:
            if name not in there or name not in mine or there[name] != mine[name]:
                return _difference(there.get(name, _ABSENT), mine.get(name, _ABSENT), f"{at}.{name}" if at else name)
    return f"{at}: {_said(there)} there, {_said(mine)} now"


def counts_of(result: Result) -> dict[str, JSON]:
    """What became of the items, and under which names the server answered."""
    overall = result.overall
    return {
        "items": overall.items,
        "clusters": result.clusters,
        "unreadable": overall.unreadable,
        "failures": dict(result.failures),
        "finish_reasons": dict(result.finish_reasons),
        "served_models": dict(result.served_models),
    }


_ABSENT = object()


def _said(value: Any) -> str:
    return "nothing" if value is _ABSENT else json.dumps(value)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """All of it or nothing: a reader never sees half a file."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(f"{_laid_out(content)}\n", encoding="utf-8")
    temporary.replace(path)


def _laid_out(value: Any, indent: str = "") -> str:
    """JSON with a line for each member of an object; lists, and rows of scores, stand on one line."""
    if not isinstance(value, Mapping) or not value or "positives" in value:
        return json.dumps(value, ensure_ascii=False)
    inner = f"{indent}  "
    members = (
        f"{inner}{json.dumps(str(name), ensure_ascii=False)}: {_laid_out(member, inner)}"
        for name, member in value.items()
    )
    return "{\n" + ",\n".join(members) + f"\n{indent}}}"


def _load(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise StoreError(f"{path} {DAMAGED}.") from None
    return content if isinstance(content, dict) else {}
