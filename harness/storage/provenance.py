"""What produced a number: code, versions, settings, machine. Goes into manifest.json."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from operator import length_hint
from pathlib import Path

import harness
from harness.codec import text_digest
from harness.types import JSON, Item

_PACKAGES = ("hydra-core", "openai", "torch", "transformers", "datasets", "scikit-learn", "numpy", "causal-learn")


def gather(config: Mapping[str, JSON]) -> dict[str, JSON]:
    """Everything but the run itself. No key is in it.

    `config` holds the settings as they were given, paths too: the only place of a run's folder where there are any.
    """
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "harness": {"version": harness.__version__, **_checkout()},
        "config": config,
        "versions": {name: version for name in _PACKAGES if (version := _version(name))},
        "python": platform.python_version(),
        "machine": _machine(),
    }


class Traced(Iterable[Item]):
    """Items that are counted and digested while they pass, so that a manifest can say what was asked."""

    def __init__(self, items: Iterable[Item]) -> None:
        """Wraps the items of one run."""
        self._items = items
        self._count = 0
        self._digest = hashlib.sha256()

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            self._count += 1
            said = sorted((name, _brief(value)) for name, value in item.fields.items())
            self._digest.update(repr((item.id, said, sorted(item.labels.items()))).encode())
            yield item

    def __length_hint__(self) -> int:
        return length_hint(self._items)

    @property
    def told(self) -> dict[str, JSON]:
        """How many passed, and a SHA-256 over their ids, fields and labels in order."""
        return {"count": self._count, "sha256": self._digest.hexdigest()}


def _brief(value: JSON) -> JSON:
    """A list of long texts (a network's data) by their digests, which are remembered."""
    return tuple(map(text_digest, value)) if isinstance(value, tuple) else value


def _machine() -> dict[str, JSON]:
    """What computed: read from /proc where there is one, because asking nvidia-smi takes longer than a small run."""
    told: dict[str, JSON] = {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()}
    for name, file, pattern in (
        ("processor", "cpuinfo", r"model name\s*:\s*(.+)"),
        ("memory_kB", "meminfo", r"MemTotal:\s*(\d+)"),
    ):
        with suppress(OSError):
            if found := re.search(pattern, Path("/proc", file).read_text()):
                told[name] = int(found[1]) if found[1].isdigit() else found[1]
    gpus = [_first(r"Model:\s*(.+)", file) for file in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))]
    return told | ({"gpus": gpus} if gpus else {})


def _first(pattern: str, file: Path) -> str | None:
    found = re.search(pattern, file.read_text())
    return found[1].strip() if found else None


def _checkout() -> dict[str, JSON]:
    """The commit, and whether the working tree differs from it; nothing for an installed package."""
    home = Path(harness.__file__).resolve().parent.parent
    if not (home / ".git").exists():
        return {}
    said = _git(home, "status", "--porcelain=2", "--branch", "--", "harness", "configs", "prompts")
    if said is None:
        return {"commit": None, "dirty": None}
    head = re.search(r"^# branch\.oid (\w+)", said, re.MULTILINE)
    return {"commit": head[1] if head else None, "dirty": bool(re.search(r"^[^#]", said, re.MULTILINE))}


def _git(home: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(home), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
