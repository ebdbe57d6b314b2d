"""What somebody changes in a run who knows how verify works: all digests made again, or the scores as well.

Each change is found, or stands in CANNOT_BE_FOUND with the reason, which docs/reliability.md tells. That a plain change
of any byte is found says test_one_edit.py.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support import forks
from support.openai_server import KEY, Server, chat_reply
from support.resealing import change, digest_requests, lines, rescore, reseal, save_lines

from harness.errors import HarnessError
from harness.verify.run import HOLDS, verdict_on

Tamper = Callable[[Path], object]


@pytest.fixture(scope="module")
def finished_runs(tmp_path_factory) -> Path:
    """Return the folder of a run of the reasoner, and of one against a server that has a price."""
    folder = tmp_path_factory.mktemp("made")
    server = Server(lambda path, body, number: chat_reply("No" if "parent" in str(body) else "Yes, it does."))
    paid = ("model=gpt4", f"model.base_url={server.url}", "cache=off", "model.price.input=2", "model.price.output=8")
    try:
        for results, *arguments in (("reasoner", "task.limit=12"), ("paid", "task.limit=12", *paid)):
            environment = os.environ | {"OPENAI_API_KEY": KEY}
            process = forks.run("harness", [*arguments, f"results={results}"], folder, environment)
            assert not process.returncode, process.stderr
    finally:
        server.close()
    return folder


def run_of(finished_runs: Path, name: str, to: Path) -> Path:
    (result,) = (finished_runs / name).rglob("result.json")
    return Path(shutil.copytree(result.parent, to / name))


def every(how: Callable[[dict], object]) -> Tamper:
    """Change every line of the records; `how` may return another line."""

    def tamper(run: Path) -> None:
        changed = lines(run)
        for line in changed:
            how(line)
        save_lines(run, changed)

    return tamper


def result(how: Callable[[dict], object]) -> Tamper:
    return lambda run: change(run, "result.json", how)


def manifest(how: Callable[[dict], object]) -> Tamper:
    return lambda run: change(run, "manifest.json", how)


def overall(content: dict) -> dict:
    return content["scores"][content["headline"]]["overall"]["all"]


def flip(line: dict) -> None:
    """Flip an answer and what follows from it, but not its words."""
    line["answer"]["label"] = 1 - (line["answer"]["label"] or 0)
    line["correct"] = line["answer"]["label"] == line["gold"]


def other_labels(line: dict) -> None:
    line["labels"] = {name: 1 - label for name, label in line["labels"].items()}
    line["gold"] = 1 - line["gold"]
    line["correct"] = line["answer"]["label"] == line["gold"]


def hint(line: dict) -> None:
    for message in line["request"]["messages"]:
        if "text" in message and message["role"] == "user":
            message["text"] += " Hint: the answer is Yes."


def failed(line: dict) -> None:
    line["failure"], line["correct"] = {"kind": "refusal", "detail": "no"}, None
    del line["response"], line["answer"]
    line.pop("cost_usd", None)


RECORDS: dict[str, Tamper] = {
    "answers": every(flip),
    "labels": every(other_labels),
    "words of requests": every(hint),
    "spans": every(lambda line: line["answer"].update(span="certainly")),
    "probabilities": every(lambda line: line["answer"].update(probability=0.75)),
    "clusters": every(lambda line: line.update(cluster=line["item"])),
    "groups": every(lambda line: line.update(groups={name: f"{group}!" for name, group in line["groups"].items()})),
    "another draw": every(lambda line: line.update(sample=9)),
    "longer replies asked for": every(lambda line: line["request"].update(max_tokens=999)),
    "a record removed": lambda run: save_lines(run, lines(run)[1:]),
    "a record doubled": lambda run: save_lines(run, [*lines(run), lines(run)[0]]),
    "an unknown name": every(lambda line: line.update(remark=None)),
    "replies": every(lambda line: line["response"].update(text="Yes. It is certainly so.")),
    "usage": every(lambda line: line["response"].update(usage={"input": 1, "output": 1})),
    "cost": every(lambda line: line.update(cost_usd=0.0)),
    "failures": every(failed),
    "finish reasons": every(lambda line: line["response"].update(finish_reason="length")),
    "seconds": every(lambda line: line["response"].update(seconds=0.001)),
}
MANIFEST: dict[str, Tamper] = {
    "the model's setting": manifest(lambda m: m["config"]["model"].update(temperature=0.7)),
    "the model's name": manifest(lambda m: m["config"]["model"].update(name="gpt-9")),
    "the task's limit": manifest(lambda m: m["config"]["task"].update(limit=5)),
    "the place": manifest(lambda m: m["run"].update(model="gpt-9")),
    "the configuration": manifest(lambda m: m["configuration"]["task"].update(unreadable="no")),
    "the prompt's words": manifest(lambda m: m["words"].update(user=f"{m['words']['user']} Think.")),
    "the price": manifest(lambda m: m["price"].update(output=[[0, 0.5]])),
    "the items' digest": manifest(lambda m: m["items"].update(sha256="0" * 64)),
    "the time": manifest(lambda m: m.update(started="2001-01-01T00:00:00+00:00")),
}
RESULT: dict[str, Tamper] = {
    "a digit": result(lambda r: overall(r).update(accuracy=(overall(r)["accuracy"] or 0) + 1e-9)),
    "an interval": result(lambda r: overall(r).update(intervals={"accuracy": [0.9, 1.0]})),
    "a breakdown more": result(lambda r: r["scores"][r["headline"]].update(new={"x": overall(r)})),
    "a note": result(lambda r: r.update(notes=["Checked by others."])),
    "completeness": result(lambda r: r.update(complete=not r["complete"])),
}
SERVER = "what a server said is known to the server alone"
CANNOT_BE_FOUND: dict[tuple[str, str], str] = {
    ("any", "seconds"): "how long an answer took changes no number",
    ("any", "the time"): "when it ran is told by the run alone, and changes no number",
    ("paid, digests", "replies"): SERVER,
    **{("paid, scores", name): SERVER for name in ("replies", "failures", "finish reasons")},
}


def digests(run: Path) -> None:
    digest_requests(run)
    reseal(run)


def scores(run: Path) -> None:
    digest_requests(run)
    rescore(run)
    reseal(run)


CASES = [
    *((name, digests, tampers) for name in ("reasoner", "paid") for tampers in (RECORDS, MANIFEST, RESULT)),
    *((name, scores, tampers) for name in ("reasoner", "paid") for tampers in (RECORDS, MANIFEST)),
]


@pytest.mark.parametrize(("name", "strength", "tampers"), CASES)
def test_every_change_is_found_but_what_the_run_alone_can_say(finished_runs, tmp_path, name, strength, tampers):
    found, not_found = set(), set()
    for tamper, make in tampers.items():
        run = run_of(finished_runs, name, tmp_path)
        try:
            make(run)
            strength(run)
        except (KeyError, TypeError, HarnessError):  # a run without a price; what cannot be scored any more
            shutil.rmtree(run)
            continue
        verdict, problems = verdict_on(run)
        assert problems or verdict == HOLDS
        (not_found if verdict == HOLDS else found).add(tamper)
        shutil.rmtree(run)
    expected = {of for who, of in CANNOT_BE_FOUND if who in ("any", f"{name}, {strength.__name__}")}
    assert not_found <= expected, not_found - expected
    assert not expected & found and len(found) >= len(tampers) / 2


def test_a_run_in_another_order_and_in_another_folder_holds(finished_runs, tmp_path):
    renamed = run_of(finished_runs, "paid", tmp_path).rename(tmp_path / "elsewhere")
    save_lines(renamed, lines(renamed)[::-1])
    assert verdict_on(renamed) == (HOLDS, [])
