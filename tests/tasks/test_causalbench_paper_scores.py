"""The numbers that CausalBench's paper prints, by its own rules: of random answers, of parts, of its skeleton."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

import pytest
from support.causalbench_help import (
    HOLES,
    MISSED,
    PAPERS,
    answers_of,
    causalbench,
    except_for,
    matrices,
    records,
    some,
    values,
)
from support.late import Late
from support.thinned import few

from harness.tasks.causalbench.networks import load
from harness.types import Failure, Item, Record, Response

sklearn_metrics = Late("sklearn.metrics")


@pytest.mark.parametrize(("kind", "settings"), [("Correlation", {}), ("Causality", {}), ("Causality", {"method": 2})])
def test_papers_numbers_of_random_answers_one_by_one(kind, settings):
    task = causalbench(kind, networks=["cancer", "asia"], **settings)
    run_records = records(task, some(5))
    paper = task.summarize(run_records).scores["paper"]
    breakdown = "structure" if settings else "template"
    rows = defaultdict(list)
    for name in ("asia", "cancer"):
        _, true, _ = matrices(name)
        truth = true | true.T if kind == "Correlation" else true
        n = len(truth)
        for template in task.asked_templates:
            answers = answers_of(run_records, name, template, breakdown)
            expected = {
                "macro_f1": sklearn_metrics.f1_score(truth.ravel(), answers.ravel(), average="macro"),
                "cell_accuracy": (truth == answers).mean(),
                "cell_shd": (truth != answers).sum(),
                "parent_set_errors": sum((truth[:, k] != answers[:, k]).any() for k in range(n)),
                "cell_density": answers.sum() / (n * (n - 1)),
                "degree": answers.sum() / n,
            }
            assert values(paper[f"network/{breakdown}"][f"{name}/{template}"]) == pytest.approx(expected)
            rows[name].append(expected)
            rows[template].append(expected)

    def mean(some_rows: list[dict]) -> dict:
        return {metric: fmean(row[metric] for row in some_rows) for metric in PAPERS}

    for name in ("asia", "cancer"):
        assert values(paper["network"][name]) == pytest.approx(mean(rows[name]))
    for template in task.asked_templates:
        assert values(paper[breakdown][template]) == pytest.approx(mean(rows[template]))
    everywhere = mean([mean(rows["asia"]), mean(rows["cancer"])])
    assert values(paper["overall"]["all"]) == values(paper["scale"]["small"]) == pytest.approx(everywhere)
    assert "relation" not in paper


def test_a_template_with_a_failed_call_has_no_numbers_of_the_papers():
    # Left out, the cell would let the diagonal, which is always right, speak for it.
    task = causalbench("Causality", networks="asia")
    result = task.summarize(records(task, except_for(HOLES)))
    rows = result.scores["paper"]["network/template"]
    assert set(values(rows["asia/cause"]).values()) == {None}
    assert rows["asia/influence"]["cell_accuracy"] is not None
    assert any("1 of 1 networks lack some" in note for note in result.notes)


def test_a_run_that_was_cut_short_has_the_papers_numbers_of_whole_networks_only():
    task = causalbench("Causality", networks=["asia", "cancer"])
    run_records = records(task, some())
    without_one = [record for record in run_records if record.item != "cancer/influence/Smoker/Xray"]
    assert len(without_one) == len(run_records) - 1
    paper = task.summarize(without_one).scores["paper"]
    assert values(paper["network"]["asia"]) == values(task.summarize(run_records).scores["paper"]["network"]["asia"])
    assert None not in values(paper["network"]["asia"]).values()
    for row in (paper["network"]["cancer"], paper["network/template"]["cancer/influence"], paper["overall"]["all"]):
        assert set(values(row).values()) == {None}
    assert paper["network/template"]["cancer/cause"]["macro_f1"] is not None
    exact = task.summarize(without_one).scores["exact"]["network/template"]
    assert exact["cancer/influence"]["shd"] is None and exact["cancer/cause"]["shd"] is not None


def test_the_papers_reading_takes_yes_and_no_alone():
    texts = {
        "asia/cause/asia/tub": "Yes, they are.",  # an edge
        "asia/cause/smoke/lung": "Yes.",  # an edge
        "asia/cause/smoke/bronc": " Yes\n",  # an edge
        "asia/cause/tub/asia": "No, it does not.",
        "asia/cause/lung/smoke": "No.",
    }
    task = causalbench("Causality", networks="asia")
    run_records = records(task, except_for(texts, lambda item: "Yes" if item.labels["paper"] else "No"))
    scores = task.summarize(run_records).scores
    exact = scores["direct"]["network/template"]["asia/cause"]
    assert exact["accuracy"] == 1 and exact.unreadable == 0
    _, true, _ = matrices("asia")
    codes, names = true.copy(), load("asia").variables
    codes[names.index("asia"), names.index("tub")] = codes[names.index("tub"), names.index("asia")] = 2
    paper = scores["paper"]["network/template"]["asia/cause"]
    assert paper["cell_accuracy"] == 62 / 64 and paper["cell_shd"] == 2 and paper["parent_set_errors"] == 2
    assert paper["macro_f1"] == pytest.approx(sklearn_metrics.f1_score(true.ravel(), codes.ravel(), average="macro"))
    assert paper["cell_density"] == 9 / 56 and paper["degree"] == 7 / 8


@pytest.mark.parametrize("how", few(["rank", "entail"], 1))
def test_ranked_and_entailed_answers_count_by_their_label_in_both(how):
    def respond(item: Item) -> Response:
        low, high = (-0.1, -2.5) if item.labels["paper"] else (-2.5, -0.1)
        if how == "rank":
            return Response("ranked", logprobs={"Yes": low, "No": high})
        return Response("entailment", logprobs={"entailment": low, "neutral": high, "contradiction": -9.0})

    task = causalbench("Causality", networks="asia", method=2)
    scores = task.summarize(records(task, respond)).scores
    row = scores["paper"]["network/structure"]["asia/direct"]
    assert (row["macro_f1"], row["cell_accuracy"], row["cell_shd"]) == (1, 1, 0)
    assert scores["exact"]["network/structure"]["asia/direct"]["f1"] == 1
    assert scores["exact"]["network/structure"]["asia/direct"]["auroc"] == 1


def test_a_tie_of_a_ranking_is_unreadable_in_both():
    task = causalbench("Causality", networks="cancer", method=2)
    run_records = records(task, lambda item: Response("Yes", logprobs={"Yes": -1.0, "No": -1.0}))
    scores = task.summarize(run_records).scores
    assert scores["exact"]["overall"]["all"].unreadable == 120
    assert scores["paper"]["overall"]["all"]["cell_accuracy"] == pytest.approx(1 / 5)


def test_the_published_skeletons_numbers_are_over_its_questions():
    task = causalbench("Skeleton", networks=["asia", "survey", "sachs"], convention="paper")
    others = ("Yes, indeed.", MISSED)
    run_records = records(task, some(11, others))
    result = task.summarize(run_records)
    paper = result.scores["paper"]

    def metrics(subset: list[Record]) -> dict:
        replies = [record for record in subset if not isinstance(record.outcome, Failure)]
        gold = [record.labels["paper"] for record in replies]
        codes = [{"Yes": 1, "No": 0}.get(record.outcome.text, 2) for record in replies]
        return {
            "macro_f1": sklearn_metrics.f1_score(gold, codes, average="macro"),
            "accuracy": sklearn_metrics.accuracy_score(gold, codes),
        }

    of = {name: metrics([o for o in run_records if o.cluster == name]) for name in ("asia", "survey", "sachs")}
    for name, expected in of.items():
        assert values(paper["network"][name]) == pytest.approx(expected)
    cells = defaultdict(list)
    for record in run_records:
        cells[record.groups["network"], record.groups["template"]].append(record)
    for (name, template), subset in cells.items():
        assert values(paper["network/template"][f"{name}/{template}"]) == pytest.approx(metrics(subset))
    for metric in ("macro_f1", "accuracy"):
        assert result.overall[metric] == pytest.approx(fmean(row[metric] for row in of.values()))
    assert result.scores["exact"]["overall"]["all"]["f1"] is not None


def test_always_yes_on_the_published_skeleton():
    # Zhou et al.'s rule: 84 of asia's 156 questions have the answer Yes, all of cancer's.
    task = causalbench("Skeleton", networks=["asia", "cancer"], convention="paper")
    paper = task.summarize(records(task, lambda item: "Yes")).scores["paper"]["network"]
    assert paper["asia"]["accuracy"] == 84 / 156
    assert paper["asia"]["macro_f1"] == pytest.approx((168 / 240) / 2)
    assert paper["cancer"]["macro_f1"] == paper["cancer"]["accuracy"] == 1
