"""What the background texts give away of the networks: no names, no marks of a role, and the README says the rest."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from support.thinned import few

from harness.scoring.graphs import transitive_closure
from harness.tasks.causalbench.networks import NETWORKS, load, meanings
from harness.tasks.causalbench.structures import matrix

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
import text_leaks  # noqa: E402

README = (ROOT / "harness/data/causalbench/variables/README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", few(NETWORKS, 6))
def test_the_table_of_leaks_is_what_the_texts_come_to(name, monkeypatch):
    monkeypatch.setattr(text_leaks, "PERMUTATIONS", 0)
    texts = {variable: meaning.text for variable, meaning in meanings(name).items()}
    (printed,) = (line.strip("| ").split(" | ") for line in README.split("\n") if line.startswith(f"| {name} |"))
    measured = text_leaks.row(name, texts)
    assert measured[:-1] == printed[:-1]  # the last one is by 199 permutations
    assert measured[1:3] == ["0", "0.000"]  # no text names another variable


def test_a_text_that_names_its_causes_is_found():
    network, edges = load("asia"), matrix(load("asia").dag)
    plain = {variable: f"About this patient, the item {k}." for k, variable in enumerate(network.variables)}
    names = {variable: meaning.name for variable, meaning in meanings("asia").items()}
    telling = {
        variable: " ".join([text, *(names[network.variables[a]] for a in np.flatnonzero(edges[:, b]))])
        for b, (variable, text) in enumerate(plain.items())
    }
    assert text_leaks.f1(text_leaks.names_whole(plain, names), edges) == 0
    assert text_leaks.f1(text_leaks.names_whole(telling, names).T, edges) == 1
    assert text_leaks.f1(text_leaks.names_loosely(telling, names).T, edges) == 1


def test_a_phrase_that_marks_a_role_is_found():
    variables, paths = load("win95pts").variables, transitive_closure(matrix(load("win95pts").dag)).astype(bool)
    leaves = ~paths.any(axis=1)
    texts = {v: f"Item {k}" + int(leaves[k]) * ": a complaint with which users come" for k, v in enumerate(variables)}
    phrase, score, chance = text_leaks.best_role(texts, paths)
    assert phrase in texts[variables[int(np.flatnonzero(leaves)[0])]].lower()
    assert chance < 0.05 and score > 1.5 * text_leaks.f1(~np.eye(len(variables), dtype=bool), paths)


def test_no_text_says_what_part_its_variable_plays_for_the_system():
    roles = (
        r"diagnoses the monitoring system|internal conclusion|complaint with which|question does not arise|put right"
    )
    roles += r"|serves (?:the|one)|two (?:serious|separate)|lid on convection|memory left for"
    for name in NETWORKS:
        for variable, meaning in meanings(name).items():
            assert not re.search(roles, meaning.text), (name, variable)
