"""One run read again: its records, scores and manifest follow from today's rules, and its model is not asked."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.errors import DataError, HarnessError, RunStopped
from harness.judge import read_rest
from harness.prompting.prompts import Prompt
from harness.prompting.version import by_other_rules, reading_version
from harness.protocols import Task
from harness.reread.judging import Judging, NewJudge, own_judge
from harness.runtime.progress import Progress
from harness.scoring.audit import by_judge, read_by_rules, unread
from harness.scoring.samples import summarize
from harness.storage import rebuild, records, runs
from harness.storage.configuration import folder_of, variant
from harness.storage.manifest import Items, Manifest, provenance
from harness.storage.record_lines import Line
from harness.storage.run_folder import MANIFEST, Folder
from harness.storage.runs import Run
from harness.types import JSON, Record, Response, Result, Usage, replace
from harness.verify.run import problems_of

Reading = int | None


class NotReread(HarnessError):
    """Signals that a run has nothing to read again; not an error."""


@dataclasses.dataclass(frozen=True)
class Change:
    """The outcome of reading a run again."""

    run: Run
    """As it was."""
    place: Path
    """Where it stands now: beside the run where a judge was added."""
    readings: Counter[tuple[Reading, Reading]]
    """How many records were read as the first, and are now read as the second."""
    result: Result
    stopped: RunStopped | None = None
    """Why the judge was not asked about all of them."""


@dataclasses.dataclass(frozen=True)
class RereadableRun:
    """A run that holds, with the parts that its records are read with."""

    run: Run
    task: Task
    prompt: Prompt
    items: Items

    def lines(self) -> Iterator[tuple[Record, Line]]:
        """Yield each record as today's rules read it, with its line as it is."""
        path = self.run.records_file
        assert path is not None
        source = rebuild.items_of(self.task, self.run.manifest, path)
        items = {item.id: item for item in islice(source, self.items.get("count"))}
        for _, line in records.read_lines(path):
            record = line.record
            item = items[record.item]  # it is there, as verified
            again = record
            if isinstance(record.outcome, Response):
                again = replace(record, answer=self.prompt.parse(record.outcome, item.fields), judgement=None)
                if not by_judge(record) and read_by_rules(again):
                    again = replace(again, judgement=record.judgement)  # what audited the rules stays
            yield again, line

    def nothing_to_judge(self) -> bool:
        """Return whether there is no reply that the rules cannot read, and none of a model's to audit them by."""
        audits = self.run.manifest.role == "model"
        return not any(unread(again) or (audits and read_by_rules(again)) for again, _ in self.lines())


def source_of(folder: Path, *, with_judge: bool) -> RereadableRun:
    """Return a run that can be read again; `with_judge` says that a judge is to read what the rules cannot.

    Raises NotReread where there is nothing to read again, and DataError for a run that does not hold: its digests
    would vouch for what somebody has changed.
    """
    run = runs.load(folder)
    if run.manifest_error:
        raise run.manifest_error
    if run.learned:
        raise NotReread("an algorithm has answered, and there are no replies to read.")
    if not by_other_rules(run.manifest.reading) and not with_judge:
        raise NotReread("it was read by today's rules already.")
    if run.records_file is None:
        raise runs.no_records(folder)
    for problem in problems_of(folder, of_reading=False):
        raise DataError(f"it does not hold, so it is left as it is: {problem}")
    task = rebuild.task_of(run.manifest)
    return RereadableRun(run, task, rebuild.prompt_of(task, run.manifest), run.manifest.items or {})


def renew(source: RereadableRun, new: NewJudge | None, progress: Progress, *, dry_run: bool = False) -> Change:
    """Read a run again and leave records, scores and manifest in its folder, or beside it where a judge is added.

    A dry run leaves nothing and asks nobody. Raises DataError where the run's own judge would have to be asked more.
    """
    run, place = source.run, target_of(source.run, new, source.prompt)
    with ExitStack() as stack:
        written = Path(stack.enter_context(TemporaryDirectory())) if dry_run else place
        judging: Judging | None = None
        if new is not None:
            judging = stack.enter_context(new.judging(run, source.prompt, place / MANIFEST, asks=not dry_run))
        elif run.configuration.get("judge"):
            judging = own_judge(run)
        folder = Folder(
            path=written,
            manifest=_manifest(source, new, judging, in_place=place == run.folder),
            ledger=_Kept(run),
            judge_ledger=None if judging is None else judging.ledger,
        )
        stack.enter_context(folder.lock())
        with folder.rewrite_records(source.task.headline) as writer:
            for again, line in source.lines():
                writer.copy(again, line)
        stopped = None
        if judging is not None:
            say = (lambda _: None) if dry_run else progress.say
            stopped = read_rest(source.task, folder, judging.judge, say)
        if stopped is not None and new is None and run.complete:
            folder.records_file.unlink(missing_ok=True)
            raise DataError(str(stopped))

        def now() -> Iterator[Record]:
            return records.read(folder.records_file)

        judge_name = None if judging is None else judging.judge.name
        result = folder.with_usage(summarize(source.task, now, run.samples, judge_name))
        readings = Counter((_label(old), _label(record)) for old, record in zip(run.records(), now(), strict=True))
        if dry_run:
            return Change(run, place, readings, result)
        if stopped is None and result.judge is not None and result.curable:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in result.judge.failures.items())
            stopped = RunStopped(f"calls of the judge failed ({kinds}): the same command asks for them again.")
        complete = bool(run.result_json["complete"]) and stopped is None
        folder.finish(result, items=source.items, complete=complete)
    return Change(run, place, readings, result, stopped)


def _manifest(source: RereadableRun, new: NewJudge | None, judging: Judging | None, *, in_place: bool) -> Manifest:
    """Return the manifest of the new result, like that of the original command."""
    run, now = source.run, provenance({})
    manifest = replace(
        run.manifest.unfinished,
        reading=reading_version(),
        reread={"at": now["started"], "harness": now["harness"]},
        judge=None if judging is None else judging.about,
        ended=run.manifest.ended if in_place else None,
    )
    if new is None or in_place:
        return manifest
    settings = {**manifest.configuration["task"], "judge": new.model.name}
    return replace(
        manifest,
        run={**manifest.run, "variant": variant(settings)},
        configuration={**manifest.configuration, "task": settings, "judge": new.configuration(source.prompt)},
        config={**(run.manifest.config or {}), "judge": new.settings.judge},
    )


def target_of(run: Run, new: NewJudge | None, prompt: Prompt) -> Path:
    """Return the folder of a run once it is read again: another one where it gets a judge.

    Raises NotReread where it has another judge already.
    """
    if new is not None and run.configuration.get("judge") not in (None, new.configuration(prompt)):
        name = run.configuration["judge"]["name"]
        raise NotReread(f"it has another judge, {name}: read the run without one again.")
    if new is None or run.configuration.get("judge"):
        return run.folder
    tail, folder = folder_of("", run.place).parts, run.folder.resolve()
    if folder.parts[-len(tail) :] != tail:
        raise DataError(f"it stands at another place than its command gives it (…/{'/'.join(tail)}): move it there.")
    judged = {**run.place, "variant": variant({**run.configuration["task"], "judge": new.model.name})}
    place = folder_of(str(Path(*folder.parts[: -len(tail)])), judged)
    return place if run.folder.is_absolute() else Path(os.path.relpath(place))


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
