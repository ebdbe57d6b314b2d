"""The plan of a sweep: a line for each job, and the sum."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import length_hint

from harness.codec import digest
from harness.cost.plan import Plan, costs, dollar_range, tokens
from harness.cost.size import Size
from harness.prepare import Prepared, opened_store, own_lines, planned
from harness.scoring.replies import few_prompts
from harness.sweep.jobs import CheckedJob
from harness.tables.table import Part, Table

_HEADER = ("job", "task", "prompt", "model", "items", "calls", "cached", "shared", "tokens in", "tokens out", "cost")
_TEXTS = 4


@dataclass(frozen=True)
class PlanLine:
    """A job and its plan; None for a model that is instant and free."""

    number: int
    prepared: Prepared
    plan: Plan | None

    @property
    def items(self) -> int:
        return length_hint(self.prepared.task.items()) if self.plan is None else self.plan.items

    @property
    def cost(self) -> tuple[float, float] | None:
        """What it costs at least and at most in USD, its judge included; None where unknown."""
        ledger, judge = self.prepared.ledger, self.prepared.judge_ledger
        if self.plan is None or not ledger.paid:
            return 0.0, 0.0
        span = costs(self.plan.total, ledger.price)
        judged = costs(self.plan.judged, judge.price) if judge.paid else (0.0, 0.0)
        return None if span is None or judged is None else (span[0], span[1] + judged[1])

    def row(self) -> list[str]:
        """Return the job as a row of the table."""
        prepared, variant = self.prepared, self.prepared.folder.manifest.run["variant"]
        task = prepared.task.name + (f" {variant}" if variant != "default" else "")
        names = [str(self.number), task, prepared.prompt.name, prepared.model.name]
        if self.plan is None:
            return [*names, f"{self.items:,}", *["–"] * 5, "nothing"]
        cost = "unknown" if self.cost is None else _dollars(*self.cost)
        return [*names, *_numbers(self.items, self.plan.total, self.plan.answered, self.plan.shared), cost]


def plan_of_all(jobs: Sequence[CheckedJob], asked: bool) -> list[Part]:
    """Return the plan of a sweep: a table of its jobs, and what holds for all of them in lines.

    One that was not asked for is shown only where something may cost money. What two jobs with one cache ask the same
    model is counted in the first: the other finds it there.
    """
    if not asked and not any(checked.prepared.ledger.paid for checked in jobs):
        return []
    lines: list[PlanLine] = []
    requests: dict[tuple[str, str], set[int]] = defaultdict(set)
    for checked in jobs:
        prepared: Prepared = checked.prepared
        cache = prepared.settings.cache
        together = requests[digest(dict(prepared.model.identity)), cache.path] if cache.mode == "on" else None
        with opened_store(prepared, new=False) as store:
            plan = None if prepared.model.traits.instant else planned(prepared, store, elsewhere=together)
        lines.append(PlanLine(checked.job.number, prepared, plan))
    rows = [*(line.row() for line in lines), _sum(lines)]
    table = Table.of(_HEADER, rows, text_columns=_TEXTS, spare=("shared", "tokens out", "tokens in"))
    return [f"Plan of {len(jobs)} jobs:", table, "\n".join(_remarks(lines))]


def _sum(lines: Sequence[PlanLine]) -> list[str]:
    plans = [line.plan for line in lines if line.plan is not None]
    total = reduce(Size.plus, (plan.total for plan in plans), Size())
    answered, shared = sum(plan.answered for plan in plans), sum(plan.shared for plan in plans)
    known = [span for line in lines if (span := line.cost) is not None]
    cost = _dollars(sum(least for least, _ in known), sum(most for _, most in known))
    if len(known) < len(lines):
        cost = f"{cost} and what is unknown" if any(most for _, most in known) else "unknown"
    return ["all", "", "", "", *_numbers(sum(line.items for line in lines), total, answered, shared), cost]


def _numbers(items: int, total: Size, answered: int, shared: int) -> list[str]:
    return [*(f"{count:,}" for count in (items, total.calls, answered, shared)), *tokens(total)]


def _dollars(least: float, most: float) -> str:
    return dollar_range(least, most) if most else "nothing"


def _remarks(lines: Sequence[PlanLine]) -> Iterator[str]:
    """Yield which servers are asked, their prices, the limits, and the user's own files."""
    settings = lines[0].prepared.settings
    models_at: dict[str, list[str]] = defaultdict(list)
    models_for: dict[str, list[str]] = defaultdict(list)
    repeats: list[str] = []
    for line in lines:
        model, ledger = line.prepared.model, line.prepared.ledger
        if line.plan is None or (service := model.traits.service) is None:
            continue
        models_at[service.base_url].append(model.name)
        if ledger.paid:
            models_for[str(ledger.price or "unknown (model.price tells it)")].append(model.name)
        if remark := few_prompts(line.plan.prompts, line.plan.items):
            repeats.append(f"Job {line.number}: {remark}")
    if models_at:
        yield f"Asked: {'; '.join(f'{_names(models)} at {place}' for place, models in models_at.items())}."
    yield from repeats
    for price, models in models_for.items():
        yield f"Price of {_names(models)}: {price}."
    if any(line.plan is not None and line.plan.shared for line in lines):
        yield "Shared: calls that an earlier job of the sweep makes; they come from the cache then."
    if settings.budget:
        yield f"Limit of all jobs together: {settings.budget}."
    yield from own_lines({path: digest for line in lines for path, digest in line.prepared.own.items()})


def _names(models: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(models))
