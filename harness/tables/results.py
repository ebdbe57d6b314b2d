"""Results as tables, and the remarks that belong beside them."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from harness.scoring.audit import audit_note
from harness.scoring.bootstrap import LEVEL, METHOD, SEED
from harness.scoring.definitions import definition, main_metrics, of_counts
from harness.scoring.grades import FIRM, GRADES
from harness.scoring.replies import OUT_OF_FORM
from harness.tables.numbers import (
    YES,
    counts_of,
    even_decimals,
    metric_text,
    metrics_of,
    number_cell,
    number_column,
    yes_share,
)
from harness.tables.table import Cell, Column, Line, Table
from harness.types import Result, Scores

FEW = 30
"""With fewer clusters than this a remark says that there are few."""
FEW_ITEMS = 10
"""A breakdown whose rows have this many items at most says little."""
LISTED = 5
"""Names that are listed; of more, how many there are."""


def result_tables(result: Result) -> list[Table]:
    """Return a table for the headline labels, and one for every other label set that has metrics of its own."""
    ours = set(metrics_of([result.overall]))
    others = [name for name, parts in result.scores.items() if set(metrics_of([parts["overall"]["all"]])) - ours]
    return [_result_table(result, label_set) for label_set in [result.headline, *others]]


def _result_table(result: Result, label_set: str) -> Table:
    """Return the table of a label set: overall, then every breakdown by one thing."""
    breakdowns, title = result.scores[label_set], f"{label_set} labels"
    overall = breakdowns["overall"]["all"]
    metrics = [*metrics_of([overall]), *([YES] if yes_share(overall) is not None else [])]
    numbers = [*metrics, *counts_of(row for groups in breakdowns.values() for row in groups.values())]
    lines = []
    for breakdown, groups in breakdowns.items():
        for group, scores in groups.items() if "/" not in breakdown else ():
            name = group if breakdown == "overall" else f"{breakdown.replace('_', ' ')}: {group}"
            lines.append(Line([Cell(name, name), *(number_cell(scores, number) for number in numbers)]))
    columns = [Column(title, title), *(replace(number_column(number), best=None) for number in numbers)]
    return Table(columns=columns, lines=even_decimals(columns, lines), spare=spare(metrics, main_metrics(overall)))


def spare(metrics: Sequence[str], main: Container[str]) -> list[str]:
    """Return columns in the order in which there is least need of them; the main metrics and what went wrong stay."""
    return ["clusters", "positives", "items", *(name for name in reversed(metrics) if name not in main)]


def brief(scores: Scores) -> str:
    """Return the main metrics of a row in half a line."""
    return ", ".join(f"{definition(name).title} {number_cell(scores, name).full_text}" for name in main_metrics(scores))


def remarks(result: Result, requested: str = "") -> list[str]:
    """Return the remarks that belong beside the numbers, one a paragraph; `requested` is the model asked for."""
    overall = result.overall
    items, clusters = _counted(overall.items, "item", "items"), _counted(result.clusters, "cluster", "clusters")
    notes = [f"{items} in {clusters} (items of one cluster are not independent); metrics in percent."]
    notes += [*result.notes, *sample_notes(result), *judge_notes(result)]
    rows = [row for groups in result.scores[result.headline].values() for row in groups.values()]
    notes += interval_notes(rows)
    missing = dict.fromkeys(metric.no_interval for row in rows for metric in row.metrics if metric.no_interval)
    if parts := [reason for reason in missing if not any(other in reason for other in missing if other != reason)]:
        notes.append(f"No interval: {'; '.join(parts)}.")
    if result.failures:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in result.failures.items())
        notes.append(f"Failed calls are in no metric: {kinds}.")
    if overall.unreadable:
        counts = f"count{'s' if overall.unreadable == 1 else ''} as {'No' if result.unreadable == 'no' else 'wrong'}"
        notes.append(f"{_counted(overall.unreadable, 'reply', 'replies')} could not be read and {counts}.")
    if overall.cut_off:
        notes.append(
            f"{_counted(overall.cut_off, 'reply was', 'replies were')} cut off while the model was still thinking, and "
            "could not be read: raise model.reasoning_tokens (with model.reasoning=true), or max_tokens."
        )
    for label_set, breakdowns in result.scores.items():
        other = breakdowns["overall"]["all"]
        if main_metrics(other) == main_metrics(overall) and (said := brief(other)) != brief(overall):
            notes.append(f"By {label_set} labels, some of which are others than the {result.headline}: {said}.")
    if between := _between(overall, "bounds"):
        notes.append(f"If all of them had been wrong, or all right: {between}.")
    notes += grade_notes(result)
    if count := result.finish_reasons.get("length"):
        notes.append(f"{_counted(count, 'reply was', 'replies were')} cut off at max_tokens.")
    if count := result.finish_reasons.get("premise_truncated"):
        notes.append(f"{_counted(count, 'item had its', 'items had their')} premise cut to the model's length.")
    notes += who_notes(result, requested)
    usage = {"input": result.usage.input, "output": result.usage.output, "reasoning": result.usage.reasoning}
    if counts := ", ".join(f"{count:,} {name}" for name, count in usage.items() if count):
        notes.append(f"Tokens of these answers: {counts}.")
    return notes


def grade_notes(result: Result) -> list[str]:
    """Return how the answers were read, and how far the scores move if only the firm ones count."""
    if not result.grades:
        return []
    total = sum(result.grades.values())
    shares = [f"{count / total:.1%} {GRADES[grade]}" for grade, count in result.grades.items() if grade in GRADES]
    note = f"Answers by grade: {', '.join(shares)}."
    if between := _between(result.overall, "firm"):
        note += f" If only those in the form or announced counted, and all others had been wrong, or right: {between}."
    return [note]


def _between(row: Scores, which: Literal["bounds", "firm"]) -> str:
    """Return between what numbers the metrics of a row are, whatever its lost answers would have been."""
    return ", ".join(
        f"{definition(m.name).title} {metric_text(m.name, ends[0])} to {metric_text(m.name, ends[1])}"
        for m in row.metrics
        if (ends := getattr(m, which))
    )


def reading_notes(result: Result) -> list[str]:
    """Return how replies were read that were not in their form, not firm, or that the rules could not read.

    A table of several runs shows these of each: they are of its scores alone.
    """
    grades = grade_notes(result) if result.grades.keys() - FIRM else []
    return [*(note for note in result.notes if OUT_OF_FORM in note), *grades, *judge_notes(result)]


def judge_notes(result: Result) -> list[str]:
    """Return what a judge has read where the rules could not, and the scores without it."""
    judge = result.judge
    if judge is None:
        return []
    notes = []
    if judge.replies:
        names = main_metrics(result.overall)
        without = ", ".join(f"{definition(name).title} {metric_text(name, judge.without[name])}" for name in names)
        failed = sum(judge.failures.values())
        read = f"{judge.yes:,} read" if result.choices else f"{judge.yes:,} read as Yes, {judge.no:,} as No"
        not_words = f" ({judge.not_words:,} of them as its own reply is none of its words)" * (judge.not_words > 0)
        notes.append(
            f"{_counted(judge.replies, 'reply', 'replies')} that the rules could not read went to the judge "
            f"{judge.model}: {read}, {judge.unreadable:,} left unreadable{not_words}"
            f"{f', {failed:,} failed' if failed else ''}. Without the judge: {without}."
        )
    if judge.waiting:
        waits = f"still wait{'s' * (judge.waiting == 1)} for the judge {judge.model}."
        notes.append(f"{_counted(judge.waiting, 'reply', 'replies')} {waits}")
    if audit := audit_note(judge.audit, f"the judge {judge.model}", choices=bool(result.choices)):
        notes.append(audit)
    return notes or [f"Judge {judge.model}: not asked, as the rules have left no reply to it."]


def sample_notes(result: Result) -> list[str]:
    """Return what single samples come to, where each item has several answers."""
    samples = result.samples
    if not samples:
        return []
    k = samples["number"]

    def share(name: str) -> str:
        return metric_text(name, samples.get(name))

    spread = ", ".join(
        f"{m.title} {share(f'{m.name}_mean')} (SD {share(f'{m.name}_sd_between_draws')})"
        for m in of_counts()
        if m.lead and f"{m.name}_mean" in samples
    )
    any_right, all_right = share(f"pass@{k}"), share(f"pass^{k}")
    pass_rates = f"pass@1 {share('pass@1')}, pass@{k} {any_right} (any right), pass^{k} {all_right} (all right)"
    return [
        f"The scores are those of the majority of {k} answers an item (self-consistency); a tie is unreadable. "
        f"The {k} draws one by one, mean and SD between them: {spread}.",
        f"Draws agree with their majority in {share('agreement')}%; {pass_rates}.",
    ]


def interval_notes(rows: Iterable[Scores]) -> list[str]:
    """Return how the intervals of some rows were made, and that they rest on few clusters where they do."""
    with_interval = [row for row in rows if any(metric.interval for metric in row.metrics)]
    if not with_interval:
        return []
    times = _from_to({row.resamples for row in with_interval})
    notes = [f"In brackets: {LEVEL:.0%} intervals over clusters ({METHOD}; {times} resamples, seed {SEED})."]
    if few := {row.clusters for row in with_interval if row.clusters < FEW}:
        notes.append(
            f"Intervals over {_from_to(few)} clusters are wide: few clusters tell little, however many items they hold."
        )
    return notes


def who_notes(result: Result, requested: str) -> list[str]:
    """Return who answered, by the replies; `requested` is the model's name at its server, "" if unknown."""
    notes = []
    served, providers, fingerprints = result.served_models, result.providers, result.system_fingerprints
    if len(served) > 1 or (requested and served.keys() - {requested}):
        asked = f"{requested} was asked for, and the" if requested else "The"
        notes.append(f"{asked} replies name {_listed(served)}.")
    if providers:
        precision = "Several providers answered, which may differ in precision" if len(providers) > 1 else "Answered by"
        notes.append(f"{precision}: {_listed(providers)}.")
    if len(fingerprints) > 1:
        listed = _listed(fingerprints)
        notes.append(f"The server changed while it was asked: its replies have several fingerprints: {listed}.")
    return notes


def _listed(names: Mapping[str, int]) -> str:
    listed = ", ".join(f"{name} ({count:,})" for name, count in list(names.items())[:LISTED])
    return listed if len(names) <= LISTED else f"{listed} and {len(names) - LISTED:,} more"


def _counted(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def _from_to(numbers: Collection[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
