"""What stands in the measured rows of the papers' tables: which runs make a row, and where its numbers come from."""

import json
from pathlib import Path

import pytest
from support.causalbench_help import causalbench
from support.preset_help import (
    CAUSALITY,
    FORMATS,
    NETWORKS,
    blocks,
    cell,
    every_run,
    laid,
    number,
    one,
    printed_lines,
    run,
    value,
)
from support.thinned import few
from support.written_runs import board_row

from harness.causal.learned_graph import Pattern
from harness.leaderboard.comparable import find_runs
from harness.tables.latex_html import latex
from harness.tasks.causalbench.networks import load

RESULTS = Path(__file__).parents[2] / "results" / "shipped"


def test_the_note_on_parentheses_depends_on_the_prompt_and_not_on_the_name_of_a_model():
    notes = [" ".join(one("4", run("corr2cause", "gpt4 (June)", prompt=p)).notes) for p in ("plain", "pair")]
    assert ["In parentheses: the prompt" in text for text in notes] == [False, True]


def test_v1_and_v2_stand_apart_and_v1_is_the_one_to_compare():
    old, new = run("corr2cause", "gpt4", variant="version=v1"), run("corr2cause", "gpt4")
    table = one("4", new, old)
    assert blocks(table) == [
        "Published, not measured here: data v1.0",
        "Measured here: data v1",
        "Measured here: data v2",
    ]
    for version, row in (("v1", old), ("v2", new)):
        for metric in ("f1", "accuracy"):
            shown_cell = cell(table, metric, model="gpt4", block=f"Measured here: data {version}")
            assert shown_cell.value == row.result.overall[metric] and shown_cell.text == f"{100 * shown_cell.value:.2f}"
    notes = [note for note in table.notes if "the ones to compare" in note]
    assert len(notes) == 1 and notes[0].startswith("Measured here: data v1 (")
    assert {line.group for line in table.lines if line.run} == {"GPT-Based Models"}


def test_the_best_is_marked_within_a_set_alone():
    runs = [run("corr2cause", model) for model in ("gpt4", "gpt35", "llama_7b", "always_yes")]
    table = one("4", *runs)
    text = latex([table])
    best = max(row.result.overall["f1"] for row in runs)
    assert f"\\textbf{{{100 * best:.2f}}}" in text
    assert r"\textbf{33.38}" not in text and r"\underline{29.08}" not in text  # printed rows are not compared
    assert "not ranked together" in table.notes[0]
    assert r"\textbf{0" not in latex(laid("III", *every_run()))


def test_incomplete_runs_are_named_and_not_shown():
    table = one("4", run("corr2cause", "gpt4", complete=False), run("corr2cause", "gpt35"))
    assert [line.run["model"] for line in table.lines if line.run] == ["gpt35"]
    assert "Not complete, so not shown: default/plain/gpt4." in table.notes
    assert table.unfinished == [("default", "plain", "gpt4")]
    elsewhere = run(CAUSALITY, "gpt4", complete=False)
    assert not one("4", elsewhere).unfinished


def test_other_items_labels_settings_and_folders_are_never_mixed():
    runs = [
        run("corr2cause", "a"),
        run("corr2cause", "b", items="b" * 64),
        run("corr2cause", "c", variant="limit=20"),
        run("corr2cause", "d", variant="labels=audited", labels={"audited": ("f1",)}),
    ]
    assert blocks(one("4", *runs))[1:] == [
        "Measured here: data v2",
        "Measured here: data v2, item set 2",
        "Measured here: data v2, audited labels",
        "Measured here: data v2, limit=20",
    ]
    twice = [run("corr2cause", "a", folder=folder) for folder in ("A", "B")]
    assert [line.cells[0].text for line in one("4", *twice).lines if line.run] == ["a [A]", "a [B]"]


def test_runs_on_perturbed_data_make_one_row():
    runs = {p: run("corr2cause", "gpt4", variant=v) for p, v in (("none", "default"), ("p", "perturbation=paraphrase"))}
    table = one("5", *runs.values())
    assert cell(table, "f1", model="gpt4").value == runs["none"].result.overall["f1"]
    assert cell(table, "f1/paraphrase", model="gpt4").value == runs["p"].result.overall["f1"]
    assert cell(table, "f1/refactorization", model="gpt4").text == "–"
    assert cell(table, "f1", model="gpt4") != cell(table, "f1/paraphrase", model="gpt4")
    (line,) = [line for line in table.lines if line.run]
    assert line.run["variant"] == "default + perturbation=paraphrase" and len(line.block.items.split()) == 2
    assert "* BERT-Base MNLI: the printed accuracy contradicts" in " ".join(table.notes)


@pytest.mark.parametrize(("name", "key"), [("6", "group"), ("12", "model")])
def test_relations(name, key):
    row = run("corr2cause", "gpt4", variant="version=v1")
    table = one(name, row)
    for relation in ("parent", "collider"):
        shown_cell = cell(table, "recall", relation=relation, **{key: "gpt4"})
        assert shown_cell.value == value(row, "published", "relation", relation, "recall")
    if name == "12":
        assert cell(table, "f1", relation="all", model="gpt4").value == row.result.overall["f1"]


def test_queries_are_compared_where_a_model_was_asked_both():
    runs = [run("corr2cause", m, prompt=p) for m, p in (("gpt35", "plain"), ("gpt35", "enhanced"), ("gpt4", "plain"))]
    table = one("13", *runs)
    names = [line.cells[0].text for line in table.lines]
    assert names == ["GPT-3.5 (plain query; original)", "GPT-3.5 (enhanced query)", "gpt35", "gpt35 (enhanced)"]


NETWORKED = [
    (
        "III",
        "method=2",
        {"f1": "macro_f1", "shd": "cell_shd", "sid": "parent_set_errors", "edge_sparsity": "cell_density"},
    ),
    ("XV", "default", {"f1/asia": "macro_f1"}),
    ("XVIII", "method=2", {"accuracy/asia": "cell_accuracy"}),
    ("XX", "method=2,format=background", {"accuracy/asia": "cell_accuracy"}),
]


@pytest.mark.parametrize(("name", "variant", "columns"), NETWORKED)
def test_networks(name, variant, columns):
    row = run(CAUSALITY, "gpt4", variant=variant)
    table = one(name, row)
    where = {"network": "asia", "group": "gpt4"} if name == "III" else {"model": "gpt4"}
    for column, metric in columns.items():
        assert cell(table, column, **where).value == value(row, "paper", "network", "asia", metric)
    other = {"method=2": "default", "default": "method=2"}.get(variant, "default")
    assert not [line for line in one(name, run(CAUSALITY, "gpt4", variant=other)).lines if line.run]


def test_shares_are_shown_as_the_paper_shows_them():
    row = run(CAUSALITY, "gpt4", variant="method=2")
    shown_cell = cell(one("III", row), "f1", network="asia", group="gpt4")
    assert shown_cell.text == f"{shown_cell.value:.4f}"
    (nine,) = laid("IX", row)
    accuracy = nine.lines[0].cells[-1]
    assert accuracy.value == value(row, "paper", "network", "asia", "cell_accuracy")
    assert accuracy.text == f"{100 * accuracy.value:.2f}"


@pytest.mark.parametrize("name", ["VI", "VII"])
def test_formats_stand_beside_each_other(name):
    variants = {f: "method=2" + ("" if f == "variable_name" else f",format={f}") for f in FORMATS}
    runs = {f: run(CAUSALITY, "gpt4", variant=variant) for f, variant in variants.items()}
    table = one(name, *runs.values())
    where = {"network": "hepar2", **({"group": "gpt4"} if name == "VI" else {"model": "gpt4"})}
    paper_names = {"background": "background_knowledge", "data": "training_data", "variable_name": "variable_name"}
    paper_names["background_data"] = "background_knowledge+training_data"
    for form in FORMATS[: 2 if name == "VI" else 4]:
        for metric, column in (("macro_f1", "f1"), ("cell_shd", "shd")):
            expected = value(runs[form], "paper", "network", "hepar2", metric)
            assert cell(table, f"{column}/{paper_names[form]}", **where).value == expected


def test_direct_and_indirect_correlation_by_the_exact_convention():
    with_values = {"exact": True, "paper": False}
    runs = {
        k: run("causalbench/correlation", "gpt4", variant=f"kind={k}", known=with_values)
        for k in ("direct", "indirect")
    }
    everything = run("causalbench/correlation", "gpt4")
    table = one("II", everything, *runs.values())
    assert blocks(table)[1:] == ["Measured here", "Measured here: exact convention"]
    for kind, row in runs.items():
        shown_cell = cell(table, f"f1/correlation_{kind}", network="asia", block="Measured here: exact convention")
        assert shown_cell.value == value(row, "exact", "network", "asia", "f1")
    shown_cell = cell(table, "f1/correlation_direct", network="asia", block="Measured here")
    assert shown_cell.value == value(everything, "paper", "network", "asia", "macro_f1")
    assert cell(table, "f1/correlation_indirect", network="asia", block="Measured here").text == "–"


@pytest.mark.parametrize(
    ("name", "task", "template"), [("X", CAUSALITY, "cause"), ("XXI", "causalbench/correlation", "correlation")]
)
def test_wordings(name, task, template):
    row = run(task, "gpt4")
    kind = {"X": "causality_type1", "XXI": "correlation"}[name]
    shown_cell = cell(one(name, row), "accuracy", template=f"{kind}:question_3", model="gpt4")
    assert shown_cell.value == value(row, "paper", "template", template, "cell_accuracy")


def test_structures_stand_beside_the_printed_ones_and_chains_have_their_mean():
    runs = [run(CAUSALITY, f"gpt{n}", variant="method=2") for n in range(6)]
    first, second = laid("IV", *runs)
    assert [c.over for c in first.columns if c.over.startswith("M")][::2] == [f"Measured: gpt{n}" for n in range(4)]
    assert [c.over for c in second.columns if c.over][::2] == ["Measured: gpt4", "Measured: gpt5"]
    rows = {line.cells[0].text: line.cells[7].value for line in first.lines}
    of = {
        group: value(runs[0], "paper", "structure", group, "macro_f1")
        for group in runs[0].result.scores["paper"]["structure"]
    }
    assert (rows["Direct (1)"], rows["Direct (2)"]) == (of["direct"], of["reversed_direct"])
    assert (rows["Confounder"], rows["Collider"]) == (of["common_cause"], of["common_effect"])
    assert rows["Average of Chain"] == pytest.approx((of["indirect"] + of["reversed_indirect"]) / 2)
    readable = run(CAUSALITY, "gpt4", variant="method=2,names=readable")
    assert laid("IV", readable)[0].columns[-1].over == "Measured: gpt4 (names=readable)"


def test_chains_are_the_published_questions():
    row = run("causalbench/cot", "gpt4")
    table = one("V", row)
    assert cell(table, "accuracy", model="gpt4").value == value(row, "exact", "kind", "chain", "accuracy")
    assert cell(table, "max_chain_length", model="gpt4").value == row.result.overall["longest_chain"]
    assert [c.text for c in table.lines[4].cells] == ["LLAMA-7B", "100%", "24"]


def test_algorithms_stand_in_their_columns_and_others_in_one_of_their_own():
    data = {"samples=1500": (1500, 0), "samples=500": (500, 0)}
    prompts = tuple(data)
    runs = {
        (m, p): run(CAUSALITY, m, variant="method=2", prompt=p, data=data[p]) for m in ("hc", "boss") for p in prompts
    }
    model = run(CAUSALITY, "gpt4_1106", variant="method=2,format=background_data")
    table = one("XI", *runs.values(), model, run(CAUSALITY, "hc", data=data[prompts[0]]))
    measured = [f"Measured here: {name}" for name in (*reversed(prompts), "gpt4_1106")]
    assert blocks(table) == ["Published, not measured here: the paper's own data", *measured]
    assert [c.title for c in table.columns][-2:] == ["ENSAOBS", "boss"]
    for (name, prompt), row in runs.items():
        column = {"hc": "shd/HC", "boss": "shd/boss"}[name]
        shown_cell = cell(table, column, network="alarm", block=f"Measured here: {prompt}")
        assert shown_cell.value == value(row, "exact", "network/structure", "alarm/direct", "shd")
    column = "shd/GPT4-Turbo with B. K. + T. D."
    shown_cell = cell(table, column, network="alarm", block="Measured here: gpt4_1106")
    assert shown_cell.value == value(model, "paper", "network", "alarm", "cell_shd")
    assert [line.cells[-1].text for line in printed_lines(table)] == ["–"] * 14


def learned(missing: int, seed: int, *networks: str):
    """Return the run of an algorithm that misses so many edges of each network."""
    of = causalbench("Causality", method=2, networks=networks)

    def learn(name: str) -> Pattern:
        dag, left = load(name).dag, missing
        rows = []
        for parents in dag:
            while left and parents:
                parents, left = parents & (parents - 1), left - 1
            rows.append(parents)
        return Pattern.of(tuple(rows))

    result = of.summarize(record for record, _ in of.learned(of.items(), learn))
    variant = f"method=2,networks={'+'.join(networks)}"
    return board_row(CAUSALITY, variant, f"samples=500,seed={seed}", "hc", True, result, variant, data=(500, seed))


@pytest.mark.slow
def test_a_sweep_over_seeds_and_networks_is_one_row_each():
    runs = [learned(seed, seed, "asia") for seed in range(5)] + [learned(1, seed, "cancer") for seed in (0, 1)]
    runs += [learned(0, 0, "asia", "cancer"), learned(4, 0, "sachs")]  # asia's seed 0 again: the same graph, once
    table = one("XI", *runs)
    assert blocks(table)[1:] == ["Measured here: samples=500"]
    measured = [line for line in table.lines if line.run]
    assert len(measured) == 14
    asia = cell(table, "shd/HC", network="asia", block="Measured here: samples=500")
    assert (asia.value, asia.text, asia.range) == (2, "2.00", "[0.0, 4.0]")
    half = 2.7764 * 2.5**0.5 / 5**0.5  # Student's t, four degrees of freedom
    assert asia.interval == pytest.approx((2 - half, 2 + half), abs=1e-3)
    sachs = cell(table, "shd/HC", network="sachs", block="Measured here: samples=500")
    assert (sachs.value, sachs.interval) == (4, None)
    assert sum(line.cells[2].text != "–" for line in measured) == 3
    notes = " ".join(table.notes)
    assert "means over the seeds 0, 1, 2, 3, 4" in notes and "Student's t" in notes
    other = board_row(CAUSALITY, "method=2", "samples=1500,seed=0", "hc", True, runs[0].result, "x", data=(1500, 0))
    assert blocks(one("XI", *runs, other))[1:] == ["Measured here: samples=500", "Measured here: samples=1500"]


def test_the_skeletons_own_questions_are_a_set_of_their_own():
    paper = run("causalbench/skeleton", "a", variant="convention=paper", labels={"paper": ("macro_f1", "accuracy")})
    exact = run("causalbench/skeleton", "b", labels={"exact": ("f1", "accuracy")})
    table = one("XIV", paper, exact)
    assert blocks(table)[1:] == ["Measured here: convention=paper", "Measured here: exact convention"]
    assert cell(table, "accuracy/asia", model="a").value == value(paper, "paper", "network", "asia", "accuracy")


def test_the_numbers_made_by_hand_differ():
    numbers = [number(network, metric) for network in NETWORKS for metric in ("f1", "shd")]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize(
    ("name", "at"),
    few([("4", ("published", "overall", "all", "f1")), ("XV", ("paper", "network", "asia", "macro_f1"))], 1),
)
def test_the_projects_own_results(name, at):
    rows = find_runs([str(RESULTS)])
    table = one(name, *rows)
    column = [c.name for c in table.columns].index("f1/asia" if name == "XV" else "f1")
    lines = [line for line in table.lines if line.run]
    assert len(lines) > 2
    assert any("Intervals over 21 clusters are wide" in note for note in table.notes) == (name == "4")
    for line in lines:
        place = RESULTS / table.task / line.run["variant"] / line.run["prompt"] / line.run["model"] / "result.json"
        scores = json.loads(place.read_text(encoding="utf-8"))["scores"]
        labels = "audited" if "audited" in line.run["variant"] else at[0]
        assert line.cells[column].value == scores[labels][at[1]][at[2]][at[3]]
