from __future__ import annotations

import csv
import hashlib
from collections import Counter, defaultdict
from importlib import resources
from itertools import combinations, permutations

import pytest
from support.corr2cause_help import corr2cause, meaning

from harness.causal.equivalence import representatives
from harness.causal.relations import Relation
from harness.tasks.corr2cause.enumerate import SIZES, premises, public_test, universe

ERRATA = [115, 321, 458, 553, 631, 705, 731, 779, 788, 794, 810, 869, 920, 950, 983, 984, 1056, 1134]
PREMISES = {2: 1, 3: 3, 4: 2, 5: 9, 6: 6}


def by_premise(claims):
    claims_by_premise = defaultdict(list)
    for claim in claims:
        claims_by_premise[claim.n, claim.number].append(claim)
    return claims_by_premise


def meanings(claims):
    return [(claim.n, claim.number, *meaning(claim.relation, claim.i, claim.j)) for claim in claims]


def test_v2_is_the_public_test_split_byte_for_byte():
    inputs = [item.fields["input"] for item in corr2cause().items()]
    assert len(inputs) == 1162
    digest = hashlib.sha256("\n\n".join(inputs).encode()).hexdigest()
    assert digest == "a9af4551fe259a63bf46a4450818308c27fd31dd7c2929e350bddc9747bd0f2e"


def test_published_and_derived_labels_differ_at_the_errata_only():
    claims = public_test("v2")
    differ = {at: (c.published, c.derived) for at, c in enumerate(claims) if c.published != c.derived}
    assert list(differ) == ERRATA
    assert [at for at, labels in differ.items() if labels == (1, 0)] == [920, 983, 984]
    assert (sum(c.published for c in claims), sum(c.derived for c in claims)) == (180, 192)


def test_v1_has_its_published_and_audited_positives():
    claims = public_test("v1")
    assert len(claims) == 2246
    assert (sum(c.published for c in claims), sum(c.derived for c in claims)) == (342, 363)


def test_v1_derives_the_audited_column():
    file = resources.files("harness") / "data" / "corr2cause" / "v1_test_index.csv"
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    derived = [claim.derived for claim in public_test("v1")]
    assert derived == [int(row["audited_label"]) for row in rows]
    assert sum(int(row["audited_label"]) != int(row["published_label"]) for row in rows) == 37


def test_v1_has_the_supports_of_table_12():
    claims = public_test("v1")
    support = Counter(claim.relation for claim in claims)
    positive = Counter(claim.relation for claim in claims if claim.published)
    assert {str(relation): (support[relation], positive[relation]) for relation in Relation} == {
        "parent": (375, 65),
        "ancestor": (375, 33),
        "child": (375, 58),
        "descendant": (375, 28),
        "collider": (373, 121),
        "confounder": (373, 37),
    }


def test_v1_cuts_only_the_last_premise_of_each_size():
    claims = public_test("v1")
    assert Counter(claim.n for claim in claims) == {2: 12, 3: 90, 4: 144, 5: 1000, 6: 1000}
    for n in SIZES:
        items = [[(c.relation, c.i, c.j) for c in found] for (m, _), found in by_premise(claims).items() if m == n]
        whole = [(relation, i, j) for i, j in permutations(range(n), 2) for relation in Relation]
        assert all(found == whole for found in items[:-1])
        assert items[-1] == whole[: len(items[-1])]


def test_v2_is_v1_without_its_duplicates():
    assert Counter(claim.n for claim in public_test("v2")) == {2: 6, 3: 48, 4: 72, 5: 514, 6: 522}
    assert len(set(meanings(public_test("v2")))) == 1162
    assert set(meanings(public_test("v2"))) == set(meanings(public_test("v1")))


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_test_sets_rest_on_21_premises(version):
    assert Counter(n for n, _ in by_premise(public_test(version))) == PREMISES


@pytest.mark.parametrize(("n", "size"), [(2, 12), (3, 90), (4, 720), (5, 8520)])
def test_the_universe_has_six_claims_for_each_pair_of_each_class(n, size):
    claims = list(universe([n], split="all", seed=0))
    assert len(claims) == size
    assert [number for _, number in by_premise(claims)] == representatives(n)
    assert len({claim.id for claim in claims}) == size


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_universe_has_one_of_each_equivalent_two(n):
    for claims in by_premise(universe([n], split="all", seed=3)).values():
        said = [meaning(claim.relation, claim.i, claim.j) for claim in claims]
        assert len(said) == 6 * n * (n - 1) // 2
        assert set(said) == {
            *(meaning(relation, i, j) for relation in Relation for i, j in combinations(range(n), 2)),
            *(meaning(relation, j, i) for relation in Relation for i, j in combinations(range(n), 2)),
        }


def test_parent_and_child_take_the_earlier_variable_first():
    for claim in [*universe([4, 5], split="all", seed=3), *public_test("v2")]:
        if claim.relation in (Relation.PARENT, Relation.CHILD):
            assert claim.i < claim.j


def test_the_official_premises_have_the_structure_of_the_universe():
    cut = {(3, 7): 12, (5, 442): 34, (6, 27516): 72}  # the last premises of v1's list
    for (n, number), claims in by_premise(public_test("v2")).items():
        whole = {meaning(r, i, j) for r in Relation for i, j in permutations(range(n), 2)}
        said = [meaning(claim.relation, claim.i, claim.j) for claim in claims]
        assert len(set(said)) == len(said) == cut.get((n, number), 3 * n * (n - 1))
        assert set(said) <= whole
        assert number in representatives(n)


@pytest.mark.parametrize("n", SIZES)
def test_no_test_premise_is_in_train_or_dev(n):
    tested = {c.number for version in ("v1", "v2") for c in public_test(version) if c.n == n}
    assert not tested & {*premises(n, "train"), *premises(n, "dev")}


@pytest.mark.parametrize("n", SIZES)
def test_train_and_dev_share_out_the_other_premises(n):
    train, dev, tested = premises(n, "train"), premises(n, "dev"), {c.number for c in public_test("v2") if c.n == n}
    assert not set(train) & set(dev)
    assert sorted([*train, *dev, *tested]) == premises(n, "all")
    assert train == sorted(train)
    assert dev == sorted(dev)
    assert len(dev) == min(len(tested), len(representatives(n)) - len(tested))


def test_the_dev_split_stays_as_it_is():
    # A change would mix up everybody's train and dev numbers.
    assert premises(4, "dev") == [10, 46]
    assert premises(6, "dev") == [4953, 7998, 21026, 21779, 24063, 26158]


def test_the_seed_changes_the_order_of_arguments_only():
    one, other = (list(universe([4, 5], split="train", seed=seed)) for seed in (0, 1))
    assert meanings(one) == meanings(other)
    assert [claim.derived for claim in one] == [claim.derived for claim in other]
    assert 0.2 < sum(a != b for a, b in zip(one, other, strict=True)) / len(one) < 0.5


def test_table_10_pairs_have_equal_labels():
    # v1 has both of each two, each with its own derived label.
    labels = defaultdict(set)
    for key, claim in zip(meanings(public_test("v1")), public_test("v1"), strict=True):
        labels[key].add(claim.derived)
    assert all(len(found) == 1 for found in labels.values())
