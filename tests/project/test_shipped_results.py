"""results/shipped/ as it ships: whole, small, and what its own records come to."""

from __future__ import annotations

import csv
import json
import subprocess
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest

from harness.errors import NotHereError
from harness.leaderboard.build import build
from harness.storage.run_folder import MANIFEST, RESULT, records_in
from harness.storage.runs import load
from harness.tables.write import markdown
from harness.tasks.causalbench.networks import load as network
from harness.tasks.causalbench.structures import matrix
from harness.verify.run import problems_of

ROOT = Path(__file__).parents[2]
HOW = "docs/adding.md, One that ships with the project"
V2 = "corr2cause/default/plain"
QUICK = [f"{V2}/reasoner", "corr2cause/perturbation=permutation/plain/random_uniform"]


def shipped() -> list[Path]:
    """Return the files of results/shipped/ that git has."""
    listed = subprocess.run(["git", "ls-files", "-z", "results/shipped"], cwd=ROOT, capture_output=True, text=True)
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    if not files:
        pytest.skip("not a checkout of the project: git knows no results/shipped/")
    return files


def test_ones_own_runs_never_touch_them_nor_git():
    """What the README's commands write below results/ is ignored, and what ships is not."""
    shipped()
    places = ["results/corr2cause/default/plain/gpt4/result.json", "results/LEADERBOARD.md", "results/report.html"]
    ours = ["results/shipped/corr2cause/default/plain/a/result.json", "results/shipped/LEADERBOARD.md"]
    ignored = subprocess.run(["git", "check-ignore", *places, *ours], cwd=ROOT, capture_output=True, text=True)
    assert ignored.stdout.split() == places


def runs() -> list[Path]:
    return [file.parent for file in shipped() if file.name == RESULT]


def test_they_are_small():
    # A clone brings them along: eight models under four perturbations with their answers, compressed, what others have
    # recorded (half a megabyte), those of two real language models (a megabyte), graphs, and the page.
    assert sum(file.stat().st_size for file in shipped()) < 23_000_000


def test_every_run_is_complete_and_made_from_a_commit():
    for folder in runs():
        manifest = json.loads((folder / MANIFEST).read_text())
        whole = json.loads((folder / RESULT).read_text())["complete"] and manifest["complete"]
        assert whole, f"{folder} is not complete: run its command again."
        assert manifest["harness"]["commit"] and not manifest["harness"]["dirty"], (
            f"{folder} was made by code that no commit holds: commit the code, remove this folder, run its command "
            f"again ({HOW})."
        )


def test_records_ship_for_the_public_split_and_what_others_recorded_only_and_compressed():
    files = set(shipped())
    assert {file.name for file in files if "records" in file.name} == {"records.jsonl.gz"}
    for folder in runs():
        benchmark, variant, *_, model = folder.relative_to(ROOT / "results/shipped").parts
        made_again = variant in ("fresh", "pairs") or model in ("trees", "majority", "always_yes", "always_no")
        asked = model in ("smollm2", "smollm2_lora", "gemma3_270m")  # no two processors round alike
        has_them = asked or (benchmark == "corr2cause" and not made_again) or bool(load(folder).recorded)
        is_there = folder / "records.jsonl.gz" in files
        assert is_there == has_them, (
            f"{folder}: git {'has' if is_there else 'lacks'} its records.jsonl.gz. What others recorded and "
            f"Corr2Cause's public split ship with theirs, else the command makes them again: see .gitignore, and {HOW}."
        )


def test_every_small_model_has_answered_the_public_split_fresh_items_and_pairs():
    models = {"reasoner", "trees", "shortcut", "linear", "hypothesis_only", "tiny", "tiny_renamed", "always_no"}
    places = [folder.relative_to(ROOT / "results/shipped").parts for folder in runs()]
    for variant in ("default", "perturbation=permutation", "fresh", "pairs"):
        there = {place[-1] for place in places if place[:2] == ("corr2cause", variant)}
        assert models <= there, variant


@pytest.mark.parametrize("place", QUICK)
def test_a_run_holds(place):
    shipped()
    assert records_in(ROOT / "results/shipped" / place)
    assert list(problems_of(ROOT / "results/shipped" / place)) == []


@pytest.mark.slow
def test_every_run_holds():
    for folder in runs():
        try:
            assert list(problems_of(folder)) == [], folder
        except NotHereError:  # the tests of its package have it
            assert load(folder).learned


def test_the_graph_that_an_algorithm_learned_is_the_one_it_was_scored_for():
    """SHD, a mean over the networks, by the graphs that ship."""
    learned = [folder for folder in runs() if load(folder).learned]
    assert len(learned) == 8
    for folder in learned:
        distances = []
        for file in sorted(folder.glob("graphs/*/direct.csv")):
            rows = list(csv.reader(file.open(encoding="utf-8")))
            adjacency = np.array([row[1:] for row in rows[1:]], dtype=int)
            truth = network(file.parent.name)
            assert rows[0][1:] == list(truth.variables)
            different = adjacency != matrix(truth.dag)
            distances.append(np.triu(different | different.T).sum())
        assert len(distances) == 14
        shd_in_result = json.loads((folder / RESULT).read_text())["scores"]["exact"]["overall"]["all"]["shd"]
        assert np.mean(distances) == pytest.approx(shd_in_result)


def test_the_leaderboard_is_made_from_them():
    rows = [load(folder) for folder in runs()]
    written = (ROOT / "results/shipped/LEADERBOARD.md").read_text(encoding="utf-8").strip()
    lines = f"# Leaderboard\n\n{markdown(build(rows))}".strip().splitlines()
    there = written.splitlines()
    first = next((number for number, pair in enumerate(zip_longest(there, lines), 1) if len({*pair}) > 1), None)
    assert first is None, (
        f"results/shipped/LEADERBOARD.md, line {first}, is not what the runs that git has come to: "
        f"git add results/shipped, make shipped, and add its files ({HOW})."
    )
