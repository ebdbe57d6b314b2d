"""The rows of what others have recorded, and the run that they make, as if its model had been asked here."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.codec import digest
from harness.errors import ConfigError, DataError, unknown
from harness.prompting import prompts
from harness.prompting.prompts import Prompt
from harness.prompting.reading import reading_version
from harness.protocols import Task
from harness.run import leave
from harness.runtime.progress import Progress
from harness.settings import Main
from harness.storage.configuration import folder_of, of_model
from harness.storage.manifest import Manifest, Recorded, TracedItems, provenance
from harness.storage.run_folder import Folder
from harness.tasks import data_files
from harness.tasks.check import CheckedItems
from harness.tasks.data_files import NO, YES, DataFile, numbered
from harness.types import LETTERS, Failure, Item, Record, Response, Usage, ended

READING = "recorded"
"""What the prompt of recorded answers is called, and how the name of one ends whose replies were read here."""
SOURCE = "Recorded by others, in whatever words they asked. "
_WORDS = dict.fromkeys(YES, "Yes") | dict.fromkeys(NO, "No")
_IN_BRACES = re.compile(r"\{([^{}]+)\}")
NAMES = ("id", "reply", "answer", "reasoning", "finish_reason", "input_tokens", "output_tokens")
"""What map= may say the column of: `reply` is a whole one, `answer` what others have read in one that is not there."""
Row = Mapping[str, str]
"""One recorded answer: its columns by NAMES, and `where` it stands in the file, for messages."""


def pairs(setting: str, values: Sequence[str], known: Sequence[str] = ()) -> dict[str, str]:
    """Return a setting such as id:question_id,answer:parsed as a mapping. Raises ConfigError."""
    mapping = {name: column for name, _, column in (value.partition(":") for value in values)}
    for name, column in mapping.items():
        if not column:
            raise ConfigError(f"{setting}={name}: write NAME:COLUMN, several with commas between them.")
        if known and name not in known:
            raise ConfigError(unknown(f"part of {setting}=", name, known))
    return mapping


def table_rows(path: str, mapped: Mapping[str, str], where: Mapping[str, str]) -> Iterator[Row]:
    """Yield the rows of a CSV, JSON lines or Parquet file for which the columns of `where` have its values.

    `mapped` has the column of each field, or a text with columns in braces. Raises ConfigError, and DataError for a
    column that is not there.
    """
    if ("reply" in mapped) == ("answer" in mapped) or "id" not in mapped:
        raise ConfigError(
            "map= says which column has the items' ids (id:COLUMN, as `harness items` has them) and which the answers: "
            "reply:COLUMN where it holds replies, which are read here, or answer:COLUMN where it holds a word that "
            f"somebody has read. Others are {', '.join(NAMES)}."
        )
    file = DataFile(path)
    for row in numbered(file.rows(), file.file.name):
        if all(_text(row, column) == value for column, value in where.items()):
            yield {"where": row.where, **{name: _text(row, column) for name, column in mapped.items()}}


def _text(row: data_files.Row, column: str) -> str:
    """Return the text of a column, or of a text with columns in braces; an empty cell is ""."""
    if "{" in column:
        return _IN_BRACES.sub(lambda match: _text(row, match[1]), column)
    value: Any = row.columns
    for part in [column] if column in value else column.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise DataError(f"{row.where} has no column {column!r}; it has {', '.join(map(str, row.columns)):.500}.")
        value = value[part]
    return "" if value is None else str(value)


def matched(items: Iterable[Item], rows: Iterable[Row], samples: int) -> tuple[dict[str, list[Row]], int, int]:
    """Return the rows of each item that has some, how many items have none, and how many rows no item has.

    Raises DataError where an item has other than `samples` rows, or where no item has any.
    """
    waiting: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        waiting[row["id"]].append(row)
    ids = [item.id for item in items]
    found = {name: waiting.pop(name) for name in ids if name in waiting}
    if not found:
        raise DataError("no row has the id of an item of the task: is it the right task=?")
    if others := [several[0]["where"] for several in found.values() if len(several) != samples]:
        raise DataError(
            f"{len(others):,} item{'s have' if len(others) > 1 else ' has'} other than samples={samples} rows, such as "
            f"that of {', '.join(others[:5])}. "
            "Choose rows with where=COLUMN:VALUE; several answers to each item are samples=K."
        )
    return found, len(ids) - len(found), sum(map(len, waiting.values()))


def prompt_for(task: Task, name: str | None, *, replies: bool) -> Prompt:
    """Return the prompt that reads the rows: one of the task's for whole replies, else one that takes answers as such.

    Raises ConfigError where replies are there and no prompt is named, or the other way round.
    """
    if replies == (name is None):
        raise ConfigError(
            "prompt=NAME says how replies are read: as those to that prompt of the task, whose form they should have. "
            "Of answers leave it out: they are taken as they are."
        )
    known = (
        prompts.load(task.name, each, task.examples(), format=task.prompt_format)
        for each in ([name] if name else task.prompts)
    )
    # One for models that write says whether questions have choices.
    base = next((prompt for prompt in known if replies or "chat" in prompt.words.makes), None)
    if base and replies:
        words = replace(base.words, source=SOURCE + base.words.source)
        return replace(base, name=f"{base.name},{READING}", words=words)
    choices = {"choices_from": base.words.choices_from} if base and base.words.choices_from else {}
    content = {"makes": ["chat"], "user": "{text}", "parser": READING, "source": SOURCE.strip(), **choices}
    return prompts.recorded(READING, content, ())


def write(
    settings: Main, task: Task, prompt: Prompt, name: str, rows: Mapping[str, Sequence[Row]], facts: Recorded
) -> Path:
    """Write the run of the rows of each item, scored; return its folder.

    Raises DataError for an answer that is none of the item's.
    """
    config: dict[str, Any] = {"task": settings.task}
    config |= {"prompt": prompt.name, "model": {"kind": READING, "name": name}, "samples": settings.samples}
    # What tells these rows from others: their answers, by item.
    content = {item: [(row.get("reply"), row.get("answer"), "") for row in of] for item, of in rows.items()}
    answerer = {"kind": READING, "rows": digest(content)}
    place, configuration = of_model(task, prompt, name, answerer, settings.samples)
    path = folder_of(settings.results, place)
    manifest = Manifest(
        run=place,
        configuration=configuration,
        role="model",
        **provenance(config),
        own_files=settings.own_files | prompt.own_file or None,
        words=prompt.as_json,
        recorded=facts,
        reading=reading_version(),
    )
    folder = Folder(path=path, manifest=manifest, renamed_by="name")
    items = TracedItems(item for item in CheckedItems(task) if item.id in rows)
    answered = (_record(item, row, prompt, sample) for item in items for sample, row in enumerate(rows[item.id]))
    outcome = leave(task, items, answered, folder, Progress(f"{task.name} {name}"), settings.samples)
    if outcome.stopped is not None:
        raise DataError(str(outcome.stopped))
    return path


def _record(item: Item, row: Row, prompt: Prompt, sample: int) -> Record:
    outcome: Response | Failure
    reply, end = row.get("reply"), row.get("finish_reason", "")
    if reply is not None and ended(end) == "refused":
        outcome = Failure("content_filter", "the reply was withheld")  # as of a run: what is left of it is no answer
    else:
        text = _word(row, item, prompt) if reply is None else reply
        usage = Usage(input=_count(row, "input_tokens"), output=_count(row, "output_tokens"))
        outcome = Response(text, usage=usage, finish_reason=end, reasoning=row.get("reasoning", ""))
    answer = None if isinstance(outcome, Failure) else prompt.parse(outcome, item.fields)
    return Record.of(item, None, outcome, answer, sample)


def _count(row: Row, name: str) -> int | None:
    """Return a number of tokens; None for an empty cell. Raises DataError."""
    text = row.get(name, "").strip().removesuffix(".0")
    if text and not (text.isdecimal() and len(text) < 10):
        raise DataError(f"{row['where']} has {text!r:.60} as {name}; a whole number is needed, or nothing.")
    return int(text) if text else None


def _word(row: Row, item: Item, prompt: Prompt) -> str:
    """Return a recorded answer as the parser of such takes it, "" for none. Raises DataError for another word."""
    word = row["answer"].strip().rstrip(".").strip()
    known, allowed = {"": "", **_WORDS}, "yes and no, true and false, 1 and 0"
    if prompt.words.choices_from is not None:
        texts: Any = item.fields.get(prompt.words.choices_from, ())
        letters = LETTERS[: len(texts)]
        known = {"": "", **{letter.casefold(): letter for letter in letters}}
        known |= {str(text).casefold(): letter for text, letter in zip(texts, letters, strict=True)}
        allowed = ", ".join(filter(None, known))
    if (answer := known.get(word.casefold())) is None:
        raise DataError(f"{row['where']} has the answer {row['answer']!r:.60}; {allowed} are allowed, or nothing.")
    return answer
