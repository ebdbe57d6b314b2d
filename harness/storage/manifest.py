"""manifest.json: what a run was, how its numbers came about (code, versions, settings, machine), and their digests."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from operator import length_hint
from pathlib import Path
from typing import Any, TypedDict

from msgspec import Struct, convert

import harness
from harness.codec import digest, text_digest
from harness.plugin import version_of
from harness.types import JSON, Item, Role, Tally, replace

FORMAT = 1
"""Of the files in a run's folder; raised when a reader of an earlier version would misread them (docs/versions.md)."""
Facts = Mapping[str, JSON]


class Place(TypedDict):
    """Where a run stands in every table."""

    task: str
    variant: str
    prompt: str
    model: str


PLACE = tuple(Place.__annotations__)
"""Its parts, from the outermost folder to the innermost."""


class Items(TypedDict, total=False):
    """What was asked: how many items, and their digest."""

    count: Tally | None
    sha256: str | None


class Settings(TypedDict, total=False):
    """The settings that a run was started with. What has no name here is a setting of the command."""

    task: Facts | None
    model: Facts | None
    algorithm: Facts | None
    judge: Facts | None
    prompt: str | None
    replies: str | None
    answer: str | None
    max_tokens: Tally | None
    samples: Tally | None
    seed: Tally | None


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
    items_without: Tally
    """Items of the task that have none: the run is of the others."""
    rows: Facts
    """How they came here: the file and its digest, its columns, and by what its rows were matched to items."""


class SealedRecords(TypedDict):
    """What names the lines of the records."""

    count: Tally
    sha256_sum: str


class Manifest(Struct, frozen=True, kw_only=True):
    """A manifest, its parts in the order of the file; None for a part that the file does not have."""

    run: Mapping[str, str]
    """task, variant, prompt and model: the run's place in every table."""
    format: Tally | None = FORMAT
    """In which format the folder's files are; None in those made before formats had a number."""
    configuration: Mapping[str, Facts]
    """All that can change the records or the scores. A folder takes one configuration."""
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
    files: Mapping[str, str] | None = None
    """The digests of the run's further files, such as graphs, by name; None where it has none."""
    reading: Facts | None = None
    """By which rules the replies were read; None where there were none to be read."""
    ended: str | None = None
    """The one part that stands in the file as null: of a run that has not ended."""
    complete: bool | None = None
    result: str | None = None
    """The digest of result.json,"""
    digest: str | None = None
    """and that of all other parts of the manifest."""

    @classmethod
    def from_json(cls, content: Mapping[str, JSON]) -> Manifest:
        """Return the manifest that a file holds; parts that it does not have are None, or empty.

        Raises ValueError for a part of another form.
        """
        there = {name: content[name] for name in cls.__struct_fields__ if content.get(name) is not None}
        parts = {"run": {}, "configuration": {}, "format": None} | there
        convert(parts, cls)
        if there.get("run"):
            convert(there["run"], Place)
        return cls(**parts)

    @property
    def configuration_digest(self) -> str:
        return digest(self.configuration)

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
        parts = {name: getattr(self, name) for name in self.__struct_fields__}
        head = {name: parts.pop(name) for name in ("run", "format", "configuration")}
        parts = head | {"configuration_digest": self.configuration_digest} | parts
        return {name: part for name, part in parts.items() if part is not None or name == "ended"}


NO_MANIFEST = Manifest(run={}, configuration={})
"""Of a run whose manifest cannot be read."""
SEALS = "digest"
"""The part that is the digest of all others."""
FOUND = ("items", "counts", "records", "files", "reading", "ended", "result", SEALS)
"""The parts that a run has when it has ended, and that are made anew when its replies are read again."""


MOVED: Mapping[str, str] = {
    "harness.causal.discovery.boss.BOSS": "harness_discovery.algorithms.BOSS",
    "harness.causal.discovery.pc.PC": "harness_discovery.algorithms.PC",
    "harness.plugins.cladder.reasoner.LadderReasoner": "harness.tasks.cladder.reasoner.LadderReasoner",
    "harness.plugins.cladder.shortcut.LadderShortcut": "harness.tasks.cladder.shortcut.LadderShortcut",
    "harness.plugins.cladder.task.CLadder": "harness.tasks.cladder.CLadder",
    "harness.plugins.fresh.pairs.Pairs": "harness.tasks.corr2cause.fresh.pairs.Pairs",
    "harness.plugins.fresh.task.Fresh": "harness.tasks.corr2cause.fresh.task.Fresh",
    "harness.plugins.fresh.trees.Trees": "harness.tasks.corr2cause.fresh.trees.Trees",
}
"""Classes that a config named at another place: the old name, and today's."""
GONE = frozenset(("limit_parameter", "max_total_wait", "tokens_per_minute", "context", "trust_remote_code", "window"))
"""Settings of models on which no answer depended, and which are no more."""
NULL = frozenset(("classes", "dialect", "endpoint", "graphs", "top_p"))  # no more, where they were not set
UNSET: Mapping[str, str] = {"harness.plugins.fresh.task.Fresh": "whole"}
"""Settings that a class, by its old name, has no more: a run that did not use them is one without them."""


def upgraded(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with today's names of classes, and its role. Its digests are those of the file."""
    config = manifest.get("config")
    if isinstance(config, Mapping):
        manifest = {**manifest, "config": {name: _renamed(section) for name, section in config.items()}}
    if manifest.get("configuration") and not manifest.get("role"):
        learned = isinstance(config, Mapping) and config.get("algorithm") is not None
        manifest = {**manifest, "role": "algorithm" if learned else "model"}
    return dict(manifest)


def _renamed(section: Any) -> Any:
    """Return a part's settings with today's name of its class, and without those that a model of ours has no more."""
    target = section.get("_target_") if isinstance(section, Mapping) else None
    if not isinstance(target, str):
        return section
    gone = GONE if target.startswith("harness.models.") else frozenset[str]()
    kept = {
        name: value
        for name, value in section.items()
        if name not in gone and (value or name != UNSET.get(target)) and (value is not None or name not in NULL)
    }
    return kept | {"_target_": MOVED.get(target, target)}


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
