"""What somebody changes in a run, one thing at a time: plain, with all digests, and with the scores made again.

The table is that of an attack: each change is found in the strengths in which anything can be, or stands in
CANNOT_BE_FOUND with the reason, which docs/reliability.md tells.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support import forks
from support.openai_server import KEY, Server, chat_reply
from support.resealing import change, digest_requests, lines, load, rescore, reseal, save_lines

from harness.errors import HarnessError
from harness.verify.__main__ import HOLDS, _verdict

Tamper = Callable[[Path], object]
RUNS = ("reasoner", "coin", "paid", "opened")


@pytest.fixture(scope="module")
def finished_runs(tmp_path_factory) -> Path:
    """Return the folder of a run of each kind, left by the commands; two against a server, one with a price."""
    folder = tmp_path_factory.mktemp("made")
    server = Server(lambda path, body, number: chat_reply("No" if "parent" in str(body) else "Yes, it does."))
    server_model = ("model=gpt4", f"model.base_url={server.url}", "cache=off")
    price = ("model.price.input=2", "model.price.output=8", "model.price.cached_input=1")
    data = ("task=causalbench/causality", "task.networks=[cancer]", "task.limit=6", "task.format=data", "task.rows=20")
    try:
        for results, module, *arguments in (
            ("reasoner", "harness", "task.limit=12"),
            ("coin", "harness", "task.limit=8", "model=random_uniform", "samples=3"),
            ("paid", "harness", "task.limit=12", "prompt=plain", *server_model, *price),
            ("opened", "harness", *data, "replies=model", *server_model),
        ):
            environment = os.environ | {"OPENAI_API_KEY": KEY}
            process = forks.run(module, [*arguments, f"results={results}"], folder, environment)
            assert not process.returncode, process.stderr
    finally:
        server.close()
    return folder


def run_of(finished_runs: Path, name: str, to: Path) -> Path:
    (result,) = (finished_runs / name).rglob("result.json")
    shutil.copytree(result.parent, to / name, dirs_exist_ok=True)
    return to / name


def records(how: Callable[[list[dict]], object]) -> Tamper:
    def tamper(run: Path) -> None:
        changed = lines(run)
        replaced = how(changed)
        save_lines(run, replaced if isinstance(replaced, list) else changed)

    return tamper


def first(how: Callable[[dict], object]) -> Tamper:
    return records(lambda changed: how(changed[0]))


def every(how: Callable[[dict], object]) -> Tamper:
    return records(lambda changed: [how(line) for line in changed] and None)


def result(how: Callable[[dict], object]) -> Tamper:
    return lambda run: change(run, "result.json", how)


def manifest(how: Callable[[dict], object]) -> Tamper:
    return lambda run: change(run, "manifest.json", how)


def both(how: Callable[[dict], object]) -> Tamper:
    return lambda run: [change(run, name, how) for name in ("result.json", "manifest.json")]


def overall(content: dict) -> dict:
    return content["scores"][content["headline"]]["overall"]["all"]


def flip(line: dict) -> None:
    """Flip an answer and the fields that follow from it, but not its words."""
    line["answer"]["label"] = 1 - (line["answer"]["label"] or 0)
    line["correct"] = line["answer"]["label"] == line["gold"]


def failed(line: dict) -> None:
    line["failure"] = {"kind": "refusal", "detail": "no"}
    del line["response"], line["answer"]
    line.pop("cost_usd", None)
    line["correct"] = None


def other_labels(line: dict) -> None:
    line["labels"] = {name: 1 - label for name, label in line["labels"].items()}
    line["gold"] = 1 - line["gold"]
    if "answer" in line and line["answer"]["label"] is not None:
        line["correct"] = line["answer"]["label"] == line["gold"]


def say(text: str, span: str, label: int) -> Callable[[dict], object]:
    def change_reply(line: dict) -> None:
        line["response"]["text"], line["answer"]["span"], line["answer"]["label"] = text, span, label
        line["correct"] = label == line["gold"]

    return change_reply


def hint(line: dict) -> None:
    for message in line["request"]["messages"]:
        if "text" in message and message["role"] == "user":
            message["text"] += " Hint: the answer is Yes."


def swap(name: str) -> Callable[[list[dict]], object]:
    def swapped(changed: list[dict]) -> None:
        # Two whose words stand in full, so that no other line refers to them.
        changed[0][name], changed[1][name] = changed[1][name], changed[0][name]

    return swapped


def another_order(changed: list[dict]) -> list[dict]:
    return changed[::-1]


RECORDS: dict[str, Tamper] = {
    "a reply": first(lambda line: line["response"].update(text="Yes. It is certainly so.")),
    "an answer": first(flip),
    "a span": first(lambda line: line["answer"].update(span="certainly")),
    "a probability": first(lambda line: line["answer"].update(probability=0.75)),
    "log-probabilities": every(lambda line: line["response"].update(logprobs={"Yes": -9.0, "No": -0.1})),
    "labels": first(other_labels),
    "all labels": every(other_labels),
    "gold alone": every(lambda line: line.update(gold=1 - line["gold"])),
    "correct alone": every(lambda line: line.update(correct=True)),
    "an item": first(lambda line: line.update(item=f"{line['item']}x")),
    "a record removed": records(lambda changed: changed[1:]),
    "a record doubled": records(lambda changed: [*changed, changed[0]]),
    "words of a request": first(hint),
    "words of all requests": every(hint),
    "requests exchanged": records(swap("request")),
    "items exchanged": records(swap("item")),
    "a request null": first(lambda line: line.update(request=None)),
    "text removed": first(lambda line: [message.pop("text", None) for message in line["request"]["messages"]]),
    "another kind of request": every(lambda line: line["request"].update(kind="choice")),
    "longer replies asked for": every(lambda line: line["request"].update(max_tokens=999)),
    "another role": first(lambda line: line["request"]["messages"][-1].update(role="system")),
    "another draw in the request": first(lambda line: line["request"].update(sample=7)),
    "clusters": every(lambda line: line.update(cluster=line["item"])),
    "one cluster": first(lambda line: line.update(cluster="own")),
    "a unit": first(lambda line: line.update(unit="tub -> asia" if "asia -> tub" in line.values() else "asia -> tub")),
    "an empty unit": every(lambda line: line.update(unit="")),
    "groups": every(lambda line: line.update(groups={name: f"{group}!" for name, group in line["groups"].items()})),
    "a group more": first(lambda line: line["groups"].update(new="x")),
    "an answer made a failure": first(failed),
    "sample": first(lambda line: line.update(sample=9)),
    "an unknown key": first(lambda line: line.update(remark="x")),
    "an unknown key of null": first(lambda line: line.update(remark=None)),
    "an unknown key of the response": first(lambda line: line["response"].update(remark="x")),
    "cost": every(lambda line: line.update(cost_usd=0.0)),
    "seconds": every(lambda line: line["response"].update(seconds=0.001)),
    "cached": every(lambda line: line["response"].update(cached=not line["response"]["cached"])),
    "usage": every(lambda line: line["response"].update(usage={"input": 1, "output": 1})),
    "finish reason": first(lambda line: line["response"].update(finish_reason="length")),
    "served model": first(lambda line: line["response"].update(served_model="gpt-9")),
    "a reply of the opening": records(lambda changed: len([
        message.update(text="I see nothing.") for line in changed for message in line["request"]["messages"]
        if message["role"] == "assistant" and "text" in message
    ])),
}  # fmt: skip
RESULT: dict[str, Tamper] = {
    "a digit": result(lambda r: overall(r).update(accuracy=(overall(r)["accuracy"] or 0) + 1e-9)),
    "a count": result(lambda r: overall(r).update(items=overall(r)["items"] + 1)),
    "an interval": result(lambda r: overall(r).update(intervals={"accuracy": [0.9, 1.0]})),
    "resamples": result(lambda r: overall(r).update(resamples=77)),
    "clusters of the result": result(lambda r: r.update(clusters=r["clusters"] + 1)),
    "headline": result(lambda r: r.update(headline=[*r["scores"]][-1])),
    "labels of the result": result(lambda r: r["scores"].update(new=r["scores"][r["headline"]])),
    "a breakdown more": result(lambda r: r["scores"][r["headline"]].update(new={"x": overall(r)})),
    "failures": result(lambda r: r.update(failures={"refusal": 1})),
    "finish reasons": result(lambda r: r.update(finish_reasons={"stop": 1})),
    "usage of the result": result(lambda r: r.update(usage={"input": 5, "output": 5})),
    "cost of the result": result(lambda r: r.update(cost={"usd": 0.01, "answers": 1, "answers_without_cost": 0,
                                                           "price": "free"})),
    "complete": result(lambda r: r.update(complete=not r["complete"])),
    "run": result(lambda r: r["run"].update(model="gpt-9")),
    "prompt of the run": result(lambda r: r["run"].update(prompt="few_shot")),
    "notes": result(lambda r: r.update(notes=["Checked by others."])),
    "served models": result(lambda r: r.update(served_models={"gpt-9": 12})),
    "samples": result(lambda r: r.update(samples={"number": 5})),
    "interval's method": result(lambda r: r.update(interval={"level": 0.9})),
    "an unknown key of the result": result(lambda r: r.update(remark=None)),
}  # fmt: skip
MANIFEST: dict[str, Tamper] = {
    "the model's setting": manifest(lambda m: m["config"]["model"].update(temperature=0.7)),
    "the model's name": manifest(lambda m: m["config"]["model"].update(name="gpt-9")),
    "the address": manifest(lambda m: m["config"]["model"].update(base_url="https://api.openai.com/v1")),
    "unreadable": manifest(lambda m: m["config"]["task"].update(unreadable="no")),
    "the task's limit": manifest(lambda m: m["config"]["task"].update(limit=5)),
    "the task's split": manifest(lambda m: m["config"]["task"].update(split="dev")),
    "the samples": manifest(lambda m: m["config"].update(samples=2)),
    "the seed": manifest(lambda m: m["config"].update(seed=m["config"]["seed"] + 7)),
    "the prompt": manifest(lambda m: m["config"]["model"] and m["config"].update(prompt="few_shot")),
    "counts": manifest(lambda m: m["counts"].update(unreadable=m["counts"]["unreadable"] + 1)),
    "complete of the manifest": manifest(lambda m: m.update(complete=not m["complete"])),
    "run of the manifest": manifest(lambda m: m["run"].update(model="gpt-9")),
    "variant of both": both(lambda c: c["run"].update(variant="default")),
    "model of both": both(lambda c: c["run"].update(model="gpt-9")),
    "task of both": both(lambda c: c["run"].update(task="corr2cause/hard")),
    "configuration": manifest(lambda m: m["configuration"]["task"].update(unreadable="no")),
    "identity": manifest(lambda m: m["configuration"]["model"].update(kind="oracle")),
    "data": manifest(lambda m: m["configuration"]["data"].update(sha256="0" * 64)),
    "prompt's digest": manifest(lambda m: m["configuration"]["prompt"].update(digest="0" * 64)),
    "items' digest": manifest(lambda m: m["items"].update(sha256="0" * 64)),
    "items' count": manifest(lambda m: m["items"].update(count=m["items"]["count"] + 1)),
    "words": manifest(lambda m: m["words"].update(user=f"{m['words']['user']} Think.")),
    "parser": manifest(lambda m: m["words"].update(parser="last_verdict")),
    "price": manifest(lambda m: m["price"].update(output=[[0, 0.5]])),
    "price's source": manifest(lambda m: m["price"].update(source="a friend")),
    "an ending before the beginning": manifest(lambda m: m.update(ended="2001-01-01T00:00:00+00:00")),
    "times": manifest(lambda m: m.update(started="2001-01-01T00:00:00+00:00")),
    "commit": manifest(lambda m: m["harness"].update(commit="f" * 40)),
    "versions": manifest(lambda m: m["versions"].update(numpy="9.9")),
    "machine": manifest(lambda m: m["machine"].update(cores=4096)),
    "settings that change no answer": manifest(lambda m: m["config"].update(debug=True)),
}
TAMPERS = RECORDS | RESULT | MANIFEST
NOT_SCORES = {name: make for name, make in (RECORDS | MANIFEST).items() if name != "counts"}
"""What is not undone where the scores are made again."""

SERVER = "what a server said is known to the server alone"
CIRCUMSTANCES = "how, when and where it ran is told by the run alone, and changes no number"
CANNOT_BE_FOUND: dict[str, str] = {
    **dict.fromkeys(("seconds", "cached"), "how long an answer took, and whether a cache gave it, changes no number"),
    **dict.fromkeys(("times", "commit", "versions", "machine", "settings that change no answer"), CIRCUMSTANCES),
}
"""With all digests made again, whoever answered. The plain change is found but for `cached`, which no digest covers."""
CANNOT_BE_FOUND_OF_A_SERVER: dict[str, str] = dict.fromkeys(
    ("a reply", "usage", "finish reason", "served model", "an answer made a failure", "a reply of the opening"), SERVER
)
"""With all digests and the scores made again, where a server answered."""
HOLD = {"another order", "another folder"}


def digests(run: Path) -> None:
    digest_requests(run)
    reseal(run)


def scores(run: Path) -> None:
    digest_requests(run)
    rescore(run)
    reseal(run)


STRENGTHS: dict[str, Callable[[Path], object]] = {"plain": lambda run: None, "digests": digests, "scores": scores}
NOT_THERE = (KeyError, TypeError, AttributeError, IndexError, ValueError, HarnessError)


def holding(finished_runs: Path, name: str, strength: str, tmp_path: Path, every: int = 1) -> tuple[set[str], set[str]]:
    """Return the tampers that verify does not find, and all that could be applied to this run."""
    undetected, applied = set(), set()
    for tamper, make in [*(TAMPERS if strength != "scores" else NOT_SCORES).items()][::every]:
        run = run_of(finished_runs, name, tmp_path)
        before = [(run / file).read_bytes() for file in ("records.jsonl", "result.json", "manifest.json")]
        parsed = [lines(run), load(run / "result.json"), load(run / "manifest.json")]
        try:
            make(run)
        except NOT_THERE:  # a run without requests, without a price, …
            changed = False
        else:
            changed = parsed != [lines(run), load(run / "result.json"), load(run / "manifest.json")]
        if changed:
            try:
                STRENGTHS[strength](run)
            except NOT_THERE:  # what cannot be scored any more stays with the old scores
                reseal(run)
            applied.add(tamper)
            verdict, problems = _verdict(run, iter(range(10**9)))
            if verdict == HOLDS:
                undetected.add(tamper)
            assert problems or verdict == HOLDS
            shutil.rmtree(run)
        else:
            for file, content in zip(("records.jsonl", "result.json", "manifest.json"), before, strict=True):
                (run / file).write_bytes(content)
    return undetected, applied


def expected(name: str, strength: str) -> set[str]:
    if strength == "plain":
        return {"cached"}
    if name not in ("paid", "opened"):
        return set(CANNOT_BE_FOUND)
    if strength == "scores":
        undetected = {*CANNOT_BE_FOUND, *CANNOT_BE_FOUND_OF_A_SERVER}
        return (
            undetected - {"usage"} if name == "paid" else undetected
        )  # by the cost of the records, which was left as it was
    # Openings leave no record, so that nobody knows how much of the run's tokens was theirs.
    return {*CANNOT_BE_FOUND, "a reply", *({"a reply of the opening", "usage"} if name == "opened" else ())}


@pytest.mark.parametrize(
    ("name", "strength", "every"),
    [
        ("paid", "scores", 12),
        *(pytest.param(name, strength, 1, marks=pytest.mark.slow) for name in RUNS for strength in STRENGTHS),
    ],
)
def test_every_change_is_found_but_what_the_run_alone_can_say(finished_runs, tmp_path, name, strength, every):
    """`every`: one in so many of the changes is made."""
    undetected, applied = holding(finished_runs, name, strength, tmp_path, every)
    assert undetected <= expected(name, strength), f"not found: {undetected - expected(name, strength)}"
    assert applied & expected(name, strength) <= undetected, (
        f"found after all: {applied & expected(name, strength) - undetected}"
    )
    assert len(applied) > 30 / every, f"only {len(applied)} could be made"


@pytest.mark.parametrize("name", RUNS)
def test_the_runs_as_they_are_in_another_order_and_in_another_folder_hold(finished_runs, tmp_path, name):
    run = run_of(finished_runs, name, tmp_path)
    assert _verdict(run, iter(range(10**9))) == (HOLDS, [])
    renamed = run.rename(tmp_path / "elsewhere")
    save_lines(renamed, another_order(lines(renamed)))
    assert _verdict(renamed, iter(range(10**9))) == (HOLDS, [])
