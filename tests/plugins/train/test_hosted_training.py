"""Fine-tuning over an API, against a server that speaks the protocol."""

from __future__ import annotations

import copy
import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import openai
import pytest
import yaml
from omegaconf import OmegaConf
from openai.types.fine_tuning import FineTuningJob
from support.openai_server import KEY, wait_for
from support.server import Program

from harness.cli import hydra_app, own_configs
from harness.errors import ConfigError, HarnessError, RunStopped
from harness.models.api import server
from harness.models.api.openai import Chat
from harness.plugins.train import finetune, hosted, hosted_job
from harness.plugins.train.hosted import HostedRecipe, notes
from harness.plugins.train.hosted_job import make_hosted
from harness.plugins.train.make import make as make_here
from harness.prepare import carry_out, prepare
from harness.runtime import signals
from harness.settings import build, plain
from harness.types import Response

OPENAI = "recipe.base_url=https://api.openai.com/v1"
SMALL = ["task.num_nodes=[4]", "task.limit=20", "dev_limit=40"]


class Account(Program):
    """The server, told what goes wrong and asked what it has."""

    @property
    def jobs(self) -> list[dict[str, Any]]:
        return self.seen()["jobs"]


@pytest.fixture(scope="module")
def started() -> Iterator[Account]:
    account = Account(Path(__file__).with_name("tuning_server.py"))
    yield account
    account.close()


@pytest.fixture
def account(started: Account, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Account:
    started.set()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hosted_job, "POLL", 0.02)
    monkeypatch.setattr(server, "_LONGEST_PAUSE", 0.05)
    return started


@cache
def _composed(*arguments: str) -> dict[str, Any]:
    own_configs.register()
    return plain(hydra_app.without_hydra(hydra_app.composed("finetune", ["recipe=openai", *SMALL, *arguments])))


def composed(account: Account | None, *arguments: str) -> dict[str, Any]:
    """Return the config with some settings, which Hydra would take ten times as long to compose."""
    config = copy.deepcopy(_composed())
    for argument in [*([] if account is None else [f"recipe.base_url={account.url}"]), *arguments]:
        name, _, value = argument.partition("=")
        section, _, setting = name.rpartition(".")
        (config[section] if section else config)[setting] = yaml.safe_load(value)
    return config


def made(account: Account, *arguments: str) -> list[str]:
    return make_hosted(composed(account, "submit=true", *arguments))


def training(lines: list[str]) -> dict[str, Any]:
    return json.loads(Path(lines[-2].partition(": ")[0], "training.json").read_text())


@pytest.mark.parametrize("prompt", ["plain", "system", "few_shot"])
def test_a_row_is_what_the_adapter_asks_and_the_answer_that_is_read_from_it(account, prompt):
    config = composed(account, "out=ft.jsonl", f"prompt={prompt}")
    written, held, *_ = make_hosted(config)
    assert written == "ft.jsonl is written." and held.startswith("Training file: 20 rows (")
    rows = [json.loads(line)["messages"] for line in Path("ft.jsonl").read_text().splitlines()]
    order = hosted.tuning_of(hosted_job.validated(hosted.FinetuneSettings, config))
    adapter = Chat(name="evaluates", model="ft:x", base_url=account.url)
    asked = {json.dumps(adapter.call(e.request)[1]["messages"]): e for e in order.lessons.train.rows}
    assert len(rows) == len(asked) == 20 and not account.seen()["calls"]
    for *turns, answer in rows:
        example = asked[json.dumps([{k: v for k, v in turn.items() if k != "weight"} for turn in turns])]
        assert order.prompt.parse(Response(answer["content"]), example.fields).label == example.label
        # The answers of its examples are not learned.
        assert [turn.get("weight") for turn in turns if turn["role"] == "assistant"] == [0] * 2 * (prompt == "few_shot")
        assert (turns[0]["role"] == "system") == (prompt == "system") and "weight" not in answer


def test_a_prompt_with_a_third_answer_is_not_learned(account):
    with pytest.raises(ConfigError, match="prompt=cls asks for more than Yes or No"):
        make_hosted(composed(account, "prompt=cls"))
    here = {"name": "x", "kind": "causal_lm", "path": "x", "learning_rate": 1e-5, "batch_size": 8, "epochs": 1}
    target = {"_target_": "harness.plugins.train.recipe.Recipe"}
    with pytest.raises(ConfigError, match="this recipe learns Yes and No"):
        make_here(composed(account, "prompt=cls") | {"recipe": here | target})


def test_from_the_file_to_a_model_that_is_evaluated(account, capsys):
    states = ["validating_files", "queued", "running", "paused", "running", "succeeded"]
    account.set(states=states)
    settings = [
        "recipe.epochs=2",
        "recipe.batch_size=4",
        "recipe.suffix=corr",
        "recipe.seed=3",
    ]
    lines = make_hosted(_composed("submit=true", f"recipe.base_url={account.url}", *settings))
    said = capsys.readouterr().err
    entry, (there,) = training(lines), account.jobs
    assert there["body"] == {
        "model": "gpt-4.1-mini-2025-04-14",
        "training_file": "file-0001",
        "suffix": "corr",
        "seed": 3,
        "method": {
            "type": "supervised",
            "supervised": {"hyperparameters": {"n_epochs": 2, "batch_size": 4, "learning_rate_multiplier": "auto"}},
        },
        "metadata": {"harness": entry["job"]["mark"]},
    }
    order = [said.index(state.replace("_", " ")) for state in ("validating_files", "queued", "running", "paused")]
    assert order == sorted(order) and said.count("queued") == 1
    assert entry["chosen"]["model"] == there["fine_tuned_model"] and entry["job"]["trained_tokens"] == 12_345
    assert entry["file"]["rows"] == 20 and said.index("Cost: ") < said.index("uploading")
    # What is there is not made again, and the model answers by its name.
    assert made(account, *settings)[0].endswith("is there already.") and len(account.jobs) == 1
    command = lines[-1].partition("harness ")[2].split()
    evaluation = plain(hydra_app.without_hydra(hydra_app.composed("config", [*command, "task.limit=4"])))
    outcome = carry_out(prepare(evaluation))
    assert outcome.error is None
    # The SDK's own client reads the same of the same server.
    client = openai.OpenAI(api_key=KEY, base_url=account.url, max_retries=0)
    (listed,) = client.fine_tuning.jobs.list().data
    FineTuningJob.model_validate(listed.to_dict(), strict=True)
    assert listed.metadata == {"harness": entry["job"]["mark"]}


KILLS = [
    (hosted_job.TuningServer, "send_file", 1, "before"),
    # Between the server's word and our note of it, and between our note and the next step.
    *((hosted_job._JobSteps, "_note", number, moment) for number in (1, 2, 3) for moment in ("before", "after")),
    (hosted_job.TuningServer, "look", 2, "after"),
    (hosted_job.atomic_write, "write", 4, "after"),
]
UNHEARD = ("_note2after", "_note3before")


@pytest.mark.slow
def test_kill_9_at_any_step_and_the_same_command_make_one_job(account, capfd):
    tuning = hosted.tuning_of(hosted_job.validated(hosted.FinetuneSettings, composed(account, "submit=true")))
    for owner, name, number, moment in KILLS:
        account.set(states=["running", "succeeded"])
        place = f"{name}{number}{moment}"
        if not (pid := os.fork()):
            with suppress(BaseException):
                _die_at(owner, name, number, moment)
                carried_out(tuning, place)
            os._exit(0)
        assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL, place
        if place in UNHEARD:  # nothing is guessed: the user looks, and names the job or asks for another
            made_unheard = account.seen()["jobs"]
            for _ in range(2):
                with pytest.raises(RunStopped, match=r"is not known.*of the file file-0001 .*submit=ITS_ID"):
                    carried_out(tuning, place)
            assert account.seen()["jobs"] == made_unheard and len(made_unheard) == (place == "_note3before")
            if not made_unheard:
                continue
            (job,) = made_unheard
            lines = carried_out(tuning, place, submit=job["id"])
        else:
            lines = carried_out(tuning, place)
        seen = account.seen()
        assert len(seen["jobs"]) == seen["calls"]["create"] == 1, place
        assert training(lines)["job"]["id"] == seen["jobs"][0]["id"]
        assert seen["calls"]["upload"] == 1 + (place == "_note1before")
        assert not list(Path(place).rglob("*.work*"))
    assert not [text for text in capfd.readouterr() if KEY in text]


def carried_out(tuning: hosted.Tuning, folder: str, submit: bool | str = True) -> list[str]:
    """Do as the command does for what is to be trained, in another folder."""
    tuning = replace(tuning, settings=replace(tuning.settings, out=folder, submit=submit))
    if not (tuning.folder / "training.json").exists():
        hosted_job.carry_out(tuning, [], {})
    return hosted.last_lines(tuning)


def _die_at(owner: Any, name: str, number: int, moment: str) -> None:
    """Have this process killed just before or after the so many-th call of a function."""
    function, calls = getattr(owner, name), iter(range(1, 1000))

    def dying(*arguments: Any, **more: Any) -> Any:
        last = next(calls) == number
        if last and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*arguments, **more)
        if last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, dying)


@pytest.mark.parametrize(
    ("fault", "creations"),
    [
        ({"429 on create": 3}, 4),
        pytest.param({"500 on upload": 2}, 1, marks=pytest.mark.slow),
        ({"429 on look": 2, "500 on look": 3}, 1),
        pytest.param({"429 on look": 25}, 1, marks=pytest.mark.slow),
        ({"pending file": 3}, 1),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_passes_is_tried_again_and_makes_no_second_job(account, capsys, fault, creations):
    account.set(faults=fault, strange=150)
    assert training(made(account))["job"]["id"] == "ftjob-000001"
    assert len(account.jobs) == 1 and account.seen()["calls"]["create"] == creations
    assert "running" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fault", "jobs"), [("500 after create", 1), ("lost after create", 1), ("lost before create", 0)]
)
def test_a_job_that_was_not_heard_of_is_asked_for_and_not_guessed_at(account, fault, jobs):
    account.set(faults={fault: 1})
    for _ in range(2):
        with pytest.raises(RunStopped, match=r"is not known.*recipe\.job=2 makes one"):
            made(account)
    assert len(account.jobs) == jobs and account.seen()["calls"]["create"] == 1
    if jobs:
        id = account.jobs[0]["id"]
        assert training(make_hosted(composed(account, f"submit={id}")))["job"]["id"] == id
        with pytest.raises(RunStopped, match="was made of other settings"):
            make_hosted(composed(account, f"submit={id}", "recipe.seed=5"))
    else:
        assert training(made(account, "recipe.job=2"))["job"]["id"] == "ftjob-000001"
    assert len(account.jobs) == 1


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        (
            ["queued", "failed"],
            r"has failed: The job failed the usage policy \(policy, training_file\)\. recipe.job={}",
        ),
        (["running", "cancelled"], "was cancelled: recipe.job={} makes another one"),
    ],
    ids=["failed", "cancelled"],
)
def test_a_job_that_comes_to_nothing_is_told_and_not_made_again(account, states, sentence):
    error = {"code": "policy", "message": "The job failed the usage policy.", "param": "training_file"}
    account.set(states=states, error=error)
    for _ in range(2):
        with pytest.raises(RunStopped, match=sentence.format(2)):
            made(account)
    assert len(account.jobs) == 1
    with pytest.raises(RunStopped, match=sentence.format(3)):
        made(account, "recipe.job=2")
    assert len(account.jobs) == 2


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130 << 8), (signal.SIGTERM, signal.SIGTERM)])
def test_an_interrupted_command_leaves_its_job_and_says_so(account, number, status):
    account.set(states=["queued", *["running"] * 1000])
    if not (pid := os.fork()):
        with suppress(BaseException):
            signals.at_once("nothing yet")
            with Path("said").open("w") as said:
                os.dup2(said.fileno(), 2)
                made(account)
        os._exit(0)
    wait_for(lambda: account.jobs and account.jobs[0]["status"] == "running")
    with pytest.raises(RunStopped, match="another process is training"):
        made(account)
    os.kill(pid, number)
    assert os.waitpid(pid, 0)[1] == status
    assert "interrupted: the job ftjob-000001 goes on at http" in Path("said").read_text()
    assert account.jobs[0]["status"] == "running" and len(account.jobs) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["task.limit=8"], "has 8 rows and 0.0.* MB, and servers take 10 rows at least"),
        (["task.split=test"], "models are scored on the test split"),
        (["task.split=all", "task.limit=null"], "premises to learn from are premises of the test split, up to names"),
        (["task.split=dev", "task.limit=null"], "premises of the dev split"),
        (["prompt=cot"], "prompt=cot asks for more than Yes or No"),
        (["prompt=pair"], "do"),
        (["out=ft.jsonl"], "writes the training file alone"),
        (["recipe.suffix=" + 65 * "x"], "recipe.suffix="),
        (["recipe.epochs=0"], "recipe.epochs"),
        (["recipe.model=gpt-9"], r"refuses the call \(400: Model gpt-9 is not available for fine-tuning"),
        (["recipe.api_key_env=null"], r"refuses access \(401: Incorrect API key provided"),
        (["recipe.base_url=ftp://x"], "is no address"),
    ],
)
def test_what_no_server_takes_is_a_sentence(account, arguments, sentence):
    with pytest.raises(HarnessError, match=sentence):
        made(account, *arguments)
    assert not account.jobs


def test_after_a_refusal_the_same_command_sends_the_file_anew(account):
    for uploads in (1, 2):
        with pytest.raises(RunStopped, match="refuses the call"):
            made(account, "recipe.model=gpt-9")
        assert account.seen()["calls"]["upload"] == uploads


def test_without_a_key_nothing_is_sent(account, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    assert make_hosted(composed(account))[-1].startswith("Nothing was sent.")
    with pytest.raises(ConfigError, match="no API key"):
        made(account)
    assert not account.seen()["calls"] and not Path("checkpoints").exists()


def test_a_plan_tells_the_price_its_source_and_when_openai_closes(account, tmp_path):
    told = "\n".join(make_hosted(composed(None, OPENAI, "recipe.epochs=3")))
    tokens = int(told.partition("about ")[2].partition(" tokens")[0].replace(",", ""))
    assert f"Cost: about ${3 * tokens * 5 / 1e6:.4f} ($5 per million" in told and "docs/pricing (2026-08-05)" in told
    assert "OpenAI takes no new fine-tuning jobs from 2027-01-06 on" in told and "down on 2027-01-14" in told
    assert not list(tmp_path.iterdir())
    elsewhere = "\n".join(make_hosted(composed(None, "recipe.base_url=https://x.openai.azure.com/openai/v1")))
    assert "Cost: unknown, as the price of training gpt-4.1-mini" in elsewhere and "2027" not in elsewhere
    assert "asks for a deployment" in elsewhere
    own = "\n".join(make_hosted(composed(account, "recipe.price=2", "recipe.epochs=auto")))
    assert "for each pass, however many the server chooses ($2 per million" in own
    assert not {"2027", "deployment"} & set(own.split())
    recipe: HostedRecipe = build(composed(None, OPENAI)["recipe"], "recipe")
    assert "OpenAI has taken no new fine-tuning jobs since 2027-01-06. " in "".join(notes(recipe, date(2027, 2, 1)))


def test_a_recipe_says_by_which_way_it_is_made(account, monkeypatch, capsys):
    assert not finetune._is_hosted({"recipe": {"_target_": "harness.plugins.train.recipe.Recipe"}})
    assert finetune.job(OmegaConf.create(composed(account))) == 0
    assert "Nothing was sent." in capsys.readouterr().out
    with pytest.raises(ConfigError, match=r"recipe\.suffix looks like a key"):
        finetune.job(OmegaConf.create(composed(account, f"recipe.suffix={KEY}", "submit=true")))
    assert not account.seen()["calls"]
    with pytest.raises(ConfigError, match="leave -m out"):
        make_here(composed(account))
