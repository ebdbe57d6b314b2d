"""Charts of runs as values, for the page and for the figures of a paper; sets, order and names are those of tables.

A chart is a JSON object with kind, id (the same whatever other results there are), task, heading (as above the
leaderboard's tables), title, notes, and by its kind:

    scores       metric; rows: value, interval, items, clusters
    heat         breakdown, metrics, columns (group, title, items, positives); rows: cells, each None or
                 items, positives, and by metric values and intervals
    confusion    rows: counts (tp, fp, fn, tn, and positives and negatives that were unreadable or failed)
    robustness, names, directness    metric, steps; rows: points, each None or run, value, interval
    cost         metric, unit (USD); rows: x (of 1,000 items), value, interval
    scale        metric, networks (name, nodes, edges, scale); rows: values, intervals
    reliability  source (probability or stated); rows: bins, ece, and error and brier with their intervals

Every row has run, label and role besides. Values are fractions or None where undefined, intervals [low, high] or None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from msgspec import structs

from harness.errors import DataError
from harness.leaderboard.comparable import capitalized, comparable_sets, heading_of, items_text, sort_key
from harness.leaderboard.series import RunSetting, Series, series_of, sets_of, steps_of
from harness.plot.names import id_prefixes, labels, run_ids, shared_data
from harness.plugin import load
from harness.scoring.definitions import definition, leading_first, main_metrics
from harness.scoring.probabilities import reliability
from harness.storage.replies import ReplyReader
from harness.storage.runs import Run
from harness.tables.numbers import shown
from harness.tables.results import interval_notes
from harness.tasks.benchmark import PERTURBATION, benchmark_of
from harness.types import JSON, Scores

Chart = dict[str, JSON]
Row = dict[str, JSON]

STEPS = {
    "robustness": (RunSetting("task", PERTURBATION), "when the questions are perturbed"),
    "names": (RunSetting("task", "names"), "with original and with readable names"),
    "directness": (RunSetting("task", "kind"), "on pairs directly related, and not"),
}
"""The kinds of chart whose steps are the values of a setting, with it and the end of their titles."""
_COUNTS = ("tp", "fp", "fn", "tn", "unreadable_positive", "unreadable_negative", "failed_positive", "failed_negative")
_BINS = (
    "Each mark is a tenth of the answers (more where many have one probability): the mean probability of Yes (across) "
    "and the share of which Yes is right (up). Lines: 95% over clusters. On the diagonal a model is calibrated.",
    "Error: the root of the mean squared distance from the diagonal, without noise. ECE: the mean distance, which noise"
    " makes larger. Brier: the mean squared error of the probabilities.",
)
_STATED = (
    "Stated: how sure of its answer a reply says it is, as a probability of Yes; it is none that the model computed."
)
_RELIABILITY = {
    "probability": ("Reliability of the probabilities of Yes", _BINS),
    "stated": ("Reliability of the confidence that replies state", (*_BINS, _STATED)),
}
_BREAKDOWNS = {"num_nodes": "number of variables", "argument": "length of the shortest argument"}


def points_of(row: Mapping[str, JSON]) -> list[tuple[float | None, list[float] | None]]:
    """Return the values and intervals of a row of scores, of steps or of networks; None where there is none."""
    if "points" in row:
        return [(point["value"], point["interval"]) if point else (None, None) for point in row["points"]]
    if "values" in row:
        return list(zip(row["values"], row["intervals"], strict=True))
    return [(row["value"], row["interval"])]


def charts_of(runs: Sequence[Run], replies: ReplyReader | None = None) -> list[Chart]:
    """Return the charts of all tasks. Incomplete runs are in none; none mixes item sets or headline label sets.

    The one exception is robustness, whose steps are the same questions in other words. `replies` reads what has
    not been read for another purpose.
    """
    replies = replies or ReplyReader()
    # Runs hold dictionaries and have no hash, so names go by id().
    names = {id(run): name for run, name in zip(runs, run_ids(runs), strict=True)}
    charts: list[Chart] = []
    for task in sorted({run.task for run in runs}):
        of_task = [run for run in runs if run.task == task and run.sound]
        sets = comparable_sets(of_task)
        for comparable, prefix in zip(sets, id_prefixes(task, [members.runs for members in sets]), strict=True):
            charts += _ChartsOfSet(task, prefix, comparable.heading, comparable.runs, names, replies).charts()
        for kind in STEPS:
            charts += _steps_charts(task, of_task, names, kind)
    return charts


class _ChartsOfSet:
    """The charts of runs that may stand side by side."""

    def __init__(
        self, task: str, prefix: str, heading: str, runs: Sequence[Run], names: Mapping[int, str], replies: ReplyReader
    ) -> None:
        """Name the runs: `prefix` begins the ids of charts, `names` are the runs' by their id()."""
        self.task, self.prefix, self.heading, self.runs, self.replies = task, prefix, heading, runs, replies
        self.overall = [run.result.overall for run in runs]
        self.parts = [run.result.scores[run.result.headline] for run in runs]
        named = zip(runs, labels(runs), strict=True)
        self.refs: list[Row] = [{"run": names[id(run)], "label": label, "role": run.role} for run, label in named]
        data = ", ".join(shared_data(runs))
        self.data = [f"The data of all algorithms: {data}."] if data else []
        self.metrics = list(dict.fromkeys(name for scores in self.overall for name in main_metrics(scores)))

    def charts(self) -> Iterator[Chart]:
        """Yield all charts, in the order in which they are shown."""
        for metric in self.metrics:
            yield self._scores(metric)
        for breakdown in dict.fromkeys(name for parts in self.parts for name in parts):
            if breakdown != "overall" and "/" not in breakdown:
                yield self._heat(breakdown)
        counts = [scores.confusion for scores in self.overall]
        rows = self._rows({"counts": {name: of.get(name, 0) for name in _COUNTS}} if of else None for of in counts)
        if rows:
            yield self._chart("confusion", "Answers by what is true and what was said", rows)
        yield from self._reliabilities()
        for metric in self.metrics:
            yield from self._costs(metric)
        yield from self._scales()

    def _chart(self, name: str, title: str, rows: Sequence[Row], notes: Sequence[str] = (), **body: JSON) -> Chart:
        """Return a chart whose id ends with a name that begins with its kind."""
        return {
            "kind": name.partition("/")[0],
            "id": f"{self.prefix}/{name}",
            "task": self.task,
            "heading": self.heading,
            "title": title,
            "notes": [*notes, *self.data],
            **body,
            "rows": rows,
        }

    def _rows(self, of_runs: Iterable[Row | None]) -> list[Row]:
        """Return a row for each run that has something, with its names."""
        return [{**ref, **row} for ref, row in zip(self.refs, of_runs, strict=True) if row is not None]

    def _scores(self, metric: str) -> Chart:
        """Return the chart of a leaderboard's column."""
        rows = self._rows(
            {**_point(scores, metric), "items": scores.items, "clusters": scores.clusters} for scores in self.overall
        )
        notes = _interval_notes(self.overall)
        return self._chart(f"scores/{metric}", f"{_title(metric)} by model", rows, notes, metric=metric)

    def _heat(self, breakdown: str) -> Chart:
        """Return the heat map of a breakdown: a row for each run, a column for each group."""
        parts: list[Mapping[str, Scores]] = [part.get(breakdown, {}) for part in self.parts]
        groups = {group: scores for part in reversed(parts) for group, scores in part.items()}
        groups = {group: groups[group] for part in parts for group in part}
        names = {metric.name for part in parts for scores in part.values() for metric in scores.metrics}
        metrics = [name for name in leading_first(names) if definition(name).in_heat_maps]
        columns = [
            {"group": group, "title": group.replace("_", " "), "items": first.items, "positives": first.positives}
            for group, first in groups.items()
        ]
        rows = self._rows({"cells": [_cell(part.get(group), metrics) for group in groups]} for part in parts)
        title = f"Scores by {_BREAKDOWNS.get(breakdown, breakdown.replace('_', ' '))}"
        return self._chart(f"heat/{breakdown}", title, rows, breakdown=breakdown, metrics=metrics, columns=columns)

    def _reliabilities(self) -> Iterator[Chart]:
        """Yield reliability diagrams: of the probabilities that runs have given, and of the confidence they state."""
        given: list[dict[str, list[tuple[int, float, str]]]] = []
        missing = []
        for ref, run in zip(self.refs, self.runs, strict=True):
            asked = bool((run.manifest.words or {}).get("confidence"))
            given.append({})
            if not run.result.choices and (run.result.overall.metric("brier") or asked):
                try:
                    given[-1] = _predictions(run, self.replies)
                except DataError:
                    missing.append(str(ref["label"]))
        notes = [f"Not in it, as their records are not here: {', '.join(missing)}."] if missing else []
        for source, (title, about) in _RELIABILITY.items():
            rows = self._rows(reliability(of_run[source]) if of_run.get(source) else None for of_run in given)
            if rows:
                yield self._chart(f"reliability/{source}", title, rows, [*about, *notes], source=source)

    def _costs(self, metric: str) -> Iterator[Chart]:
        """Yield the chart of scores against what models cost, where that is known of one."""
        rows, missing = [], []
        models = [run for run in self.runs if run.role == "model"]
        for ref, run, scores in zip(self.refs, self.runs, self.overall, strict=True):
            if run.role == "model" and run.usd is not None and scores[metric] is not None and scores.items:
                rows.append({**ref, "x": 1000 * run.usd / scores.items, **_point(scores, metric)})
            elif run.role == "model":
                missing.append(str(ref["label"]))
        lacking = f"Not in it, as USD or {definition(metric).title} are not known: {', '.join(missing)}."
        notes = [*([lacking] if missing else []), *_interval_notes([run.result.overall for run in models])]
        if rows:
            title = f"{_title(metric)} against USD per 1,000 items"
            yield self._chart(f"cost/{metric}/usd", title, rows, notes, metric=metric, unit="USD")

    def _scales(self) -> Iterator[Chart]:
        """Yield scores by network, smallest first, where the benchmark knows the sizes of its networks."""
        names = {name for part in self.parts for name in part.get("network", {})}
        sizes = benchmark_of(self.task).graph_sizes
        if len(names) < 2 or not sizes or not (graphs := load(sizes)(names)):
            return
        graphs = sorted(graphs, key=lambda graph: (graph.nodes, graph.edges))
        networks = [{"name": g.name, "nodes": g.nodes, "edges": g.edges, "scale": g.scale} for g in graphs]
        parts = [[part.get("network", {}).get(graph.name) for graph in graphs] for part in self.parts]
        notes = _interval_notes([scores for part in parts for scores in part if scores])
        for metric in self.metrics:
            points = [[_point(scores, metric) if scores else {} for scores in part] for part in parts]
            rows = self._rows(
                {f"{name}s": [of.get(name) for of in of_run] for name in ("value", "interval")} for of_run in points
            )
            title = f"{_title(metric)} by number of variables"
            yield self._chart(f"scale/{metric}", title, rows, notes, metric=metric, networks=networks)


def _predictions(run: Run, replies: ReplyReader) -> dict[str, list[tuple[int, float, str]]]:
    """Return (label, probability of Yes, cluster) of each answer that has one, by where the probability is from.

    A stated confidence is one in the answer given, so that of a No what it leaves is the probability of Yes.
    """
    given: dict[str, list[tuple[int, float, str]]] = {"probability": [], "stated": []}
    for reply in replies.of(run):
        gold, probability, confidence = dict(reply.labels)[run.result.headline], reply.probability, reply.confidence
        if probability is not None and math.isfinite(probability):
            given["probability"].append((gold, probability, reply.cluster))
        if confidence is not None:
            given["stated"].append((gold, confidence if reply.answer else 1 - confidence, reply.cluster))
    return given


def _interval_notes(rows: Sequence[Scores]) -> list[str]:
    """Return the notes on intervals, for charts that draw them as lines."""
    return [note.replace("In brackets:", "Lines:") for note in interval_notes(rows)]


def _title(metric: str) -> str:
    return capitalized(definition(metric).title)


def _point(scores: Scores, name: str) -> Row:
    """Return a metric's value and interval."""
    metric = shown(scores, name)
    return {"value": metric.value, "interval": metric.interval and list(metric.interval)}


def _cell(scores: Scores | None, metrics: Sequence[str]) -> Row | None:
    if scores is None:
        return None
    points = {name: _point(scores, name) for name in metrics}
    values, intervals = ({name: of[part] for name, of in points.items()} for part in ("value", "interval"))
    return {"items": scores.items, "positives": scores.positives, "values": values, "intervals": intervals}


def _steps_charts(task: str, runs: Sequence[Run], names: Mapping[int, str], kind: str) -> Iterator[Chart]:
    """Yield a chart for each set of chains and metric."""
    setting, ending = STEPS[kind]
    if setting.name == PERTURBATION:
        perturbations = benchmark_of(task).perturbations.values()
        runs = [run for run in runs if setting.step(run) in perturbations]
    sets = sets_of([chain for chain in series_of(runs, setting) if len(chain.by_step) > 1])
    without = [[_without(chain.first, setting) for chain in members] for members in sets]
    prefixes, headings = id_prefixes(task, without), _headings(sets, without, setting)
    for members, prefix, heading in zip(sets, prefixes, headings, strict=True):
        chains = sorted(members, key=lambda chain: sort_key(chain.first))
        known = [run for chain in chains for run in chain.by_step.values()]
        steps = steps_of(known, setting)
        of_chains = labels([_without(chain.first, setting) for chain in chains])
        for metric in dict.fromkeys(name for chain in chains for name in main_metrics(chain.first.result.overall)):
            rows = []
            for chain, label in zip(chains, of_chains, strict=True):
                of_steps = [chain.by_step.get(step) for step in steps]
                points = [run and {"run": names[id(run)], **_point(run.result.overall, metric)} for run in of_steps]
                first = chain.first
                rows.append({"run": names[id(first)], "label": label, "role": first.role, "points": points})
            yield {
                "kind": kind,
                "id": f"{prefix}/{kind}/{metric}",
                "task": task,
                "heading": heading,
                "title": f"{_title(metric)} {ending}",
                "notes": _interval_notes([run.result.overall for run in known]),
                "metric": metric,
                "steps": steps,
                "rows": rows,
            }


def _headings(sets: Sequence[Sequence[Series]], without: Sequence[Sequence[Run]], setting: RunSetting) -> list[str]:
    """Return the settings of each set in words, and where these do not tell it from another the items of its steps.

    Nothing for a single set of the default.
    """
    several = len({runs[0].result.headline for runs in without}) > 1
    plain = [heading_of(runs, labels=several) for runs in without]
    if len(sets) == 1 and not any(setting.other_settings(chain.first) for chain in sets[0]):
        return [""]
    headings = []
    for heading, members in zip(plain, sets, strict=True):
        items = {step: items_text(run) for chain in members for step, run in chain.by_step.items()}
        own = [f"{step}: {text}" for step, text in items.items()] if plain.count(heading) > 1 else []
        headings.append("; ".join([heading, *own]))
    return headings


def _without(run: Run, setting: RunSetting) -> Run:
    """Return the run with the variant and the settings that all of its chain share."""
    place = {**run.place, "variant": setting.other_variant(run)}
    configuration = {**run.configuration, "task": setting.other_settings(run)}
    return replace(run, place=place, manifest=structs.replace(run.manifest, configuration=configuration))
