"""kill -9 and full disks at every file that a run opens, renames or removes: the same command makes it whole."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.scripted import Scripted

from harness.errors import StoreError
from harness.prompting.prompts import load
from harness.run import run
from harness.runtime.progress import Progress
from harness.settings import build
from harness.storage import runs
from harness.storage.manifest import Manifest
from harness.storage.run_folder import Folder
from harness.types import Failure, Metric, Response, Result, Scores, Usage

EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink"}
"""What Python's audit hooks tell of files."""
TASKS = {
    "corr2cause": ({"_target_": "harness.tasks.corr2cause.Corr2Cause", "limit": 6}, "plain"),
    "causalbench/causality": (
        {"_target_": "harness.tasks.causalbench.Causality", "networks": ["cancer"], "method": 2},
        "closed",
    ),
}
Run = Callable[..., None]


def begin(place: Path, task: str) -> Run:
    """A run as the command begins it, again and again; `answers` so many of its items, all where it is None."""
    settings, words = TASKS[task]
    toy = build({"name": task, "prompts": [words], **settings}, "task")
    prompt = load(task, words, toy.examples())

    def go(answers: int | None = None, text: str = "Yes") -> None:
        def says(request):
            number = len(model.asked)
            return Response(text) if answers is None or number <= answers else Failure("server_error", "503")

        model = Scripted(says)
        configuration = {"task": settings, "model": {"kind": "scripted"}}
        named = {"task": task, "variant": "default", "prompt": words, "model": "m"}
        manifest = Manifest(run=named, configuration=configuration, harness={"commit": "abc"})
        run(toy, prompt, model, Folder(place, manifest), Progress("t"))

    return go


FIRST: dict[str, Callable[[Run], None]] = {
    "nothing": lambda go: None,
    "an incomplete run": lambda go: go(answers=3),
    "a run with other answers": lambda go: go(text="No"),
}


def forked(action: Callable[[], None], prepare: Callable[[], None]) -> int:
    """How a process ends in which `action` is done: 0, 1 after a StoreError, less than 0 by a signal."""
    pid = os.fork()
    if pid == 0:
        code = 9
        try:
            prepare()
            action()
            code = 0
        except StoreError:
            code = 1
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def at_event(place: Path, number: int, does: Callable[[], object]) -> None:
    """`does` is done before the file event of that number below `place`, and before all that follow."""
    remaining = number

    def hook(event: str, arguments: tuple) -> None:
        nonlocal remaining
        if (
            event in EVENTS
            and str(arguments[0]).startswith(str(place))
            and (does is kill or takes_room(event, arguments))
        ):
            remaining -= 1
            if remaining <= 0:
                does()

    sys.addaudithook(hook)


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def no_room() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def takes_room(event: str, arguments: tuple) -> bool:
    return event != "os.remove" and (event != "open" or bool(arguments[2] & (os.O_WRONLY | os.O_RDWR)))


def held(place: Path) -> dict[str, object]:
    """Every file of a folder, but for when a run ended, and the digest of that."""
    files = {str(file.relative_to(place)): file.read_bytes() for file in place.rglob("*") if file.is_file()}
    files["manifest.json"] = json.loads(files["manifest.json"]) | {"ended": None, "digest": None}
    return files


def ranked(place: Path) -> bool:
    return (place / "result.json").exists() and runs.load(place).sound


CASES = [
    ("corr2cause", "a run with other answers"),
    pytest.param("causalbench/causality", "an incomplete run", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("does", [kill, no_room])
@pytest.mark.parametrize(("task", "first"), CASES)
def test_at_every_file_event(tmp_path, task, first, does):
    calm, old = tmp_path / "calm", tmp_path / "old"
    begin(calm, task)()
    FIRST[first](begin(old, task))
    expected = held(calm)
    results = {(calm / "result.json").read_bytes(), (old / "result.json").read_bytes() if old.exists() else b""}
    for number in range(1, 100):
        place = tmp_path / str(number)
        go = begin(place, task)
        FIRST[first](go)
        code = forked(go, lambda place=place, number=number: at_event(place, number, does))
        if code == 0:  # there is no event of this number
            break
        assert code == (-signal.SIGKILL if does is kill else 1), number
        # What a leaderboard ranks meanwhile is all of one run, and what is there is never half a file.
        if ranked(place):
            assert (place / "result.json").read_bytes() in results
            records = {file.name: file.read_bytes() for file in place.glob("records.jsonl*")}
            result = json.loads((place / "result.json").read_text())
            of = calm if result == json.loads((calm / "result.json").read_text()) else old
            assert records == {file.name: file.read_bytes() for file in of.glob("records.jsonl*")}, number
        go()
        assert held(place) == expected, number
    assert number > (10 if does is kill else 5)


def test_files_of_a_result_are_there_after_a_kill(tmp_path):
    """Those of CausalBench: a graph for each network and template."""
    overall = Scores(2, 1, 0, 0, (Metric("f1", 0.5),))
    files = {f"graphs/{name}/direct.csv": f"of {name}\n" for name in ("asia", "cancer")}
    result = Result("exact", {"exact": {"overall": {"all": overall}}}, 2, {}, {}, Usage(), files=files)

    def leave(place: Path, complete: bool = True) -> None:
        manifest = Manifest(run={"task": "t"}, configuration={"task": {}}, harness={"commit": "abc"})
        folder = Folder(place, manifest)
        with folder.lock(), folder.open_records("exact") as writer:
            writer._file.write("records\n")
        folder.finish(result, items={"count": 2}, complete=complete)

    leave(tmp_path / "calm")
    for number in range(1, 100):
        place = tmp_path / str(number)
        leave(place, complete=False)
        code = forked(lambda place=place: leave(place), lambda place=place, n=number: at_event(place, n, kill))
        leave(place)
        assert held(place) == held(tmp_path / "calm"), number
        if code == 0:
            break
    assert number > 15


def test_a_run_that_is_killed_and_then_stopped_leaves_no_complete_result(tmp_path):
    """Whatever half of the complete one was there."""
    for number in range(1, 100):
        place = tmp_path / str(number)
        go = begin(place, "corr2cause")
        code = forked(go, lambda place=place, number=number: at_event(place, number, kill))
        go(answers=3)
        result, manifest = (json.loads((place / name).read_text()) for name in ("result.json", "manifest.json"))
        assert result["complete"] is manifest["complete"] is (code == 0)
        assert len((place / "records.jsonl").read_text().splitlines()) == 6
        if code == 0:
            break


def sizes(place: Path) -> Iterator[int]:
    """Greatest sizes of a file that let a run write some of its files and not others."""
    for size in sorted({file.stat().st_size for file in place.rglob("*") if file.is_file()}):
        yield from (size // 2, max(size - 1, 0), size)


@pytest.mark.parametrize("first", ["nothing", "a run with other answers"])
def test_where_files_may_only_be_so_large(tmp_path, first):
    """Each file is cut off at the same size: the run says so, and goes on where there is room again."""
    calm = tmp_path / "calm"
    begin(calm, "corr2cause")()
    expected = held(calm)
    failures = 0
    for number, size in enumerate(sizes(calm)):
        place = tmp_path / str(number)
        go = begin(place, "corr2cause")
        FIRST[first](go)
        limit = (size, resource.RLIM_INFINITY)
        code = forked(go, lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        assert code in (0, 1), size
        failures += code
        if first == "a run with other answers" and code:
            assert ranked(place), runs.load(place).trouble
        go()
        assert held(place) == expected, size
    assert failures > 2
