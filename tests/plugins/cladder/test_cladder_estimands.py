"""Expressions of probabilities are read in any usual spelling, and compared in random models; no text is a crash."""

from __future__ import annotations

import csv
import random
import time
from contextlib import suppress
from pathlib import Path

import pytest

from harness.plugins.cladder.estimand import canonical, equal, is_estimand, random_models, target, value_in
from harness.plugins.cladder.expression import LONGEST, read_expression
from harness.plugins.cladder.expression_tokens import UnreadableExpression
from harness.plugins.cladder.graphs import GRAPHS
from harness.plugins.cladder.queries import Ask
from harness.plugins.cladder.reasoning import formal

with (Path(__file__).parents[2] / "data" / "estimands.tsv").open(encoding="utf-8") as _file:
    PAIRS = list(csv.DictReader(_file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read(text, graph="mediation"):
    return read_expression(text, GRAPHS[graph].nodes)


def test_pairs_are_equal_where_a_rule_says_so_and_differ_where_a_path_or_a_weight_does():
    wrong = [
        pair["reason"]
        for pair in PAIRS
        if equal(read(pair["left"], pair["graph"]), read(pair["right"], pair["graph"]), GRAPHS[pair["graph"]])
        != (pair["verdict"] == "equal")
    ]
    assert not wrong
    assert len(PAIRS) >= 200
    assert {pair["graph"] for pair in PAIRS} == set(GRAPHS)


@pytest.mark.parametrize("name", GRAPHS)
def test_values_are_those_of_the_oracle_that_sums_over_all_worlds(name):
    for scm in random_models(GRAPHS[name]):
        assert value_in(read("P(Y=1|do(X=1))", name), scm) == pytest.approx(scm.outcome(1, 1))
        assert value_in(read("E[Y|do(X=1)] - E[Y|do(X=0)]", name), scm) == pytest.approx(scm.ate)
        for node in set(scm.graph.nodes) - {"X", "Y"}:
            expected = scm.probability({"Y": 0, node: 1}, {"X": 1})
            assert value_in(read(f"P(Y=0, {node}=1 | X=1)", name), scm) == pytest.approx(expected)


SAME = r"\sum_{V2} P(Y=1|X=1,V2) P(V2)"


@pytest.mark.parametrize(
    "text",
    [
        "Σ_{V2=v} P(Y=1 | X=1, V2=v) * P(V2=v)",
        "∑_v P(Y=1∣X=1,V₂=v)·P(V₂=v)",
        r"$\sum_{v_2} P(Y=1 \mid X=1, v_2)\, P(v_2)$",
        r"\sum_{V_{2} \in \{0,1\}} \Pr\left(Y = 1 \mid X = 1, V_2\right) \times \Pr(V_2)",
        r"\sum_{v=0}^{1} P(Y=1|X=1,V_2=v) \cdot P(V_2=v)",
        r"\sum_{V2=0}^1 P(Y|X,V2)P(V2)",
        r"\[ \sum\limits_{v_2} \mathbb{P}\bigl(Y=1 \middle| X=1, V_2=v_2\bigr) \mathbb P(V_2=v_2) \]",
        r"\sum_{V2} \frac{P(Y=1,X=1,V2)}{P(X=1|V2)}",
        "P(Y=1|X=1,V2=0)*P(V2=0) + P(Y=1|X=1,V2=1)*P(V2=1)",
        "P(Y=1|X=1,V2=0) (1 − P(V2=1)) + P(Y=1|X=1,V2=1) P(V2)",
        "sum_{V2=0,1} E[Y | X=1, V2] P(V2)",
        "[P(V2=1)]*{P(Y=1|V2=1;X=1)} + P(¬V2) P(Y|X,¬V2)",
    ],
)
def test_spellings_of_one_expression(text):
    assert equal(read(text), read(SAME), GRAPHS["mediation"])


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "yes",
            "P(",
            "P()",
            "P(Y=1",
            "P(Y=2)",
            "P(Z=1)",
            "P(Y=1|X=1",
            "P(Y=1))",
            "P(Y=1) P",
            "P(Y=1|X=x)",
            "P(y|x)",
        ),
        *("P(Y=1, Y=0)", "P(Y=1|X=1|V2=1)", r"\sum P(Y=1)", r"\sum_{V2} P(Y=1|V2=v)", r"\sum_{V2=1} P(V2)", "E[X+Y]P"),
        *("P(Y=1) ≤ P(X=1)", r"\int P(Y=1)", "P(Y=1|V2=v) P(V2=v)", "\\", "\x00", "𝒫", "((((", "E[Y=0]", "P(do(X=1))"),
        *(r"\sum_{v} P(Y=1|V2=v) P(X=v)", "P(Y=1)^2", "P(X)**P(Y)"),
        r"\sum_{V2} P(Y=1|X=1,V2)P(V2) - P(Y=1|X=0,V2)",  # the sum ends before the minus: which V2 is not said
    ],
)
def test_what_is_no_expression_or_can_be_taken_in_two_ways_is_not_read(text):
    with pytest.raises(UnreadableExpression):
        read(text)


def test_no_text_crashes_the_reader_and_work_grows_with_its_length():
    pieces = [
        "P(",
        "Y",
        "=1",
        "|",
        ")",
        "do(",
        "\\sum_",
        "{",
        "}",
        "V2",
        "X",
        "+",
        "-",
        "*",
        "/",
        "Σ_v",
        "1",
        "E[",
        "_",
        "\\frac",
        "∈",
    ]
    draw = random.Random(7)
    for _ in range(3000):
        text = "".join(draw.choices(pieces, k=draw.randrange(30)))
        with suppress(UnreadableExpression):
            value_in(read(text), random_models(GRAPHS["mediation"])[0])
    begun = time.process_time()
    for unit in ("(", "1+", "1*", r"\sum_{V2}", r"\frac{1}{", "P(Y=1)+", "Y_{", "\\mathrm{", "-", "9"):
        text = unit * (LONGEST // len(unit))
        for whole in (text, text + "1", text * 20):
            with suppress(UnreadableExpression):
                expression = read(whole)
                value_in(expression, random_models(GRAPHS["mediation"])[0])
                canonical(expression)
    assert time.process_time() - begun < 3


def test_an_estimand_is_right_where_it_is_the_value_in_every_model_and_takes_what_can_be_seen():
    graph = GRAPHS["confounding"]
    right = read(r"\sum_{V1} P(V1) [P(Y=1|X=1,V1) - P(Y=1|X=0,V1)]", "confounding")
    assert is_estimand(right, "ate", graph)
    assert not is_estimand(read("P(Y=1|X=1) - P(Y=1|X=0)", "confounding"), "ate", graph)
    assert not is_estimand(read("P(Y=1|do(X=1)) - P(Y=1|do(X=0))", "confounding"), "ate", graph)
    hidden = r"\sum_{V1} P(V1) [P(Y=1|X=1,V1) - P(Y=1|X=0,V1)]"  # V1 is unobserved in the front-door graph
    scm = random_models(GRAPHS["frontdoor"])[0]
    assert value_in(read(hidden, "frontdoor"), scm) == pytest.approx(target("ate", scm))
    assert not is_estimand(read(hidden, "frontdoor"), "ate", GRAPHS["frontdoor"])


@pytest.mark.parametrize(
    ("query", "text", "same"),
    [
        ("ate", "P(Y=1|do(X=1)) - P(Y=1|do(X=0))", True),
        ("ate", "E[Y_{X=1} - Y_{X=0}]", True),
        ("ate", "-P(Y_{X=0}=1) + P(Y_{X=1}=1)", True),
        ("ate", "P(Y=1|X=1) - P(Y=1|X=0)", False),
        ("ate", "P(Y=1|do(X=0)) - P(Y=1|do(X=1))", False),
        ("ett", "E[Y|X=1] - E[Y_{X=0}|X=1]", True),
        ("ett", "P(Y_{X=1}=1|X=1) - P(Y_{X=0}=1|X=1)", True),
        ("ett", "E[Y_{X=1} - Y_{X=0}]", False),
        ("nde", "E[Y_{X=1, V2_{X=0}}] - E[Y_{X=0}]", True),
        ("nde", "P(Y_{X=1, V2=V2_{X=0}}=1) - P(Y_{X=0, V2=V2_{X=0}}=1)", True),
        ("nde", "E[Y_{X=0, V2_{X=1}}] - E[Y_{X=0}]", False),
        ("nie", "E[Y_{X=0, V2_{X=1}} - Y_{X=0, V2_{X=0}}]", True),
        ("nie", "E[Y_{V2_{X=1}, X=0}] - P(Y=1|do(X=0))", True),
    ],
)
def test_formal_queries_are_the_same_in_any_notation(query, text, same):
    right = read(formal(Ask(query), GRAPHS["mediation"]))
    assert (canonical(read(text)) == canonical(right)) is same
