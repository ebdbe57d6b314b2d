"""Keys given in all the ways in which somebody might: nothing that the commands leave or print has one."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from support import forks
from support.openai_server import KEY, WAIT, chat_reply, error

FORM = "sk-proj-canaryWithTheFormOfAKey0123456789"
PLAIN = "canary.without.form"
"""Where only the name beside it, or the place in an address, tells."""
OTHER = "canary of the environment, in another variable"
CANARIES = (KEY, FORM, PLAIN, OTHER)

CRASHING = f"""
from dataclasses import dataclass
from harness.models.baselines import Baseline

@dataclass(frozen=True)
class Crashing(Baseline):
    secret: str = ""

    def respond(self, requests):
        if self.secret:
            raise RuntimeError(f"with {{self.secret}} and {{open('key').read()}} and api_key={PLAIN}")
        return super().respond(requests)
"""
WRONG = [
    [f"+model.extra.foo={FORM}"],
    [f"+model.extra.foo='{OTHER}'"],
    [f"+model.extra.token={PLAIN}"],
    [f"+model.extra.deep={{list: [{{session-token: {PLAIN}}}]}}"],
    [f"+model.extra.{FORM}=1"],
    [f"+model.api_key={PLAIN}"],
    [f"model.temperature={FORM}"],
    [f"model.api_key_env={FORM}"],
    [f"model.name={KEY}"],
    [f"model.base_url=http://me:{PLAIN}@127.0.0.1:9/v1"],
    [f"model.base_url=http://127.0.0.1:9/v1?key={PLAIN}"],
    [f"task.limit={FORM}"],
    [f"task={FORM}"],
    [f"results={FORM}"],
    [f"{FORM}=1"],
    [f"--{FORM}"],
    [FORM],
    [f"+model.extra.foo='{FORM}"],
    ["model=vllm", "model.path=x", f"model.args=[--api-key,{PLAIN}]"],
    ["+model.extra.foo=${oc.env:OTHER_TOKEN}"],
    ["+model.extra.foo=${oc.env:OPENAI_API_KEY}"],
    ["model=leaky"],
    ["model=leaky_temperature"],
    ["model=leaky_address"],
    ["model=leaky_name"],
    ["model=crashing", "model.p_yes=0.5"],
]
FILES = {
    "configs/model/leaky.yaml": f"defaults: [gpt4, _self_]\nextra: {{cookie: {PLAIN}}}\n",
    "configs/model/leaky_temperature.yaml": f"defaults: [gpt4, _self_]\ntemperature: {FORM}\n",
    "configs/model/leaky_address.yaml": f"defaults: [gpt4, _self_]\nbase_url: http://u:{PLAIN}@127.0.0.1:9\n",
    "configs/model/leaky_name.yaml": f"defaults: [gpt4, _self_]\n{FORM}: 1\n",
    "configs/model/crashing.yaml": f"_target_: crashing.Crashing\nname: crashing\np_yes: 0.1\nsecret: {FORM}\n",
    "crashing.py": CRASHING,
    "key": KEY,
}


def environment(**more: str) -> dict[str, str]:
    return os.environ | {"OPENAI_API_KEY": KEY, "OTHER_TOKEN": OTHER} | more


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Return a working directory with files of the user's own that hold keys."""
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    yield tmp_path
    files = [
        file
        for file in tmp_path.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and str(file.relative_to(tmp_path)) not in FILES
    ]
    for file in files:
        texts = [file.read_bytes()]
        if file.suffix == ".sqlite":
            with sqlite3.connect(file) as database:
                texts.append("\n".join(database.iterdump()).encode())
        assert not [canary for canary in CANARIES for text in texts if canary.encode() in text], file
        assert not [canary for canary in CANARIES if canary in str(file)], file
    for name in FILES:  # the key's own check looks at every file
        (tmp_path / name).unlink()


def call(here: Path, *arguments: str, module: str = "harness", **more: str):
    process = forks.run(module, arguments, here, environment(**more))
    for canary in CANARIES:
        assert canary not in process.stdout + process.stderr, (arguments, process.stdout, process.stderr)
    return process


@pytest.mark.parametrize(
    ("more", "step"),
    [
        ([], 2),
        *(
            pytest.param(more, 1, marks=pytest.mark.slow)
            for more in ([], ["-m", "debug=true"], ["debug=true"], ["-m"], ["--cfg", "job"])
        ),
    ],
    ids=str,
)
def test_wrong_places(here, more, step):
    for arguments in WRONG[::-step]:
        base = ["model=openai", "model.model=m"] if "model=" not in arguments[0] else []
        process = call(here, *base, "task.limit=5", *arguments, *more)
        assert "--cfg" in more or process.returncode != 0, arguments
        if more == []:
            assert process.stderr.startswith("error: ") and process.stderr.count("\n") == 1, process.stderr


@pytest.mark.slow
def test_right_places_and_what_servers_do_with_them(here, serve):
    good, echo = serve(), serve(lambda *_: error(401, f"no {KEY}"))
    fine = ("model=gpt4", f"model.base_url={good.url}", "task.limit=5")
    assert call(here, *fine).returncode == 0
    assert call(here, *fine, "dry_run=true").returncode == 0
    assert call(here, "-m", *fine, "prompt=plain,cot").returncode == 0
    assert call(here, "-m", "model=gpt4,always_no,crashing", f"model.base_url={echo.url}", "results=b").returncode == 1
    for more in ([], ["debug=true"]):
        echoed = ("model=gpt4", f"model.base_url={echo.url}", "task.limit=5", "results=b", *more)
        assert "[the key]" in call(here, *echoed).stderr
        assert "[the key]" in call(here, "-m", *echoed).stderr
    assert call(here, *fine, "model.api_key_env=OTHER_TOKEN", "results=c").returncode == 0
    assert call(here, "--help", f"+model.extra.foo={FORM}").returncode == 0
    assert call(here, module="harness.leaderboard").returncode == 0
    for name in ("model", "sort", FORM):
        assert call(here, f"{name}={FORM}", module="harness.leaderboard").returncode == 1
    assert call(here, f"task.limit={FORM}", module="harness.items").returncode == 1
    assert call(here, *fine, OPENAI_BASE_URL=f"http://u:{PLAIN}@127.0.0.1:9/v1").returncode == 0
    assert call(here, "model=gpt4", OPENAI_BASE_URL=f"http://u:{PLAIN}@127.0.0.1:9/v1").returncode == 1


@pytest.mark.slow
def test_a_sweep_that_is_killed(here, serve):
    server = serve(lambda *_: chat_reply("No"), held=40)
    arguments = ["-m", "model=gpt4", f"model.base_url={server.url}", "task.limit=30,200", "model.max_concurrency=4"]
    job = forks.Command("harness", arguments, here, environment())
    server.wait_for_calls(41)
    job.kill()
    output = "".join(job.communicate(WAIT))
    assert not [canary for canary in CANARIES if canary in output]
    server.held = 10**9
    assert call(here, *arguments).returncode == 0
