"""tools/hub_dataset.py: the questions as a data set of the Hub, a small part of it made anew."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml
from support.late import Late

from harness.tasks.question import questions

datasets = Late("datasets")
ROOT = Path(__file__).parents[2]


def test_load_dataset_takes_the_folder_with_its_card(tmp_path):
    program = [sys.executable, str(ROOT / "tools" / "hub_dataset.py"), str(tmp_path / "set"), "causalbench_cot"]
    subprocess.run(program, check=True, capture_output=True, cwd=ROOT)
    rows = list(datasets.load_dataset(str(tmp_path / "set"), "causalbench_cot", split="test", cache_dir=str(tmp_path)))
    asked = {question.id: question for question in questions("causalbench/cot")}
    assert len(rows) == 64 and asked.keys() == {row["id"] for row in rows}
    for row in rows:
        assert row["choices"][ord(row["target"]) - 65] == asked[row["id"]].answer
        assert row["prompt"] == asked[row["id"]].messages[-1]["content"]
    head, _, body = (tmp_path / "set" / "README.md").read_text().removeprefix("---\n").partition("---\n")
    assert yaml.safe_load(head)["license"] == ["cc-by-4.0"]
    line = next(line for line in body.splitlines() if line.startswith("| causalbench_cot"))
    assert [cell.strip() for cell in line.strip("|").split("|")][5:] == ["64", "64", "50.0", "50.0", "66.7"]
