"""Check that this Python has what the harness needs, before anything else of it is imported.

Python 3.6 has to be able to run this file, to say that it is too old: the standard library alone, no := and no newer
annotations.
"""

import gc
import os
import shlex
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

OLDEST = (3, 11)
DISTRIBUTION = "causal-harness"
"""What pip calls the package whose import name is harness."""
PACKAGES = {
    "hydra": "hydra-core",
    "omegaconf": "omegaconf",
    "yaml": "pyyaml",
    "pydantic": "pydantic",
    "msgspec": "msgspec",
    "aiohttp": "aiohttp",
    "httpx2": "httpx2",
    "tenacity": "tenacity",
    "genai_prices": "genai-prices",
    "jsonlines": "jsonlines",
    "filelock": "filelock",
    "rich": "rich",
    "numpy": "numpy",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
}
"""Modules that have to be importable, with pip's names: pyproject.toml's dependencies, and what they bring."""
_HOME = Path(__file__).resolve().parents[2]
_COLLECT_AFTER = 100_000
"""Objects after which Python looks for garbage in circles. Nearly all that a start makes stays: after 700 of them, as
by default, it is looked through hundreds of times, a twentieth of a run that the cache answers."""


def begin() -> None:
    """Prepare the process of a command, or end it with one sentence where this Python cannot run any.

    The working directory is off Python's search path then, where `python -m` has put it first: a folder may be
    somebody else's, and packages try to import modules that nobody has.
    """
    if sys.excepthook is _one_sentence:  # as of python -m harness, which has begun with the package
        return
    gc.set_threshold(_COLLECT_AFTER)
    # It would read the entry points of every installed package, for plug-ins of pydantic's own that watch validation.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    here = _working_directory()
    if sys.argv[:1] == ["-m"] and here in sys.path[:1]:  # at this moment argv has no other word yet
        del sys.path[0]
    as_module = sys.argv[:1] == ["-m"]
    if sys.version_info >= OLDEST:
        from harness.runtime import signals  # needs the standard library alone

        signals.at_once("interrupted.")
        if here and os.environ.get("PYTHONPATH"):
            from harness import trust

            trust.settle_search_path()
    sentence = problem() if here else "the working directory is not there any more: go to another one."
    if sentence:
        if sys.stderr is not None:
            print(f"error: {sentence}", file=sys.stderr)
        sys.exit(1)
    sys.excepthook = _one_sentence
    if as_module:
        from harness.plugin import CommandFinder

        sys.meta_path.append(CommandFinder())


def problem() -> str:
    """Return the sentence on what this Python lacks to run a command, or ""."""
    this = f"this is Python {'.'.join(map(str, sys.version_info[:3]))}, {sys.executable}"
    if sys.version_info < OLDEST:
        return f"harness needs Python {'.'.join(map(str, OLDEST))} or later; {this}: {_way_out()}."
    if not _is_checkout() and list(_HOME.glob("harness-*.dist-info")):
        return (
            "another package, which pip calls harness, is installed in the same place and has files of the same names: "
            f"pip uninstall harness, then pip install --force-reinstall --no-deps {DISTRIBUTION}."
        )
    missing = [name for name in PACKAGES if not _is_there(name)]
    if missing:
        several = f"{', '.join(missing[:3])} and {len(missing) - 3} more" if len(missing) > 4 else ", ".join(missing)
        return f"packages that harness needs are not installed ({several}); {this}: {_way_out(tuple(missing))}."
    return ""


def failed_import(error: ImportError) -> str:
    """Return the sentence on a package that cannot be imported."""
    if isinstance(error, ModuleNotFoundError):
        return (
            f"the package {error.name} is not installed in this Python ({sys.executable}): {_way_out()}, or python -m "
            "pip install what is missing."
        )
    package = (error.name or "").partition(".")[0] or "a package"
    return f"{package} cannot be imported in this Python ({sys.executable}): {_first_line(error)}."


def installing(extra: str) -> str:
    """Return the command that installs an extra of the harness, such as local.

    It names the folder of a checkout, or the distribution: the public index has an unrelated package called harness.
    """
    if not _is_checkout():
        return f"python -m pip install '{DISTRIBUTION}[{extra}]'"
    return f"python -m pip install -e {shlex.quote(f'{_shown(_HOME)}[{extra}]')}"


def _way_out(missing: "tuple[str, ...]" = ()) -> str:
    """Return what to do where packages are missing, or Python is too old."""
    activate = _HOME / ".venv" / ("Scripts/activate" if os.name == "nt" else "bin/activate")
    names = " ".join(PACKAGES[name] for name in missing)
    old = sys.version_info < OLDEST
    if _is_checkout() and activate.is_file() and not _same(Path(sys.prefix), _HOME / ".venv"):
        return f"activate the environment first (. {shlex.quote(_shown(activate))})"
    if not _is_checkout():
        pip = f"{shlex.quote(sys.executable)} -m pip install {names or 'PACKAGE'} puts them there"
        return "run it with a newer one" if old else pip
    if not old and sys.prefix != sys.base_prefix:
        return f"python -m pip install -e {shlex.quote(_shown(_HOME))} puts them there"
    there = "" if _shown(_HOME) == "." else f" in {_shown(_HOME)}"
    python, make = ("python3.12", "make run PYTHON=python3.12") if old else ("python3", "make run")
    return (
        f"{python} -m venv .venv && . .venv/bin/activate && pip install -e .{there} makes an environment "
        f"with all of it, and so does {make}"
    )


def _working_directory() -> str:
    """Return the working directory; empty where it has been removed."""
    with suppress(OSError):
        return str(Path.cwd())
    return ""


def _is_checkout() -> bool:
    return (_HOME / "pyproject.toml").is_file()


def _shown(place: Path) -> str:
    """Return a path relative to the working directory if it lies below it."""
    with suppress(ValueError, OSError):
        return str(place.relative_to(Path.cwd().resolve()))
    return str(place)


def _same(path: Path, other: Path) -> bool:
    with suppress(OSError):
        return path.samefile(other)
    return False


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _first_line(error: ImportError) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")


def _one_sentence(kind, error, traceback):  # type: ignore[no-untyped-def]  # its types have names of Python 3.11
    """Show a package that cannot be imported as one sentence, and any other error that nobody caught as Python does."""
    debug = any(argument in ("debug=true", "debug=1") for argument in sys.argv[1:])
    own = isinstance(error, ImportError) and (error.name or "").partition(".")[0] == "harness"
    if isinstance(error, ImportError) and not debug and not own and sys.stderr is not None:
        print(f"error: {failed_import(error)}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, traceback)
