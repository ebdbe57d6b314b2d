"""Drivers beside folders of requests: what they leave is what `import` reads, and a kill in between loses nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.cache_help import command
from support.openai_server import chat_reply, error
from support.thinned import few

from harness.cache import Store

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

RUN = ("model=openai", "model.model=org/mine", "task=corr2cause", "task.limit=12", "cache=answers.sqlite")
VLLM = """#!{python}
import json, sys
from pathlib import Path
own, given = sys.argv[1:10], sys.argv[10:]
assert own[0] == "run-batch" and own[6:] == ["a checkpoint", "--served-model-name", "org/mine"], own
assert given == ["--max-model-len", "64"], given
tries = Path("tries")
tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
lines = [json.loads(line) for line in Path(own[2]).read_text().splitlines()]
assert all(line["body"]["model"] == "org/mine" and line["url"] == "/v1/chat/completions" for line in lines)
with open(own[4], "w") as out:
    for line in lines[: None if len(tries.read_text()) != 2 else 1]:
        reply = {{"custom_id": line["custom_id"], "response": {{"status_code": 200, "body": {reply}}}, "error": None}}
        out.write(json.dumps(reply) + "\\n")
sys.exit(len(tries.read_text()) == 2)
"""
"""A vLLM that breaks off in the middle of its second part."""


@pytest.fixture
def here(tmp_path, monkeypatch, key):
    monkeypatch.chdir(tmp_path)
    return tmp_path


CUT_OFF = chat_reply("Yes", finish_reason="length")


def written(engine: str, *arguments: str) -> None:
    done = command("requests", "to do/", *RUN, f"driver={engine}", *arguments)
    assert done.returncode == 0, done.stderr
    assert "To have them answered: " in done.stdout and "harness cache import 'to do'/answers/" in done.stdout


def answers() -> list:
    done = command("import", "to do/answers/", "cache=answers.sqlite")
    assert done.returncode == 0, done.stderr
    with closing(Store(Path("answers.sqlite"), readonly=True)) as store:
        keys = [json.loads(line)["custom_id"] for part in Path("to do").glob("*.jsonl") for line in part.open()]
        keys += [
            row["custom_id"] for part in Path("to do").glob("*.parquet") for row in parquet.read_table(part).to_pylist()
        ]
        return [store.get(key) for key in keys]


def test_the_driver_of_vllm_goes_on_after_a_part_that_broke_off_and_is_dealt_by_number(here):
    written("vllm", "lines=3")
    assert len(list(Path("to do").glob("part-*.jsonl"))) == 4
    vllm = here / "vllm"
    vllm.write_text(VLLM.format(python=sys.executable, reply=CUT_OFF))
    vllm.chmod(0o755)
    run = ["sh", "to do/driver.sh", "--model", "a checkpoint", "--max-model-len", "64"]

    def driven(**variables: str) -> int:
        return subprocess.run(run, env={**os.environ, "VLLM": str(vllm), **variables}, check=False).returncode

    assert driven(SLURM_ARRAY_TASK_ID="2", SLURM_ARRAY_TASK_COUNT="2") == 1  # the first and third part
    assert [path.name for path in Path("to do/answers").glob("*.jsonl")] == ["part-000000.jsonl"]
    assert driven(SHARD="0", SHARDS="2") == 0 and driven(JOB_COMPLETION_INDEX="1", SHARDS="2") == 0
    assert driven() == 0 and Path("tries").read_text() == "x" * 5  # nothing is answered again
    found = answers()
    assert len(found) == 12 and {(answer.text, answer.finish_reason) for answer in found} == {("Yes", "length")}


@pytest.mark.parametrize(
    ("given", "served", "left"),
    few(
        [
            ((), "org/mine", []),
            (("--model", "a path"), "a path", []),
            (("--model=a path", "--dtype", "float32"), "a path", ["--dtype", "float32"]),
            (("--dtype", "float32"), "org/mine", ["--dtype", "float32"]),
        ],
        2,
    ),
)
def test_drivers_serve_the_checkpoint_that_is_given_under_the_name_in_the_requests(
    here, monkeypatch, given, served, left
):
    """Both commands of vLLM as they come out."""
    written("vllm")
    vllm = here / "vllm"
    vllm.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > command; touch "$5"\n')
    vllm.chmod(0o755)
    subprocess.run(["sh", "to do/driver.sh", *given], env={**os.environ, "VLLM": str(vllm)}, check=True)
    run_batch = Path("command").read_text().splitlines()
    assert run_batch[5:] == ["--model", served, "--served-model-name", "org/mine", *left]

    done = command("requests", "ray/", *RUN, "driver=ray")
    assert "python ray/driver.py --model CHECKPOINT" in done.stdout, done.stderr
    spec = spec_from_file_location("driver", here / "ray" / "driver.py")
    driver = module_from_spec(spec)
    spec.loader.exec_module(driver)
    served_by: list[str] = []
    monkeypatch.setattr(driver.subprocess, "Popen", lambda words: served_by.extend(words))
    monkeypatch.setattr(driver.Engine, "wait", lambda *_: None)
    monkeypatch.setattr(driver.Engine, "__del__", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["driver.py", *given])
    monkeypatch.setitem(sys.modules, "ray", FakeRay())
    monkeypatch.setitem(sys.modules, "ray.data.checkpoint", SimpleNamespace(CheckpointConfig=dict))
    driver.main()
    assert served_by[:5] == ["vllm", "serve", served, "--served-model-name", "org/mine"] and served_by[9:] == left


class FakeRay(SimpleNamespace):
    """As much of Ray as a driver calls: it makes one engine, as Ray would somewhere else."""

    def __init__(self) -> None:
        made = SimpleNamespace(map_batches=self.engines, write_parquet=lambda _: None)
        context = SimpleNamespace(get_current=SimpleNamespace)
        super().__init__(
            init=lambda **_: None, data=SimpleNamespace(DataContext=context, read_parquet=lambda _: made), made=made
        )

    def engines(self, engine, fn_constructor_kwargs, **_):
        engine(**fn_constructor_kwargs)
        return self.made


def test_the_driver_of_vllm_stops_at_a_word_that_is_no_option(here):
    written("vllm")
    done = subprocess.run(["sh", "to do/driver.sh", "a path"], capture_output=True, text=True, check=False)
    assert done.returncode and "[--model CHECKPOINT]" in done.stderr and not Path("to do/answers").exists()


def test_what_an_engine_over_ray_leaves_keeps_why_replies_ended_and_statuses(here, serve, monkeypatch):
    """The engine by itself: with Ray around it in tests/long/cluster."""
    written("ray")
    spec = spec_from_file_location("driver", here / "to do" / "driver.py")
    driver = module_from_spec(spec)
    spec.loader.exec_module(driver)
    monkeypatch.setattr(driver, "PAUSE", 0.0)
    (part,) = Path("to do").glob("*.parquet")
    batch = parquet.read_table(part).to_pydict()
    refused = json.loads(batch["body"][0])["messages"][-1]["content"]
    seen = []

    def reply(path, body, number):
        seen.append(body)
        words = body["messages"][-1]["content"]
        if words == refused:
            return error(400, "no")
        return error(503, "busy") if sum(other["messages"] == body["messages"] for other in seen) == 1 else CUT_OFF

    server = serve(reply)
    done = driver.Engine(server.url, "", [], 4)(batch)
    (here / "to do" / "answers").mkdir()
    parquet.write_table(pa.table(done), here / "to do" / "answers" / "0.parquet")
    found = answers()
    assert found.count(None) == 1 and {answer.finish_reason for answer in found if answer} == {"length"}
    assert len(seen) == 1 + 2 * 11 and all(body in map(json.loads, batch["body"]) for body in seen)


def test_a_driver_is_written_beside_a_folder_alone(here):
    done = command("requests", "todo.jsonl", *RUN, "driver=ray")
    assert done.returncode == 1 and "driver=ray has a folder of requests answered: give todo.jsonl/" in done.stderr
