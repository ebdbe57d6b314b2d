"""Table VIII of Zhou et al. (CausalBench): which questions a model understands at all, published and measured.

A mark is not for being right. It is given where at least 95% of the questions got a reply that can be read, and both
answers occur: a model that always says the same has shown nothing of what it understood.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources

from harness.errors import DataError
from harness.leaderboard.comparable import family, order
from harness.plugins.papers.preset_rows import settings
from harness.plugins.papers.presets import PaperTable
from harness.storage.runs import Run
from harness.tables.table import Block, Cell, Column, Line, Table
from harness.tasks.causalbench.networks import load
from harness.tasks.find import benchmark_of
from harness.types import Response, Scores

LEAST = 0.95
"""The share of questions with a readable reply that a mark takes."""
STRICT = frozenset({"Yes", "Yes.", "No", "No."})
"""Replies that the paper's own code reads."""
BENCHMARK = "causalbench"
LLMS = ("closed", "open", "pair")
"""The prompts of runs that belong here; the first is not named beside a model."""
YES, NO, LOST = "✓", "×", "?"


@dataclass(frozen=True)
class Kind:
    """A kind of question, a column of the table: which runs it is about."""

    title: str
    key: str
    """Its name in the published file and in outputs."""
    task: str
    requires: Mapping[str, str] = field(default_factory=dict)
    """Values of settings of the task."""
    over: str = ""
    """Heading that neighbouring columns share."""
    sizes: str = ""
    """The setting that says how much data a question comes with; the table has the largest size that keeps the mark."""


_CAUSALITY = "causalbench/causality"
KINDS = (
    Kind("Correlation", "correlation", "causalbench/correlation", {"format": "variable_name"}),
    Kind("Causal skeleton", "skeleton", "causalbench/skeleton", {"format": "variable_name"}),
    Kind("Var.", "variable_name", _CAUSALITY, {"format": "variable_name"}, "Causality"),
    Kind("Var. + B. K.", "background", _CAUSALITY, {"format": "background"}, "Causality"),
    Kind("Var. + T. D.", "data", _CAUSALITY, {"format": "data"}, "Causality", sizes="rows"),
    Kind(
        "Var. + B. K. + T. D.",
        "background_data",
        _CAUSALITY,
        {"format": "background_data"},
        "Causality",
        sizes="rows",
    ),
)
TITLE = "Fine-grained analysis: which questions models understand (B. K. background knowledge, T. D. training data)"
EASIEST = "scale", "small"
"""The breakdown and group that marks are given on; all items of a run that has none of them."""
CONTRADICTIONS = (
    "OPT2D7B: a cross everywhere, but the text excepts the BERT models and OPT1D3B alone, and Tables XIII to XX "
    "print its scores",
    "GPT3.5-Turbo, with both: a cross, but Table VII prints its scores on three networks",
    "Section V-A: GPT3.5-Turbo up to 7 × 500 and GPT4-Turbo up to 78 × 500, but no network has 7 or 78 variables "
    "(Asia has 8, Win95PTS 76)",
    "LLAMA30B and OPT60B are LLAMA33B and OPT66B in every other table",
)
"""Where the published marks disagree with other things that the paper says."""
COMMAND = (
    "harness -m model=gpt4 task=causalbench/causality task.scale=small "
    "task.format=variable_name,background,data,background_data"
)


def published() -> Mapping[str, Mapping[str, bool | None]]:
    """Return the paper's marks by model and column; None where its text has lost one."""
    text = (resources.files(__package__) / "data" / "causalbench_marks.csv").read_text(encoding="utf-8")
    marks = {"yes": True, "no": False, "": None}
    lines = csv.DictReader(text.splitlines())
    return {line["model"]: {kind.key: marks[line[kind.key]] for kind in KINDS} for line in lines}


@dataclass(frozen=True)
class ReplyShares:
    """What became of the questions of a run, or of some of them."""

    items: int
    readable: int
    failed: int
    yes: int
    no: int

    @property
    def mark(self) -> bool:
        """Whether the questions were understood, by the rule of this table."""
        return self.items > 0 and self.readable >= LEAST * self.items and self.yes > 0 and self.no > 0


def lay_out(rows: Sequence[Run]) -> list[Table]:
    """Return the table of marks from all runs there are, and notes on the rule and on contradictions of the paper."""
    runs: dict[tuple[str, str], dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for kind in KINDS:
            if _fits(kind, row):
                runs[_title(row), row.source][kind.key].append(row)
    columns = [Column("model", "LLMs")]
    for kind in KINDS:
        columns.append(Column(kind.key, kind.title, "metric", None, kind.over))
        if kind.sizes:
            columns.append(Column(f"{kind.key}/largest", f"{kind.title}: largest", "text", None, kind.over))
    version = benchmark_of(BENCHMARK).data_version
    block = Block(f"Published, not measured here: {benchmark_of(BENCHMARK).title}", version)
    lines = [
        Line([Cell(model, model), *_printed(printed)], block=block, ranked=False)
        for model, printed in published().items()
    ]
    several = len({folder for _, folder in runs}) > 1
    first_of = {entry: next(iter(by_kind.values()))[0] for entry, by_kind in runs.items()}
    families = {entry: order(family(row.model, row.role)) for entry, row in first_of.items()}
    for (title, folder), by_kind in sorted(runs.items(), key=lambda entry: (families[entry[0]], entry[0])):
        name = f"{title} [{folder}]" if several else title
        identity = {"model": first_of[title, folder].model}
        cells = [cell for kind in KINDS for cell in _measured(kind, by_kind.get(kind.key, []))]
        lines.append(Line([Cell(name, name), *cells], run=identity, block=Block("Measured here"), ranked=False))
    return [
        Table(
            KINDS[-1].task,
            columns,
            lines,
            above=f"{TITLE}. {YES} understood, {NO} not, {LOST} lost in the paper's text, – not measured.",
            heading="Table VIII of the paper, published and measured",
            notes=[*_notes(measured=bool(runs))],
        )
    ]


def _fits(kind: Kind, row: Run) -> bool:
    if not row.sound or row.learned or row.prompt not in LLMS:
        return False
    own = {**benchmark_of(BENCHMARK).defaults, **settings(row)}
    return row.task == kind.task and all(own.get(name) == value for name, value in kind.requires.items())


def _title(row: Run) -> str:
    return row.model if row.prompt == LLMS[0] else f"{row.model} ({row.prompt})"


def _printed(printed: Mapping[str, bool | None]) -> Iterator[Cell]:
    for kind in KINDS:
        mark = printed[kind.key]
        yield Cell(LOST) if mark is None else Cell(YES if mark else NO, int(mark))
        if kind.sizes:
            yield Cell("")


def _measured(kind: Kind, rows: Sequence[Run]) -> Iterator[Cell]:
    """Yield a model's mark in a column with its shares, and the largest data with which it keeps the mark."""
    if rows:
        shares, row = max(((_shares(row, *EASIEST), row) for row in rows), key=lambda entry: entry[0].items)
        yield _cell(shares, _strict(row, *EASIEST))
    else:
        yield Cell("–")
    if kind.sizes:
        yield _largest(kind, rows)


def _cell(shares: ReplyShares, strict: float | None) -> Cell:
    """Return the mark, and behind it the shares of readable replies and what else counts."""
    parts = [f"{_percent(shares.readable, shares.items)} readable"]
    parts += [f"{100 * strict:.1f} strictly"] if strict is not None else []
    parts += [f"{_percent(shares.failed, shares.items)} failed"] if shares.failed else []
    parts += ["one answer only"] if shares.readable and not (shares.yes and shares.no) else []
    return Cell(f"{YES if shares.mark else NO} ({', '.join(parts)})", int(shares.mark))


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


def _shares(row: Run, breakdown: str, group: str) -> ReplyShares:
    """Return what became of the questions of a group; of all of them where the run has none of it."""
    scores = row.result.scores[row.result.headline].get(breakdown, {}).get(group)
    return _of_scores(scores or row.result.overall)


def _of_scores(scores: Scores) -> ReplyShares:
    counts = scores.confusion
    yes, no = (sum(counts.get(name, 0) for name in names) for names in (("tp", "fp"), ("tn", "fn")))
    return ReplyShares(scores.items, scores.items - scores.unreadable - scores.failed, scores.failed, yes, no)


def _strict(row: Run, breakdown: str, group: str) -> float | None:
    """Return the share of questions whose reply is Yes, Yes., No or No.; None without records, or without words."""
    replies = hits = 0
    try:
        records = list(row.records())
    except DataError:
        return None
    if any(isinstance(record.outcome, Response) and record.outcome.logprobs is not None for record in records):
        return None  # ranked: there are no words to read
    easiest = [record for record in records if record.groups.get(breakdown) == group]
    for record in easiest or records:
        replies += 1
        outcome = record.outcome
        hits += isinstance(outcome, Response) and outcome.text.strip() in STRICT
    return hits / replies if replies else None


def _largest(kind: Kind, rows: Sequence[Run]) -> Cell:
    """Return the largest data, variables × rows, up to which every network keeps the mark, with tokens and context."""
    sizes: list[tuple[int, int, int, str, Run, bool]] = []
    for row in rows:
        number = int(settings(row).get(kind.sizes, "500"))
        for network, scores in row.result.scores[row.result.headline].get("network", {}).items():
            nodes = len(load(network).variables)
            sizes.append((nodes * number, nodes, number, network, row, _of_scores(scores).mark))
    sizes.sort(key=lambda size: size[:4])
    kept: tuple[int, int, int, str, Run, bool] | None = None
    lost = ""
    for size in sizes:
        if not size[-1]:
            lost = f"; lost at {size[1]} × {size[2]:,}"
            break
        kept = size
    if kept is None:
        return Cell(f"none{lost}" if sizes else "–")
    tokens, context = _tokens(kept[4], kept[3]), _context(kept[4])
    parts = [f"{tokens:,} tokens" if tokens else "", f"context {context:,}" if context else ""]
    sizes_text = ", ".join(part for part in parts if part)
    return Cell(f"{kept[1]} × {kept[2]:,}{f' ({sizes_text})' if sizes_text else ''}{lost}", kept[0])


def _tokens(row: Run, network: str) -> int | None:
    """Return how long the longest conversation about a network was, as the server counted it."""
    try:
        outcomes = [record.outcome for record in row.records() if record.groups.get("network") == network]
    except DataError:
        return None
    counts = [o.usage.input for o in outcomes if isinstance(o, Response) and o.usage.input is not None]
    return max(counts, default=None)


def _context(row: Run) -> int | None:
    context = ((row.manifest.config or {}).get("model") or {}).get("context")
    return context if isinstance(context, int) else None


def _notes(*, measured: bool) -> Iterator[str]:
    yield (
        f"A measured {YES}: at least {LEAST:.0%} of the questions ({' '.join(EASIEST[::-1])}, where the run has "
        "them) got a reply that can be read, and both answers occur: a constant answer shows no understanding. In "
        "brackets, in percent of the questions: readable here; strictly, as Yes, Yes., No or No. alone, which is the "
        "paper's own reading; failed calls, such as a conversation that does not fit the context. The rule is ours: "
        "the paper gives none. Being right is not asked for."
    )
    if any(kind.sizes for kind in KINDS):
        yield (
            "Largest: variables × rows of the largest data up to which every network that was asked about keeps its "
            f"{YES}, with the tokens of its conversation and the model's context (model.context) where they are known."
        )
    if CONTRADICTIONS:
        yield f"Where the published marks disagree with the paper: {'; '.join(CONTRADICTIONS)}."
    if not measured:
        yield f"Nothing is measured yet: no complete run was found that belongs here. Some that do: {COMMAND}"


TABLE_VIII = PaperTable("VIII", BENCHMARK, TITLE, holds="marks", lay_out=lay_out)
