"""What the bridges are made of, without any of the frameworks: test_bridges_contract.py runs those."""

from __future__ import annotations

import tomllib
from pathlib import Path
from random import Random

import pytest
import yaml
from harness_bridges import command, lm_eval_tasks, trl

from harness import questions
from harness.errors import ConfigError

FOLDER = command.PATHS["lm-eval"]


class Loader(yaml.SafeLoader):
    """As lm-eval reads its files, with the names of functions in place of the functions."""


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def tasks() -> dict[str, dict]:
    read = {file.name: yaml.load(file.read_text(), Loader) for file in FOLDER.iterdir()}
    return {content["task"]: read[content["include"]] | content for content in read.values()
            if "include" in content}  # fmt: skip


def test_the_command_prints_paths_that_are_there_and_refuses_what_it_does_not_know(capsys):
    for name in command.PATHS:
        assert command.main([name]) == 0
        assert Path(capsys.readouterr().out.strip()).exists()
    assert command.main(["lm_eval"]) == 1
    assert "lm-eval" in capsys.readouterr().err


def test_each_yaml_of_lm_eval_names_functions_and_a_task_that_are_there():
    assert {"corr2cause_audited", "corr2cause_fresh", "cladder", "causalbench_causality"} <= tasks().keys()
    for name, content in tasks().items():
        named = [content["custom_dataset"], content["process_results"],
                 *(metric["aggregation"] for metric in content["metric_list"])]  # fmt: skip
        for path in named:
            module, _, function = path.rpartition(".")
            assert path == "mean" or (module == lm_eval_tasks.__name__ and callable(getattr(lm_eval_tasks, function)))
        assert (content["output_type"] == "multiple_choice") == name.endswith("_choice")
        if not name.endswith("_choice"):
            next(iter(questions(content["dataset_kwargs"]["task"], **content["dataset_kwargs"]["defaults"])))
    for group in ("harness", "harness_choice"):
        content = yaml.safe_load((FOLDER / f"{group}.yaml").read_text())
        assert content["group"] == group and set(content["task"]) < tasks().keys()


def documents(**settings):
    pytest.importorskip("datasets")
    return lm_eval_tasks.documents("corr2cause", {"labels": "audited"}, settings={"limit": 40, **settings}, model="m")


def test_documents_are_read_and_ranked_as_here():
    rows = documents()["test"]
    assert len(rows) == 40
    for row in rows:
        metrics = lm_eval_tasks.read(row, [f"The answer is {row['answer']}."])
        assert (metrics["acc"], metrics["unreadable"]) == (1, 0)
        assert lm_eval_tasks.read(row, ["Well."])["unreadable"] == 1
        likelier = [(-1.0, False) if choice == row["answer"] else (-2.0, False) for choice in row["choices"]]
        assert lm_eval_tasks.rank(row, likelier)["acc"] == 1
        assert lm_eval_tasks.rank(row, [(-1.0, False), (-1.0, False)])["unreadable"] == 1
        assert row["choices"][row["place"]] == row["answer"]


def test_f1_of_documents_has_the_interval_of_a_run():
    draws = Random(0)
    found = [lm_eval_tasks.read(row, [draws.choice(("Yes", "No"))])["f1"] for row in documents(limit=200)["test"]]
    low, value, high = lm_eval_tasks.f1_low(found), lm_eval_tasks.f1(found), lm_eval_tasks.f1_high(found)
    assert 0 < low < value < high < 1
    with pytest.raises(ConfigError, match="several turns"):
        documents(prompt="few_shot")


def test_rewards_for_trl():
    rows = trl.dataset("corr2cause", rows=20)
    right = [[{"role": "assistant", "content": answer}] for answer in rows["answer"]]
    assert trl.reward(completions=right, metadata=rows["metadata"], prompts=rows["prompt"]) == [1.0] * 20
    assert trl.reward(completions=["Well."] * 20, metadata=rows["metadata"]) == [0.0] * 20
    assert rows[0]["prompt"][-1]["role"] == "user" and set(rows["answer"]) == {"Yes", "No"}


def test_what_is_pushed_to_the_environments_hub_names_one_taskset():
    folder = command.PATHS["verifiers"]
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert (folder / project["name"].replace("-", "_") / "__init__.py").is_file()
    # The public index has another project called harness: nobody is to get that one.
    assert project["dependencies"] == ["verifiers>=0.4,<0.5"]
