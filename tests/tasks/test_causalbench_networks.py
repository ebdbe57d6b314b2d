"""The fifteen networks against what is known of them (bnlearn repository; Zhou et al., Table IX)."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import pytest
from support.thinned import few

from harness.causal.dag import topological_order
from harness.errors import ConfigError
from harness.tasks.causalbench.networks import NETWORKS, authors_texts, edges, load, meanings, sample, tables

# name: (nodes, edges, independent parameters), as the repository lists them.
KNOWN = {
    "asia": (8, 8, 18), "cancer": (5, 4, 10), "earthquake": (5, 4, 10), "survey": (6, 6, 21), "sachs": (11, 17, 178),
    "child": (20, 25, 230), "insurance": (27, 52, 1_008), "water": (32, 66, 10_083), "mildew": (35, 46, 540_150),
    "alarm": (37, 46, 509), "barley": (48, 84, 114_005), "hailfinder": (56, 66, 2_656), "hepar2": (70, 123, 1_453),
    "win95pts": (76, 112, 574), "pathfinder": (109, 195, 72_079),
}  # fmt: skip


@pytest.mark.parametrize("name", few(NETWORKS, 5))
def test_sizes_are_the_repositorys(name):
    network, distributions = load(name), tables(name)
    parameters = sum(table.size // table.shape[-1] * (table.shape[-1] - 1) for table in distributions)
    assert (len(network.variables), len(edges(network)), parameters) == KNOWN[name]
    topological_order(network.dag)


@pytest.mark.parametrize("name", few(NETWORKS, 5))
def test_every_row_of_every_table_is_a_distribution(name):
    for table in tables(name):
        assert not np.isnan(table).any() and (table >= 0).all()
        assert np.allclose(table.sum(axis=-1), 1, atol=3e-7)


def test_a_table_is_read_by_the_names_of_the_states_not_by_the_order_of_the_rows():
    network, distributions = load("insurance"), tables("insurance")
    k = network.variables.index("GoodStudent")
    above = network.parent_order[k]
    assert [network.variables[parent] for parent in above] == ["SocioEcon", "Age"]
    at = network.states[above[0]].index("UpperMiddle"), network.states[above[1]].index("Adolescent")
    assert distributions[k][at].tolist() == [0.5, 0.5]


def test_asia_is_the_graph_of_lauritzen_and_spiegelhalter():
    assert set(edges(load("asia"))) == {
        ("asia", "tub"), ("smoke", "lung"), ("smoke", "bronc"), ("tub", "either"), ("lung", "either"),
        ("either", "xray"), ("either", "dysp"), ("bronc", "dysp"),
    }  # fmt: skip


def test_an_unknown_network_gets_a_suggestion():
    with pytest.raises(ConfigError, match="did you mean 'asia'"):
        load("assia")


@pytest.mark.parametrize("name", few(["asia", "sachs", "alarm", "insurance"], 1))
def test_samples_follow_the_tables(name):
    network, distributions = load(name), tables(name)
    rows = sample(name, 20_000, seed=3)
    assert rows.shape == (20_000, len(network.variables))
    for k, table in enumerate(distributions):
        above = network.parent_order[k]
        # The most frequent combination of the parents' states, where frequencies are well known.
        combinations, counts = np.unique(rows[:, list(above)], axis=0, return_counts=True)
        common = combinations[counts.argmax()] if above else np.array([], dtype=int)
        in_configuration = (rows[:, list(above)] == common).all(axis=1)
        at = tuple(network.codes(parent).index(code) for parent, code in zip(above, common, strict=True))
        frequencies = np.bincount(rows[in_configuration, k], minlength=table.shape[-1]) / in_configuration.sum()
        assert frequencies[list(network.codes(k))] == pytest.approx(table[at], abs=5 / np.sqrt(in_configuration.sum()))


def test_a_seed_means_the_same_rows_everywhere():
    rows = sample("alarm", 500, seed=0)
    assert (rows == sample("alarm", 500, seed=0)).all() and (rows != sample("alarm", 500, seed=1)).any()
    assert hashlib.sha256(rows.astype("<i8").tobytes()).hexdigest() == ALARM_500_SEED_0


ALARM_500_SEED_0 = "31834b0aa2ea708da06862d9bc01868d63d71e3eb40f4fcd725d7ca3c2eaeb07"


ROLES = re.compile(
    r"diagnoses the monitoring system|internal conclusion|complaint with which|question does not arise|put right"
    r"|serves (?:the|one)|two (?:serious|separate)|lid on convection|memory left for"
)


@pytest.mark.parametrize("network", NETWORKS)
def test_no_text_names_another_variable_or_says_what_part_its_own_plays(network):
    told = meanings(network)
    for variable, meaning in told.items():
        for other, its in told.items():
            identifier = len(other) >= 3 and re.search(rf"(?<![\w-]){re.escape(other)}(?![\w-])", meaning.text)
            name, own, text = (words.casefold() for words in (its.name, meaning.name, meaning.text))
            whole = name not in own and re.search(rf"\b{re.escape(name)}\b", text)
            assert other == variable or not (identifier or whole), (network, variable, other)
        assert not ROLES.search(meaning.text), (network, variable)


def test_the_authors_texts_for_asia_tell_three_edges():
    texts = authors_texts("asia")
    assert tuple(texts) == load("asia").variables and not authors_texts("cancer")
    words = {
        "asia": "to asia", "tub": "tubercul", "smoke": "smok", "lung": "lung cancer", "bronc": "bronchit",
        "xray": "x-ray", "dysp": "dyspn|breathing",
    }  # fmt: skip
    named = {
        tuple(sorted((variable, other)))
        for variable, text in texts.items()
        for other, stem in words.items()
        if other != variable and re.search(rf"\b(?:{stem})", text.lower())
    }
    assert named == {("lung", "smoke"), ("bronc", "smoke"), ("bronc", "dysp")}
    assert all(a in set(map(frozenset, edges(load("asia")))) for a in map(frozenset, named))
