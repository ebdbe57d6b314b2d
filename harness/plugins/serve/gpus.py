"""Never two servers on one GPU: each that is started takes the locks of the GPUs that it will use."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from harness.errors import ConfigError, RunStopped
from harness.runtime.signals import STOP

try:
    import fcntl
except ImportError:  # without them nothing is locked
    fcntl = None  # type: ignore[assignment]

_SIZES = frozenset(
    (
        *("--tensor-parallel-size", "-tp", "--tp", "--tp-size", "--pipeline-parallel-size", "-pp", "--pp", "--pp-size"),
        *("--data-parallel-size", "-dp", "--dp", "--dp-size"),
    )
)
"""Arguments whose product is the number of GPUs."""
_DYING, _ENDING = 0.5, 60.0
"""Seconds within which a killed process is gone, and to wait for a server whose run has gone: it is being ended."""


def used(arguments: Sequence[str], *, all_of_them: bool) -> list[str]:
    """Return the identifiers of the GPUs that a server with these arguments uses; none on a machine without.

    all_of_them: whether it takes every GPU that it sees; otherwise as many as its arguments say, the first ones.
    """
    visible = _visible()
    if all_of_them:
        return visible
    words = [part for argument in arguments for part in argument.split("=", 1)]
    count = 1
    for name, value in pairwise(words):
        count *= int(value) if name in _SIZES and value.isdecimal() else 1
    return visible[:count]


def lock(devices: Sequence[str], who: str, say: Callable[[str], None]) -> list[int]:
    """Return open files that hold the locks of GPUs, for this process and those that inherit them.

    who: what to tell others of this run. Raises RunStopped where another run's server uses one of them.
    """
    locks: list[int] = []
    try:
        for device in sorted(devices) if fcntl is not None else ():
            locks.append(_lock(device, who, say))
    except BaseException:
        for file in locks:
            os.close(file)
        raise
    return locks


def _lock(device: str, who: str, say: Callable[[str], None]) -> int:
    place = _folder() / f"{re.sub(r'[^A-Za-z0-9-]', '_', device)}.lock"
    file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        started, told = time.monotonic(), False
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            holder = os.pread(file, 300, 0).decode(errors="replace")
            waited = time.monotonic() - started
            if (waited > _DYING and _lives(holder)) or waited > _ENDING or STOP.requested:
                raise RunStopped(
                    f"GPU {device} is in use by the server of another run ({holder or 'unknown'}): wait for it, or "
                    "give each run GPUs of its own, such as CUDA_VISIBLE_DEVICES=1 before the command."
                )
            if not told and waited > _DYING:
                say(f"GPU {device}: waiting until the server of a run that has gone is ended ({holder})")
                told = True
            time.sleep(0.1)
        os.ftruncate(file, 0)
        os.pwrite(file, f"process {os.getpid()}: {who}".encode(), 0)
    except BaseException:
        os.close(file)
        raise
    return file


def _lives(holder: str) -> bool:
    """Test whether the process lives that has noted itself as the holder of a lock."""
    if (number := re.match(r"process (\d+)", holder)) is None:
        return True
    try:
        os.kill(int(number[1]), 0)
        return Path(f"/proc/{number[1]}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except OSError:
        return True


def _folder() -> Path:
    """Return a folder of this user on this machine. Raises ConfigError where it is somebody else's."""
    folder = Path(tempfile.gettempdir()) / f"harness-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise ConfigError(f"{folder} is somebody else's: set TMPDIR to a folder of your own.")
    return folder


def _visible(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the identifiers of the GPUs that a process started here sees.

    A number is no identifier: where Slurm gives each job its own GPU, every job's is number 0.
    """
    chosen = environment.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        words = [word.strip() for word in chosen.split(",") if word.strip()]
        first_bad = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
        words = words[:first_bad]  # as CUDA reads it: what comes behind an invalid one is not seen
        there = _all() if any(word.isdecimal() or word.startswith("GPU-") for word in words) else []
        return [_named(word, there) for word in words]
    return _all()


def _named(word: str, there: Sequence[str]) -> str:
    if word.isdecimal():
        return there[int(word)] if int(word) < len(there) else f"number-{word}"
    return next((name for name in there if name.startswith(word)), word)


def _all() -> list[str]:
    """Return the identifiers of NVIDIA's GPUs on this machine, in the order of their numbers."""
    command = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    return re.findall(r"^\s*(GPU-\S+)", output, re.MULTILINE)
