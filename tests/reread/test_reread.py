"""harness reread: stored replies read again, without asking the model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.cli_help import sentence
from support.judge_help import VAGUE, command, replies
from support.openai_server import KEY
from support.resealing import change, lines, load, rescore, reseal, save_lines
from support.thinned import few

from harness.prompting.reading import VERSION
from harness.scoring.samples import summarize
from harness.storage import records, runs
from harness.storage.rebuild import task_of
from harness.storage.result_json import result_json

PLACE, JUDGED_PLACE = (f"results/corr2cause/{variant}/plain/gpt4" for variant in ("limit=60", "limit=60,judge=careful"))


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name[0] != "."}


def without(manifest: dict, *names: str) -> dict:
    return {name: value for name, value in manifest.items() if name not in names}


def as_older_rules_read(folder: Path, *, judged: bool = False) -> int:
    """Make a finished run one of earlier rules, which have read what today's cannot as Yes; return how often.

    Of a `judged` run this holds for one reply, so that its judge was never asked about it.
    """
    changed = lines(folder)
    vague = [line for line in changed if line["response"]["text"] == VAGUE][: 1 if judged else None]
    for line in vague:
        line.pop("judge", None)
        line["answer"] = {"label": 1, "probability": None, "span": "lean"}
        line["correct"] = line["gold"] == 1
    save_lines(folder, changed)
    change(folder, "manifest.json", lambda manifest: manifest.pop("reading"))
    if judged:
        task = task_of(runs.load(folder).manifest)
        again = summarize(task, lambda: records.read(folder / "records.jsonl"), 1, "careful")
        change(folder, "result.json", lambda result: result.update(result_json(again)))
    else:
        rescore(folder)
    reseal(folder)
    return len(vague)


@pytest.fixture
def server(serve):
    return serve(replies())


@pytest.fixture
def place(harness, server, tmp_path) -> Path:
    done = harness(*command(server, judge=False), OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    return tmp_path / PLACE


def test_a_run_of_earlier_rules_is_found_and_read_again_without_its_model(harness, server, place):
    today, asked = contents(place), len(server.calls)
    assert load(place / "manifest.json")["reading"]["version"] >= 1
    count = as_older_rules_read(place)
    verified = harness("results", module="harness.verify")
    assert verified.returncode == 1 and "0 of 1 runs hold." in verified.stdout
    assert f"version 0, today's are of version {VERSION} and {count} read otherwise today" in verified.stdout
    assert len(verified.stdout.splitlines()) == 3 and f"harness reread {PLACE} reads" in verified.stdout
    done = harness("results", module="harness.reread")
    assert done.returncode == 0 and f"{count} of 60 readings changed (Yes → unreadable: {count}); F1" in done.stdout, (
        done.stdout + done.stderr
    )
    now = contents(place)
    assert now["records.jsonl"] == today["records.jsonl"] and now["result.json"] == today["result.json"]
    manifests = [json.loads(files["manifest.json"]) for files in (today, now)]
    assert without(manifests[0], "digest") == without(manifests[1], "digest", "reread")
    assert harness("results", module="harness.verify").returncode == 0
    again = harness("results", module="harness.reread")
    assert again.returncode == 0 and "read by today's rules already" in again.stdout and contents(place) == now
    assert len(server.calls) == asked


def _text(folder: Path) -> None:
    """Another reply than the model's: its digest is not made again."""
    changed = lines(folder)
    changed[0]["response"]["text"] = "Yes"
    save_lines(folder, changed)


def _gold(folder: Path) -> None:
    """Another label than the item's, and everything that rests on it."""
    changed = lines(folder)
    line = next(line for line in changed if line["gold"] == 0)
    line["labels"] = dict.fromkeys(line["labels"], 1)
    line |= {"gold": 1, "correct": None if line["answer"]["label"] is None else not line["correct"]}
    save_lines(folder, changed)
    rescore(folder)
    reseal(folder)


def _score(folder: Path) -> None:
    change(folder, "result.json", lambda r: r["scores"]["published"]["overall"]["all"].update(accuracy=1.0))
    reseal(folder)


@pytest.mark.parametrize("tamper", few([_text, _gold, _score], 1))
def test_a_run_that_does_not_hold_is_left_as_it_is(harness, place, tamper):
    as_older_rules_read(place)
    tamper(place)
    before = contents(place)
    done = harness("results", module="harness.reread")
    assert done.returncode == 1 and "NOT READ AGAIN: it does not hold" in done.stdout, done.stdout + done.stderr
    assert contents(place) == before


def test_what_a_judge_has_read_stays_and_what_it_was_never_asked_is_said(harness, server, tmp_path):
    assert harness(*command(server), OPENAI_API_KEY=KEY).returncode == 0
    folder = tmp_path / JUDGED_PLACE
    judged, asked = contents(folder), len(server.calls)
    change(folder, "manifest.json", lambda manifest: manifest.pop("reading"))
    reseal(folder)
    done = harness("results", module="harness.reread")
    assert done.returncode == 0 and "0 of 60 readings changed" in done.stdout, done.stdout + done.stderr
    now = contents(folder)
    assert now["result.json"] == judged["result.json"] and now["records.jsonl"] == judged["records.jsonl"]
    assert harness("results", module="harness.verify").returncode == 0
    as_older_rules_read(folder, judged=True)
    older = contents(folder)
    refused = harness("results", module="harness.reread")
    assert refused.returncode == 1 and "1 of the replies" in refused.stdout, refused.stdout + refused.stderr
    assert contents(folder) == older and len(server.calls) == asked


@pytest.mark.slow
def test_what_a_judge_has_read_cannot_be_changed_unseen(harness, server, tmp_path):
    assert harness(*command(server), OPENAI_API_KEY=KEY).returncode == 0
    folder = tmp_path / JUDGED_PLACE
    kept = contents(folder)

    def verified(how) -> str:
        for name, content in kept.items():
            (folder / name).write_bytes(content)
        changed = lines(folder)
        how(next(line for line in changed if line["response"]["text"] == VAGUE))
        save_lines(folder, changed)
        reseal(folder)
        done = harness(JUDGED_PLACE, module="harness.verify")
        assert done.returncode == 1, done.stdout
        return done.stdout

    assert "answer: label: 0 there, 1 from" in verified(lambda line: line["answer"].update(label=0))
    assert "judge: request: " in verified(lambda line: line["judge"].update(request="0" * 64))
    assert "answer: label: 1 there, 0 from" in verified(lambda line: line["judge"]["response"].update(text="no"))
    assert "was not asked" in verified(lambda line: (line.pop("judge"), line["answer"].update(label=None, span="")))
    assert "judge" in verified(lambda line: line["judge"]["response"]["usage"].update(input=10**6))


def test_what_cannot_be_read_again_is_said(harness, place):
    (place / "records.jsonl").unlink()
    change(place, "manifest.json", lambda manifest: manifest.pop("reading"))
    reseal(place)
    done = harness("results", module="harness.reread")
    assert done.returncode == 1 and "holds no records.jsonl" in done.stdout, done.stdout
    learned = Path(__file__).parents[2] / "results/shipped/causalbench/causality/method=2/samples=500,seed=0/pc"
    shutil.copytree(learned, place.parents[3] / "causalbench/pc")
    done = harness("results/causalbench", module="harness.reread")
    assert done.returncode == 0 and "an algorithm has answered" in done.stdout, done.stdout
    assert "no setting 'judge'" in sentence(harness("results", "judge=gpt4", module="harness.reread"))
