"""CLadder's oracle against two other ways: every response function enumerated, and sampled units with their noise."""

from itertools import combinations, product

import numpy as np
import pytest

from harness.tasks.cladder.graphs import GRAPHS, Scm
from harness.tasks.cladder.questions import ExactNumbers


def models(graph, count=2):
    rng = np.random.default_rng(sorted(GRAPHS).index(graph))
    for _ in range(count):
        tables = {n: tuple(rng.uniform(0.05, 0.95, 2 ** len(pa)).tolist()) for n, pa in GRAPHS[graph].parents.items()}
        yield Scm(GRAPHS[graph], tables)


def responses(scm, node):
    """Every way a variable can answer its parents, with its probability."""
    table = scm.tables[node]
    for answers in product((0, 1), repeat=len(table)):
        yield answers, np.prod([p if a else 1 - p for a, p in zip(answers, table, strict=True)])


def units(scm):
    """Every kind of unit of a Markovian model: a response function for each variable, with its share."""
    for kind in product(*(list(responses(scm, node)) for node in scm.graph.nodes)):
        yield {n: f for n, (f, _) in zip(scm.graph.nodes, kind, strict=True)}, np.prod([share for _, share in kind])


def live(scm, unit, do=None, held=None):
    """The world of a unit: what is done to X, and what mediators are held at."""
    world = {}
    for node, causes in scm.graph.parents.items():
        place = int("".join(str(world[c]) for c in causes) or "0", 2)
        world[node] = unit[node][place]
        if node == "X" and do is not None:
            world[node] = do
        if held and node in held:
            world[node] = held[node]
    return world


@pytest.mark.parametrize(
    "graph", [name for name in GRAPHS if name != "arrowhead"]
)  # that one has 16,384 units: sampled
def test_every_value_is_the_mean_over_all_response_functions(graph):
    """Rungs 1 to 3 by their definitions: potential outcomes of every unit, nested ones for natural effects."""
    for scm in models(graph, 1):
        mediators = scm.graph.mediators
        total = dict.fromkeys(("x", "y", "y1x", "y0x", "ate", "ett", "nde", "nie"), 0.0)
        for unit, share in units(scm):
            seen, with_x, without = live(scm, unit), live(scm, unit, 1), live(scm, unit, 0)
            crossed = live(scm, unit, 1, {m: without[m] for m in mediators})
            reverse = live(scm, unit, 0, {m: with_x[m] for m in mediators})
            total["x"] += share * seen["X"]
            total["y"] += share * seen["Y"]
            total["y1x"] += share * seen["Y"] * seen["X"]
            total["y0x"] += share * seen["Y"] * (1 - seen["X"])
            total["ate"] += share * (with_x["Y"] - without["Y"])
            total["ett"] += share * (with_x["Y"] - without["Y"]) * seen["X"]
            total["nde"] += share * (crossed["Y"] - without["Y"])
            total["nie"] += share * (reverse["Y"] - without["Y"])
        exact = ExactNumbers(scm)
        assert exact.value("marginal") == pytest.approx(total["y"])
        assert exact.value("correlation") == pytest.approx(
            total["y1x"] / total["x"] - total["y0x"] / (1 - total["x"]), abs=1e-12
        )
        assert scm.ate == pytest.approx(total["ate"], abs=1e-12)
        assert scm.ett == pytest.approx(total["ett"] / total["x"], abs=1e-12)
        assert scm.nde == pytest.approx(total["nde"], abs=1e-12)
        assert scm.nie == pytest.approx(total["nie"], abs=1e-12)


@pytest.mark.parametrize("graph", ["arrowhead", "IV", "collision"])
def test_sampled_units_come_to_the_same(graph):
    rng = np.random.default_rng(1)
    size = 200_000
    for scm in models(graph, 1):
        noise = {node: rng.uniform(size=size) for node in scm.graph.nodes}

        def run(do=None, held=None, scm=scm, noise=noise):
            world = {}
            for node, causes in scm.graph.parents.items():
                place = sum(world[c] << k for k, c in enumerate(reversed(causes))) if causes else 0
                world[node] = (noise[node] < np.array(scm.tables[node])[place]).astype(int)
                if node == "X" and do is not None:
                    world[node] = np.full(size, do)
                if held and node in held:
                    world[node] = held[node]
            return world

        seen, with_x, without = run(), run(1), run(0)
        mediators = scm.graph.mediators
        crossed = run(1, {m: without[m] for m in mediators})["Y"]
        reverse = run(0, {m: with_x[m] for m in mediators})["Y"]
        treated = seen["X"] == 1
        near = {"abs": 0.006}
        assert scm.ate == pytest.approx((with_x["Y"] - without["Y"]).mean(), **near)
        assert scm.ett == pytest.approx((with_x["Y"] - without["Y"])[treated].mean(), **near)
        assert scm.nde == pytest.approx((crossed - without["Y"]).mean(), **near)
        assert scm.nie == pytest.approx((reverse - without["Y"]).mean(), **near)
        assert ExactNumbers(scm).value("marginal") == pytest.approx(seen["Y"].mean(), **near)
        if graph == "collision":
            famous = seen["V3"] == 1
            away = seen["Y"][famous & treated].mean() - seen["Y"][famous].mean()
            assert ExactNumbers(scm).value("exp_away") == pytest.approx(away, **near)
            correlation = np.corrcoef(seen["X"][famous], seen["Y"][famous])[0, 1]
            assert ExactNumbers(scm).value("collider_bias") == pytest.approx(correlation, **near)


def test_admissible_sets_show_the_effect_and_others_do_not():
    """The back-door criterion by numbers: adjusting for an admissible set gives the effect in every model."""
    for graph in GRAPHS.values():
        others = [node for node in graph.nodes if node not in "XY"]
        for size in range(len(others) + 1):
            for given in combinations(others, size):
                misses = [abs(adjusted(scm, given) - scm.ate) for scm in models(graph.name, 3)]
                assert (max(misses) < 1e-9) == graph.admissible(given) or harmless(graph, given), (graph.name, given)


def harmless(graph, given):
    """A set with something that X affects can give the effect by chance of the graph; it is not admissible."""
    return bool(set(given) & graph.descendants("X"))


def adjusted(scm, given):
    effect = 0.0
    for values in product((0, 1), repeat=len(given)):
        stratum = dict(zip(given, values, strict=True))
        treated, not_treated = (scm.probability({"Y": 1}, stratum | {"X": x}) for x in (1, 0))
        effect += scm.probability(stratum) * (treated - not_treated)
    return effect
