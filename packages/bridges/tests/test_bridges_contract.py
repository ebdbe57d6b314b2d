"""The contract: 300 replies, recorded and hostile, are scored alike here and by each framework's own command.

Each framework is in an environment of its own below $BRIDGES (`make test-bridges` makes them), with this project beside
it. The replies come from one local server over HTTP. What a framework does not tell is left out of what is expected of
it, reply by reply: KNOWN says which finish reasons reach the reader there.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from bridge_replies import NUMBER, Reply, completion, replaying, replies
from support.openai_server import Server

from harness import questions
from harness.api import evaluate
from harness.storage.records import read
from harness.tasks.question import Question, ScoredAnswer, summarize
from harness.types import Failure, Result

pytestmark = [pytest.mark.bridges, pytest.mark.skipif("BRIDGES" not in os.environ, reason="make test-bridges")]

ALL = ("length", "content_filter")
KNOWN = {
    "light": (),
    "inspect": ALL,
    "lm-eval": (),
    "verifiers": ("length",),
    "trl": (),
}
"""The finish reasons beside "stop" that a framework hands to whoever scores."""
SETTINGS: dict[str, Any] = {"num_nodes": [6], "limit": NUMBER}
Verdict = tuple[bool, bool]
"""Of one reply: whether it is right, and whether nothing could be read."""


@cache
def asked() -> dict[str, tuple[Question, Reply]]:
    made = questions("corr2cause/fresh", "cot", **SETTINGS)
    return {question.id: (question, reply) for question, reply in zip(made, replies(), strict=True)}


def scored(framework: str) -> dict[str, ScoredAnswer]:
    """Return what this project reads, of what a framework tells."""
    known = KNOWN[framework]
    return {
        name: question.score(reply.text, reply.finish_reason if reply.finish_reason in known else "stop")
        for name, (question, reply) in asked().items()
    }


def summary(answers: dict[str, ScoredAnswer]) -> Result:
    return summarize([(asked()[name][0].metadata, answer) for name, answer in answers.items()])


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    reply, unknown = replaying([question for question, _ in asked().values()])
    server = Server(reply)
    yield server
    server.close()
    assert not unknown, f"{len(unknown)} questions were asked in other words, such as {unknown[0][:500]!r}"


def run(framework: str, program: str, *arguments: str, folder: Path, **environment: str) -> str:
    """Return what a framework's own command prints, in its environment."""
    home = Path(os.environ["BRIDGES"]) / framework / "bin"
    if not (home / program).exists():
        pytest.skip(f"{home / program} is not there: make test-bridges makes it")
    # As after `activate`: verifiers starts python of its environment by name.
    variables = os.environ | {"PATH": f"{home}:{os.environ['PATH']}"} | environment
    command = [str(home / program), *arguments]
    process = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    return process.stdout


def inspect_logs(tmp_path: Path, url: str, *arguments: str) -> list[dict[str, Any]]:
    """Run inspect eval against a server; return what it logged."""
    run(
        "inspect", "inspect", "eval", *arguments, "--model", "openai-api/mock/mock", "--log-dir", "logs",
        "--log-format", "json", "--display", "none", folder=tmp_path, MOCK_BASE_URL=url, MOCK_API_KEY="none",
    )  # fmt: skip
    return [json.loads(file.read_text(encoding="utf-8")) for file in (tmp_path / "logs").glob("*.json")]


def lm_eval(tmp_path: Path, task: str, *arguments: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run lm_eval with the tasks of this project; return the results by task, and the samples where they are asked."""
    path = run("lm-eval", "harness", "bridges", "lm-eval", folder=tmp_path).strip()
    run(
        "lm-eval", "lm_eval", "run", "--include_path", path, "--tasks", task, "--output_path", "out", *arguments,
        folder=tmp_path,
    )  # fmt: skip
    (results,) = (tmp_path / "out").rglob("results_*.json")
    lines = [line for file in (tmp_path / "out").rglob("samples_*.jsonl") for line in file.open(encoding="utf-8")]
    return json.loads(results.read_text(encoding="utf-8"))["results"], [json.loads(line) for line in lines]


def agree(framework: str, verdicts: dict[str, Verdict], accuracy: float) -> None:
    """Compare every item and the aggregate, and note the row of the table in README.md."""
    ours = scored(framework)
    expected = {name: (answer.correct, bool(answer.reason)) for name, answer in ours.items()}
    assert len(expected) == NUMBER
    differing = {name: (verdict, expected[name]) for name, verdict in verdicts.items() if verdict != expected[name]}
    assert not differing, {name: (*pair, asked()[name][1]) for name, pair in differing.items()}
    assert verdicts.keys() == expected.keys()
    counted = [answer.correct for answer in ours.values() if answer.reason != "refused"]
    assert accuracy == pytest.approx(sum(counted) / len(counted), abs=1e-9)
    whole = scored("inspect")
    unlike = sum(whole[name] != answer for name, answer in ours.items())
    with (Path(os.environ["BRIDGES"]) / "contract.jsonl").open("a") as file:
        row = {"framework": framework, "items": len(verdicts), "alike": len(verdicts) - len(differing)}
        file.write(
            json.dumps(row | {"accuracy": accuracy, "f1": summary(ours).overall["f1"], "not told": unlike}) + "\n"
        )


def test_a_run_of_this_project_over_http(server, key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = evaluate(
        "openai",
        "corr2cause/fresh",
        overrides=[f"model.base_url={server.url}", "model.model=mock", "model.name=mock"],
        prompt="cot",
        cache="off",
        **SETTINGS,
    )
    ours = scored("inspect")
    for record in read(run.folder / "records.jsonl"):
        answer = ours[record.item]
        if isinstance(record.outcome, Failure):
            assert answer.reason == "refused" and record.outcome.kind == "content_filter"
        else:
            assert record.answer is not None and record.answer.label == answer.label
    assert run.result.overall["accuracy"] == summary(ours).overall["accuracy"]
    theirs, here = (result.overall.metric("f1") for result in (run.result, summary(ours)))
    assert (theirs.value, theirs.interval, theirs.bounds) == (here.value, here.interval, here.bounds)


def test_inspect(server, tmp_path):
    settings = ("-T", "prompt=cot", "-T", "num_nodes=6", "-T", f"limit={NUMBER}")
    (log,) = inspect_logs(tmp_path, server.url, "harness/corr2cause_fresh", *settings)
    answers = {each["id"]: each["scores"]["reading"]["metadata"]["reading"] for each in log["samples"]}
    numbers = {name: metric["value"] for name, metric in log["results"]["scores"][0]["metrics"].items()}
    agree("inspect", {name: (a["correct"], bool(a["reason"])) for name, a in answers.items()}, numbers["accuracy"])
    assert {name: a["label"] for name, a in answers.items()} == {n: a.label for n, a in scored("inspect").items()}
    ours = summary(scored("inspect"))
    assert numbers["f1"] == pytest.approx(ours.overall["f1"])
    assert numbers["f1_low"] < numbers["f1"] < numbers["f1_high"]
    by_relation = ours.scores["audited"]["relation"]
    assert {name: pytest.approx(row["accuracy"]) for name, row in by_relation.items()}.items() <= numbers.items()
    assert log["results"]["scores"][0]["unscored_samples"] == ours.overall.failed == 3


def test_inspect_runs_every_task(serve, tmp_path):
    names = ["corr2cause", "corr2cause_pairs", "cladder", "causalbench_cot"]
    names += [f"causalbench_{name}" for name in ("causality", "correlation", "skeleton")]
    always_no = serve(lambda *_: completion(Reply("No"), "mock"))
    tasks = [f"harness/{name}" for name in names]
    logs = inspect_logs(tmp_path, always_no.url, *tasks, "-T", "limit=24", "-T", "unreadable=unscored")
    assert sorted(log["eval"]["task"].removeprefix("harness/") for log in logs) == sorted(names)
    for log in logs:
        assert log["status"] == "success", log["error"]
        right = sum(each["target"] == "No" for each in log["samples"]) / 24
        assert log["results"]["scores"][0]["metrics"]["accuracy"]["value"] == pytest.approx(right)


def test_lm_eval(server, tmp_path):
    model = f"model=mock,base_url={server.url}/chat/completions,num_concurrent=4,max_retries=1"
    results, rows = lm_eval(
        tmp_path, "corr2cause_fresh", "--model", "local-chat-completions", "--model_args", model,
        "--apply_chat_template", "--metadata", json.dumps({"settings": {"prompt": "cot", **SETTINGS}}), "--log_samples",
    )  # fmt: skip
    verdicts = {json.loads(row["doc"]["metadata"])["id"]: (row["acc"] == 1, row["unreadable"] == 1) for row in rows}
    numbers = results["corr2cause_fresh"]
    agree("lm-eval", verdicts, numbers["acc,none"])
    f1 = summary(scored("lm-eval")).overall.metric("f1")
    assert (numbers["f1,none"], (numbers["f1_low,none"], numbers["f1_high,none"])) == (f1.value, f1.interval)


def test_lm_eval_ranks_the_choices(tmp_path):
    settings = ("--metadata", json.dumps({"settings": {"limit": 60}}), "--log_samples")
    _, rows = lm_eval(tmp_path, "corr2cause_audited_choice", "--model", "dummy", *settings)
    assert len(rows) == 60 and len({row["acc"] for row in rows}) == 2
    for row in rows:
        yes, no = (float(each[0]) for each in row["filtered_resps"])
        assert row["acc"] == float((yes > no) == (row["doc"]["answer"] == "Yes"))


def test_lm_eval_runs_all_tasks_together(tmp_path):
    numbers, _ = lm_eval(tmp_path, "harness_choice", "--model", "dummy", "--limit", "8")
    tasks = numbers.keys() - {"harness_choice"}
    assert len(tasks) == 8
    mean = sum(numbers[task]["acc,none"] for task in tasks) / len(tasks)
    assert numbers["harness_choice"]["acc,none"] == pytest.approx(mean)


def test_verifiers(server, tmp_path):
    run(
        "verifiers", "vf-eval", "corr2cause-fresh", "-n", str(NUMBER), "--model", "mock", "--no-rich",
        "--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess", "--env.taskset.prompt", "cot",
        "--env.taskset.settings", '{"num_nodes": [6]}', "--client.base-url", server.url,
        "--client.api-key-var", "OPENAI_API_KEY", "--output-dir", "out", "--no-push",
        folder=tmp_path, OPENAI_API_KEY="none",
    )  # fmt: skip
    (file,) = (tmp_path / "out").rglob("traces.jsonl")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    verdicts = {}
    for row in rows:
        (trace,) = row["traces"]
        verdict = trace["rewards"]["correct"]["score"] == 1, trace["metrics"]["unreadable"] == 1
        verdicts[row["task"]["data"]["id"]] = verdict
    agree("verifiers", verdicts, sum(correct for correct, _ in verdicts.values()) / len(verdicts))


TRL = """
import json, sys
from harness_bridges import trl
texts = json.load(open(sys.argv[1]))
data = trl.dataset(prompt="cot", rows=len(texts), num_nodes=[6])
completions = [[{"role": "assistant", "content": text}] for text in texts]
columns = {name: data[name] for name in data.column_names if name != "prompt"}
scores = trl.reward(completions=completions, prompts=data["prompt"], completion_ids=None, trainer_state=None, **columns)
names = [json.loads(known)["id"] for known in data["metadata"]]
rows = [[name, turns[-1]["content"], score] for name, turns, score in zip(names, data["prompt"], scores, strict=True)]
json.dump(rows, open(sys.argv[2], "w"))
"""


LIGHT = """
import json, sys
from harness import questions
tasks = [("corr2cause", {}), ("corr2cause/pairs", {}), ("cladder", {}), ("causalbench/cot", {}),
         ("causalbench/causality", {"format": "background"})]
for task, settings in tasks:
    question = next(iter(questions(task, limit=2, **settings)))
    assert question.score(question.answer).correct, question
texts = json.load(open(sys.argv[1]))
made = questions("corr2cause/fresh", "cot", num_nodes=[6], limit=len(texts))
rows = [[each.id, each.text, each.score(text).correct] for each, text in zip(made, texts, strict=True)]
json.dump(rows, open(sys.argv[2], "w"))
"""


@pytest.mark.parametrize(("framework", "program"), [("light", LIGHT), ("trl", TRL)])
def test_what_is_a_library_and_has_no_command(framework, program, tmp_path):
    (tmp_path / "replies.json").write_text(json.dumps([reply.text for _, reply in asked().values()]))
    run(framework, "python", "-c", program, "replies.json", "rows.json", folder=tmp_path)
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [words for _, words, _ in rows] == [question.text for question, _ in asked().values()]
    ours = scored(framework)
    verdicts = {name: (score == 1, bool(ours[name].reason)) for name, _, score in rows}
    agree(framework, verdicts, sum(score for *_, score in rows) / len(rows))


TRAINER = """
import json, sys
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer
from harness_bridges import trl
data = trl.dataset("corr2cause", rows=8, num_nodes=[2], split="all", perturbation="varied")
words = sorted({word for turns in data["prompt"] for turn in turns for word in turn["content"].split()} | {"Yes", "No"})
numbers = {word: number for number, word in enumerate(["<pad>", "<eos>", "<unk>", *words])}
core = Tokenizer(models.WordLevel(numbers, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")
tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
shape = dict(n_embd=32, n_layer=1, n_head=2, n_positions=512, bos_token_id=1, eos_token_id=1, pad_token_id=0)
settings = GRPOConfig("out", max_steps=2, per_device_train_batch_size=4, num_generations=4, max_completion_length=4,
                      use_cpu=True, logging_steps=1, report_to=[], save_strategy="no")
trainer = GRPOTrainer(GPT2LMHeadModel(GPT2Config(vocab_size=len(numbers), **shape)), reward_funcs=trl.reward,
                      args=settings, train_dataset=data, processing_class=tokenizer)
trainer.train()
json.dump(trainer.state.log_history, open("log.json", "w"))
"""


def test_a_trainer_of_trl_takes_the_data_set_and_the_reward(tmp_path):
    run("trl", "python", "-c", TRAINER, folder=tmp_path, HF_HUB_OFFLINE="1")
    steps = [row for row in json.loads((tmp_path / "log.json").read_text()) if "reward" in row]
    assert len(steps) == 2 and all(0 <= row["rewards/reward/mean"] <= 1 for row in steps)
