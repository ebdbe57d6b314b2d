from __future__ import annotations

from pathlib import Path

import pytest
from question_files import written
from support.corr2cause_help import corr2cause
from support.late import Late

from harness.errors import DataError
from harness.tasks.corr2cause import Corr2Cause

datasets = Late("datasets")

CHAIN = (
    "Suppose there is a closed system of 3 variables, A, B and C. All the statistical relations among these 3 "
    "variables are as follows: A correlates with B. A correlates with C. B correlates with C. However, A and C are "
    "independent given B."
)
COLLIDER = (
    "Suppose there is a closed system of 3 variables, A, B and C. All the statistical relations among these 3 "
    "variables are as follows: A correlates with C. B correlates with C. However, A is independent of B."
)
# A collider at C whose ends C does not make dependent.
NO_GRAPH = f"{COLLIDER} A and B are independent given C."
# The last label is wrong: A → C ← B is COLLIDER's only graph.
CLAIMS = [
    (CHAIN, "A directly causes B.", 0),
    (COLLIDER, "There exists at least one collider (i.e., common effect) of B and A.", 1),
    (COLLIDER, "C directly causes A.", 0),
    (COLLIDER, "B directly causes C.", 0),
]


def in_two_columns():
    return [{"input": f"Premise: {p}\nHypothesis: {h}", "label": label} for p, h, label in CLAIMS]


def in_three_columns():
    return [{"premise": p, "hypothesis": h, "label": label} for p, h, label in CLAIMS]


def of_file(path, **settings):
    return list(corr2cause(source="file", path=str(path), **settings).items())


# Files


@pytest.mark.parametrize("rows", [in_two_columns(), in_three_columns()], ids=["input", "premise-hypothesis"])
@pytest.mark.parametrize("name", ["mine.csv", "mine.jsonl", "mine.json", "mine.parquet"])
def test_a_file_of_the_users(tmp_path, name, rows):
    items = of_file(written(tmp_path / name, rows))
    assert [item.id for item in items] == ["mine-1", "mine-2", "mine-3", "mine-4"]
    assert [(i.fields["premise"], i.fields["hypothesis"], i.labels["published"]) for i in items] == CLAIMS
    assert [item.fields["input"] for item in items] == [row["input"] for row in in_two_columns()]
    assert items[0].fields["statement"] == "A directly causes B"
    assert [(i.fields["relation"], i.fields["var_i"], i.fields["var_j"]) for i in items] == [
        ("parent", "A", "B"),
        ("collider", "B", "A"),
        ("child", "A", "C"),
        ("parent", "B", "C"),
    ]
    assert {item.fields["num_nodes"] for item in items} == {3}
    assert items[1].groups == {"relation": "collider", "num_nodes": "3"}
    assert [dict(item.labels)["audited"] for item in items] == [0, 1, 0, 1]


def test_a_premise_that_is_silent_about_a_pair_keeps_its_published_label_only(tmp_path):
    row = {"premise": COLLIDER.replace(" B correlates with C.", ""), "hypothesis": "A directly causes C.", "label": 1}
    path = written(tmp_path / "a.csv", [row])
    (item,) = of_file(path)
    assert (dict(item.labels), item.fields["num_nodes"]) == ({"published": 1}, 3)
    assert item.cluster.startswith("premise-")
    with pytest.raises(DataError, match=r"row 1 cannot be read: the premise says nothing of B and C\."):
        of_file(path, labels="audited")


@pytest.mark.parametrize(
    ("row", "departure"),
    [
        ({"premise": NO_GRAPH}, "no directed acyclic graph has exactly"),
        ({"hypothesis": "Q directly causes A."}, "Q"),
    ],
    ids=["no graph", "unknown variable"],
)
def test_audited_labels_that_cannot_be_derived_name_the_row(tmp_path, row, departure):
    good = {"premise": CHAIN, "hypothesis": "A directly causes B.", "label": 0}
    path = written(tmp_path / "a.csv", [good, good | row])
    with pytest.raises(DataError, match=rf"a\.csv, row 2 .*{departure}"):
        of_file(path, labels="audited")


# Files that cannot be read


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"label": "2"}, r"row 3 has the label '2'; 0 .* and 1 "),
        ({"label": "Yes"}, r"row 3 has the label 'Yes'.* are task=questions, which takes any columns"),
        ({"label": ""}, r"row 3 has no label"),
        ({"premise": "", "input": "A causes B?"}, r'row 3: the input is not of the form "Premise: …", newline'),
        ({"premise": "Rain wets the grass."}, r"row 3 cannot be read: no .closed system.* are task=questions"),
        ({"hypothesis": ""}, r"row 3 needs the columns input and label, or premise, hypothesis and label; it has prem"),
        (
            {"hypothesis": "A and B are friends."},
            r"row 3 cannot be read: no hypothesis .* 'A and B are friends\..*task=questions",
        ),
        ({"hypothesis": "A directly causes Q."}, r"row 3 cannot be read: the hypothesis' 'Q' is not among"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(tmp_path, name, change, sentence):
    rows = [{"input": "", **row} for row in in_three_columns()]
    rows[2] |= change
    with pytest.raises(DataError, match=sentence) as raised:
        of_file(written(tmp_path / name, rows))
    assert str(tmp_path / name) in str(raised.value)


def test_a_missing_column_is_named_with_those_there_are(tmp_path):
    path = written(tmp_path / "a.csv", [{"text": "x", "label": 1}])
    with pytest.raises(DataError, match=r"a\.csv, row 1 needs the columns input and label, .*; it has text, label"):
        of_file(path)
    with pytest.raises(DataError, match=r"b\.jsonl, row 1 has no label"):
        of_file(written(tmp_path / "b.jsonl", [{"input": in_two_columns()[0]["input"]}]))


# The Hub's layout in a local folder


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A folder like the Hub's data set: three splits, and two further configurations with a test set."""
    for name in ("HF_DATASETS_CACHE", "HF_MODULES_CACHE"):
        monkeypatch.setattr(f"datasets.config.{name}", str(tmp_path / "cache"))
    folder = tmp_path / "corr2cause"
    folder.mkdir()
    contents = {
        "train": in_two_columns()[:1],
        "dev": in_two_columns()[1:3],
        "test": in_two_columns(),
        "paraphrased": texts("paraphrase"),
        "refactorized": texts("refactorization"),
    }
    for name, rows in contents.items():
        written(folder / f"{name}.csv", rows)
    (folder / "README.md").write_text(
        "---\nconfigs:\n"
        "- config_name: default\n  default: true\n  data_files:\n"
        + "".join(f"  - split: {split}\n    path: {split}.csv\n" for split in ("train", "dev", "test"))
        + "".join(
            f"- config_name: perturbation_by_{name}\n  data_files:\n  - split: test\n    path: {file}.csv\n"
            for name, file in (("paraphrasing", "paraphrased"), ("refactorization", "refactorized"))
        )
        + "---\n"
    )
    return str(folder)


def texts(perturbation):
    items = corr2cause(perturbation=perturbation, num_nodes=[3, 4]).items()
    return [{"input": item.fields["input"], "label": item.labels["published"]} for item in items]


@pytest.mark.parametrize(("split", "start", "stop"), [("train", 0, 1), ("dev", 1, 3), ("test", 0, 4)])
def test_the_splits_of_the_hub(hub, split, start, stop):
    items = list(corr2cause(source="hub", path=hub, split=split).items())
    assert [(i.fields["premise"], i.fields["hypothesis"], i.labels["published"]) for i in items] == CLAIMS[start:stop]
    assert [item.id for item in items] == [f"default-{split}-{number}" for number in range(1, stop - start + 1)]


@pytest.mark.parametrize("perturbation", ["paraphrase", "refactorization"])
def test_the_perturbations_of_the_hub_are_its_own_texts(hub, perturbation):
    theirs = list(corr2cause(source="hub", path=hub, perturbation=perturbation).items())
    ours = list(corr2cause(perturbation=perturbation, num_nodes=[3, 4]).items())
    assert [item.fields["input"] for item in ours] == [item.fields["input"] for item in theirs]
    for name in ("cluster", "labels"):
        assert [getattr(item, name) for item in theirs] == [getattr(item, name) for item in ours]


def test_a_split_that_the_data_set_lacks_is_named(hub):
    with pytest.raises(DataError, match=r"split dev\) cannot be loaded: .*task\.path=FOLDER"):
        list(corr2cause(source="hub", path=hub, split="dev", perturbation="paraphrase").items())


def test_the_data_of_the_hub_are_told_by_revision_and_a_folder_by_its_content(hub):
    (sha256,) = corr2cause(source="hub", path=hub).data.values()
    (Path(hub) / "test.csv").write_text((Path(hub) / "test.csv").read_text() + "\n")
    assert {"sha256": sha256} != corr2cause(source="hub", path=hub).data and len(sha256) == 64
    assert corr2cause(source="hub").data == {"data_set": (Corr2Cause.hub_path, Corr2Cause.hub_revision)}
    assert corr2cause(source="hub", path="org/own").data == {"data_set": ("org/own", None)}


def test_without_the_network_the_way_out_is_said(hub, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match=r"causalnlp/corr2cause .*task\.source=builtin needs neither"):
        list(corr2cause(source="hub").items())
