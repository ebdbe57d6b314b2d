"""What of the working directory counts: code that a config or prompt names, and files in the place of those that ship.

A folder may come from anybody, so no command has it on Python's search path: a package's optional import would be
answered by whatever lies there. A run imports the module that a config or a prompt of the user's names, by its file,
and for that module what lies beside it. Files that take the place of one that ships, and benchmarks of the folder's own
where results are read, count once the user has marked the folder: `harness trust FOLDER`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import FrameType, ModuleType

from harness.errors import ConfigError

USAGE = """\
harness trust [FOLDER ...] [--revoke]

Marks folders whose own files count in place of those that ship (configs/model/gpt4.yaml) and whose own benchmarks
leaderboard, report and the others import. Both may run code of whoever wrote them: mark folders of your own. Without a
folder it lists those that are marked.

  --revoke            take the mark off again

The marks stand in $XDG_CONFIG_HOME/harness/trusted (~/.config), a folder a line."""


def trusted(folder: Path | None = None) -> bool:
    """Return whether a folder (the working directory) is marked.

    What lies below a marked folder is not: an archive may have been unpacked there.
    """
    place = str((folder or Path.cwd()).resolve())
    return place == _assumed.get("folder") or place in _marked(_file())


def assume(folder: str | Path) -> None:
    """Take a folder as marked in this process: the one that has sent it there has checked it, with its own marks."""
    _assumed["folder"] = str(Path(folder).resolve())


_assumed: dict[str, str] = {}


def child_environment() -> dict[str, str]:
    """Return the variables with which a Python of any program looks for nothing in a folder that is not marked."""
    if trusted():
        return {}
    path = os.environ.get("PYTHONPATH")
    return {"PYTHONSAFEPATH": "1"} | ({"PYTHONPATH": _without_here(path)} if path else {})


def settle_search_path() -> None:
    """Have a marked folder back on the search path that PYTHONPATH has it on by an empty entry or a dot.

    The package has taken it off before its first import. Otherwise no process that is begun finds it there either.
    """
    path = os.environ.get("PYTHONPATH", "")
    if (kept := _without_here(path)) == path:
        return
    if not trusted():
        os.environ["PYTHONPATH"] = kept
    elif str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))


def _without_here(python_path: str) -> str:
    """Return a PYTHONPATH without what means the working directory, whichever that is."""
    return os.pathsep.join(entry for entry in python_path.split(os.pathsep) if entry not in ("", "."))


def refuse_in_place_of_shipped(place: str, way_out: str) -> None:
    """Raise ConfigError for a file of the working directory in the place of one that ships, unless it is marked."""
    if not trusted():
        raise ConfigError(
            f"{place} of this folder would be used in place of the one that ships. If it is yours, `harness trust .` "
            f"has the folder's files count, once and for all; {way_out} asks for the one that ships."
        )


def named_module(name: str) -> ModuleType:
    """Import a module that a config or a prompt names: an installed one, or else one of the working directory.

    Raises whatever its import raises, ModuleNotFoundError where it is in neither.
    """
    top = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != top or _spec_of(top) is None:
            raise
    _own.add(top)
    if _Beside not in sys.meta_path:
        sys.meta_path.append(_Beside)
    return import_module(name)


_own: set[str] = set()
"""The top-level names of modules that were imported from the working directory."""


class _Beside:
    """Finds a module of the working directory that was named, and what such a module imports from beside it."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if path is not None or "." in name:  # a package finds its own modules
            return None
        if name not in _own:
            if _importer(sys._getframe(1)) not in _own:
                return None
            if (spec := _spec_of(name)) is not None:
                _own.add(name)
            return spec
        return _spec_of(name)


def _importer(frame: FrameType | None) -> str:
    """Return the top-level name of the module whose import statement is under way, past Python's own machinery."""
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "importlib":
        frame = frame.f_back
    return "" if frame is None else str(frame.f_globals.get("__name__")).partition(".")[0]


def _spec_of(name: str) -> ModuleSpec | None:
    """Return how to load ./name.py or the package ./name; None where neither is there."""
    with suppress(OSError):
        here = Path.cwd()
        package = here / name
        if (package / "__init__.py").is_file():
            file = package / "__init__.py"
            return spec_from_file_location(name, file, submodule_search_locations=[str(package)])
        if (file := here / f"{name}.py").is_file():
            return spec_from_file_location(name, file)
    return None


def _file() -> Path:
    home = Path(os.environ.get("XDG_CONFIG_HOME") or "")
    # A relative one would be read from the folder itself.
    return Path(home if home.is_absolute() else Path("~/.config").expanduser(), "harness", "trusted")


@cache
def _marked(file: Path) -> tuple[str, ...]:
    try:
        return tuple(line for line in file.read_text(encoding="utf-8").splitlines() if line)
    except (OSError, ValueError):
        return ()


def main(arguments: Sequence[str] | None = None) -> int:
    """Mark the folders that the command line names, or show those that are marked; return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if {"-h", "--help"} & set(words):
        print(USAGE)
        return 0
    revoke, folders = "--revoke" in words, [Path(word) for word in words if word != "--revoke"]
    if wrong := [str(folder) for folder in folders if str(folder).startswith("-") or not (revoke or folder.is_dir())]:
        print(f"error: {wrong[0]} is no folder.", file=sys.stderr)
        return 1
    marks = dict.fromkeys(_marked(_file()))
    if not folders:
        print("\n".join(marks) if marks else "No folder is marked.")
        return 0
    places = [str(folder.resolve()) for folder in folders]
    if odd := [place for place in places if place.encode(errors="replace").decode().splitlines() != [place]]:
        print(f"error: {odd[0]!r} has a sign in its path that cannot stand in a list of folders.", file=sys.stderr)
        return 1
    kept = [mark for mark in marks if mark not in places]
    if _write(kept if revoke else [*kept, *dict.fromkeys(places)]):
        return 1
    for place in places:
        print(f"{place} is {'no longer ' * revoke}trusted.")
    return 0


def _write(marks: Sequence[str]) -> int:
    file = _file()
    beside = file.with_name(f".{file.name}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text("".join(f"{mark}\n" for mark in marks), encoding="utf-8")
        beside.replace(file)
    except OSError as error:
        print(f"error: {file} cannot be written ({error.strerror}).", file=sys.stderr)
        return 1
    _marked.cache_clear()
    return 0


if __name__ == "__main__":
    sys.exit(main())
