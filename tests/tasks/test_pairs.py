"""Matched pairs: alike in what the texts' sentences count, opposite by brute force, at chance for whoever counts.

The oracles read the text with patterns of their own and share nothing with the harness.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from support.made_records import made
from support.premise_theory import assert_label

from harness.errors import ConfigError, DataError
from harness.settings import build
from harness.tasks.corr2cause.enumerate import public_test
from harness.tasks.corr2cause.fresh import pairs
from harness.tasks.corr2cause.fresh.pairs import floors, index
from harness.types import Answer, Failure, Response

LISTS = [(name, same) for name in ("counts", "strict") for same in (False, True)]


def task(**settings):
    return build(
        {
            "_target_": "harness.tasks.corr2cause.fresh.pairs.Pairs",
            "name": "corr2cause/pairs",
            "prompts": ["plain"],
            **settings,
        },
        "task",
    )


def drawn(number, **settings):
    """Return pairs of items."""
    items = list(task(limit=2 * number, **settings).items())
    return list(zip(items[::2], items[1::2], strict=True))


# The text, read by itself.


def told(text):
    """Return the variables and which are independent given what, as a premise's sentences say."""
    names = re.split(r", | and ", re.search(r"system of \d variables, ([^.]*)\.", text)[1])
    body = text.split("as follows:")[1].split("\n")[0].replace(" However,", "")
    separated = defaultdict(list)
    for a, b in re.findall(r"(\w) is independent of (\w)\.", body):
        separated[frozenset((a, b))].append(frozenset())
    for a, b, given_ in re.findall(r"(\w) and (\w) are independent given ([^.]*)\.", body):
        separated[frozenset((a, b))].append(frozenset(re.split(r", | and ", given_)))
    correlated = [frozenset(pair) for pair in re.findall(r"(\w) correlates with (\w)\.", body)]
    assert len(body.split(".")) - 1 == len(correlated) + sum(map(len, separated.values()))
    return names, separated, correlated


def claimed(item):
    """Return (kind, first, second) of a hypothesis, from cause to effect, as its words say."""
    words = item.fields["hypothesis"]
    for kind, form in (
        ("parent", r"(\w) directly (?:causes|affects) (\w)\."),
        ("ancestor", r"(\w) (?:causes something else which causes|influences) (\w)(?: through some mediator\(s\))?\."),
        ("ancestor", r"(\w) is a cause for (\w), but not a direct one\."),
        ("collider", r"There exists at least one collider \(i.e., common effect\) of (\w) and (\w)\."),
        ("collider", r"(\w) and (\w) together cause some other variable\(s\)\."),
        ("confounder", r"There exists at least one confounder \(i.e., common cause\) of (\w) and (\w)\."),
        ("confounder", r"Some variable\(s\) cause\(s\) both (\w) and (\w)\."),
    ):
        if found := re.fullmatch(form, words):
            return kind, found[1], found[2]
    raise AssertionError(words)


def about(separated, one):
    """Count the sentences about a variable: independent of, independent given, and those with it in the condition."""
    mine = [given_ for pair, sets in separated.items() if one in pair for given_ in sets]
    others = [given_ for sets in separated.values() for given_ in sets]
    return sum(not given_ for given_ in mine), sum(bool(given_) for given_ in mine), sum(one in g for g in others)


def given_other(separated, one, other):
    """Count the sentences about a variable with the other one in the condition."""
    return sum(other in given_ for pair, sets in separated.items() if one in pair for given_ in sets)


def counted(item):
    """Return all that matching=counts has to match."""
    names, separated, correlated = told(item.fields["premise"])
    kind, a, b = claimed(item)
    every = [given_ for sets in separated.values() for given_ in sets]
    pair = separated[frozenset((a, b))]
    ends = [(*about(separated, x), given_other(separated, x, y)) for x, y in ((a, b), (b, a))]
    if kind in ("collider", "confounder"):
        ends = [tuple(map(sum, zip(*ends, strict=True)))]
    both = [Counter(bool(given_) for given_ in sets) for sets in (every, pair)]
    return kind, len(names), len(correlated), both, ends


def counted_strictly(item):
    """Return all that matching=strict has to match besides."""
    names, separated, _ = told(item.fields["premise"])
    kind, a, b = claimed(item)
    every = [given_ for sets in separated.values() for given_ in sets]
    sizes = [Counter(map(len, sets)) for sets in (every, separated[frozenset((a, b))])]
    sorted_counts = [sorted(column) for column in zip(*(about(separated, x) for x in names), strict=True)]

    def end(x):
        mine = {pair: sets for pair, sets in separated.items() if x in pair}
        return (*about(separated, x), sum(len(g) for sets in mine.values() for g in sets),
                sum(any(sets) for sets in mine.values()))  # fmt: skip

    def of_both(k):
        with_pair = [separated[frozenset((k, x))] for x in (a, b)]
        return (
            *(sum(bool(g) == some for sets in with_pair for g in sets) for some in (False, True)),
            sum(given_other(separated, x, k) for x in (a, b)),
            *about(separated, k),
        )

    ends = [end(a), end(b)]
    if kind in ("collider", "confounder"):
        ends = [[x + y for x, y in zip(*ends, strict=True)], [abs(x - y) for x, y in zip(*ends, strict=True)]]
        ends.append(abs(given_other(separated, a, b) - given_other(separated, b, a)))
    return sizes, sorted_counts, ends, sorted(of_both(k) for k in names if k not in (a, b))


# What is asked of pairs.


@pytest.mark.parametrize(("name", "same"), LISTS)
def test_the_halves_are_alike_in_what_is_matched_and_in_nothing_else(name, same):
    for first, second in drawn(60, matching=name, same_premise=same):
        assert counted(first) == counted(second)
        if name == "strict":
            assert counted_strictly(first) == counted_strictly(second)
        assert first.groups == second.groups and first.cluster == second.cluster
        assert {first.labels["audited"], second.labels["audited"]} == {0, 1}
        assert (first.fields["premise"] == second.fields["premise"]) == same


@pytest.mark.parametrize("same", [pytest.param(False, marks=pytest.mark.slow), True])
def test_one_follows_and_one_does_not_in_all_graphs_that_fit(same):
    for pair in drawn(24, num_nodes=[5], same_premise=same)[:5]:
        assert {item.labels["audited"] for item in pair} == {0, 1}
        for item in pair:
            assert_label(item)


def test_no_renaming_makes_one_premise_of_two():
    for first, second in drawn(24, num_nodes=[5]):
        (names, one, _), (others, other, _) = (told(item.fields["premise"]) for item in (first, second))
        for order in permutations(others):
            called = dict(zip(names, order, strict=True))
            renamed = {
                frozenset(map(called.get, pair)): {frozenset(map(called.get, g)) for g in sets}
                for pair, sets in one.items()
                if sets
            }
            assert renamed != {pair: set(sets) for pair, sets in other.items() if sets}


@pytest.mark.parametrize(("name", "same"), LISTS)
def test_no_premise_comes_twice_and_none_is_public(name, same):
    listed = index(f"{name}_same" if same else name)
    premises = [(pair.n, number) for pair in listed for number in {pair.yes.number, pair.no.number}]
    assert len(set(premises)) == len(premises) == (1 if same else 2) * len(listed)
    assert not set(premises) & {(claim.n, claim.number) for version in ("v1", "v2") for claim in public_test(version)}


def test_the_pages_table_counts_the_index():
    page = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text(encoding="utf-8")
    for name, same in LISTS:
        kinds = Counter((pair.n, pair.kind) for pair in index(f"{name}_same" if same else name))
        cells = " | ".join(f"{kinds[7, kind]:,} ({kinds[6, kind]})" for kind in pairs.CLAIMS)
        assert f"| {name}{', same premise' if same else ''} | {cells} |" in page
        floor = pairs.floors(f"{name}_same" if same else name)
        cells = " | ".join(f"{floor[kind][0]:.1f}" if kind in floor else "–" for kind in pairs.CLAIMS)
        assert f"| {name}{', same premise' if same else ''} | {cells} |" in page


def test_a_smaller_limit_begins_a_larger_one_in_balanced_pairs():
    def ids(**more):
        return [item.id for item in task(**more).items()]

    assert ids(limit=40) == ids(limit=200)[:40] != ids(limit=40, seed=1)
    items = list(task(limit=160).items())
    kinds = Counter((claimed(item)[0], item.groups["num_nodes"]) for item in items)
    assert set(kinds.values()) == {20}
    assert Counter(item.groups["relation"] for item in items)["child"] == 20
    assert Counter(items[k].labels["audited"] for k in range(0, 160, 2))[0] in range(25, 56)
    assert task(limit=160).draw_size == 2
    with pytest.raises(ConfigError, match="use 42"):
        task(limit=41)
    with pytest.raises(ConfigError, match="no pair is left"):
        list(task(matching="strict", relations=["confounder"]).items())


def test_an_index_that_tells_another_label_is_refused(monkeypatch):
    (pair, *_) = index("counts")
    monkeypatch.setattr(pairs, "index", lambda name: (pair._replace(yes=pair.no, no=pair.yes),))
    with pytest.raises(DataError, match="not of this version"):
        list(task(num_nodes=[5, 6, 7]).items())


# Scores.


def record(pair, gold, answer, relation="parent"):
    """Return the record of a half: the answer is 0, 1, None where nothing can be read, or a failure's name."""
    failed = isinstance(answer, str)
    return made(
        f"{pair}-{gold}",
        pair,
        groups={"relation": relation, "num_nodes": "7"},
        labels={"audited": gold},
        request="r",
        outcome=Failure(answer, "") if failed else Response(str(answer)),
        answer=None if failed else Answer(answer),
    )


def scores(answers, **settings):
    """Score pairs, each the answers to its halves that follow and do not."""
    records = [record(f"p{k}", gold, of[1 - gold]) for k, of in enumerate(answers) for gold in (1, 0)]
    return task(**settings).summarize(records).overall


ANSWERS = [(1, 0)] * 3 + [(0, 0)] * 2 + [(1, 1)] * 4 + [(0, 1)]


def test_scores_of_pairs_by_hand():
    row = scores(ANSWERS)
    names = ("pair_accuracy", "yes_missed", "no_missed", "both_missed", "accuracy")
    assert [row[name] for name in names] == [0.3, 0.2, 0.4, 0.1, 0.6]
    assert row.metric("pair_accuracy").interval is not None and row.clusters == 10 and row.items == 20
    assert row["f1"] is None and row.metric("pair_accuracy").bounds is None


def test_a_failed_call_leaves_its_pair_out_and_an_unread_reply_is_wrong():
    row = scores([*ANSWERS, (1, "timeout"), (1, None), (None, 1)])
    assert row["pair_accuracy"] == 3 / 12 and row["no_missed"] == 5 / 12
    assert row.metric("pair_accuracy").bounds == (3 / 13, 5 / 13)
    assert scores([*ANSWERS, (1, None)], unreadable="no")["pair_accuracy"] == 4 / 11


def test_beside_the_scores_stands_what_counting_reaches_by_kind():
    (floor,) = task(relations=("parent", "child")).remarks
    reached = floors("counts")["parent"][0]
    assert floor == f"Counting alone has both halves right in % of such pairs: parent {reached:g}; chance: 25."
    assert "collider" in task().remarks[0] and task(matching="strict").remarks != task().remarks


def test_half_a_pair_is_in_no_score_of_pairs():
    records = [record("a", 1, 1), record("a", 0, 0), record("b", 1, 1)]
    row = task().summarize(records).overall
    assert row["pair_accuracy"] == 1 and row.items == 3
    assert task().summarize([record("a", 1, 1), record("b", 0, 0)]).overall["pair_accuracy"] is None


@hypothesis_settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0, 1, None]), st.sampled_from([0, 1, None])), min_size=1, max_size=12))
def test_every_pair_is_right_or_missed_in_one_way(answers):
    row = scores(answers)
    parts = [row[name] for name in ("pair_accuracy", "yes_missed", "no_missed", "both_missed")]
    assert sum(parts) == pytest.approx(1)
    assert row["accuracy"] == pytest.approx(parts[0] + (parts[1] + parts[2]) / 2)
