"""task=corr2cause/equivalent: the forms mean the same, read here by patterns that are not the harness's own."""

from __future__ import annotations

import re
from functools import cache

import pytest
from support import brute_force
from support.corr2cause_help import corr2cause
from support.thinned import few

from harness import evaluate
from harness.causal.dag import from_integer
from harness.causal.equivalence import members
from harness.causal.relations import Relation
from harness.errors import ConfigError
from harness.plugins.beliefs.forms import CONTRAPOSITIVE, PLAIN, TURNED, solve, worded
from harness.settings import build
from harness.types import Answer, Failure, Record, Response

FORMS = (PLAIN, TURNED, CONTRAPOSITIVE)
LETTERS = "ABCDEF"


def task(**settings):
    target = {"_target_": "harness.plugins.beliefs.equivalent.Equivalent", "name": "corr2cause/equivalent"}
    return build({**target, "prompts": ["plain", "pair"], **settings}, "task")


CLAUSES = (
    ("edge", r"(?P<cause>\w) directly causes (?P<effect>\w)"),
    ("edge", r"(?P<effect>\w) is directly caused by (?P<cause>\w)"),
    ("path", r"(?P<cause>\w) causes something else which causes (?P<effect>\w)"),
    ("path", r"(?P<effect>\w) is caused by something else which is caused by (?P<cause>\w)"),
    ("path", r"(?P<cause>\w) is a cause for (?P<effect>\w), but not a direct one"),
    ("path", r"For (?P<effect>\w), (?P<cause>\w) is a cause, but not a direct one"),
    ("meet", r"[Tt]here exists at least one collider \(i\.e\., common effect\) of (?P<cause>\w) and (?P<effect>\w)"),
    ("part", r"[Tt]here exists at least one confounder \(i\.e\., common cause\) of (?P<cause>\w) and (?P<effect>\w)"),
)
RELATIONS = {"edge": Relation.PARENT, "path": Relation.ANCESTOR, "meet": Relation.COLLIDER, "part": Relation.CONFOUNDER}


@cache
def clause(text):
    """Return (relation, cause, effect) of a clause by its words."""
    ((kind, match),) = [(kind, match) for kind, form in CLAUSES if (match := re.fullmatch(form, text))]
    return RELATIONS[kind], LETTERS.index(match["cause"]), LETTERS.index(match["effect"])


@cache
def holds(dag, relation, i, j):
    return brute_force.holds(dag, relation, i, j)


def follows(text, fitting, others):
    """Test a hypothesis about the graphs that fit a premise; `others` are all that do not."""
    conditional = re.fullmatch(
        r"If it were not the case that (.+), at least one of the statistical relations among these variables would be "
        r"different\.",
        text,
    )
    if conditional:  # each graph in which the clause fails has other statistical relations
        claim = clause(conditional[1])
        failing = [dag for dag in (*fitting, *others) if not holds(dag, *claim)]
        return not set(failing) & set(fitting)
    claim = clause(text.removesuffix("."))
    return all(holds(dag, *claim) for dag in fitting)


@pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_all_forms_mean_the_same_in_every_class(n):
    every = list(brute_force.every_dag(n))
    for fitting in brute_force.classes(n).values():
        others = [dag for dag in every if dag not in fitting]
        for relation in Relation:
            for i in range(n):
                for j in set(range(n)) - {i}:
                    answers = {
                        follows(worded(form, relation, LETTERS[i], LETTERS[j]), fitting, others) for form in FORMS
                    }
                    assert answers == {all(holds(dag, relation, i, j) for dag in fitting)}


@pytest.mark.parametrize("n", few([5, 6], 1))
def test_the_words_of_larger_premises_have_their_label_in_every_graph(n):
    for item in task(num_nodes=[n], split="all", limit=40).items():
        fitting = list(members(from_integer(n, int(item.cluster.split("-g")[1]))))
        if len(fitting) < 20:
            assert follows(item.fields["hypothesis"], fitting, ()) == item.labels["audited"]


@pytest.mark.parametrize("settings", few([{"limit": 30, "split": "all"}, {"num_nodes": [2, 3, 4], "split": "all"}], 1))
def test_the_solver_answers_each_form_by_the_label(settings):
    for item in task(perturbation="permutation", **settings).items():
        words = f"Question: {item.fields['premise']}\nCan we deduct the following: {item.fields['statement']}?"
        answer = solve(words)
        assert (answer is None) == (
            item.groups["form"] == PLAIN or (item.groups["form"] == TURNED and item.groups["relation"] in SYMMETRIC)
        )
        assert answer is None or answer == item.labels["audited"]


SYMMETRIC = ("collider", "confounder")


def test_items_are_those_of_the_benchmark_in_three_forms():
    items = list(task(limit=40, perturbation="permutation").items())
    assert items == list(task(limit=40, perturbation="permutation").items()) and len(items) == 120
    again = task(limit=40).items()
    assert list(again) == list(again) and len(again) == 120
    plain = list(corr2cause(limit=40, perturbation="permutation").items())
    for k, item in enumerate(plain):
        three = items[3 * k : 3 * k + 3]
        assert {other.unit for other in three} == {item.id} and {other.cluster for other in three} == {item.cluster}
        assert [other.groups["form"] for other in three] == list(FORMS)
        assert {other.labels["audited"] for other in three} == {item.labels["audited"]}
        assert three[0].fields == item.fields and len({other.fields["hypothesis"] for other in three}) == 3
        assert all(other.fields["hypothesis"] == other.fields["statement"] + "." for other in three)
        assert all(other.fields["input"].endswith(other.fields["hypothesis"]) for other in three)
    assert len(list(task(limit=10, forms="turned").items())) == 20
    with pytest.raises(ConfigError, match="forms"):
        task(forms=["sideways"])


def record(question, form, answer, relation="parent", cluster="p"):
    failed = isinstance(answer, Failure)
    return Record(
        f"{question}/{form}",
        cluster,
        unit=question,
        groups={"relation": relation, "num_nodes": "5", "form": form},
        labels={"audited": 1},
        request=None,
        outcome=answer if failed else Response("text"),
        answer=None if failed else Answer(answer),
    )


def result(rows):
    """Score questions: relation, cluster, answer to the plain and to the turned form."""
    records = [
        record(str(k), form, answer, relation, cluster)
        for k, (relation, cluster, *answers) in enumerate(rows)
        for form, answer in zip((PLAIN, TURNED), answers, strict=True)
    ]
    return task().summarize(records)


def test_contradictions_by_hand():
    """Parents: shares 1/2 and 1/4, by chance 1/2; colliders: always Yes, never a contradiction."""
    rows = [("parent", "a", 1, 1), ("parent", "b", 1, 0), ("parent", "c", 0, 0), ("parent", "d", 0, 0)]
    rows += [("collider", "e", 1, 1)] * 4
    overall = result(rows).overall
    assert overall["contradictions"] == 1 / 8 and overall["contradictions_by_chance"] == pytest.approx((0.5 * 4) / 8)
    parents = result(rows).scores["audited"]["relation"]["parent"]
    assert parents["contradictions"] == 1 / 4 and parents["contradictions_by_chance"] == pytest.approx(0.5)
    assert parents.metric("contradictions").no_interval == "fewer than 6 clusters"
    forms = result(rows).scores["audited"]["form"]
    assert forms[TURNED]["contradictions"] == 1 / 8 and forms[PLAIN].metric("contradictions") is None


def test_a_pair_without_two_answers_bounds_the_share():
    rows = [
        ("parent", "a", 1, 0),
        ("parent", "b", 1, 1),
        ("parent", "c", 1, None),
        ("parent", "d", Failure("t", ""), 0),
    ]
    metric = result(rows).overall.metric("contradictions")
    assert metric.value == 1 / 2 and metric.bounds == (1 / 4, 3 / 4)
    assert result([("parent", "a", None, 0)]).overall["contradictions"] is None


def test_intervals_draw_clusters():
    """Twelve premises, ten questions each, of which those of one premise are answered alike."""
    rows = [("parent", f"c{k // 10}", 1, int(k // 10 % 3 == 0)) for k in range(120)]
    metric = result(rows).overall.metric("contradictions")
    low, high = metric.interval
    assert low < metric.value == pytest.approx(2 / 3) and high - low > 0.4
    chance = result(rows).overall.metric("contradictions_by_chance")
    assert chance.interval[0] < chance.value < chance.interval[1]


@pytest.mark.parametrize("model", few(["random_proportional", "reasoner", "always_no"], 1))
def test_each_is_found_out_as_what_it_is(tmp_path, model):
    settings = {"perturbation": "permutation", "num_nodes": [4, 5], "prior": 0.3, "results": str(tmp_path)}
    row = evaluate(model, "corr2cause/equivalent", **settings).result.overall
    found, chance = row["contradictions"], row["contradictions_by_chance"]
    if model == "reasoner":
        assert found == 0 < chance and row["accuracy"] == 1
    elif model == "always_no":
        assert found == chance == 0
    else:
        assert 0.35 < found < 0.5 and abs(found - chance) < 0.05
