"""Whether result.json, the counts and the further files of a run are what its records come to."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.codec import as_json
from harness.errors import NotHereError
from harness.scoring.definitions import OWN, definitions
from harness.scoring.samples import summarize
from harness.storage import records
from harness.storage.files import inside, read_bytes
from harness.storage.result_json import counts, result_json
from harness.storage.run_folder import MANIFEST, RESULT
from harness.verify.differences import differences

if TYPE_CHECKING:
    from harness.cost.ledger import Ledger
    from harness.protocols import Task
    from harness.storage.runs import Run
    from harness.types import Result


def problems_of_scores(
    run: Run, path: Path, task: Task, samples: int, ledger: Ledger | None, judge_ledger: Ledger | None, *, exact: bool
) -> Iterator[str]:
    """Yield what in result.json, the counts and the further files is not what the records come to.

    The ledgers are None where nothing was asked here. They are not `exact` where the run paid for more than its records
    hold: the openings of conversations, and calls that were under way when it was stopped.
    """
    result, manifest = run.result_json, run.manifest
    name = None if run.configuration.get("judge") is None else run.configuration["judge"]["name"]
    try:
        again = summarize(task, lambda: records.read(path), samples, name)
        expected, tallied = (json.loads(json.dumps(value)) for value in (result_json(again), counts(again)))
    except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
        yield f"{path.name} cannot be scored ({type(error).__name__}: {error})."
        return
    if "grades" not in result:  # of an earlier version: they follow from the records
        expected.pop("grades", None)
        expected["scores"] = _without(expected["scores"], ["firm"])
    expected |= {"run": manifest.run, "complete": manifest.complete}
    if ledger is not None:
        expected["usage"] = as_json(ledger.usage) if exact else _at_least(result["usage"], as_json(ledger.usage))
        expected |= _cost(result.get("cost"), ledger, exact=exact)
    if judge_ledger is not None:
        expected["judge"] |= _cost((result.get("judge") or {}).get("cost"), judge_ledger, exact=True)
    added, gone = _metrics_apart(run.result, again)
    yield from differences(_without(result, gone), _without(expected, added), RESULT, "from the records")
    yield from differences(manifest.counts, tallied, f"{MANIFEST}: counts", "from the records")
    if result["complete"] and again.curable:
        yield f"{RESULT} says complete, and {again.curable:,} calls failed in a way that may pass."
    for name, text in again.files.items():
        file = inside(run.folder, *name.split("/"))
        if file is not None and read_bytes(file) != text.encode():
            yield f"{name} is not what the records come to."
    if gone:
        names = ", ".join(sorted(gone))
        raise NotHereError(f"{RESULT} has metrics of no installed package ({names:.200}); all else was checked.")


def _at_least(there: Mapping[str, Any], counted: Mapping[str, Any]) -> dict[str, Any]:
    """Return counts that are no less than those of the records."""
    return {name: max(there.get(name) or 0, counted.get(name) or 0) for name in {**there, **counted}}


def _cost(there: Mapping[str, Any] | None, ledger: Ledger, *, exact: bool) -> dict[str, Any]:
    """Return the cost that should be there. Float sums are not exact: a near value is kept as it is."""
    cost: Any = ledger.cost_json.get("cost")
    if cost is None or there is None:
        cost = cost or (None if exact else there)
        return {} if cost is None else {"cost": cost}
    if not exact:
        names = [name for name in ("usd", "answers", "answers_without_cost") if cost[name] is not None]
        cost |= _at_least({name: there[name] for name in names}, {name: cost[name] for name in names})
    if cost["usd"] is not None and math.isclose(cost["usd"], there["usd"] or 0.0, abs_tol=2e-9):
        cost["usd"] = there["usd"]
    return {"cost": cost}


def _metrics_apart(there: Result, again: Result) -> tuple[set[str], set[str]]:
    """Return the metrics that a plug-in has added since a result was made, and those that no package has any more."""
    rows = (
        [row for of in result.scores.values() for groups in of.values() for row in groups.values()]
        for result in (there, again)
    )
    before, now = ({metric.name for row in of_result for metric in row.metrics} for of_result in rows)
    return now - before - {metric.name for metric in OWN}, before - now - definitions().keys()


def _without(value: Any, names: Collection[str]) -> Any:
    """Return a result as JSON without the parts of some metrics, and what is empty without them."""
    if not names:
        return value
    if isinstance(value, dict):
        draws = tuple(f"{name}_" for name in names)  # by which `samples` has a metric of several replies
        kept = {name: part for name, part in value.items() if name not in names and not name.startswith(draws)}
        parts = {name: (part, _without(part, names)) for name, part in kept.items()}
        return {name: left for name, (part, left) in parts.items() if left == part or left not in ({}, [])}
    return [part for part in value if part not in names] if isinstance(value, list) else value
