"""What worked examples and the page print comes to what is asked for: sums, verdicts, formulas."""

from __future__ import annotations

import re
from itertools import islice, product

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.cladder_help import task

from harness.tasks.cladder.explain import QuestionExplanations
from harness.tasks.cladder.formulas import formal, numbers_told, sum_of
from harness.tasks.cladder.items import fresh_items, sample_candidates
from harness.tasks.cladder.models import _round, rounds
from harness.tasks.cladder.questions import percents
from harness.tasks.cladder.stated import effect_range
from harness.tasks.cladder.task import CLadder

VARIANTS = st.sampled_from(["commonsense", "hard", "anticommonsense", "nonsense"])
FEW = settings(max_examples=6, phases=[Phase.generate])
"""A case has hundreds of questions: no smaller one is looked for."""


def assert_sums_come_to_the_effect(questions):
    """Assert that each sum, by eval, is the effect by the printed numbers; return how many there are."""
    compared = 0
    for question in questions:
        model, ask = question.model, question.ask
        tables = percents(model.facts(ask.query).tables)
        told = sum_of(ask, model.scm.graph, tables) if ask.query != "collider_bias" else None
        if told is None or (ask.query == "correlation" and model.scm.graph.independent):  # the graph says: no effect
            continue
        try:
            value = eval(told[1], {"__builtins__": {}})
        except ZeroDivisionError:  # a condition of 0%
            continue
        assert effect_range(ask.query, model.scm.graph, tables, slack=0.0)[0] == pytest.approx(value, abs=1e-9)
        compared += 1
    return compared


@FEW
@given(st.integers(0, 10**6), VARIANTS)
def test_the_sums_of_drawn_questions_come_to_the_effect(seed, variant):
    models = next(rounds((variant,), seed))
    assert assert_sums_come_to_the_effect(question for model in models for _, question in model.questions()) > 100


@pytest.mark.slow
def test_so_do_those_of_the_authors_questions():
    assert assert_sums_come_to_the_effect(one.question for one in sample_candidates()) > 2400


def test_the_solved_examples_are_questions_of_models_that_no_round_has():
    drawn = {
        f"{question.model.background} {question.given} {question.text}": question
        for model in _round(("easy", "hard"), 0, -1)
        for _, question in model.questions()
    }
    for example in examples():
        question = drawn[example["text"]]
        ask, graph = question.ask, question.model.scm.graph
        tables = percents(question.model.facts(ask.query).tables)
        estimand, total = sum_of(ask, graph, tables)
        names, edges, formula, *rest, last, verdict = example["steps"].splitlines()
        words = question.model.story.words
        assert names == f"Let {'; '.join(f'{node} = {words[node].name}' for node in graph.nodes)}."
        assert edges == ",".join(f"{cause}->{effect}" for cause, effect in graph.edges)
        assert (formula, rest) == (formal(ask, graph), [estimand, *numbers_told(tables).splitlines()])
        said = last.removeprefix(f"{total} = ")
        assert float(said) == pytest.approx(eval(total, {"__builtins__": {}}), abs=0.005)
        assert verdict == f"{said} {'>' if float(said) > 0 else '<'} 0"
        assert example["answer"] == ("Yes" if question.stated else "No")


def examples():
    return CLadder("cladder", ("plain",)).examples()


def value_of(formula, scm):
    """The value of a formula in a model, by a sum over worlds: means of do(), of counterfactuals, shares."""
    if match := re.fullmatch(r"P\(Y=1 \| (.+?)\) - P\(Y=1 \| (.+?)\), which has .*", formula):
        first, second = ({key: int(v) for key, v in re.findall(r"(\w+)=(\d)", part)} for part in match.groups())
        return scm.probability({"Y": 1}, first) - scm.probability({"Y": 1}, second)
    if formula == "P(Y | X=1) - P(Y | X=0)":
        return scm.probability({"Y": 1}, {"X": 1}) - scm.probability({"Y": 1}, {"X": 0})
    if formula == "P(Y)":
        return scm.probability({"Y": 1})
    if formula == "E[Y | do(X = 1)] - E[Y | do(X = 0)]":
        return mean(scm, "X=1") - mean(scm, "X=0")
    if formula == "E[Y_{X = 1} - Y_{X = 0} | X = 1]":
        return mean(scm, "X=1", among=1) - mean(scm, "X=0", among=1)
    first, second = re.fullmatch(r"E\[Y_\{(.+)\} - Y_\{(.+)\}\]", formula).groups()
    return mean(scm, first) - mean(scm, second)


def mean(scm, subscript, among=None):
    """E[Y_{subscript}]: of "X=1, V2_{X=0}" X is set, and V2 is what it would be with another X."""
    parts = subscript.split(", ")
    fixed = {name: int(value) for name, value in re.findall(r"(?:^|, )(\w+)=(\d)", subscript)}
    nested = {name: int(value) for name, value in re.findall(r"(\w+)_\{X=(\d)\}", subscript)}
    assert len(parts) == len(fixed) + len(nested)
    tables = {node: causes for node, causes in scm.graph.parents.items() if "Y" not in causes}
    above = [node for node in tables if node != "Y"]
    total = whole = 0.0
    for values in product((0, 1), repeat=len(above)):
        world = dict(zip(above, values, strict=True))
        weight = 1.0
        for node in above:
            if node in fixed:
                weight *= world[node] == fixed[node]
            if node not in fixed or (node == "X" and among is not None):
                shown = {**world, "X": nested.get(node, fixed["X"])}
                chance = scm.tables[node][int("0" + "".join(str(shown[cause]) for cause in tables[node]), 2)]
                weight *= chance if (among if node == "X" else world[node]) else 1 - chance
        seen = "".join(str(world[cause]) for cause in scm.graph.parents["Y"])
        whole, total = whole + weight, total + weight * scm.tables["Y"][int("0" + seen, 2)]
    return total / whole


@pytest.mark.slow
@FEW
@given(st.integers(0, 10**6), VARIANTS)
def test_the_formula_on_the_page_lies_between_the_numbers_on_the_page(seed, variant):
    items, told = list(task(seed=seed, variants=[variant], limit=250).items()), QuestionExplanations()
    for item in items:
        told.add(item)
    scms = {model.name: model.scm for models in islice(rounds((variant,), seed), 3) for model in models}
    compared = 0
    for item, why in zip(items, told.json()["why"], strict=True):
        pattern = r"\): (.+?),? lies between (-?[\d.]+) and (-?[\d.]+) in every model that fits"
        if match := re.search(pattern, why["said"]):
            value = value_of(match[1], scms[item.cluster])
            assert float(match[2]) - 0.001 <= value <= float(match[3]) + 0.001, (item.id, why["said"])
            compared += 1
    assert compared > 100


def test_looking_at_a_common_effect_gives_no_effect_of_one_cause_on_the_other():
    for model in next(rounds(("commonsense",), 5)):
        for _, question in model.questions():
            if question.ask.query == "collider_bias":
                assert value_of(formal(question.ask, model.scm.graph), model.scm) == pytest.approx(0)


@pytest.mark.slow
def test_the_solved_examples_are_no_test_items(tmp_path):
    shown = {example["text"] for example in examples()}
    asked = {f"{q.model.background} {q.given} {q.text}" for q in (one.question for one in sample_candidates())}
    assert len(shown) == 4 and not shown & asked
    for seed in (-1, 0, 1):
        chosen = CLadder("cladder", ("plain",), seed=seed)._choice
        assert not shown & {str(item.fields["text"]) for item in fresh_items(chosen, 3000)}
    assert [example["answer"] for example in examples()].count("Yes") == 2
