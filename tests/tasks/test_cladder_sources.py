"""CLadder from the Hub's layout: the same questions, the same answers."""

from __future__ import annotations

import csv

import pytest
from support.cladder_help import task
from support.late import Late

from harness.errors import ConfigError, DataError
from harness.tasks.cladder.models import sample

datasets = Late("datasets")
MODELS = [model for model in sample() if model.spec.startswith(("model0-", "model4")) or not model.difficulty][:14]


def builtin():
    names = {question.name for model in MODELS for question in model.questions()}
    return [item for item in task(split="sample").items() if item.id in names]


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A folder in the layout of causalnlp/CLadder: a column prompt, and no parameters."""
    for name in ("HF_DATASETS_CACHE", "HF_MODULES_CACHE"):
        monkeypatch.setattr(datasets.config, name, str(tmp_path / "cache"))
    folder = tmp_path / "CLadder"
    (folder / "data").mkdir(parents=True)
    columns = ["id", "prompt", "label", "reasoning", "graph_id", "story_id", "rung", "query_type", "formal_form"]
    with (folder / "data" / "full_v1.5_default.csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, columns)
        rows.writeheader()
        for number, (model, question) in enumerate((m, q) for m in MODELS for q in m.questions()):
            label = "yes" if question.published() else "no"
            told = {"graph_id": model.scm.graph.name, "story_id": model.story.name, "query_type": question.ask.query}
            rows.writerow({"id": number, "prompt": question.whole, "label": label, "rung": 1, **told})
    (folder / "README.md").write_text(
        "---\nconfigs:\n- config_name: default\n  data_files:\n"
        "  - split: full_v1.5_default\n    path: data/full_v1.5_default.csv\n---\n"
    )
    return str(folder)


def test_the_hubs_layout_has_published_answers_and_those_that_its_words_decide(hub):
    theirs, ours = list(task(source="hub", path=hub).items()), builtin()
    assert len(theirs) == len(ours)
    for one, other in zip(theirs, ours, strict=True):
        assert dict(one.fields) == dict(other.fields)
        assert one.labels["published"] == other.labels["published"]
        assert one.labels.get("stated") == other.labels.get("stated")
        assert {name: one.groups[name] for name in ("query", "graph", "variant")} == {
            name: other.groups[name] for name in ("query", "graph", "variant")
        }


def test_what_a_label_set_leaves_out_is_said(hub):
    chosen = task(source="hub", path=hub, labels="stated")
    left_out = sum("stated" not in item.labels for item in builtin())
    assert left_out and chosen.remarks == (
        f"{left_out:,} questions are left out of task.labels=stated: their words leave the answer open.",
    )
    assert len(list(chosen.items())) == len(builtin()) - left_out


def test_a_split_that_is_not_there_and_a_file_of_something_else_are_refused(hub, tmp_path):
    with pytest.raises(DataError, match="split test"):
        list(task(source="hub", path=hub, split="test").items())
    (tmp_path / "mine.csv").write_text("question,label\nDoes it rain?,yes\n")
    with pytest.raises(DataError, match="task=questions"):
        list(task(source="file", path=str(tmp_path / "mine.csv")).items())
    with pytest.raises(ConfigError, match=r"needs task\.path=FILE"):
        task(source="file")
