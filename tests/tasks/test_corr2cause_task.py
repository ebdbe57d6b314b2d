from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import hypothesis
import pytest
from hypothesis import strategies as st
from support.brute_force import moved
from support.corr2cause_help import PERTURBATIONS, corr2cause, meaning

from harness.causal.dag import from_integer
from harness.causal.separation import independences
from harness.errors import ConfigError
from harness.tasks.corr2cause.claim import WORDINGS, ItemWriter, claims
from harness.tasks.corr2cause.enumerate import premises, public_test, universe
from harness.tasks.corr2cause.text import follows, read_hypothesis, read_premise

PLAIN = list(corr2cause().items())
PERMUTED = list(corr2cause(perturbation="permutation").items())

TABLE_9 = {
    "parent": "{i} directly affects {j}.",
    "ancestor": "{i} influences {j} through some mediator(s).",
    "child": "{j} directly affects {i}.",
    "descendant": "{j} influences {i} through some mediator(s).",
    "collider": "{i} and {j} together cause some other variable(s).",
    "confounder": "Some variable(s) cause(s) both {i} and {j}.",
}


def places(before, after):
    """For every premise, where its nodes went, told from the hypotheses' variables."""
    found = defaultdict(dict)
    for old, new in zip(before, after, strict=True):
        for name in ("var_i", "var_j"):
            was, now = (ord(item.fields[name]) - ord("A") for item in (old, new))
            assert found[old.cluster].setdefault(was, now) == now
    return {cluster: tuple(to[k] for k in sorted(to)) for cluster, to in found.items()}


# What an item says


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
def test_no_label_reaches_the_fields(perturbation):
    writer = ItemWriter(perturbation, seed=0)
    for claim in public_test("v2")[::40]:
        item, turned = writer.item(claim), writer.item(replace(claim, published=1 - claim.published))
        assert item.labels != turned.labels
        assert item.fields == turned.fields
        assert set(item.fields) == {
            "premise", "hypothesis", "statement", "input", "relation", "var_i", "var_j", "num_nodes"
        }  # fmt: skip


@pytest.mark.parametrize("settings", [{}, {"version": "v1"}, {"split": "train", "num_nodes": [4, 5]}])
def test_a_perturbation_leaves_ids_labels_clusters_and_groups(settings):
    first, *others = [list(corr2cause(perturbation=name, **settings).items()) for name in PERTURBATIONS]
    assert len({item.id for item in first}) == len(first)
    for other in others:
        for one, two in zip(first, other, strict=True):
            assert (one.id, one.labels, one.cluster, one.groups) == (two.id, two.labels, two.cluster, two.groups)


# Perturbations


def test_a_paraphrase_changes_the_words_of_the_hypothesis_only():
    for before, after in zip(PLAIN, corr2cause(perturbation="paraphrase").items(), strict=True):
        relation, i, j = (before.fields[name] for name in ("relation", "var_i", "var_j"))
        assert after.fields["hypothesis"] == TABLE_9[relation].format(i=i, j=j)
        assert after.fields["statement"] == after.fields["hypothesis"].removesuffix(".")
        assert after.fields["premise"] == before.fields["premise"]


def test_a_permuted_premise_states_the_relabelled_graph():
    numbers = {claim.cluster: (claim.n, claim.number) for claim in public_test("v2")}
    texts = {item.cluster: item.fields["premise"] for item in PERMUTED}
    for cluster, place in places(PLAIN, PERMUTED).items():
        assert sorted(place) == list(range(len(place)))
        premise = read_premise(texts[cluster])
        assert premise.names == tuple("ABCDEF"[: len(place)])
        graph = from_integer(*numbers[cluster])
        assert premise.independences == moved(frozenset(independences(graph)), place)


@pytest.mark.parametrize("version", ["v2", "v1"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_permutation_leaves_no_question_as_it_was(version, seed):
    # The premise of a complete graph reads the same whatever its nodes are called; its questions do not.
    before = corr2cause(version=version).items()
    after = corr2cause(version=version, perturbation="permutation", seed=seed).items()
    same = [b.id for b, a in zip(before, after, strict=True) if b.fields["input"] == a.fields["input"]]
    assert same == []


# Wordings


def statements(premise):
    """What a premise says, by name: its variables, and every independence."""
    read = read_premise(premise)
    assert not read.silent
    named = lambda places: frozenset(read.names[k] for k in places)  # noqa: E731
    return set(read.names), {(named((i, j)), named(condition)) for i, j, condition in read.independences}


@hypothesis.settings(max_examples=40, deadline=None)
@hypothesis.given(st.data())
def test_a_wording_asks_the_same_question_in_other_words(data):
    n = data.draw(st.integers(2, 5), "n")
    number = data.draw(st.sampled_from(sorted(premises(n, "all"))), "class")
    claim = data.draw(st.sampled_from(claims(n, number, seed=0)), "claim")
    perturbation, seed = data.draw(st.sampled_from((*PERTURBATIONS, "varied"))), data.draw(st.integers(0, 9), "seed")
    plain, *others = (ItemWriter(perturbation, seed, wording).item(claim) for wording in range(WORDINGS))
    said = read_hypothesis(plain.fields["hypothesis"], read_premise(plain.fields["premise"]).names)
    for item in others:
        premise = read_premise(item.fields["premise"])
        read = read_hypothesis(item.fields["hypothesis"], premise.names)
        assert statements(item.fields["premise"]) == statements(plain.fields["premise"])
        assert meaning(read.relation, read.i, read.j) == meaning(said.relation, said.i, said.j)
        assert follows(premise, read) == claim.derived
        same = ("id", "cluster", "labels", "groups")
        assert [getattr(item, part) for part in same] == [getattr(plain, part) for part in same]
    assert len({item.fields["input"] for item in (plain, *others)}) == (WORDINGS if n > 2 else WORDINGS // 2)


# Few-shot examples


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
def test_the_examples_are_of_the_train_split_and_one_follows(perturbation):
    train = {claim.id: claim for claim in universe([4], split="train", seed=0)}
    written = {}
    for claim in train.values():
        fields = ItemWriter(perturbation, 0).item(claim).fields
        written[fields["input"]] = claim
    examples = corr2cause(perturbation=perturbation).examples()
    claims = [written[example["input"]] for example in examples]
    assert all(claim.number in premises(4, "train") for claim in claims)
    assert [example["answer"] for example in examples] == ["Yes" if claim.derived else "No" for claim in claims]
    assert sorted(claim.derived for claim in claims) == [0, 1]


# Bad settings


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"relations": ["parent", "chld"]}, r"task\.relations=chld: .*did you mean 'child'\?"),
        ({"num_nodes": 7}, r"task\.num_nodes=7: the public test sets have 2 to 6 variables; use task\.split=all"),
        ({"num_nodes": [5, 8], "split": "all"}, r"task\.num_nodes=8: .* at most 7 variables"),
        # Settings that do not go together.
        ({"version": "v1", "split": "dev"}, r"task\.version=v1 .* not with task\.split=dev"),
        ({"version": "v1", "source": "hub"}, r"task\.version=v1 .* not with .*task\.source=hub"),
        ({"labels": "published", "split": "train"}, r"task\.split=train has derived labels: use task\.labels=audited"),
        ({"source": "file"}, r"needs task\.path=FILE"),
        ({"path": "rows.csv"}, r"task\.path=rows\.csv needs task\.source=file"),
        ({"source": "file", "path": "rows.csv", "perturbation": "paraphrase"}, r"leave out task\.perturbation"),
        ({"source": "hub", "perturbation": "permutation"}, r"use task\.source=builtin .*permutation"),
        ({"source": "hub", "split": "all"}, r"use task\.source=builtin for task\.split=all"),
        ({"source": "hub", "wording": 3}, r"task\.wording=3 needs task\.source=builtin"),
        ({"split": "train", "num_nodes": 2}, r"no item is left.*task\.relations=any and task\.num_nodes=\[2\]"),
    ],
)
def test_settings_that_do_not_fit_are_named_with_what_does(settings, sentence):
    with pytest.raises(ConfigError, match=sentence):
        list(corr2cause(**settings).items())
