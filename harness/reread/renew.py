"""One run read again: its records, scores and manifest follow from today's rules, and nobody is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from harness.errors import DataError, HarnessError
from harness.prompting.version import by_other_rules, reading_version
from harness.scoring.audit import by_judge, unread
from harness.scoring.samples import summarize
from harness.storage import rebuild, records, runs
from harness.storage.manifest import provenance
from harness.storage.run_folder import Folder
from harness.storage.runs import Run
from harness.types import JSON, Record, Response, Result, Usage, replace
from harness.verify.run import judge_of_run, verdict_on

Reading = int | None


class NotReread(HarnessError):
    """Signals that a run has nothing to read again; not an error."""


@dataclass(frozen=True)
class Change:
    """The outcome of reading a run again."""

    run: Run
    """As it was."""
    readings: Counter[tuple[Reading, Reading]]
    """How many records were read as the first, and are now read as the second."""
    result: Result


def renew(folder: Path, *, dry_run: bool = False) -> Change:
    """Read a run again and leave records, scores and manifest in its folder; a dry run leaves nothing.

    Raises NotReread where there is nothing to read again. Raises DataError for a run that does not hold, as its digests
    would vouch for what somebody has changed, and for one whose judge would have to be asked more.
    """
    run = runs.load(folder)
    if run.manifest_error:
        raise run.manifest_error
    if run.learned:
        raise NotReread("an algorithm has answered, and there are no replies to read.")
    if not by_other_rules(run.manifest.reading):
        raise NotReread("it was read by today's rules already.")
    if (path := run.records_file) is None:
        raise runs.no_records(folder)
    if problems := verdict_on(folder, of_reading=False)[1]:
        raise DataError(f"it does not hold, so it is left as it is: {problems[0]}")
    task, judge, manifest = rebuild.task_of(run.manifest), judge_of_run(run), run.manifest
    prompt, about = rebuild.prompt_of(task, manifest), manifest.items or {}
    items = {item.id: item for item in islice(rebuild.items_of(task, manifest, path), about.get("count"))}

    def reread() -> Iterator[tuple[Record, Record]]:
        """Yield each record as it is, and as today's rules read it."""
        for record in records.read(path):
            again: Record = record
            item = items[record.item]  # it is there, as verified
            if record.response is not None:
                again = replace(record, answer=prompt.parse(record.response, item.fields), judge=None)
                # What the judge read in the place of the rules is no audit of them.
                if judge is not None and (unread(again) or not by_judge(record)):
                    again = judge.judged(again, record.judge, item)
            yield record, again

    readings = Counter((_label(record), _label(again)) for record, again in reread())
    name = None if judge is None else judge.name
    ledger = _Kept(run)
    result = replace(summarize(task, lambda: (again for _, again in reread()), run.samples, name), usage=ledger.usage)
    if run.complete and result.judge is not None and result.judge.waiting:
        raise DataError(
            f"{result.judge.waiting:,} of the replies that today's rules cannot read were never before its judge: the "
            "run's own command asks it, and takes the model's answers from the cache."
        )
    if dry_run:
        return Change(run, readings, result)
    now = provenance({})
    manifest = replace(
        manifest.unfinished,
        reading=reading_version(),
        reread={"at": now["started"], "harness": now["harness"]},
        ended=manifest.ended,
    )
    place = Folder(folder, manifest, ledger=ledger, judge_ledger=None if judge is None else judge.ledger)
    with place.lock():
        with place.rewrite_records(task.headline) as writer:
            for _, again in reread():
                writer.write(again)
        place.finish(result, items=about, complete=run.complete)
    return Change(run, readings, result)


class _Kept:
    """The account of a run's answers, copied from its result: nothing was asked."""

    paid = False

    def __init__(self, run: Run) -> None:
        self.usage: Usage = run.result.usage
        self.cost_json: dict[str, JSON] = {"cost": run.result_json["cost"]} if "cost" in run.result_json else {}

    def cost(self, response: Response) -> float | None:
        """Return None: the records say what each answer has cost."""
        return None


def _label(record: Record) -> Reading:
    return None if record.answer is None else record.answer.label
