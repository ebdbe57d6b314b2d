"""Stored replies read again by today's rules: harness reread results/…

A results folder is read as data: nothing that it names is imported or run but what is installed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from harness.cli import key_value
from harness.errors import DataError, HarnessError
from harness.prompting.reading import by_other_rules, reading_version
from harness.runtime import console
from harness.scoring.audit import by_judge, unread
from harness.scoring.samples import summarize
from harness.storage import rebuild, records, runs
from harness.storage.find import find
from harness.storage.manifest import provenance
from harness.storage.run_folder import Folder
from harness.storage.runs import Run
from harness.tables.results import brief, judge_notes
from harness.types import JSON, Record, Response, Result, replace
from harness.verify.run import judge_of_run, verdict_on

HELP = """\
Read the replies of earlier runs again by today's rules, without asking anybody: records, scores and manifest are
renewed in their place, and say by which version of the rules they were read.

  harness reread                     everything below results/
  harness reread A B                 other folders, of runs or above them

A run that does not hold (harness verify says why) is left as it is. What a judge has read stays; one joins a run by
the run's command with judge=…, which takes the model's answers from the cache.
"""


@dataclass(frozen=True)
class RereadSettings:
    """No setting."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each run; return 1 where one could not be read again."""
    return key_value.command(HELP, RereadSettings, job, arguments)


def job(folders: list[str], settings: RereadSettings) -> int:
    """Read the runs below the folders again and return the exit code."""
    problems = 0
    for folder in find(folders or ["results"]):
        try:
            said, *notes = _renew(runs.load(folder))
        except HarnessError as error:
            problems += 1
            said, notes = f"NOT READ AGAIN: {error}", []
        print(*(" ".join(console.clean(text).split()) for text in (f"{folder}: {said}", *notes)), sep="\n  ")
    return 1 if problems else 0


def _renew(run: Run) -> list[str]:
    """Read a run again and leave records, scores and manifest in its folder.

    Return in sentences what has changed. Raises DataError for a run that does not hold, as its digests would vouch for
    what somebody has changed, and for one whose judge would have to be asked more.
    """
    if run.manifest_error:
        raise run.manifest_error
    if run.learned:
        return ["an algorithm has answered, and there are no replies to read."]
    if not by_other_rules(run.manifest.reading):
        return ["it was read by today's rules already."]
    if (path := run.records_file) is None:
        raise runs.no_records(run.folder)
    if problems := verdict_on(run.folder, of_reading=False)[1]:
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
    name, ledger = None if judge is None else judge.name, _Kept(run)
    result = replace(summarize(task, lambda: (again for _, again in reread()), run.samples, name), usage=ledger.usage)
    if run.complete and result.judge is not None and result.judge.waiting:
        raise DataError(
            f"{result.judge.waiting:,} of the replies that today's rules cannot read were never before its judge: the "
            "run's own command asks it, and takes the model's answers from the cache."
        )
    now = provenance({})
    about_reading = {"at": now["started"], "harness": now["harness"]}
    manifest = replace(manifest.unfinished, reading=reading_version(), reread=about_reading, ended=manifest.ended)
    place = Folder(run.folder, manifest, ledger=ledger, judge_ledger=None if judge is None else judge.ledger)
    with place.lock():
        with place.rewrite_records(task.headline) as writer:
            for _, again in reread():
                writer.write(again)
        place.finish(result, items=about, complete=run.complete)
    return [_change(run, result, readings), *judge_notes(result)]


def _change(run: Run, result: Result, readings: Counter[tuple[int | None, int | None]]) -> str:
    """Return how readings and scores of a run changed; `readings` counts those before with those after."""
    others = Counter({pair: count for pair, count in readings.items() if pair[0] != pair[1]})
    names: dict[int | None, str] = {None: "unreadable", **dict(enumerate(result.answers))}
    kinds = ", ".join(f"{names[before]} → {names[after]}: {count:,}" for (before, after), count in others.most_common())
    number = f"{others.total():,} of {readings.total():,} readings changed"
    scores = f"{brief(run.result.overall)} before, {brief(result.overall)} now"
    return f"{number}{f' ({kinds})' if kinds else ''}; {scores}."


class _Kept:
    """The account of a run's answers, copied from its result: nothing was asked."""

    paid = False

    def __init__(self, run: Run) -> None:
        self.usage = run.result.usage
        self.cost_json: dict[str, JSON] = {"cost": run.result_json["cost"]} if "cost" in run.result_json else {}

    def cost(self, response: Response) -> float | None:
        """Return None: the records say what each answer has cost."""
        return None


def _label(record: Record) -> int | None:
    return None if record.answer is None else record.answer.label


if __name__ == "__main__":
    sys.exit(main())
