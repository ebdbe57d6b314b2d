"""manifest.json: what a run was, how its numbers came about (code, versions, settings, machine), and their digests."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from operator import length_hint
from pathlib import Path
from typing import Any, TypedDict

import msgspec

import harness
from harness.codec import digest, text_digest
from harness.plugin import version_of
from harness.storage.forms import Open, Part, PlaceForm, Whole, form_of
from harness.types import JSON, Item, Role

FORMAT = 1
"""Of the files in a run's folder; raised when a reader of an earlier version would misread them (docs/versions.md)."""
Facts = Mapping[str, JSON]
Place = Mapping[str, str]
Configuration = Facts
Rules = Facts
"""Parts of a manifest; the forms below say what is in them."""


class Items(TypedDict, total=False):
    """What was asked: how many items, and their digest."""

    count: Whole | None
    sha256: str | None


class Settings(TypedDict, total=False):
    """The settings that a run was started with. What has no name here is a setting of the command."""

    task: Part | None
    model: Part | None
    algorithm: Part | None
    judge: Part | None
    prompt: str | None
    replies: str | None
    answer: str | None
    max_tokens: Whole | None
    samples: Whole | None
    seed: Whole | None


class Program(TypedDict, total=False):
    """Which harness ran."""

    version: str | None
    commit: str | None
    dirty: bool | None


class Recorded(TypedDict, total=False):
    """Whose answers they are that this program has not asked for."""

    by: str
    source: str
    licence: str
    unknown: list[str]
    """What is not known of them."""
    items_without: Whole
    """Items of the task that have none: the run is of the others."""
    rows: Part
    """How they came here: the file and its digest, its columns, and by what its rows were matched to items."""


class SealedRecords(TypedDict):
    """What names the lines of the records."""

    count: Whole
    sha256_sum: str


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A manifest, its parts in the order of the file; None for a part that the file does not have."""

    run: Place
    """task, variant, prompt and model: the run's place in every table."""
    format: Whole | None = FORMAT
    """In which format the folder's files are; None in those made before formats had a number."""
    configuration: Configuration
    """All that can change the records or the scores. A folder takes one configuration."""
    configuration_digest: str | None = field(init=False)
    # How the numbers came about; does not decide whether two runs are the same.
    role: Role | None = None
    started: str | None = None
    harness: Program | None = None
    config: Settings | None = None
    """The settings as the user gave them. Nowhere else in a run's folder are there paths of this machine."""
    versions: Mapping[str, str] | None = None
    python: str | None = None
    machine: Facts | None = None
    own_files: Mapping[str, str] | None = None
    """The files of the working directory that the run is made of: {path below it: SHA-256}."""
    training: Facts | None = None
    words: Facts | None = None
    """Those of the prompt."""
    recorded: Recorded | None = None
    """Of answers that others have recorded: by whom, where from, under which licence."""
    price: Facts | None = None
    judge: Facts | None = None
    """The words in which it was asked, and its price."""
    workers: Facts | None = None
    reread: Facts | None = None
    """When the replies were last read again, and by which harness."""
    # What the run has found, once it has ended.
    items: Items | None = None
    counts: Facts | None = None
    records: SealedRecords | None = None
    reading: Rules | None = None
    """By which rules the replies were read; None where there were none to be read."""
    ended: str | None = None
    """The one part that stands in the file as null: of a run that has not ended."""
    complete: bool | None = None
    result: str | None = None
    """The digest of result.json,"""
    digest: str | None = None
    """and that of all other parts of the manifest."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "configuration_digest", digest(self.configuration))

    @classmethod
    def from_json(cls, content: Mapping[str, JSON]) -> Manifest:
        """Return the manifest that a file holds, its parts already checked; run and configuration may be empty."""
        parts = {part.name: content.get(part.name) for part in fields(cls) if part.init}
        manifest = cls(**parts | {name: parts[name] or {} for name in ("run", "configuration")})
        # As the file has it: verify compares the two.
        object.__setattr__(manifest, "configuration_digest", content.get("configuration_digest"))
        return manifest

    @property
    def unfinished(self) -> Manifest:
        """The manifest of the same run as long as it has not ended."""
        nothing: dict[str, Any] = dict.fromkeys(FOUND)
        return replace(self, **nothing, complete=False)

    @property
    def sealed(self) -> Manifest:
        return replace(self, digest=digest(replace(self, digest=None).as_json))

    @property
    def as_json(self) -> dict[str, JSON]:
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: part for name, part in parts.items() if part is not None or name == "ended"}


NO_MANIFEST = Manifest(run={}, configuration={})
"""Of a run whose manifest cannot be read."""
SEALS = "digest"
"""The part that is the digest of all others."""
FOUND = ("items", "counts", "records", "reading", "ended", "result", SEALS)
"""The parts that a run has when it has ended, and that are made anew when its replies are read again."""


class ConfigurationForm(Open):
    """What the answers depend on."""

    task: Part = msgspec.field(default_factory=dict)
    data: Part = msgspec.field(default_factory=dict)
    prompt: Part = msgspec.field(default_factory=dict)
    model: Part = msgspec.field(default_factory=dict)
    judge: Part | None = None


class RulesForm(Open):
    """By which rules the replies were read."""

    version: Whole
    rules: str


ManifestForm = form_of(
    Manifest, base=Open, partial=True, Place=PlaceForm, Configuration=ConfigurationForm, Rules=RulesForm
)
"""manifest.json as it is read. A part that is there has its form; verify says which parts are missing."""

_PACKAGES = ("hydra-core", "aiohttp", "torch", "transformers", "datasets", "scikit-learn", "numpy")


def provenance(config: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the provenance of a run: code, versions, settings, machine; never a key.

    `config` holds the settings as the user gave them; nowhere else in a run's folder are there paths of this machine.
    """
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "harness": {"version": harness.__version__, **_checkout()},
        "config": config,
        "versions": {name: version for name in _PACKAGES if (version := version_of(name))},
        "python": platform.python_version(),
        "machine": machine(),
    }


class TracedItems(Iterable[Item]):
    """Items that are counted and digested as they are iterated, so that a manifest can say what was asked."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = items
        self._count = 0
        self._digest = hashlib.sha256()

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            self._count += 1
            fields = sorted((name, _brief(value)) for name, value in item.fields.items())
            self._digest.update(repr((item.id, fields, sorted(item.labels.items()))).encode())
            yield item

    def __length_hint__(self) -> int:
        return length_hint(self._items)

    @property
    def summary(self) -> Items:
        """The number of items so far, and a SHA-256 over their ids, fields and labels in order."""
        return {"count": self._count, "sha256": self._digest.hexdigest()}


def _brief(value: JSON) -> JSON:
    """Return a list of long texts (a network's data) as their digests, which are cached; any other value as it is."""
    return tuple(map(text_digest, value)) if isinstance(value, tuple) else value


def machine() -> dict[str, JSON]:
    """Return the machine's parts, from /proc where there is one: nvidia-smi takes longer than a small run."""
    facts: dict[str, JSON] = {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()}
    for name, file, pattern in (
        ("processor", "cpuinfo", r"model name\s*:\s*(.+)"),
        ("memory_kB", "meminfo", r"MemTotal:\s*(\d+)"),
    ):
        with suppress(OSError):
            if match := re.search(pattern, Path("/proc", file).read_text()):
                facts[name] = int(match[1]) if match[1].isdigit() else match[1]
    gpus = [_first(r"Model:\s*(.+)", file) for file in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))]
    return facts | ({"gpus": gpus} if gpus else {})


def _first(pattern: str, file: Path) -> str | None:
    match = re.search(pattern, file.read_text())
    return match[1].strip() if match else None


def _checkout() -> dict[str, JSON]:
    """Return the commit and whether the working tree differs from it; empty for an installed package."""
    home = Path(harness.__file__).resolve().parent.parent
    if not (home / ".git").exists():
        return {}
    status = _git(home, "status", "--porcelain=2", "--branch", "--", "harness", "configs", "prompts")
    if status is None:
        return {"commit": None, "dirty": None}
    head = re.search(r"^# branch\.oid (\w+)", status, re.MULTILINE)
    return {"commit": head[1] if head else None, "dirty": bool(re.search(r"^[^#]", status, re.MULTILINE))}


def _git(home: Path, *arguments: str) -> str | None:
    import subprocess  # those who only read runs need none of it

    try:
        process = subprocess.run(
            ["git", "-C", str(home), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout.strip()
