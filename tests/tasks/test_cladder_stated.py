"""What a question's printed numbers leave open: ranges against linear programs and against models that fit."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from support.late import Late

from harness.tasks.cladder.graphs import GRAPHS, Scm
from harness.tasks.cladder.models import sample
from harness.tasks.cladder.queries import NUMERIC, asked_of
from harness.tasks.cladder.questions import ExactNumbers, printed_tables
from harness.tasks.cladder.stated import effect_range, rounded

optimize = Late("scipy.optimize")


def percents(scm, query):
    tables = printed_tables(ExactNumbers(scm), query, scm.graph)
    return {key: [int(f"{chance:.0%}"[:-1]) for chance in table] for key, table in tables.items()}


def drawn(graph, rng):
    return Scm(graph, {n: tuple(rng.uniform(0.02, 0.98, 2 ** len(pa)).tolist()) for n, pa in graph.parents.items()})


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_true_effect_lies_in_the_range_that_its_rounded_numbers_leave(graph):
    rng = np.random.default_rng(7)
    for _ in range(150):
        scm = drawn(GRAPHS[graph], rng)
        for query in NUMERIC:
            if asked_of(query, scm.graph):
                least, most = effect_range(query, scm.graph, percents(scm, query))
                value = ExactNumbers(scm).value(query)
                if query == "exp_away":  # its sign is what the range is about
                    y = ExactNumbers(scm).table("Y", ("X", "V3"))
                    value = y[3] - y[1]
                assert least - 1e-9 <= value <= most + 1e-9, query


def test_the_range_of_an_instrument_is_that_of_the_linear_program():
    ways = list(product((0, 1), repeat=2))
    kinds = [(x, y) for x in ways for y in ways]
    sums = [[x[z] for x, _ in kinds] for z in (0, 1)] + [[y[x[z]] for x, y in kinds] for z in (0, 1)]
    effect = [y[1] - y[0] for _, y in kinds]
    rng, decided = np.random.default_rng(3), 0
    for _ in range(60):
        shares = rng.dirichlet([0.2] * 16)
        numbers = [round(100 * float(np.dot(row, shares))) for row in sums]
        least, most = effect_range("ate", GRAPHS["IV"], {("X", ("V2",)): numbers[:2], ("Y", ("V2",)): numbers[2:]})
        ends = [rounded(number) for number in numbers]
        a = np.array(sums + [[-v for v in row] for row in sums])
        b = [high for _, high in ends] + [-low for low, _ in ends]
        best = [
            optimize.linprog([s * e for e in effect], A_ub=a, b_ub=b, A_eq=[[1] * 16], b_eq=[1]).fun for s in (1, -1)
        ]
        assert least <= best[0] + 1e-9 and most >= -best[1] - 1e-9  # never narrower than what can be
        assert least == pytest.approx(best[0], abs=0.02) and most == pytest.approx(-best[1], abs=0.02)
        decided += least > 0 or most < 0
    assert decided > 5


def test_models_that_fit_an_unobserved_cause_of_mediator_and_outcome_reach_both_ends():
    """Of arrowhead only P(Y | X, V3) is given: other P(Y | X, V2, V3) with the same mean fit, and span the range."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        scm = drawn(GRAPHS["arrowhead"], rng)
        given, second = ExactNumbers(scm).table("Y", ("X", "V3")), scm.tables["V2"][0]
        effects = {"nde": [], "nie": []}
        for corner in product((0.0, 1.0), repeat=4):
            table = dict.fromkeys(product((0, 1), repeat=3), 0.0)
            for (x, v), end in zip(product((0, 1), repeat=2), corner, strict=True):
                share = [scm.probability({"V2": k}, {"X": x, "V3": v}) for k in (0, 1)]
                high = (
                    min(1.0, given[2 * x + v] / share[1]) if end else max(0.0, (given[2 * x + v] - share[0]) / share[1])
                )
                table[x, 1, v], table[x, 0, v] = high, (given[2 * x + v] - high * share[1]) / share[0]
            fits = Scm(scm.graph, scm.tables | {"Y": tuple(table[key] for key in product((0, 1), repeat=3))})
            assert 0 <= second <= 1
            effects["nde"].append(fits.nde)
            effects["nie"].append(fits.nie)
        for query, values in effects.items():
            least, most = effect_range(query, scm.graph, percents(scm, query))
            assert least <= min(values) + 1e-9 and most >= max(values) - 1e-9
            assert least > min(values) - 0.15 and most < max(values) + 0.15


def test_what_is_stated_is_never_against_the_model_where_numbers_and_words_are_right():
    for model in [model for model in sample() if model.difficulty][::3]:
        for question in replace(model, spec="").questions():
            assert question.stated in (None, question.exact), question.name
