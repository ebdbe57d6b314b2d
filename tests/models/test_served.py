"""A server that a run starts ends with the run; what goes wrong is said in the words of its log."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import forks
from support.openai_server import wait_for
from support.outcomes import each

from harness.errors import ConfigError, RunStopped
from harness.models import served as module
from harness.models.served import Served
from harness.types import ChatRequest, ChoiceRequest, Message, Response

PROGRAM = f"{sys.executable} {Path(__file__).with_name('served_program.py')}"
MESSAGES = (Message("user", "Is it so?"),)
REQUESTS = [ChatRequest(MESSAGES, max_tokens=tokens) for tokens in range(1, 9)]


def served(*behaviour: str, **settings) -> Served:
    given = {"name": "tiny", "path": "tiny.gguf", "command": PROGRAM, "engine": "vllm", "max_wait": 0.1}
    return Served(**(given | {"arguments": ("{port}", *behaviour)} | settings))


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Iterator[Path]:
    """A folder with a checkpoint, and no server left behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SERVED_PIDS", str(tmp_path / "pids"))
    (tmp_path / "tiny.gguf").write_bytes(b"weights")
    yield tmp_path
    end()


def end() -> None:
    while module._SERVERS:
        module._SERVERS.pop().close()


def pids(folder: Path) -> list[int]:
    file = folder / "pids"
    return [int(number) for number in file.read_text().split()] if file.exists() else []


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def all_gone(folder: Path, count: int) -> bool:
    """Check how many processes the server had, and wait until none is left."""
    assert len(pids(folder)) == count
    wait_for(lambda: not any(map(alive, pids(folder))))
    return True


def answers(model, requests=REQUESTS) -> list[Response]:
    return [outcome for _, outcome in each(model.respond(requests))]


def test_it_is_started_once_and_ends_with_all_that_it_started(place):
    assert [outcome.text for outcome in answers(served("child"))] == ["No"] * len(REQUESTS)
    (ranked,) = answers(served("child", method="rank"), [ChoiceRequest(MESSAGES, ("Yes", "No"))])
    assert ranked.logprobs["No"] > ranked.logprobs["Yes"]
    assert len(pids(place)) == 2 and all(map(alive, pids(place))), "the second call found it running"
    end()
    assert all_gone(place, 2)


def test_another_takes_its_place(place):
    answers(served(), REQUESTS[:1])
    answers(served("slow"), REQUESTS[:1])
    assert len(pids(place)) == 2 and [alive(pid) for pid in pids(place)] == [False, True]


def test_one_that_does_not_end_when_it_is_told_to_is_killed(place, monkeypatch):
    monkeypatch.setattr(module, "GRACE", 0.2)
    answers(served("stubborn"), REQUESTS[:1])
    end()
    assert all_gone(place, 1)


def test_one_that_dies_at_the_start_is_told_at_once_in_the_words_of_its_log(place):
    with pytest.raises(RunStopped, match=r"vllm has ended; its log ends: .*no-such-argument.*Show this"):
        answers(served("dies"))
    assert all_gone(place, 1)


def test_one_that_dies_in_the_middle_stops_the_run_and_what_was_answered_is_kept():
    found = []
    with pytest.raises(RunStopped, match="CUDA out of memory"):
        for _, outcome in each(served("falls=4", max_concurrency=1).respond(REQUESTS)):
            found.append(outcome)
    assert [outcome.text for outcome in found if isinstance(outcome, Response)] == ["No"] * 3


def test_one_that_is_never_ready_is_told(place, monkeypatch):
    monkeypatch.setattr(module, "READY", 3.0)
    with pytest.raises(RunStopped, match=r"vllm was not ready within an hour"):
        answers(served("deaf"))
    end()
    assert all_gone(place, 1)


def command(place: Path, *more: str) -> forks.Command:
    settings = [f"model.command='{PROGRAM}'", "model.arguments=['{port}',slow]", "model.path=tiny.gguf"]
    arguments = ["model=vllm", *settings, "model.max_concurrency=1", "task.limit=8", *more]
    return forks.Command("harness", arguments, place, os.environ)


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_it_ends_with_a_run_that_is_stopped(place, number):
    run = command(place)
    wait_for(lambda: bool(pids(place)))
    run.send_signal(number)
    assert run.wait(30) == 130
    assert all_gone(place, 1)


def test_what_is_in_the_cache_starts_no_server(place):
    for times in range(2):
        out, errors = command(
            place, "model.arguments=['{port}']", "model.args=[--len,2048]", f"results=results{times}"
        ).communicate(60)
        assert len(pids(place)) == 1, errors
    assert "8 answers came from the cache, 0 were asked now" in out


def test_its_identity_is_what_is_served_and_not_where(place):
    plain = dict(served().identity)
    assert plain["engine"] == "vllm" and not {"endpoint", "model"} & set(plain)
    (place / "moved").mkdir()
    (place / "moved/other.gguf").write_bytes(b"weights")
    assert served("slow", path="moved/other.gguf", name="other").identity == plain
    (place / "other.gguf").write_bytes(b"other weights")
    others = [served(path="other.gguf"), served(engine="vllm-2"), served(args=("--dtype", "float32"))]
    assert len({str(other.identity) for other in [served(), *others]}) == 4


def test_what_is_not_there_is_refused():
    with pytest.raises(ConfigError, match="no such program"):
        served(command="vllm-of-nobody").check_key()
    with pytest.raises(ConfigError, match="no such folder"):
        _ = served(path="./nowhere").identity
