"""One run read again: its records, scores and manifest follow from today's rules, and its model is not asked."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.codec import request_digest
from harness.errors import DataError, HarnessError, RunStopped
from harness.judge import Judge, judged, number_of_choices, prompt_of, read_rest, recorded_prompt, request_to_judge
from harness.plugins.reread.judges import NewJudge, OldJudge, never_judged, outcomes_of_judge, replies_of_judge
from harness.prompting.prompts import Prompt
from harness.prompting.version import by_other_rules, reading_version
from harness.protocols import Task
from harness.runtime.progress import Progress
from harness.scoring.audit import by_judge, read_by_rules
from harness.scoring.samples import summarize, unread
from harness.storage import rebuild, records, runs
from harness.storage.configuration import folder_of, variant
from harness.storage.manifest import Items, provenance
from harness.storage.run_folder import MANIFEST, Account, Folder
from harness.storage.runs import Run
from harness.types import JSON, Judgement, Record, Response, Result, Usage
from harness.verify.records import ItemsById
from harness.verify.run import problems_of

Reading = int | None


class NotReread(HarnessError):
    """Signals that a run has nothing to read again; not an error."""


@dataclass(frozen=True)
class Change:
    """The outcome of reading a run again."""

    run: Run
    """As it was."""
    place: Path
    """Where it stands now: beside the run where a judge was added."""
    readings: Counter[tuple[Reading, Reading]]
    """How many records were read as the first, and are now read as the second."""
    result: Result
    waiting: int = 0
    """In a preview: replies that a judge would be asked about."""
    stopped: RunStopped | None = None
    """Why the judge was not asked about all of them."""


@dataclass(frozen=True)
class RereadableRun:
    """A run that holds, with the parts that its records are read with."""

    run: Run
    task: Task
    prompt: Prompt
    items: Items

    def lines(self) -> Iterator[tuple[Record, Record, Mapping[str, Any], Mapping[str, JSON]]]:
        """Yield each record as it is and as today's rules read it, with its line and the fields of its item."""
        path = self.run.records_file
        assert path is not None
        items, seen = ItemsById(self.task.items()), Counter[str]()
        for one in records.read_lines(path):
            record = one.record
            seen[record.item] += 1
            item = items.get(record.item, last=seen[record.item] >= self.run.samples)
            assert item is not None  # verified
            again = record
            if isinstance(record.outcome, Response):
                again = replace(record, answer=self.prompt.parse(record.outcome, item.fields), judgement=None)
                if not by_judge(record) and read_by_rules(again):
                    again = replace(again, judgement=record.judgement)  # what audited the rules stays
            yield record, again, one.line, item.fields

    def nothing_to_judge(self, sample: int) -> bool:
        """Return whether there is no reply that the rules cannot read, and none of a model's to audit them by."""
        audits = sample > 0 and self.run.manifest.role == "model"
        return not any(unread(again) or (audits and read_by_rules(again)) for _, again, _, _ in self.lines())


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
    if not by_other_rules(run.manifest.reading, run.manifest.words) and not with_judge:
        raise NotReread("it was read by today's rules already.")
    if run.records_file is None:
        raise runs.no_records(folder)
    for problem in problems_of(folder, of_reading=False):
        raise DataError(f"it does not hold, so it is left as it is: {problem}")
    task = rebuild.task_of(run.manifest)
    return RereadableRun(run, task, rebuild.prompt_of(task, run.manifest), run.manifest.items or {})


def preview(source: RereadableRun, new_judge: NewJudge | None) -> Change:
    """Return what reading a run again would change, by the rules and its own judge's replies. Nothing is written.

    Raises DataError where its own judge would have to be asked more, and is not there.
    """
    run, own = source.run, bool(source.run.configuration.get("judge"))
    words = None
    if own:
        words = recorded_prompt((run.manifest.judge or {})["words"], run.configuration)
    elif new_judge is not None:
        words = prompt_of(new_judge.model, source.prompt)
    judgements: Mapping[str, Any] = {}
    if own and (new_judge is None or new_judge.recalls):
        judgements = outcomes_of_judge(run) if new_judge is None else replies_of_judge(run)

    def request_of(record: Record, fields: Mapping[str, JSON]) -> str:
        assert isinstance(record.outcome, Response) and words is not None
        return request_digest(request_to_judge(words, fields, record.outcome.text))

    def now() -> Iterator[tuple[Record, str]]:
        """Yield each record as it would be, with the request that its judge would get; empty where it would not."""
        for _, again, _, fields in source.lines():
            request = request_of(again, fields) if words is not None and unread(again) else ""
            if words is None or (outcome := judgements.get(request)) is None:
                yield again, request
            else:
                yield judged(again, Judgement(request, outcome), number_of_choices(words, fields)), request

    result = summarize(source.task, lambda: (record for record, _ in now()), run.samples, _judge_name(run))
    readings, waiting = Counter[tuple[Reading, Reading]](), Counter[str]()
    for (old, *_), (new, request) in zip(source.lines(), now(), strict=True):
        readings[_label(old), _label(new)] += 1
        waiting[request] += bool(request) and new.judgement is None
    requests = sum(count > 0 for count in waiting.values())
    if requests and own and new_judge is None and run.complete:
        raise DataError(str(never_judged(requests)))
    return Change(run, target_of(run, new_judge, source.prompt), readings, result, waiting.total())


def renew(source: RereadableRun, new_judge: NewJudge | None, progress: Progress) -> Change:
    """Read a run again and leave records, scores and manifest in its folder, or beside it where a judge is added."""
    run = source.run
    place = target_of(run, new_judge, source.prompt)
    with ExitStack() as stack:
        judge, ledger, judge_part = _judge(source, new_judge, place, stack)
        folder = _folder(source, place, new_judge, ledger, judge_part)
        stack.enter_context(folder.lock())
        with folder.rewrite_records(source.task.headline) as writer:
            for _, again, line, _ in source.lines():
                writer.copy(again, line)
        stopped = read_rest(source.task, folder, judge, progress.say) if judge is not None else None
        if stopped is not None and new_judge is None and run.complete:
            folder.records_file.unlink(missing_ok=True)
            raise DataError(str(stopped))
        result = _result(source, folder, judge)
        old = records.read(run.records_file) if run.records_file else iter(())
        pairs = zip(old, records.read(folder.records_file), strict=True)
        readings = Counter((_label(before), _label(after)) for before, after in pairs)
        if stopped is None and result.judge is not None and result.curable:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in result.judge.failures.items())
            stopped = RunStopped(f"calls of the judge failed ({kinds}): the same command asks for them again.")
        complete = bool(run.result_json["complete"]) and stopped is None
        folder.finish(result, items=source.items, complete=complete)
    return Change(run, place, readings, result, stopped=stopped)


def _judge(
    source: RereadableRun, new: NewJudge | None, place: Path, stack: ExitStack
) -> tuple[Judge | None, Account | None, Mapping[str, JSON]]:
    """Return the judge, its account, and what the manifest says of it."""
    run = source.run
    if new is not None:
        spending = new.spending(place / MANIFEST, source.prompt)
        judge = stack.enter_context(new.answering(spending, source.task.name, run))
        return judge, spending.ledger, {"words": judge.words.as_json, **spending.provenance}
    if run.configuration.get("judge"):
        old = OldJudge(run)
        return old.judge, old.ledger, run.manifest.judge or {}
    return None, None, {}


def _folder(
    source: RereadableRun, place: Path, new: NewJudge | None, ledger: Account | None, judge_part: Mapping[str, JSON]
) -> Folder:
    """Return the folder that the new result is written to, like that of the original command."""
    run = source.run
    in_place = place == run.folder
    now = provenance({})
    manifest = replace(
        run.manifest.unfinished,
        reading=reading_version(run.manifest.words),
        reread={"at": now["started"], "harness": now["harness"]},
        judge=judge_part or None,
        ended=run.manifest.ended if in_place else None,
    )
    if new is not None and not in_place:
        settings = {**manifest.configuration["task"], "judge": new.model.name}
        manifest = replace(
            manifest,
            run={**manifest.run, "variant": variant(settings)},
            configuration={**manifest.configuration, "task": settings, "judge": new.configuration(source.prompt)},
            config={**(run.manifest.config or {}), "judge": new.settings.judge},
        )
    return Folder(path=place, manifest=manifest, ledger=_Kept(run), judge_ledger=ledger)


def _result(source: RereadableRun, folder: Folder, judge: Judge | None) -> Result:
    name = judge.name if judge is not None else None
    result = summarize(source.task, lambda: records.read(folder.records_file), source.run.samples, name)
    return folder.with_usage(result)


def target_of(run: Run, new: NewJudge | None, prompt: Prompt) -> Path:
    """Return the folder of a run once it is read again: another one where it gets a judge.

    Raises NotReread where it has another judge already.
    """
    if new is not None and run.configuration.get("judge") not in (None, new.configuration(prompt)):
        raise NotReread(f"it has another judge, {_judge_name(run)}: read the run without one again.")
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


def _judge_name(run: Run) -> str | None:
    part = run.configuration.get("judge")
    return str(part["name"]) if part else None


def _label(record: Record) -> Reading:
    return None if record.answer is None else record.answer.label
