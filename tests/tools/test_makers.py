"""Tools that make what ships: it is made again as it is, and what they fit is what scikit-learn fits."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import yaml
from support.late import Late
from support.tools import TOOLS, tool

from harness.causal.relations import Relation
from harness.tasks.cladder.shortcut import features, words_of
from harness.tasks.cladder.task import CLadder
from harness.tasks.corr2cause.fresh.pairs import index
from harness.tasks.corr2cause.shortcut import CLAIMS
from harness.tasks.data_files import shipped
from harness.tasks.question import questions
from harness.tasks.text_models import Forest, Weights

datasets = Late("datasets")


def test_plain_numbers_say_what_scikit_learn_says():
    trees = tool("counting_models")
    rows, labels = trees.training(Relation.ANCESTOR, (4, 5))
    model = trees.fit(rows[:500], labels[:500], max_iter=4)
    plain = trees.forest(model)
    own = [plain.log_odds(row) for row in rows[500:900].tolist()]
    assert np.array_equal(own, model.decision_function(rows[500:900])) and len(set(own)) > 3


def test_the_shortcuts_of_cladder_are_fitted_anew():
    fitting = tool("cladder_shortcut")
    items = list(CLadder("cladder", ("plain",), seed=-1, limit=400).items())
    texts, labels = [str(item.fields["text"]) for item in items], [item.labels["stated"] for item in items]
    forest, weights = Forest(**fitting.numbers(texts, labels)), Weights(**fitting.words(texts, labels))
    for log_odds in (lambda text: forest.log_odds(features(text)), lambda text: weights.log_odds(words_of(text))):
        assert np.mean([(log_odds(text) > 0) == label for text, label in zip(texts, labels, strict=True)]) > 0.8


def test_the_threshold_is_the_best_one_on_the_data():
    claims = {"a": [(0, 1)] * 9 + [(0, 0)], "b": [(0, 1)] * 4 + [(0, 0)] * 6, "c": [(0, 0)] * 9}
    data = tool("small_models").LabelledClaims([("x",)], claims, "")
    assert tool("small_models").fit_shares(data).threshold == 0.2  # a and b are Yes: F1 0.79, where a alone has 0.78


def test_what_ships_is_made_again_byte_for_byte():
    for name, text in tool("small_models").files().items():
        assert text == shipped(name).decode(), name


def test_the_index_is_what_its_command_makes():
    for name, rows in tool("pairs").make(5).items():
        shipped = [(pair.n, CLAIMS.index(pair.kind), *pair.yes, *pair.no) for pair in index(name)]
        assert [row for row in shipped if row[0] == 5] == list(map(tuple, rows))


def test_separations_tell_the_halves_of_strict_pairs_apart_of_a_common_effect_alone(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    row = tool("pair_trees").row
    for kind, alike in (("parent", True), ("ancestor", True), ("collider", False)):
        pairs = [pair for pair in index("strict") if pair.kind == kind][:5]
        assert {bool((row(pair, pair.yes) == row(pair, pair.no)).all()) for pair in pairs} == {alike}


def test_load_dataset_takes_the_folder_with_its_card(tmp_path):
    program = [sys.executable, str(TOOLS / "hub_dataset.py"), str(tmp_path / "set"), "causalbench_cot"]
    subprocess.run(program, check=True, capture_output=True, cwd=TOOLS.parent)
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
