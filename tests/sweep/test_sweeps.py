"""Sweeps in this process: composed and checked before anything is asked, one plan, one budget, one error each."""

from __future__ import annotations

import json
import re
from pathlib import Path

import filelock
import pytest
from support.openai_server import chat_reply
from support.thinned import few


def rows(plan: str) -> list[list[str]]:
    """Return the cells of a plan's jobs and of its sum."""
    lines = [line for line in plan.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]


@pytest.mark.slow
def test_a_setting_of_a_swept_group_holds_in_every_job_and_one_plan_has_them_all(command):
    code, out, err = command("-m", "model=gpt35,gpt4", "model.temperature=0.5", "task.limit=4", "dry_run=true")
    assert code == 0 and not err, err
    names = ["gpt35,temperature=0.5", "gpt4,temperature=0.5", ""]
    assert [row[3] for row in rows(out)] == names and rows(out)[-1][4:6] == ["8", "8"]
    assert re.fullmatch(r"\$[\d.]+ to \$[\d.]+", rows(out)[-1][-1]) and "gpt4,temperature=0.5: $30 in" in out
    code, out, err = command(
        "-m", "task=causalbench/correlation,causalbench/causality", "model=always_no", "task.networks=asia",
        "dry_run=true",
    )  # fmt: skip
    assert code == 0 and [row[4] for row in rows(out)] == ["280", "280", "560"], err
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("swept", "jobs_made"),
    [("prompt=glob(p*)", 1), ("model=glob(always_*,exclude=*_no)", 1), ("task=glob(corr*)", 3)],
)
def test_globs_take_the_names_of_a_group_those_in_folders_too(swept, jobs_made, command):
    code, out, err = command("-m", "model=always_yes", swept, "task.limit=2", "dry_run=true")
    assert code == 0 and len(rows(out)) - 1 == jobs_made, err + out


@pytest.mark.slow
def test_calls_that_two_jobs_share_are_counted_once(command):
    _, out, _ = command("-m", "model=gpt4", "task.limit=5", "task.labels=published,audited", "dry_run=true")
    first, second, total = rows(out)
    assert (first[5], second[5], second[7], total[5], total[7]) == ("5", "0", "5", "5", "5")


@pytest.mark.parametrize(
    ("arguments", "said"),
    few(
        [
            (("model=always_yes", "prompt=glob(z*)"), "takes no name of prompt"),
            (("model=gpt4,gpt35", "model.temprature=1"), "did you mean 'model.temperature'?"),
            (("model=gpt4,roberta_mnli", "model.temperature=1"), "job 1 of 2 (model=roberta_mnli"),
            (
                ("task=corr2cause,causalbench/causality", "model=always_no", "task.networks=asia"),
                "job 0 of 2 (task=corr2c",
            ),
            (("model=gpt4,gpt35", "prompt=plain,cot,nope"), "jobs 2 and 5: there is no corr2cause prompt 'nope'"),
            (("model=gpt4,gtp4",), "did you mean 'gpt4'?"),
            (
                ("model=gpt4", "model.base_url=http://localhost:9/v1", "budget.usd=1", "prompt=plain,cot"),
                "to cost nothing",
            ),
            (("model=openai", "model.model=m", "+model.extra.top_p=0.5,1"), "'model.name=\"m-${model.extra.top_p}\"'"),
            (
                ("model=always_no", "task.source=file", "task.path=not_there.csv,either.csv"),
                "not_there.csv does not exist",
            ),
            (("model=gpt4", "prompt=plain,mine.yaml"), "{nothing}"),
        ],
        1,
    ),
)
def test_a_job_that_cannot_run_is_told_before_any_is_begun(command, serve, key, arguments, said):
    server = serve()
    Path("mine.yaml").write_text("source: mine\nmakes: [chat]\nuser: '{premise} {nothing}'\n")
    url = () if any("base_url" in a or "always" in a or "roberta" in a for a in arguments) else (server.url,)
    code, _, err = command("-m", *arguments, "task.limit=4", *(f"model.base_url={place}" for place in url))
    assert code == 1 and said in err and err.count(said) == 1 and "begun" in err, err
    assert not server.calls and not Path("results").exists()


@pytest.mark.slow
def test_a_folder_of_another_run_or_one_in_use_is_told_before_any_job_begins(command, serve, key):
    where = f"model.base_url={serve().url}"
    assert command("model=gpt4", where, "task.limit=4")[0] == 0
    other = serve()
    code, _, err = command("-m", "model=gpt35,gpt4", f"model.base_url={other.url}", "task.limit=4")
    assert code == 1 and not other.calls
    assert f"model.endpoint: {json.dumps(where.partition('=')[2])} there" in err
    settings = ("model.name=${hydra:runtime.choices.model}", "model.temperature=1")
    code, _, err = command("-m", "model=gpt35,gpt4", where, *settings, "task.limit=4")
    assert code == 1 and "temperature: 0.0 there, 1.0 now" in err and "(model.name=…)" in err
    assert command("-m", "model=gpt35,gpt4", where, "task.limit=4")[0] == 0
    (lock,) = (file for file in Path("results").rglob("gpt4/.lock"))
    with filelock.FileLock(lock):
        code, _, err = command("-m", "model=gpt35,gpt4", where, "task.limit=4")
    assert code == 1 and "another run is writing" in err and "No job was begun" in err


@pytest.mark.slow
def test_a_dry_run_refuses_what_the_run_refuses(command, serve, key):
    server = serve()
    openai = ["model=openai", "model.model=m", f"model.base_url={server.url}", "task.limit=4"]
    assert command(*openai, "model.name=there")[0] == 0
    asked = len(server.calls)
    refused = [
        ([*openai, "budget.usd=20"], "budget.usd needs the model's price"),
        ([*openai, "judge=openai", "judge.model=j", "budget.usd=2"], "budget.usd needs the model's price"),
        ([*openai, "model.name=there", "model.temperature=1"], "temperature: 0.0 there, 1.0 now"),
        (["-m", *openai, "budget.usd=20", "prompt=plain,cot"], "budget.usd needs the model's price"),
    ]
    for arguments, sentence in refused:
        for more in ([], ["dry_run=true"]):
            code, out, err = command(*arguments, *more)
            assert (code, out) == (1, "") and sentence in err, (arguments, more, err)
    assert len(server.calls) == asked


def test_settings_that_change_answers_are_in_the_name_of_a_model(command):
    openai = ("-m", "model=openai", "model.model=m", "model.base_url=http://localhost:9/v1", "task.limit=2")
    swept = ("model.temperature=0,1", "model.reasoning=null,true", "dry_run=true")
    code, out, err = command(*openai, *swept)
    names = ["m", "m,reasoning=true", "m,temperature=1", "m,temperature=1,reasoning=true"]
    assert code == 0 and [row[3] for row in rows(out)[:-1]] == names, err
    code, _, err = command(*openai, *swept, "model.name=mine")
    assert code == 1 and "would share the folder" in err


def test_runs_that_are_the_same_are_made_once(command):
    code, _, err = command("-m", "model=always_no,always_no", "task.limit=4,4")
    assert code == 0 and "Made once, though asked for 4 times: model=always_no task.limit=4." in err
    assert err.count("\n[") + err.startswith("[") == 1


@pytest.mark.slow
def test_runs_that_differ_in_one_setting_of_the_task_are_one_table_by_it(command):
    code, out, err = command("-m", "model=linear,always_no", "task.limit=60", "task.perturbation=none,permutation")
    assert code == 0, err
    assert re.search(r"\| model +\| +original: F1 \| +permutation: F1 \| permutation: − original", out)
    assert out.count("| linear ") == 1 and "| precision" not in out
    (board,) = Path("results/.sweeps").glob("*/LEADERBOARD.md")
    assert f"a table for each value: {board}" in out and board.read_text().count("| linear ") == 3
    code, out, _ = command("-m", "model=always_yes,always_no", "task.limit=60")
    assert code == 0 and "| precision" in out and "a table for each value" not in out


@pytest.mark.slow
def test_a_budget_is_that_of_all_jobs_together_and_each_error_is_told_once(command, serve, key):
    server = serve()
    sweep = ("-m", "model=gpt35,gpt4", f"model.base_url={server.url}", "task.limit=5")
    code, _, err = command(*sweep, "budget.requests=7")
    assert code == 1 and len(server.calls) == 7
    assert err.count("budget.requests=7 of all jobs together is reached (7 asked)") == 1
    assert "[0] model=gpt35 model.base_url=http://" in err and "1 of 2 jobs have failed" in err
    more = ("prompt=plain,few_shot", f"model.base_url={serve().url}", "results=several", "budget.requests=2")
    code, _, err = command("-m", "model=gpt35,gpt4", "task.limit=5", *more)
    assert (
        code == 1
        and err.count("budget.requests=2 of all jobs together is reached") == 1
        and "job 2: as in job 1." in err
    )
    assert command(*sweep, "budget.requests=3")[0] == 0 and len(server.calls) == 10


@pytest.mark.slow
def test_dollars_are_those_of_all_jobs(command, serve, key):
    server = serve(lambda *_: chat_reply("No"))
    price = ("model.price.input=1000", "model.price.output=1000")  # 0.013 a call, of at most 0.6
    sweep = ("-m", "model=gpt35,gpt4", f"model.base_url={server.url}", "task.limit=60", "model.max_concurrency=1")
    code, _, err = command(*sweep, *price, "budget.usd=1")
    assert code == 1 and "Limit of all jobs together: budget.usd=1." in err and "Plan of 2 jobs" in err
    spent = 0.013 * len(server.calls)
    assert spent <= 1 and len(server.calls) < 120


def test_a_sweep_leaves_its_jobs_and_their_leaderboard_in_a_folder_of_its_own(command):
    place, again = Path("results/.sweeps/mine"), Path("results/.sweeps/mine-2")
    for _ in (place, again):
        named = ("task.limit=4", f"hydra.sweep.dir={place}")
        assert command("-m", "model=always_no,always_yes", *named)[0] == 0
    assert (place / "LEADERBOARD.md").read_text() == (again / "LEADERBOARD.md").read_text()
    jobs = [job["settings"] for job in json.loads((place / "sweep.json").read_text())["jobs"]]
    assert jobs == [f"model={name} task.limit=4" for name in ("always_no", "always_yes")]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("hydra/launcher=joblib", "needs the package causal-harness-scale"),
        ("hydra/sweeper=optuna", "asks for results before all jobs are known"),
        ("hydra/sweeper=basic", ""),
    ],
)
def test_a_sweeper_or_launcher_of_ones_own_works_or_is_refused_in_one_sentence(command, setting, said):
    code, _, err = command("-m", setting, "model=always_no,always_yes", "task.limit=4")
    assert code == bool(said) and said in err and ("Traceback" not in err) and (not said or err.count("\n") == 1), err
