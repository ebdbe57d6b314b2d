"""Whether result.json, the counts and the further files of a run are what its records come to."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from harness.errors import NotHereError
from harness.scoring.definitions import OWN, definitions
from harness.scoring.samples import summarize
from harness.storage import records
from harness.storage.files import inside, read_bytes
from harness.storage.result_json import counts, result_json
from harness.storage.run_folder import MANIFEST, RESULT
from harness.verify.readings import JudgeCheck
from harness.verify.records import MOST_LISTED, RecordCheck

if TYPE_CHECKING:
    from harness.cost.price import Price
    from harness.protocols import Task
    from harness.storage.runs import Run
    from harness.types import Result, Scores


def problems_of_scores(
    run: Run, task: Task, check: RecordCheck, price: Price | None, judge: JudgeCheck | None, samples: int | None
) -> Iterator[str]:
    """Yield what in result.json, the counts and the further files is not what the records come to.

    `samples` is None for an algorithm, which counts no tokens.
    """
    result, manifest, path = run.result_json, run.manifest, run.records_file
    assert path is not None
    exact = result["complete"] and not check.openings
    try:
        again = summarize(task, lambda: records.read(path), samples or 1, judge.name if judge else None)
        expected, tallied = (json.loads(json.dumps(value)) for value in (result_json(again), counts(again)))
    except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
        yield f"{path.name} cannot be scored ({type(error).__name__}: {error})."
        return
    if samples is not None:
        expected["usage"] = _usage(result["usage"], check.tokens, exact=exact)
    if "grades" not in result:  # of an earlier version: they follow from the records
        expected.pop("grades", None)
        for row in (
            row for of_set in expected["scores"].values() for groups in of_set.values() for row in groups.values()
        ):
            row.pop("firm", None)
    expected |= {"run": manifest.run, "complete": manifest.complete}
    if "cost" in result:
        expected["cost"] = _cost(result["cost"], check, price, exact=exact)
    if judge is not None:
        yield from judge.problems_of_cost(result.get("judge") or {}, expected["judge"])
    added, gone = _metrics_apart(run.result, again)
    yield from differences(_without(result, gone), _without(expected, added), RESULT)
    yield from differences(manifest.counts, tallied, f"{MANIFEST}: counts")
    if result["complete"] and again.curable:
        yield f"{RESULT} says complete, and {again.curable:,} calls failed in a way that may pass."
    for name, text in again.files.items():
        file = inside(run.folder, *name.split("/"))
        if file is not None and read_bytes(file) != text.encode():
            yield f"{name} is not what the records come to."
    if gone:
        names = ", ".join(sorted(gone))
        raise NotHereError(f"{RESULT} has metrics of no installed package ({names:.200}); all else was checked.")


def _metrics_apart(there: Result, again: Result) -> tuple[set[str], set[str]]:
    """Return the metrics that a plug-in has added since a result was made, and those that no package has any more."""
    before, now = ({metric.name for row in _rows(result) for metric in row.metrics} for result in (there, again))
    return now - before - {metric.name for metric in OWN}, before - now - definitions().keys()


def _rows(result: Result) -> Iterator[Scores]:
    for breakdowns in result.scores.values():
        for groups in breakdowns.values():
            yield from groups.values()


def _without(value: Any, names: Collection[str]) -> Any:
    """Return a result as JSON without some metrics, which have their parts in every row."""
    if not names or not isinstance(value, dict):
        return value
    if "positives" not in value:
        beginnings = tuple(f"{name}_" for name in names)
        return {
            name: {draw: v for draw, v in part.items() if not draw.startswith(beginnings)}
            if name == "samples"
            else _without(part, names)
            for name, part in value.items()
        }
    kept = {}
    for name, part in value.items():
        if name == "no_interval":
            part = {why: left for why, of in part.items() if (left := [metric for metric in of if metric not in names])}
        elif name in ("intervals", "bounds", "firm"):
            part = {metric: pair for metric, pair in part.items() if metric not in names}
        if name not in names and part != {}:
            kept[name] = part
    return kept


def _usage(there: Mapping[str, int], tokens: Mapping[str, int], *, exact: bool) -> Mapping[str, int]:
    """Return the tokens that result.json should have: those of the records, and of openings, which leave no record."""
    if exact:
        return dict(tokens)
    return {name: max(there.get(name, 0), tokens.get(name, 0)) for name in {**there, **tokens}}


def _cost(there: Mapping[str, Any], check: RecordCheck, price: Price | None, *, exact: bool) -> dict[str, Any]:
    """Return the cost that result.json should have. Float sums are not exact: a near value is kept as it is."""
    usd = None if price is None and not check.charged else check.usd
    answers, without = check.answers, check.answers_without_cost
    if not exact:
        answers, without = max(answers, there["answers"]), max(without, there["answers_without_cost"])
        usd = None if usd is None else max(usd, there["usd"] or 0.0)
    if usd is not None and isinstance(there["usd"], int | float) and math.isclose(usd, there["usd"], abs_tol=2e-9):
        usd = there["usd"]
    return {"usd": usd, "answers": answers, "answers_without_cost": without, "price": there["price"]}


def differences(there: Any, expected: Any, at: str, source: str = "from the records") -> Iterator[str]:
    """Yield where two JSON values differ: a few sentences, then the number of the others."""
    sentences = list(_walk(there, expected, at, source))
    yield from sentences[:MOST_LISTED]
    if len(sentences) > MOST_LISTED:
        yield f"… and {len(sentences) - MOST_LISTED:,} more numbers of {at.partition('.')[0]}."


def _walk(there: Any, expected: Any, at: str, source: str) -> Iterator[str]:
    if isinstance(there, dict) and isinstance(expected, dict):
        for name in {**there, **expected}:
            place = f"{at} / {name}" if ":" in at else f"{at}: {name}"
            yield from _walk(there.get(name, _NOTHING), expected.get(name, _NOTHING), place, source)
    elif there != expected or isinstance(there, bool) != isinstance(expected, bool):
        yield f"{at}: {_value_json(there)} there, {_value_json(expected)} {source}."


def _value_json(value: Any) -> str:
    return "nothing" if value is _NOTHING else json.dumps(value, ensure_ascii=False)[:200]


_NOTHING = object()
