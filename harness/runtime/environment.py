"""The process of a command: what is set before anything else is imported, and what is said of a missing package."""

from __future__ import annotations

import gc
import os
import shlex
import sys
from pathlib import Path
from types import TracebackType

DISTRIBUTION = "causal-harness"
"""What pip calls the package whose import name is harness."""
_HOME = Path(__file__).resolve().parents[2]
_COLLECT_AFTER = 100_000
"""Objects after which Python looks for garbage in circles. Nearly all that a start makes stays: after 700 of them, as
by default, it is looked through hundreds of times, a twentieth of a run that the cache answers."""


def begin() -> None:
    """Prepare the process of a command.

    The working directory is off Python's search path then, where `python -m` has put it first: a folder may be
    somebody else's, and packages try to import modules that nobody has.
    """
    if sys.excepthook is _one_sentence:  # as of python -m harness, which has begun with the package
        return
    gc.set_threshold(_COLLECT_AFTER)
    # It would read the entry points of every installed package, for plug-ins of pydantic's own that watch validation.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    as_module = sys.argv[:1] == ["-m"]  # at this moment argv has no other word yet
    if as_module and str(Path.cwd()) in sys.path[:1]:
        del sys.path[0]
    sys.excepthook = _one_sentence
    from harness.runtime import signals

    signals.at_once("interrupted.")


def failed_import(error: ImportError) -> str:
    """Return the sentence on a package that cannot be imported."""
    this = f"this Python ({sys.executable})"
    if isinstance(error, ModuleNotFoundError):
        return (
            f"the package {error.name} is not installed in {this}: {installing('')} puts there what the harness needs, "
            "python -m pip install NAME what else is missing."
        )
    package = (error.name or "").partition(".")[0] or "a package"
    return f"{package} cannot be imported in {this}: {str(error).strip().partition(chr(10))[0].rstrip('.')}."


def installing(extra: str) -> str:
    """Return the command that installs the harness, with an extra such as local.

    It names the folder of a checkout, or the distribution: the public index has an unrelated package called harness.
    """
    checkout = (_HOME / "pyproject.toml").is_file()
    named = f"{_HOME if checkout else DISTRIBUTION}{f'[{extra}]' if extra else ''}"
    return f"python -m pip install {'-e ' if checkout else ''}{shlex.quote(named)}"


def _one_sentence(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Show a package that cannot be imported as one sentence, and any other error that nobody caught as Python does."""
    debug = any(argument in ("debug=true", "debug=1") for argument in sys.argv[1:])
    own = isinstance(error, ImportError) and (error.name or "").partition(".")[0] == "harness"
    if isinstance(error, ImportError) and not debug and not own:
        print(f"error: {failed_import(error)}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, traceback)
