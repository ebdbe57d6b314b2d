"""An evaluation harness for causal reasoning in language models.

A task gives items, a prompt turns an item into a request, a model answers requests, the prompt reads the
answer, the task scores the records. `harness --help` shows what there is to run; from Python it is
`from harness import evaluate, load_run, questions` (docs/python.md).
"""

import os
import sys

__version__ = "0.2.0"

# An empty entry of PYTHONPATH, or a dot, means the working directory, where the very next import would look, pathlib's
# among them: a folder may come from anybody. Commands that run something look there last (config_files.use_folder).
_COMMAND = sys.argv[:1] == ["-m"] or os.path.basename("".join(sys.argv[:1])) in ("harness", "harness.exe")  # noqa: PTH119
_ENTRIES = (os.environ.get("PYTHONPATH") or "-").split(os.pathsep)
if _COMMAND and {"", "."} & {*_ENTRIES} and os.path.isdir(os.curdir):  # noqa: PTH112
    _OTHERS = (*_ENTRIES, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
    sys.path[:] = [entry for entry in sys.path if entry != os.getcwd() or entry in _OTHERS]  # noqa: PTH109

if sys.argv[:1] == ["-m"]:  # harness…, before whatever module of it is imported
    from harness.runtime import environment

    environment.begin()

TYPE_CHECKING = False  # as in typing, whose import would take as long as all of this
if TYPE_CHECKING:
    from harness.api import evaluate, load_run
    from harness.tasks.question import questions

__all__ = ["evaluate", "load_run", "questions"]


def __getattr__(name: str) -> object:
    """Return a part of the Python API, imported when it is first asked for: commands do not need it."""
    if name == "questions":  # without what composes and carries out runs
        from harness.tasks import question

        return question.questions
    if name in __all__:
        from harness import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
