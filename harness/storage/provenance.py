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
    """Return the provenance of a run: code, versions, settings, machine; never a key.

    `config` holds the settings as the user gave them; nowhere else in a run's folder are there paths of this machine.
    """
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "harness": {"version": harness.__version__, **_checkout()},
        "config": config,
        "versions": {name: version for name in _PACKAGES if (version := _version(name))},
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
    def summary(self) -> dict[str, JSON]:
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
    try:
        process = subprocess.run(
            ["git", "-C", str(home), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
