"""harness discover as a user types it, the answers that a learned graph gives, and the runs that ship."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from harness_discovery import PLUGIN
from harness_discovery.command import table
from harness_discovery.patterns import read
from support.thinned import few
from support.written_runs import board_row
from support_discovery import edges_of

from harness.causal.dag import topological_order
from harness.causal.learned_graph import Pattern
from harness.leaderboard.comparable import find_runs
from harness.settings import build, class_of
from harness.storage.manifest import MOVED
from harness.storage.runs import load as load_run
from harness.tables.write import markdown
from harness.tasks.causalbench import Causality
from harness.tasks.causalbench.networks import load
from harness.verify.run import problems_of

SHIPPED = Path(__file__).parents[3] / "results/shipped/causalbench/causality/method=2"


def cells(output: str, *names: str) -> list[str]:
    """Return the cells of the row that begins with the names."""
    lines = ([cell.strip() for cell in line.strip("| ").split("|")] for line in output.splitlines() if "|" in line)
    return next(line[len(names) :] for line in lines if line[: len(names)] == list(names))


def task(**settings) -> Causality:
    return Causality("causalbench/causality", ("closed",), networks=("cancer",), **settings)


def answered(of: Causality) -> list:
    """Return the records of who has learned the true graphs."""
    return list(of.learned(of.items(), lambda name: Pattern.of(load(name).dag)))


@pytest.mark.parametrize("method", [1, 2])
def test_the_true_graph_answers_everything_right(method):
    of = task(method=method)
    records = answered(of)
    overall = of.summarize(records).scores["exact"]["overall"]["all"]
    assert overall["f1"] == overall["accuracy"] == 1
    assert overall["shd" if method == 2 else "shd_closure"] == 0
    assert all(record.request is None for record in records)


def test_an_undirected_edge_counts_as_both_directions():
    # cancer's variables: Pollution, Smoker, Cancer, Xray, Dyspnoea; one undirected edge Smoker – Cancer.
    pattern, of = Pattern((0,) * 5, (0, 1 << 2, 1 << 1, 0, 0)), task(method=2)
    records = list(of.learned(of.items(), lambda _: pattern))
    assert [record.item for record in records if record.answer.label] == [
        f"cancer/{structure}/{pair}"
        for structure in ("direct", "reversed_direct")
        for pair in ("Smoker/Cancer", "Cancer/Smoker")
    ]
    # Three of the four true edges are missing, the fourth has no direction: four errors.
    assert of.summarize(records).scores["exact"]["structure"]["direct"]["shd"] == 4


def test_a_run_leaves_records_scores_and_the_graph_where_models_leave_theirs(harness, tmp_path):
    settings = ("algorithm=hc", "network=[asia,cancer]", "samples=2000", "seed=3")
    process = harness("discover", *settings, fresh=True)
    assert process.returncode == 0, process.stderr
    place = tmp_path / "results/causalbench/causality/method=2,networks=asia+cancer/samples=2000,seed=3/hc"
    result = json.loads((place / "result.json").read_text())
    assert result["complete"] and result["run"]["model"] == "hc"
    lines = [json.loads(line) for line in (place / "records.jsonl").read_text().splitlines()]
    assert len(lines) == 6 * (56 + 20) and all(line["request"] is None for line in lines)
    graph = read(place / "graphs/cancer/direct.csv")
    yes = [line["item"] for line in lines if "cancer/direct/" in line["item"] and line["answer"]["label"]]
    names = load("cancer").variables
    edges = {(names[u], names[v]) for u, v in edges_of(graph.directed)}
    assert edges == {tuple(item.split("/")[2:]) for item in yes} and not any(graph.undirected)
    topological_order(graph.directed)
    shd, class_shd, aid, _ = cells(process.stdout, "asia", "hc", "2,000", "1")
    assert float(shd) == result["scores"]["exact"]["network/structure"]["asia/direct"]["shd"]
    assert 0 <= float(class_shd) <= 28 and 0 <= float(aid) <= 56 and cells(process.stdout, "cancer", "hc")
    run = load_run(place)
    assert (run.role, run.data) == ("algorithm", {"observations": 2000, "seed": 3})
    assert list(problems_of(place)) == []
    assert "| hc" in harness("results", "out=-", module="harness.leaderboard").stdout
    other = harness("discover", *settings, "algorithm.max_parents=1")
    assert other.returncode == 1 and "algorithm.name=" in other.stderr


@pytest.mark.slow
def test_a_sweep_over_seeds_gives_an_interval(harness, tmp_path):
    process = harness("discover", "-m", "algorithm=hc,mmhc", "network=asia", "seed=0,1,2")
    assert process.returncode == 0, process.stderr
    rows = [row for row in find_runs([str(tmp_path / "results")]) if row.model == "hc"]
    shd = [row.result.scores["exact"]["network/structure"]["asia/direct"]["shd"] for row in rows]
    mean, half = (float(number) for number in cells(process.stdout, "asia", "hc", "500", "3")[0].split(" ± "))
    assert mean == pytest.approx(sum(shd) / 3, abs=0.05)
    spread = (sum((x - mean) ** 2 for x in shd) / 2) ** 0.5
    assert half == pytest.approx(4.3027 * spread / 3**0.5, abs=0.06)  # Student's t, two degrees of freedom


@pytest.mark.parametrize(
    ("arguments", "message"),
    few(
        [
            ("algorithm=hcc", "did you mean 'hc'?"),
            ("samples=1", "samples=1: input should be greater than 1"),
            ("algorithm.alpa=1", "there is no setting 'algorithm.alpa'"),
            ("algorithm=mmhc algorithm.alpha=2", "algorithm.alpha=2: input should be less than 1"),
            ("task=corr2cause", "answers the questions of task=causalbench/causality"),
            ("task.format=data", "task.format: an algorithm reads no words"),
            ("algorithm=exact network=insurance", "at most 12 variables, and the network has 27"),
        ],
        4,
    ),
)
def test_bad_input_gets_one_sentence(harness, arguments, message):
    process = harness("discover", *arguments.split())
    lines = process.stderr.strip().splitlines()
    assert process.returncode == 1 and message in lines[-1], process.stderr


def test_help_lists_the_algorithms_without_heavy_imports(harness):
    process = harness("discover", "--help")
    assert all(f"  {name}" in process.stdout for name in ("pc", "fci", "ges", "boss", "grasp", "exact", "hc", "mmhc"))
    code = (
        "import sys; sys.argv = ['discover', '--help']\n"
        "from harness_discovery.command import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(sorted({'numpy', 'scipy', 'pandas', 'torch', 'causallearn', 'pgmpy'} & set(sys.modules)))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.endswith("[]\n")


@pytest.mark.parametrize("file", sorted((PLUGIN.home / "configs/algorithm").glob("*.yaml")), ids=lambda file: file.stem)
def test_every_algorithm_is_built_from_its_file_with_its_class_defaults(file: Path):
    algorithm = build(yaml.safe_load(file.read_text()), "algorithm")
    assert algorithm == type(algorithm)(name=file.stem)


def test_a_graph_that_was_not_asked_about_whole_has_a_dash():
    for limit in (1, 60):
        of = task(method=2, limit=limit)
        result = of.summarize(answered(of))
        row = board_row("causalbench/causality", "v", "any name", "hc", True, result, data=(10, 0))
        assert cells(markdown(table([row])), "cancer", "hc", "10", "1")[:3] == ["–"] * 3


@pytest.mark.parametrize("name", sorted(new for new in MOVED.values() if new.startswith("harness_discovery.")))
def test_each_class_that_moved_here_is_where_the_table_says(name):
    assert class_of(name, "algorithm").__name__ == name.rpartition(".")[2]


@pytest.mark.slow
def test_the_runs_that_ship_hold():
    runs = sorted(SHIPPED.glob("samples=*/*"))
    assert {run.name for run in runs} == {"pc", "hc", "mmhc", "boss"} and len(runs) == 8
    assert [problem for run in runs for problem in problems_of(run)] == []


def test_one_that_ships_is_what_the_algorithm_learns_today(harness, tmp_path):
    process = harness("discover", "algorithm=boss", "network=[asia,sachs]")
    assert process.returncode == 0, process.stderr
    for file in tmp_path.glob("results/causalbench/causality/*/*/boss/graphs/*/direct.csv"):
        shipped = SHIPPED / "samples=500,seed=0/boss/graphs" / file.parent.name / file.name
        assert file.read_bytes() == shipped.read_bytes()
