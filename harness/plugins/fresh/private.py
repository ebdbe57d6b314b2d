"""Seeds that nobody has seen: kept in a file of the user's, told by their SHA-256 until `harness reveal`.

The file of the seed in use is taken by every run that asks for task.seed=private, until that seed is revealed; then
the next run draws another one. A run's folder holds the SHA-256 alone, which 256 drawn bits make impossible to guess.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.cli import key_value
from harness.codec import plain_text, text_digest
from harness.errors import ConfigError, DataError, StoreError
from harness.storage.atomic_write import atomic_file
from harness.storage.files import inside, read_bytes

PRIVATE = "private"
"""The value of task.seed, and the file of the seed in use."""
PATTERN = rf"{PRIVATE}-[0-9a-f]{{64}}"
"""What a private seed is called: its commitment."""
REVEALED = "seed.txt"
"""The file beside a run's manifest."""

HELP = f"""\
Write the private seed of runs beside them, so that anybody can make their items again.

  harness reveal RUN [RUN ...]   the folders of runs, or folders above them

A run that was made with task.seed=private holds the SHA-256 of its seed from the start. RUN/{REVEALED} then holds the
seed itself, and harness verify makes the items again from it. All runs of that seed are open once one of them is: from
then on task.seed=private draws another one. The seeds stand in $XDG_CONFIG_HOME/harness/seeds (~/.config).
"""


@dataclass(frozen=True)
class RevealSettings:
    """The command has none."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out the command and return the exit code."""
    return key_value.command(HELP, RevealSettings, _job, arguments)


def _job(folders: list[str], settings: RevealSettings) -> int:
    from harness.storage.find import find

    if not folders:
        raise ConfigError("say which runs: harness reveal RUN, with the folder of a run or one above it.")
    commitments = {folder: name for folder in find(folders) if (name := _commitment(folder)) is not None}
    if not commitments:
        raise DataError(f"no run below {', '.join(folders)} was made with task.seed={PRIVATE}.")
    seeds = {name: kept(name) for name in dict.fromkeys(commitments.values())}
    if missing := [name for name, seed in seeds.items() if seed is None]:
        raise DataError(f"the seed of {missing[0]} is not in {_folder()}: only who drew it can reveal it.")
    for folder, name in commitments.items():
        with atomic_file(str(folder / REVEALED), "RUN", user_path=False) as file:
            file.write(f"{seeds[name]}\n")
        print(f"{folder}: {REVEALED}")
    for name in seeds:
        _retire(name)
    return 0


def _commitment(folder: Path) -> str | None:
    """Return what a run's manifest calls its private seed; None for a run of another seed."""
    from harness.storage import runs  # which reads with msgspec; whoever makes questions has no need of it

    task = runs.manifest_of(folder).configuration.get("task")
    seed = task.get("seed") if isinstance(task, dict) else None
    return seed if isinstance(seed, str) and seed.startswith(f"{PRIVATE}-") else None


def commitment(seed: str) -> str:
    return f"{PRIVATE}-{text_digest(seed)}"


def current() -> str:
    """Return the commitment to the seed in use; draw one where there is none. Raises StoreError."""
    file = _folder() / PRIVATE
    try:
        if (seed := _read(file)) is None:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _place(file, secrets.token_hex(32))
            seed = _read(file)  # of the process that was first
    except OSError as error:
        raise StoreError(f"task.seed={PRIVATE}: {file} cannot be written ({error.strerror}).") from None
    if seed is None:
        raise StoreError(f"task.seed={PRIVATE}: {file} holds no seed: move it away.")
    return commitment(seed)


def _place(file: Path, seed: str) -> None:
    """Put a seed into its file, for its owner's eyes alone, unless there is one."""
    own = file.with_name(f".{secrets.token_hex(8)}")
    number = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(number, "w") as stream:
            stream.write(f"{seed}\n")
            stream.flush()
            os.fsync(number)
        with suppress(FileExistsError):
            os.link(own, file)
    finally:
        own.unlink()


def kept(name: str) -> str | None:
    """Return the seed of a commitment from the user's files; None where it is not among them."""
    for file in (_folder() / PRIVATE, _folder() / name):
        if (seed := _read(file)) is not None and commitment(seed) == name:
            return seed
    return None


def revealed(folder: Path, name: str) -> str | None:
    """Return the seed of a commitment from a run's folder; None before it is revealed. Raises DataError for another."""
    if (file := inside(folder, REVEALED)) is None:
        return None
    seed = read_bytes(file).decode(errors="replace").strip()
    if commitment(seed) != name:
        raise DataError(f"{file} is not the seed of which the manifest holds the SHA-256.")
    return seed


def _read(file: Path) -> str | None:
    try:
        return plain_text(file, 1000).strip() or None
    except (OSError, ValueError):
        return None


def _retire(name: str) -> None:
    """Have the next private run draw another seed, if this is the one in use."""
    file = _folder() / PRIVATE
    if (seed := _read(file)) is not None and commitment(seed) == name:
        file.replace(_folder() / name)


def _folder() -> Path:
    home = Path(os.environ.get("XDG_CONFIG_HOME") or "")
    # A relative one would be read from the working directory, which may be anybody's.
    return Path(home if home.is_absolute() else Path("~/.config").expanduser(), "harness", "seeds")


if __name__ == "__main__":
    sys.exit(main())
