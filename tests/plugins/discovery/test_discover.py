"""harness discover as a user types it, and the answers that a learned graph gives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest
import yaml
from support.causalbench_help import table_of
from support.thinned import few
from support.written_runs import board_row

from harness.causal.learned_graph import Pattern
from harness.config_files import CONFIGS
from harness.leaderboard.comparable import find_runs
from harness.plugin import plugins
from harness.plugins.discovery.discover import table
from harness.plugins.papers.preset_tables import lay_out
from harness.plugins.papers.presets import preset
from harness.settings import build
from harness.storage.runs import load as load_run
from harness.tables.markdown_csv_json import markdown
from harness.tasks import find
from harness.tasks.causalbench import Causality
from harness.tasks.causalbench.networks import load


def cells(output: str, *names: str) -> list[str]:
    """Return the cells of the row that begins with the names."""
    lines = ([cell.strip() for cell in line.strip("| ").split("|")] for line in output.splitlines() if "|" in line)
    return next(line[len(names) :] for line in lines if line[: len(names)] == list(names))


def task(**settings) -> Causality:
    return Causality("causalbench/causality", ("closed",), networks=("cancer",), **settings)


def answered(pattern: Pattern, **settings) -> dict[str, int]:
    of = task(**settings)
    return {record.item: record.answer.label for record, _ in of.learned(of.items(), lambda _: pattern)}


@pytest.mark.parametrize("method", [1, 2])
def test_the_true_graph_answers_everything_right(method):
    of = task(method=method)
    records = [record for record, _ in of.learned(of.items(), lambda name: Pattern.of(load(name).dag))]
    result = of.summarize(records)
    overall = result.scores["exact"]["overall"]["all"]
    assert overall["f1"] == overall["accuracy"] == 1
    assert overall["shd" if method == 2 else "shd_closure"] == 0
    assert all(record.request is None for record in records)


def test_an_undirected_edge_counts_as_both_directions():
    # cancer's variables: Pollution, Smoker, Cancer, Xray, Dyspnoea; one undirected edge Smoker – Cancer.
    pattern = Pattern((0,) * 5, (0, 1 << 2, 1 << 1, 0, 0))
    answers = answered(pattern, method=2)
    assert [name for name, yes in answers.items() if yes] == [
        f"cancer/{structure}/{pair}"
        for structure in ("direct", "reversed_direct")
        for pair in ("Smoker/Cancer", "Cancer/Smoker")
    ]
    of = task(method=2)
    result = of.summarize(record for record, _ in of.learned(of.items(), lambda _: pattern))
    # Three of the four true edges are missing, the fourth has no direction: four errors.
    assert result.scores["exact"]["structure"]["direct"]["shd"] == 4
    assert result.scores["paper"]["structure"]["direct"]["cell_shd"] == 4


def test_a_run_leaves_records_scores_and_the_graph_where_models_leave_theirs(harness, tmp_path):
    settings = ("algorithm=hc", "network=cancer", "samples=2000", "seed=3")
    process = harness(*settings, module="harness.discover", fresh=True)
    assert process.returncode == 0, process.stderr
    place = tmp_path / "results/causalbench/causality/method=2,networks=cancer/samples=2000,seed=3/hc"
    result = json.loads((place / "result.json").read_text())
    assert result["complete"] and result["run"]["model"] == "hc"
    lines = [json.loads(line) for line in (place / "records.jsonl").read_text().splitlines()]
    assert len(lines) == 6 * 20 and all(line["request"] is None for line in lines)
    _, answers = table_of((place / "graphs/cancer/direct.csv").read_text())
    graph = nx.DiGraph([pair for pair, cell in answers.items() if cell == "1"])
    yes = {
        tuple(line["item"].split("/")[2:]) for line in lines if "/direct/" in line["item"] and line["answer"]["label"]
    }
    assert set(graph.edges) == yes and nx.is_directed_acyclic_graph(graph)
    shd, published = cells(process.stdout, "cancer", "hc", "2,000", "1")[:2]
    assert float(shd) == result["scores"]["exact"]["network/structure"]["cancer/direct"]["shd"]
    assert published == "4"  # Table XI, Cancer, HC
    manifest = json.loads((place / "manifest.json").read_text())
    assert manifest["configuration"]["model"]["score"] == "bic"
    assert manifest["configuration"]["data"] == {"observations": 2000, "seed": 3}
    run = load_run(place)
    assert (run.role, run.data) == ("algorithm", {"observations": 2000, "seed": 3})


def test_it_stands_on_the_leaderboard_of_the_models(harness):
    harness("model=always_no", "task=causalbench/causality", "task.method=2", "task.networks=cancer")
    harness("algorithm=mmhc", "network=cancer", module="harness.discover")
    process = harness(module="harness.leaderboard")
    assert "| always_no" in process.stdout and "| mmhc" in process.stdout
    assert process.stdout.count("\n### Method") == 1


def test_the_empty_graph_and_the_best_network_stand_beside_the_others(harness, tmp_path):
    for algorithm in ("empty", "exact"):
        harness(f"algorithm={algorithm}", "network=[asia,cancer]", module="harness.discover")
    rows = {row.model: row for row in find_runs([str(tmp_path / "results")])}
    empty = rows["empty"].result.scores["exact"]
    assert empty["network/structure"]["asia/direct"]["shd"] == 8 and empty["overall"]["all"]["f1"] == 0
    assert [(rows[name].role, rows[name].ranked) for name in ("empty", "exact")] == [
        ("baseline", False),
        ("algorithm", True),
    ]
    (table,) = lay_out(preset("XI"), list(rows.values()))
    assert [column.title for column in table.columns][-2:] == ["empty", "exact"]
    asia = next(line for line in table.lines if line.run and line.cells[0].text == "Asia")
    assert asia.cells[-2].value == 8 > asia.cells[-1].value


@pytest.mark.slow
def test_a_sweep_over_seeds_gives_an_interval(harness, tmp_path):
    process = harness(
        "-m", "algorithm=hc,mmhc", "network=asia", "samples=500", "seed=0,1,2", module="harness.discover"
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    shd = [
        json.loads(file.read_text())["scores"]["exact"]["network/structure"]["asia/direct"]["shd"]
        for file in sorted(tmp_path.glob("results/causalbench/*/*/*/hc/result.json"))
    ]
    assert len(shd) == 3
    cell = cells(process.stdout, "asia", "hc", "500", "3")[0]
    mean, half = (float(number) for number in cell.split(" ± "))
    assert mean == pytest.approx(sum(shd) / 3, abs=0.05)
    spread = (sum((x - mean) ** 2 for x in shd) / 2) ** 0.5
    assert half == pytest.approx(4.3027 * spread / 3**0.5, abs=0.06)  # Student's t, two degrees of freedom
    assert len(list(tmp_path.glob("results/.sweeps/*/LEADERBOARD.md"))) == 1


@pytest.mark.slow
def test_one_seed_learned_alone_and_among_others_counts_once(harness):
    process = harness("-m", "network=[asia,cancer],asia", "samples=100", module="harness.discover")
    assert "±" not in process.stdout and cells(process.stdout, "asia", "hc", "100", "1")


def test_one_run_can_take_several_networks(harness, tmp_path):
    process = harness("network=[asia,cancer]", "samples=100", module="harness.discover")
    assert cells(process.stdout, "asia", "hc", "100") and cells(process.stdout, "cancer", "hc", "100")
    assert len(list(tmp_path.glob("results/**/result.json"))) == 1


def test_runs_of_the_first_method_get_the_leaderboard(harness):
    process = harness("network=cancer", "task.method=1", "samples=100", module="harness.discover")
    assert process.returncode == 0 and "## causalbench/causality" in process.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    few(
        [
            ("algorithm=hcc", "did you mean 'hc'?"),
            ("network=asai", "did you mean asia?"),
            ("samples=1", "samples=1: input should be greater than 1"),
            ("samples=many", "samples=many:"),
            ("algorithm.alpa=1", "there is no setting 'algorithm.alpa'"),
            ("algorithm=mmhc algorithm.alpha=2", "algorithm.alpha=2: input should be less than 1"),
            ("task=causalbench/correlation", "answers the questions of task=causalbench/causality"),
            ("task=corr2cause", "answers the questions of task=causalbench/causality"),
            ("task.format=data", "task.format: an algorithm reads no words"),
            ("seed=-1", "seed=-1: input should be greater than or equal to 0"),
            ("algorithm=null", "takes one name"),
            (
                "algorithm=exact network=[asia,insurance]",
                "at most 20 variables, and insurance has 27: network=[asia], or",
            ),
        ],
        4,
    ),
)
def test_bad_input_gets_one_sentence(harness, arguments, message):
    process = harness(*arguments.split(), module="harness.discover")
    lines = process.stderr.strip().splitlines()
    assert process.returncode == 1 and len(lines) == 1 and message in lines[0], process.stderr


def test_a_folder_of_other_settings_is_refused_with_the_setting_that_renames(harness):
    harness("network=cancer", "algorithm.score=bdeu", module="harness.discover")
    process = harness("network=cancer", module="harness.discover")
    assert process.returncode == 1 and "algorithm.name=" in process.stderr


def test_what_was_published_of_other_algorithms_stands_in_the_table(harness):
    process = harness("network=cancer", "samples=50", module="harness.discover")
    assert cells(process.stdout, "cancer", "MIGA (published)")[:4] == ["–", "–", "–", "3"]


def test_an_algorithm_written_after_a_printed_one_has_its_number_beside_it(harness, tmp_path):
    process = harness("algorithm=genetic", "network=cancer", "samples=50", module="harness.discover")
    assert cells(process.stdout, "cancer", "genetic", "50", "1")[1] == "3"
    assert "MIGA (published)" not in process.stdout and "ENSAOBS (published)" in process.stdout
    (table,) = lay_out(preset("XI"), find_runs([str(tmp_path / "results")]))
    at = [column.title for column in table.columns].index("MIGA")
    measured = [line.cells[at].value for line in table.lines if line.run and line.cells[at].value is not None]
    assert len(measured) == 1


def test_help_lists_the_algorithms_without_heavy_imports(harness):
    process = harness("--help", module="harness.discover")
    assert all(f"  {name}" in process.stdout for name in ("pc", "mmhc", "boss", "empty", "exact", "dag_gnn", "genetic"))
    code = (
        "import sys; sys.argv = ['discover', '--help']\n"
        "from harness.plugins.discovery.discover import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'torch', 'causallearn'} & set(sys.modules)))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.endswith("[]\n")


@pytest.mark.parametrize("file", sorted((CONFIGS / "algorithm").glob("*.yaml")), ids=lambda file: file.stem)
def test_every_algorithm_is_built_from_its_file_with_its_class_defaults(file: Path):
    settings = yaml.safe_load(file.read_text())
    if "defaults" in settings:
        base = yaml.safe_load((CONFIGS / "algorithm" / f"{settings.pop('defaults')[0]}.yaml").read_text())
        assert build(base | settings, "algorithm").identity != build(base, "algorithm").identity
    else:
        algorithm = build(settings, "algorithm")
        assert algorithm == type(algorithm)(name=file.stem)


@pytest.mark.parametrize("limit", [1, 60])
def test_a_graph_that_was_not_asked_about_whole_has_a_dash(limit):
    of = task(method=2, limit=limit)
    records = [record for record, _ in of.learned(of.items(), lambda name: Pattern.of(load(name).dag))]
    result = of.summarize(records)
    row = board_row("causalbench/causality", "v", "any name", "hc", True, result, data=(10, 0))
    assert cells(markdown(table([row])), "cancer", "hc", "10", "1")[0] == "–"


def test_without_the_plug_in_of_papers_the_published_column_is_one_sentence(monkeypatch):
    runs = find_runs(["results/shipped/causalbench/causality/method=2/samples=500,seed=0"])
    with_papers = markdown(table(runs))
    assert "Table XI |" in with_papers and "(published)" in with_papers and "is not shown" not in with_papers
    monkeypatch.setattr(find, "plugins", lambda: [plugin for plugin in plugins() if plugin.name != "papers"])
    find._shipped.cache_clear()
    try:
        without = markdown(table(runs))
    finally:
        find._shipped.cache_clear()
    assert "Table XI |" not in without and "(published)" not in without
    assert without.count("Table XI is not shown: it comes with the plug-in papers, not installed.") == 1
    assert len({line.count("|") for line in without.splitlines() if line.startswith("|")}) == 1
    shd = [cells(text, "asia", "hc", "500", "1")[0] for text in (with_papers, without)]
    assert shd[0] == shd[1]
