"""Runs made by hand, every number of which is another one, so that a number tells where it came from."""

from hashlib import sha256

from harness.plugins.papers.preset_tables import lay_out
from harness.plugins.papers.presets import preset
from harness.tasks.causalbench import networks, questions
from harness.types import Metric, Result, Scores, Usage
from support.written_runs import board_row

NETWORKS = networks.NETWORKS[:14]
TEMPLATES = {"correlation": list(questions.CORRELATION), "causality": list(questions.CAUSALITY)}
STRUCTURES = list(questions.STRUCTURES)
RELATIONS = ["parent", "ancestor", "child", "descendant", "collider", "confounder"]
EXACT = ("f1", "precision", "recall", "accuracy", "shd", "sid", "density")
PAPER = ("macro_f1", "cell_accuracy", "cell_shd", "parent_set_errors", "cell_density", "degree")


def number(*place):
    """Return a number between 0 and 1 that hardly any other place has."""
    return int(sha256("|".join(map(str, place)).encode()).hexdigest()[:8], 16) % 9999 / 10000 + 0.0001


def row_of(metrics, place, items, defined=True):
    values = (Metric(name, number(*place, name) if defined else None) for name in metrics)
    return Scores(items, items // 5, 0, 0, tuple(values), clusters=14, resamples=0)


def run(
    task, model, *, variant="default", prompt=None, complete=True, items=None, folder="", labels=None, size=100, **also
):
    """Build a complete run with all breakdowns; `labels` maps names to metrics, `data` is an algorithm's."""
    data = also.get("data")
    if task == "corr2cause":
        labels = labels or {"published": EXACT[:4]}
        parts = {"overall": ["all"], "relation": RELATIONS}
    elif task == "causalbench/cot":
        labels, parts = {"exact": (*EXACT[:4], "longest_chain")}, {"overall": ["all"], "kind": ["chain", "broken"]}
    else:
        second = "method=2" in variant
        name, groups = ("structure", STRUCTURES) if second else ("template", TEMPLATES.get(task.split("/")[1], ["x"]))
        labels = labels or {"exact": EXACT, "paper": PAPER}
        each = [f"{network}/{group}" for network in NETWORKS for group in groups]
        parts = {"overall": ["all"], "network": NETWORKS, name: groups, f"network/{name}": each}
    defined = also.get("known", dict.fromkeys(labels, True))
    scores = {
        label: {
            part: {
                group: row_of(metrics, (task, variant, model, label, part, group), size, defined[label]) for group in g
            }
            for part, g in parts.items()
        }
        for label, metrics in labels.items()
    }
    usual = f"data {data}" if data else "plain" if task == "corr2cause" else "closed"
    result = Result(next(iter(labels)), scores, 14, {}, {}, Usage())
    items = items or sha256(variant.encode()).hexdigest()
    return board_row(task, variant, prompt or usual, model, complete, result, items, folder, data)


def value(run, label, part, group, metric):
    """Return a metric of a run's result."""
    return run.result.scores[label][part][group][metric]


FORMATS = ("variable_name", "background", "data", "background_data")
CAUSALITY = "causalbench/causality"


def laid(name, *rows, **settings):
    return lay_out(preset(name), rows, **settings)


def one(name, *rows, **settings):
    (table,) = laid(name, *rows, **settings)
    return table


def cell(table, column, **where):
    """Return the cell of a column in the measured line whose texts agree with `where`."""
    names = [c.name for c in table.columns]
    fitting = []
    for line in table.lines:
        texts = {c.name: cell.value for c, cell in zip(table.columns, line.cells, strict=True) if c.kind == "text"}
        texts |= {"group": line.group, "block": line.block.title if line.block else "", **line.run}
        if all(texts.get(key) == expected for key, expected in where.items()):
            fitting.append(line)
    assert len(fitting) == 1, where
    return fitting[0].cells[names.index(column)]


def printed_lines(table):
    return [line for line in table.lines if line.block is None or line.block.published]


def blocks(table):
    return list(dict.fromkeys(line.block.title for line in table.lines))


def every_run():
    """Return runs that fill something in each table."""
    runs = [run("corr2cause", m, variant=v) for m in ("gpt4", "always_no") for v in ("default", "version=v1")]
    runs += [run("corr2cause", "gpt4", variant=f"perturbation={p}") for p in ("paraphrase", "refactorization")]
    runs.append(run("corr2cause", "gpt4", prompt="enhanced"))
    runs += [run(CAUSALITY, "gpt4", variant=v) for v in ("default", "method=2")]
    runs += [run(CAUSALITY, "gpt4", variant=f"method=2,format={f}") for f in FORMATS[1:]]
    runs += [run(CAUSALITY, m, variant="method=2", data=(500, 0)) for m in ("hc", "boss")]
    runs += [run("causalbench/correlation", "gpt4", variant=v) for v in ("default", "kind=direct", "kind=indirect")]
    runs += [run("causalbench/cot", "gpt4"), run("causalbench/skeleton", "gpt4", variant="convention=paper")]
    return runs
