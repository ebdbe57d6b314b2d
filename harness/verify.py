"""Results checked against their own records: python -m harness.verify results/…

Every score is computed again from the records, every reply is read again, and every digest is made again: of the
settings, the items, the prompt, the requests and their words.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import prompts, records, terminal
from harness.codec import canonical, digest, text_digest
from harness.errors import DataError, HarnessError
from harness.progress import Progress
from harness.prompts import Prompt
from harness.provenance import Traced
from harness.result_json import result_json
from harness.results import DAMAGED, MANIFEST, RESULT, records_in
from harness.scoring.samples import summarize
from harness.settings import build
from harness.stop import INTERRUPTED
from harness.tasks.protocol import Task
from harness.types import Record, Response

HOLDS, WRONG, UNKNOWN = "holds", "DOES NOT HOLD", "settings, items and prompt hold; no records"

SHOWN = 5
"""Differences of one kind that are told one by one."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line for each run; 1 where something does not hold."""
    parser = argparse.ArgumentParser(
        prog="python -m harness.verify",
        description="Recompute every score from the records of earlier runs, and check every digest.",
    )
    parser.add_argument("results", nargs="*", default=["results"], help="folders to look below (default: results)")
    chosen = parser.parse_args(arguments)
    try:
        files = [file for folder in chosen.results for file in _found(Path(folder))]
        found = _verified([file.parent for file in files])
    except HarnessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted.", file=sys.stderr)
        return INTERRUPTED
    print(f"{found[HOLDS]} of {found[HOLDS] + found[WRONG]} runs hold.")
    if found[UNKNOWN]:
        print(f"{found[UNKNOWN]} more have no records to compute their scores from: their commands make them again.")
    return 0 if found[HOLDS] and not found[WRONG] else 1


def _verified(folders: Sequence[Path]) -> Counter[str]:
    """Prints a line for each run, with one bar over the records of all; how many there are of each verdict."""
    found: Counter[str] = Counter()
    waiting: list[str] = []
    bar = Progress("verifying").watch(itertools.count(), range(sum(map(_expected, folders))))
    # A line in the middle of the bar would be torn: where both are on the terminal, lines wait for the bar's end.
    tell = waiting.append if sys.stdout.isatty() and terminal.capable(sys.stderr) else print
    try:
        for folder in folders:
            problems = _told(folder, bar)
            verdict = WRONG if problems else HOLDS if records_in(folder) else UNKNOWN
            found[verdict] += 1
            tell("\n".join([f"{folder}: {verdict}", *(f"  {problem}" for problem in problems)]))
    finally:
        bar.close()
        print("".join(f"{line}\n" for line in waiting), end="")
    return found


def _expected(folder: Path) -> int:
    """How many records a run has by its own result; 0 where it has none or cannot be read."""
    try:
        said = _load(folder / RESULT)
        number = said.get("samples", {}).get("number") or 1
        return int(said["scores"][said["headline"]]["overall"]["all"]["items"]) * number if records_in(folder) else 0
    except (DataError, KeyError, TypeError, AttributeError, ValueError):
        return 0


def _told(folder: Path, bar: Iterator[int]) -> list[str]:
    """What does not hold, also where a file cannot be read."""
    try:
        return list(problems_of(folder, bar))
    except DataError as error:
        return [str(error)]


def _found(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}; give one that a run wrote to, or one above it.")
    files = sorted(file for file in folder.rglob(RESULT) if ".sweeps" not in file.parts)
    if not files:
        raise DataError(f"no {RESULT} below {folder}.")
    return files


def problems_of(folder: Path, bar: Iterator[int] | None = None) -> Iterator[str]:
    """What of a run's folder does not hold, a sentence each; nothing where all does. `bar` goes on with each record."""
    result, manifest = _load(folder / RESULT), _load(folder / MANIFEST)
    settings = manifest.get("configuration", {})
    if digest(settings) != manifest.get("configuration_digest"):
        yield f"{MANIFEST}: the configuration's digest is another."
    try:
        task: Task = build(manifest["config"]["task"], "task")
        prompt = _prompt(task, manifest)
    except (KeyError, TypeError, HarnessError) as error:
        yield f"{MANIFEST}: task and prompt cannot be built again ({error})."
        return
    if prompt is not None and prompt.digest != settings["prompt"]["digest"]:
        yield f"the prompt {prompt.name} has other words today than in this run."
        prompt = None
    items = Traced(task.items())
    labels = {item.id: dict(item.labels) for item in items}
    if items.told != manifest.get("items"):
        yield f"the task's items are others today: {items.told} instead of {manifest.get('items')}."
    path = records_in(folder)
    if path is None:
        return
    samples = _samples(manifest["config"])
    yield from _of_records(path, labels, prompt, bar or itertools.count(), complete=result["complete"], samples=samples)
    again = summarize(task, records.read(path), samples)
    said = json.loads(json.dumps(result_json(again)))
    del said["usage"]  # counts openings too, which leave no record
    yield from _differences({name: result.get(name) for name in said}, said, RESULT)
    for name, text in again.files.items():
        if not (folder / name).exists() or (folder / name).read_text(encoding="utf-8") != text:
            yield f"{name} is not what the records come to."


def _samples(config: Mapping[str, Any]) -> int:
    """Answers that each item has; an algorithm's samples are rows of its data."""
    return int(config.get("samples", 1)) if "model" in config else 1


def _prompt(task: Task, manifest: Mapping[str, Any]) -> Prompt | None:
    """The prompt of a run; None where an algorithm answered."""
    config = manifest["config"]
    if "model" not in config:
        return None
    name = config["prompt"] or manifest["run"]["prompt"]
    return prompts.load(task.name, name, task.examples(), format=task.prompt_format, replies=config["replies"])


def _of_records(
    path: Path,
    labels: Mapping[str, Mapping[str, int]],
    prompt: Prompt | None,
    bar: Iterator[int],
    *,
    complete: bool,
    samples: int,
) -> Iterator[str]:
    """Records of other items, with other labels, missing or twice; other digests; replies that read otherwise."""
    seen: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for number, (line, record) in enumerate(zip(records.lines(path), records.read(path), strict=True), start=1):
        seen[record.item] += 1
        next(bar)
        for what in _of_record(json.loads(line), record, labels.get(record.item), prompt):
            wrong[what] += 1
            if wrong[what] <= SHOWN:
                yield f"{path.name}, line {number}: {what}."
    for what, count in wrong.items():
        if count > SHOWN:
            yield f"{path.name}: {count:,} lines in all: {what}."
    if twice := [item for item, count in seen.items() if count > samples]:
        yield f"{path.name}: {len(twice):,} items have more than {samples} records, such as {twice[0]}."
    missing = [item for item in labels if seen[item] < samples]
    if complete and missing:
        yield f"{path.name}: {len(missing):,} items have no record, such as {missing[0]}, though the run is complete."


def _of_record(
    line: Mapping[str, Any],
    record: Record,
    labels: Mapping[str, int] | None,
    prompt: Prompt | None,
) -> Iterator[str]:
    if labels is None:
        yield "the task has no such item"
    elif labels != dict(record.labels):
        yield "the labels are not the item's"
    if request := line["request"]:
        yield from _of_request(request)
    if prompt is not None and isinstance(record.outcome, Response) and prompt.parse(record.outcome) != record.answer:
        yield "the reply reads otherwise today"


def _of_request(request: Mapping[str, Any]) -> Iterator[str]:
    """A request's digest, and those of the words that stand here."""
    said = {name: value for name, value in request.items() if name != "digest"}
    for part in _texts(said):
        if "text" in part and text_digest(part.pop("text")) != part["sha256"]:
            yield "the words do not have their digest"
    if text_digest(canonical(said)) != request["digest"]:
        yield "the request does not have its digest"


def _texts(said: dict[str, Any]) -> Iterable[dict[str, str]]:
    """The parts of a request that hold words, as copies put in place of what was there."""
    for name in ("premise", "hypothesis"):
        if name in said:
            said[name] = dict(said[name])
            yield said[name]
    if "messages" in said:
        said["messages"] = [dict(message) for message in said["messages"]]
        yield from said["messages"]


def _differences(there: Any, again: Any, at: str) -> Iterator[str]:
    """Where two JSON values differ, at most a few."""
    found = list(_walk(there, again, at))
    yield from found[:SHOWN]
    if len(found) > SHOWN:
        yield f"… and {len(found) - SHOWN:,} more numbers of {at.partition('.')[0]}."


def _walk(there: Any, again: Any, at: str) -> Iterator[str]:
    if isinstance(there, dict) and isinstance(again, dict):
        for name in {**there, **again}:
            yield from _walk(there.get(name), again.get(name), f"{at}: {name}" if at == RESULT else f"{at} / {name}")
    elif there != again:
        yield f"{at}: {json.dumps(there)} there, {json.dumps(again)} from the records."


def _load(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).") from None
    except ValueError:
        raise DataError(f"{path} {DAMAGED}.") from None
    if not isinstance(content, dict):
        raise DataError(f"{path} {DAMAGED}.")
    return content


if __name__ == "__main__":
    sys.exit(main())
