"""Whether result.json, the counts and the further files of a run are what its records come to."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
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

if TYPE_CHECKING:
    from harness.cost.ledger import Ledger
    from harness.protocols import Task
    from harness.storage.runs import Run
    from harness.types import Result


MOST_LISTED = 5
"""Problems of one kind that are listed one by one."""
NOTHING = object()
"""What stands in the place of a value that is not there."""


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
        expected["usage"] = _spent(result["usage"], as_json(ledger.usage), exact=exact)
        expected |= _spent(_cost(result), ledger.cost_json, exact=exact)
    if judge_ledger is not None:
        expected["judge"] |= _spent(_cost(result.get("judge") or {}), judge_ledger.cost_json, exact=True)
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


def _cost(result: Mapping[str, Any]) -> dict[str, Any]:
    return {"cost": result["cost"]} if "cost" in result else {}


def _spent(there: Any, made: Any, *, exact: bool) -> Any:
    """Return what should be there by what the records come to: no less where they are not all that was paid for.

    Sums of floats are not exact: a near value is kept as it is.
    """
    if made is None:
        return None if exact else there
    if isinstance(there, dict) and isinstance(made, dict):
        names = made if exact else {**there, **made}
        return {name: _spent(there.get(name), made.get(name), exact=exact) for name in names}
    if isinstance(there, int | float) and (math.isclose(there, made, abs_tol=2e-9) or (not exact and there > made)):
        return there
    return made


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


def differences(there: Any, expected: Any, at: str, source: str) -> Iterator[str]:
    """Yield where two JSON values differ: a few sentences, then the number of the others."""
    kind = f"values of {at.partition('.')[0]}"
    return few((kind, sentence) for sentence in each_difference(there, expected, at, source))


def few(problems: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the first sentences of each kind, then how many more there are."""
    counts = Counter[str]()
    for kind, sentence in problems:
        counts[kind] += 1
        if counts[kind] <= MOST_LISTED:
            yield sentence
    for kind, count in counts.items():
        if count > MOST_LISTED:
            yield f"… and {count - MOST_LISTED:,} more {kind}."


def each_difference(there: Any, expected: Any, at: str, source: str) -> Iterator[str]:
    """Yield a sentence for each value that is another than expected from a source; `at` names the place."""
    if isinstance(there, dict) and isinstance(expected, dict):
        for name in {**there, **expected}:
            place = f"{at} / {name}" if ":" in at else f"{at}: {name}"
            yield from each_difference(there.get(name, NOTHING), expected.get(name, NOTHING), place, source)
    elif there != expected or isinstance(there, bool) != isinstance(expected, bool):
        yield f"{at}: {_shown(there)} there, {_shown(expected)} {source}."


def _shown(value: Any) -> str:
    return "nothing" if value is NOTHING else json.dumps(value, ensure_ascii=False)[:200]
