"""harness contamination: the gap to twins under other names, a sentence for each model, and what is missing."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import pytest
from support.compared_runs import put, record
from support.written_runs import write_manifest

from harness.leaderboard.comparable import find_runs
from harness.plugins.compare import contamination
from harness.plugins.compare.measure import paired_row
from harness.plugins.compare.pairs import pair
from harness.plugins.compare.runs import load as replies_of
from harness.plugins.compare.runs import making
from harness.storage.runs import load

GOLD = [int(number % 3 == 0) for number in range(120)]
RIGHT = GOLD
HALF = [gold if number % 20 < 10 else 1 - gold for number, gold in enumerate(GOLD)]


def run(folder, model, answers, *, role="model", **task):
    """Write a complete run of twelve premises; `task` holds its settings."""
    variant = ",".join(f"{name}={value}" for name, value in sorted(task.items())) or "default"
    records = [
        record(number, answer, gold=gold) for number, (answer, gold) in enumerate(zip(answers, GOLD, strict=True))
    ]
    path = Path(put(folder / variant / model, records, model=model, variant=variant, **task))
    written = load(path)
    configuration = {"task": task, "model": {"kind": model}}
    write_manifest(path, written.place, written.result, items="a" * 64, configuration=configuration, role=role)
    return path


@pytest.fixture
def shown(tmp_path, capsys):
    def call(*options):
        code = contamination.main([str(tmp_path), *options])
        output = capsys.readouterr()
        assert code == 0, output.err
        return output.out

    return call


def sentence(text, model):
    return next(line for line in text.splitlines() if line.startswith(f"{model} (plain"))


def test_what_a_model_loses_is_the_paired_difference(tmp_path, shown):
    original = run(tmp_path, "linear", RIGHT)
    twin = run(tmp_path, "linear", HALF, perturbation="permutation")
    replies = replies_of(str(original)), replies_of(str(twin))
    pairing = pair(*replies, by=(), labels=None, least=1)
    (metric,) = paired_row(pairing, ("overall", "all"), ["f1"], 10_000, 0).metrics
    low, high = metric.difference.interval
    said = sentence(shown(f"out={tmp_path / 'x.csv'}"), "linear")
    lost = f"loses {-100 * metric.difference.value:.1f} points of F1 [{-100 * high:.1f}, {-100 * low:.1f}]"
    assert lost in said and "rests on names that it has seen, or on their order" in said
    (row,) = csv.DictReader((tmp_path / "x.csv").open(encoding="utf-8"))
    assert float(row["f1/gap"]) == pytest.approx(-metric.difference.value)
    assert float(row["accuracy/gap"]) == pytest.approx(0.5) and float(row["p_holm"]) == metric.difference.p


def test_no_loss_a_gain_and_one_answer_to_all_are_no_memory(tmp_path, shown):
    for model, answers, twin in (("same", HALF, HALF), ("gains", HALF, RIGHT), ("blind", RIGHT, [0] * 120)):
        run(tmp_path, model, answers)
        run(tmp_path, model, twin, perturbation="refactorization")
    text = shown()
    assert "+0.00" in text and "−0.00" not in text
    for model in ("same", "gains"):
        assert "loses no more than chance can make" in sentence(text, model)
    assert "one answer to all, which tells nothing" in sentence(text, "blind")
    assert "rests on names that" not in text


def test_all_p_values_of_the_table_are_corrected_together(tmp_path, shown):
    run(tmp_path, "one", RIGHT)
    run(tmp_path, "one", HALF, perturbation="permutation")
    shown(f"out={tmp_path / 'alone.json'}")
    for number in range(3):
        run(tmp_path, f"other{number}", RIGHT)
        run(tmp_path, f"other{number}", HALF, perturbation="permutation")
    shown(f"out={tmp_path / 'all.json'}")
    p = {}
    for name in ("alone", "all"):
        rows = json.loads((tmp_path / f"{name}.json").read_text())["tables"][0]["rows"]
        p[name] = next(row["p_holm"]["value"] for row in rows if row["model"] == "one")
    assert p["all"] == pytest.approx(4 * p["alone"])


def test_other_settings_never_mix_and_stand_beside_the_model(tmp_path, shown):
    for settings in ({}, {"version": "v1"}):
        run(tmp_path, "m", RIGHT, **settings)
        run(tmp_path, "m", HALF, perturbation="permutation", **settings)
    run(tmp_path, "m", RIGHT, split="train")
    text = shown()
    assert text.count("| permutation |") == 2 and "m (plain, version=v1)" in text and "split" not in text
    assert shown("variant=default").count("| permutation |") == 1


def test_what_is_missing_and_the_command_that_makes_it(tmp_path, shown):
    run(tmp_path, "gpt", RIGHT)
    run(tmp_path, "twin only", HALF, perturbation="permutation", limit=120)
    run(tmp_path, "coin", HALF, role="baseline")
    commands = [line.strip() for line in shown().splitlines() if line.startswith("    ")]
    assert sorted(commands) == [
        "harness -m 'model=twin only' task=corr2cause prompt=plain task.limit=120"
        " task.perturbation=none,refactorization,varied",
        "harness -m model=gpt task=corr2cause prompt=plain task.perturbation=permutation,refactorization,varied",
    ]


def test_a_folder_without_such_runs_is_refused(tmp_path, capsys):
    run(tmp_path, "m", RIGHT, split="train")
    assert contamination.main([str(tmp_path)]) == 1
    assert "harness -m task.perturbation=none,permutation makes some" in capsys.readouterr().err
    assert contamination.main([str(tmp_path), "out=x.pdf"]) == 1
    assert "has to end in" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_that_makes_a_run_makes_that_very_run(tmp_path, harness):
    settings = {"perturbation": "permutation", "limit": 20, "num_nodes": [3, 4]}
    command = making("always_no", "corr2cause", "", "plain", settings)
    assert harness(*shlex.split(command)[1:]).returncode == 0
    (made,) = find_runs([str(tmp_path / "results")])
    assert dict(made.settings) == settings and made.place["prompt"] == "plain"
    again = making("always_no", "corr2cause", made.variant, "plain", made.settings)
    assert sorted(shlex.split(again)) == sorted(shlex.split(command))


def test_the_shipped_results_have_the_fall_that_the_findings_tell(capsys):
    assert contamination.main(["results/shipped", "variant=default", "model=linear"]) == 0
    text = capsys.readouterr().out
    assert "loses 62.6 points of F1 [48.4, 79.1] where the same letters have changed places" in text
