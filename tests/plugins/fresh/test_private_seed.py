"""task.seed=private: drawn once, told by its SHA-256, in no file but the user's own until harness reveal."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.errors import DataError, SealedError
from harness.plugins.fresh import private
from harness.plugins.fresh.task import Fresh
from harness.settings import chosen

TASK = ("task=corr2cause/fresh", "task.seed=private", "task.num_nodes=6", "task.limit=12")
SEEDS = Path("harness", "seeds")


def private_task(**settings) -> Fresh:
    return Fresh("corr2cause/fresh", ("plain",), num_nodes=(6,), seed="private", **settings)  # type: ignore[arg-type]


def seed_files() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"]) / SEEDS


@pytest.fixture
def runs(harness, tmp_path) -> list[Path]:
    """Return the folders of two runs of one private seed."""
    done = harness("-m", "model=reasoner,always_no", *TASK)
    assert done.returncode == 0, done.stderr
    return sorted(file.parent for file in tmp_path.glob("results/corr2cause/**/manifest.json"))


def everything_written(folder: Path) -> dict[Path, bytes]:
    """Return every file below a folder but the user's own seeds."""
    return {
        file: file.read_bytes() for file in folder.rglob("*") if file.is_file() and SEEDS.parts[-1] not in file.parts
    }


@pytest.mark.slow
def test_a_seed_is_nowhere_but_in_its_file_until_it_is_revealed(harness, runs, tmp_path, monkeypatch):
    seed = (seed_files() / "private").read_text().strip()
    assert len(bytes.fromhex(seed)) == 32
    assert stat.S_IMODE((seed_files() / "private").stat().st_mode) == 0o600
    assert stat.S_IMODE(seed_files().stat().st_mode) == 0o700
    commitment = f"private-{hashlib.sha256(seed.encode()).hexdigest()}"
    manifests = [json.loads((run / "manifest.json").read_text()) for run in runs]
    assert len(runs) == 2 and all(m["configuration"]["task"]["seed"] == commitment for m in manifests)
    # All that is printed and written, in both directions: a page, a refusal, the composed config, a budgeted run.
    outputs = [
        harness("results", "out=page.html", module="harness.report"),
        harness("results", module="harness.leaderboard"),
        harness("results", module="harness.verify"),
        harness("model=always_no", *TASK, "--cfg", "job"),
        harness("model=always_yes", *TASK, "dry_run=true"),
        harness("model=always_yes", *TASK, "task.limit=99999"),
        harness(*TASK, "out=items.jsonl", module="harness.items"),
    ]
    assert [done.returncode for done in outputs] == [0, 0, 0, 0, 0, 1, 0], [done.stderr for done in outputs]
    told = "".join(done.stdout + done.stderr for done in outputs)
    written = everything_written(tmp_path)
    assert any(file.name == "page.html" for file in written) and any(file.name == "items.jsonl" for file in written)
    assert seed not in told and not [file for file, content in written.items() if seed.encode() in content]
    # Elsewhere the items cannot be made, and all else is checked.
    at_home = os.environ["XDG_CONFIG_HOME"]
    elsewhere = {"XDG_CONFIG_HOME": str(tmp_path / "elsewhere")}
    verified = harness("results", module="harness.verify", **elsewhere)
    assert verified.returncode == 1 and verified.stdout.count("records and scores hold; its items are sealed") == 2
    sentence = f"the items cannot be made again before their seed is revealed (harness reveal): {commitment}"
    assert verified.stdout.count(sentence) == 2
    refused = harness(str(runs[0]), module="harness.reveal", **elsewhere)
    assert refused.returncode == 1 and "only who drew it can reveal it" in refused.stderr
    # Once it is revealed anybody makes them again, and the next private run has another seed.
    done = harness("results", module="harness.reveal", XDG_CONFIG_HOME=at_home)
    assert done.returncode == 0 and done.stdout.count("seed.txt") == 2, done.stderr
    assert [(run / "seed.txt").read_text() for run in runs] == [f"{seed}\n"] * 2
    verified = harness("results", module="harness.verify", **elsewhere)
    assert verified.returncode == 0 and "2 of 2 runs hold." in verified.stdout, verified.stdout
    assert private_task().seed != commitment and private.kept(commitment) == seed


@pytest.mark.slow
def test_what_is_wrong_is_found_before_the_seed_is_revealed(harness, runs, monkeypatch, tmp_path):
    records = runs[0] / "records.jsonl"
    lines = [json.loads(line) for line in records.read_text().splitlines()]
    lines[0]["correct"] = not lines[0]["correct"]
    records.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "elsewhere"))
    verified = harness(str(runs[0]), module="harness.verify")
    assert verified.returncode == 1 and "DOES NOT HOLD" in verified.stdout
    assert "records.jsonl, line 1: correct is not what answer and label make it" in verified.stdout
    assert "before their seed is revealed" in verified.stdout


@pytest.mark.slow
def test_another_seed_is_no_revelation(harness, runs, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "elsewhere"))
    (runs[0] / "seed.txt").write_text(f"{'0' * 64}\n")
    verified = harness(str(runs[0]), module="harness.verify")
    assert verified.returncode == 1 and "is not the seed of which the manifest holds the SHA-256" in verified.stdout


def test_the_seed_stays_the_same_until_it_is_revealed():
    first, again, longer = private_task(), private_task(), private_task(limit=24)
    assert first.seed == again.seed == longer.seed and chosen(first)["seed"] == first.seed
    assert list(longer.items())[:12] == list(private_task(limit=12).items())
    named = Fresh("corr2cause/fresh", ("plain",), num_nodes=(6,), seed=first.seed, limit=12)
    assert list(named.items()) == list(longer.items())[:12]
    assert first.secret not in repr(first) and first.secret not in str(chosen(first)) + str(first.recorded)
    public = Fresh("corr2cause/fresh", ("plain",), num_nodes=(6,), limit=12)
    assert [item.id for item in public.items()] != [item.id for item in named.items()]


def test_processes_that_begin_at_once_draw_one_seed():
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: private.current(), range(8)))) == 1
    assert [file.name for file in seed_files().iterdir()] == ["private"]


def test_items_of_a_seed_that_is_not_at_hand_are_refused(tmp_path):
    unknown = Fresh("corr2cause/fresh", ("plain",), seed=f"private-{'0' * 64}")
    with pytest.raises(SealedError, match="before their seed is revealed"):
        unknown.items()
    assert unknown.opened(tmp_path) is unknown and "private-0000" in unknown.sealed
    (tmp_path / "seed.txt").write_text("mine")
    with pytest.raises(DataError, match="is not the seed"):
        unknown.opened(tmp_path)
    mine = Fresh("corr2cause/fresh", ("plain",), seed=private.commitment("mine")).opened(tmp_path)
    assert mine.sealed == "" and next(iter(mine.items())).id


@pytest.mark.slow
def test_reveal_says_what_it_needs(harness, tmp_path):
    assert "say which runs" in harness(module="harness.reveal").stderr
    assert harness("model=always_no", *TASK, "task.seed=1").returncode == 0
    refused = harness("results", module="harness.reveal")
    assert refused.returncode == 1 and "no run below results was made with task.seed=private" in refused.stderr
