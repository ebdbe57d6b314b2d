"""A server that a run starts ends with the run, however that ends; errors are quoted from its log."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from support import forks
from support.openai_server import wait_for
from support.outcomes import each

from harness.errors import ConfigError, RunStopped
from harness.plugins.serve import model, server
from harness.plugins.serve.model import Served
from harness.runtime import signals
from harness.runtime.signals import STOP
from harness.runtime.under_way import RETRIES
from harness.types import ChatRequest, ChoiceRequest, Message, Response

PROGRAM = f"{sys.executable} {Path(__file__).with_name('served_program.py')}"
MESSAGES = (Message("user", "Is it so?"),)
CHOICES = ("Yes", "No")
REQUESTS = [ChatRequest(MESSAGES, max_tokens=tokens) for tokens in range(1, 9)]


def served(*behaviour: str, **settings) -> Served:
    """Return a model whose server behaves like these words, or has them as arguments if any has a dash."""
    own = [word for word in behaviour if not word.startswith("-")] if not any("-" in w for w in behaviour) else []
    given = {"name": "tiny", "path": "tiny.gguf", "command": PROGRAM, "engine": "vllm", "flags": {"dtype": "--dtype"}}
    given |= {"arguments": ["{port}", *own], "args": [word for word in behaviour if word not in own]}
    return Served(**(given | settings))


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Iterator[Path]:
    """A folder with a checkpoint, and no server left behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SERVED_PIDS", str(tmp_path / "pids"))
    (tmp_path / "tiny.gguf").write_bytes(b"weights")
    yield tmp_path
    signals.end_companions()


@pytest.fixture
def said(monkeypatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(RETRIES, "speaker", lines.append)
    return lines


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


def test_it_is_started_with_the_first_request_and_ends_with_all_that_it_started(place, said):
    model = served("child")
    assert not answers(model, [])
    assert not pids(place) and not said
    assert [outcome.text for outcome in answers(model)] == ["No"] * len(REQUESTS)
    (ranked,) = answers(served("child", method="rank"), [ChoiceRequest(MESSAGES, CHOICES)])
    assert ranked.logprobs["No"] > ranked.logprobs["Yes"]
    assert len(pids(place)) == 2 and all(map(alive, pids(place))), "the second call found it running"
    log = model.launch.log
    assert log.exists() and any(str(log) in line for line in said) and any("is ready after" in line for line in said)
    signals.end_companions()
    assert all_gone(place, 2) and not log.exists()


def test_one_that_does_not_end_when_it_is_told_to_is_killed(place, monkeypatch):
    monkeypatch.setattr(server, "GRACE", 0.2)
    answers(served("stubborn", "child"), REQUESTS[:1])
    signals.end_companions()
    assert all_gone(place, 2)


def test_one_that_dies_at_the_start_is_told_at_once_in_the_words_of_its_log(place):
    with pytest.raises(RunStopped) as stopped:
        answers(served("child", "dies"))
    text = str(stopped.value)
    assert "exit code 1" in text and "ValueError: Free memory on device" in text and "initialization failed" not in text
    assert "--tensor-parallel-size" in text and str(model.LOGS) in text and "EngineCore" not in text
    assert all_gone(place, 2)


def test_one_that_dies_in_the_middle_stops_the_run_and_what_was_answered_is_kept(place):
    landed = []
    with pytest.raises(RunStopped, match=r"exit code 1 after .*CUDA out of memory.*The same command starts it again"):
        for outcomes in served("falls=4", max_concurrency=1).respond(REQUESTS):
            landed += outcomes
    assert len(landed) == 3 and all_gone(place, 1)


def test_one_that_is_not_ready_in_time_is_ended(place, monkeypatch):
    ask = server._answers

    def asked_once_begun(port: int, path: str) -> bool:
        wait_for(lambda: pids(place))  # a busy machine takes seconds to begin it
        return ask(port, path)

    monkeypatch.setattr(server, "_answers", asked_once_begun)
    with pytest.raises(RunStopped, match=r"was not ready after 0\.5 s \(model\.ready="):
        answers(served("deaf", ready=0.5))
    assert all_gone(place, 1)


def test_a_stop_while_it_starts_asks_nothing(place, monkeypatch):
    model = served("deaf")
    monkeypatch.setattr(STOP, "requested", False)
    monkeypatch.setattr(server, "_answers", lambda *_: setattr(STOP, "requested", True))
    assert answers(model) == [] and all_gone(place, len(pids(place)))


def test_a_port_that_somebody_takes_first_is_another_try(place, said):
    assert len(answers(served("taken"))) == len(REQUESTS)
    assert any("somebody else has taken port" in line for line in said) and len(pids(place)) == 2


@pytest.mark.slow
def test_a_stranger_at_its_port_is_not_asked(place, monkeypatch):
    """It answers as a server that is ready does."""

    class Ready(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Ready) as stranger:
        Thread(target=stranger.serve_forever, daemon=True).start()
        chosen = iter([stranger.server_port, server.free_port()])
        monkeypatch.setattr(server, "free_port", lambda: next(chosen))
        assert [outcome.text for outcome in answers(served())] == ["No"] * len(REQUESTS)
        stranger.shutdown()


def test_it_ends_with_its_supervisor_too(place):
    model = served()
    answers(model, REQUESTS[:1])
    os.kill(signals.find_companion(model.launch).session, signal.SIGKILL)
    assert all_gone(place, 1)


def command(place: Path, *more: str) -> forks.Command:
    settings = [f"model.command='{PROGRAM}'", "model.arguments=['{port}',child,slow]", "model.path=tiny.gguf"]
    arguments = ["model=vllm", *settings, "model.package=null", "model.max_concurrency=1", "task.limit=8", *more]
    return forks.Command("harness", arguments, place, os.environ)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 130, marks=pytest.mark.slow), (signal.SIGKILL, -9)],
)
def test_it_ends_with_a_run_that_is_stopped_or_killed(place, number, code):
    run = command(place)
    wait_for(lambda: "is ready after" in run.output)
    run.send_signal(number)
    assert run.wait(30) == code
    assert all_gone(place, 2)


def test_what_is_in_the_cache_starts_no_server(place):
    for times in range(2):
        out, errors = command(place, "model.arguments=['{port}']", f"results=results{times}").communicate(60)
        assert len(pids(place)) == 1, errors
    assert "8 answers came from the cache, 0 were asked now" in out


def test_settings_that_cannot_be_are_refused(place):
    with pytest.raises(
        ConfigError, match=r"no program vllm-of-nobody here\. vllm belongs in an environment of its own"
    ):
        served(command="vllm-of-nobody", package="vllm").check_key()
    with pytest.raises(ConfigError, match="no such folder"):
        _ = served(path="./nowhere").identity
    with pytest.raises(ConfigError, match=r"model\.args has --port"):
        served("--port=8000")
    with pytest.raises(ConfigError, match=r"model\.quantization: vllm takes none"):
        served(quantization="fp8")


def test_its_identity_is_what_is_served_and_not_where(place):
    def identity(*args: str, **settings) -> dict:
        return dict(served(*args, **settings).identity)

    plain = identity()
    assert plain["engine"] == "vllm" and plain["version"] == "1.2.3" and not {"endpoint", "model"} & set(plain)
    assert identity("--tensor-parallel-size", "4", "--max-model-len=900", ready=5, log="x.log", name="other") == plain
    (place / "moved").mkdir()
    (place / "moved" / "other.gguf").write_bytes(b"weights")
    assert identity(path="moved/other.gguf") == plain
    (place / "a.jinja").write_text("{{ messages }}")
    (place / "b.jinja").write_text("{{ messages }}")
    templates = [identity("--chat-template", name) for name in ("a.jinja", "b.jinja")]
    assert templates[0] == templates[1]
    others = [
        identity("--kv-cache-dtype", "fp8"),
        identity(dtype="float32"),
        identity(version="1.2.4"),
        identity(temperature=0.5),
        identity(method="rank"),
        templates[0],
    ]
    (place / "tiny.gguf").write_bytes(b"other weights")
    others.append(identity())
    assert len({str(other) for other in [plain, *others]}) == len(others) + 1


def test_a_name_of_the_hub_is_stored_under_its_commit(place, monkeypatch):
    commit = "0123456789abcdef0123456789abcdef01234567"
    refs = place / "hub" / "models--org--name" / "refs"
    refs.mkdir(parents=True)
    (refs / "main").write_text(commit)
    monkeypatch.setenv("HF_HUB_CACHE", str(place / "hub"))
    model = served(path="org/name", flags={"revision": "--revision"})
    assert model.identity["checkpoint"] == f"org/name@{commit}" and model.name == "tiny"
    assert model.launch.words[-3:-1] == ("--revision", commit) or ("--revision", commit) == model.launch.words[-2:]


@pytest.mark.slow
def test_a_sweep_starts_it_once(place):
    run = command(place, "model.arguments=['{port}']", "-m", "task.limit=8,9")
    _, errors = run.communicate(60)
    assert run.returncode == 0 and len(pids(place)) == 1, errors
    assert all_gone(place, 1)


def test_a_version_that_is_told_has_to_be_its_own(place):
    with pytest.raises(ConfigError, match=r"model\.version=7, and vllm here is 1\.2\.3"):
        served(version="7").check_key()
    assert dict(served(version="7", command="gone").identity)["version"] == "7", "a replay needs no engine"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["WARNING 11-22 [a.py:1] This can cause `OSError: [24]`", "vllm: error: no --x"], "vllm: error: no --x"),
        (["pydantic.ValidationError: 1", "  Value error, none", "    For more"], "Error: 1 / Value error, none"),
        (
            ["(W pid=7) ERROR 11-22 22:22:22 [w.py:1] ValueError: a", "RuntimeError: b"],
            "ValueError: a / RuntimeError: b",
        ),
        (["loading", "loaded", "Killed"], "loading / loaded / Killed"),
        ([], ""),
    ],
)
def test_the_lines_of_a_log_that_tell_most(place, lines, told):
    (place / "log").write_text("\n".join(lines))
    assert server.errors_in(place / "log").removeprefix("pydantic.Validation") == told
