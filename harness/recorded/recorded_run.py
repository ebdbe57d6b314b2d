"""Rows that answer items into a run's folder, as if its model had been asked here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.codec import digest
from harness.errors import ConfigError, DataError
from harness.prompting import prompts
from harness.prompting.prompts import Prompt
from harness.prompting.version import reading_version
from harness.protocols import Task
from harness.recorded.rows import Row
from harness.run import leave
from harness.runtime.progress import Progress
from harness.settings import Main
from harness.storage.configuration import folder_of, of_model
from harness.storage.manifest import Manifest, Recorded, TracedItems, provenance
from harness.storage.record_lines import OF_ITEM
from harness.storage.run_folder import Folder
from harness.tasks.check import CheckedItems
from harness.types import LETTERS, Failure, Item, Record, Response, Usage, ended

READING = "recorded"
"""What the prompt of recorded answers is called, and how the name of one ends whose replies were read here."""
SOURCE = "Recorded by others, in whatever words they asked. "
_WORDS = {"yes": "Yes", "true": "Yes", "1": "Yes", "no": "No", "false": "No", "0": "No"}


def prompt_for(task: Task, name: str | None, *, replies: bool) -> Prompt:
    """Return the prompt that reads the rows: one of the task's for whole replies, else one that takes answers as such.

    Raises ConfigError where replies are there and no prompt is named, or the other way round.
    """
    if replies and name is None:
        raise ConfigError(
            "prompt=NAME says how replies are read: as those to that prompt of the task, whose form they should have."
        )
    if not replies and name is not None:
        raise ConfigError(
            f"prompt={name}: recorded answers are taken as they are, and no prompt reads them; leave it out."
        )
    base = prompts.load(task.name, name or _first_in_words(task), task.examples(), format=task.prompt_format)
    if replies:
        words = replace(base.words, source=SOURCE + base.words.source)
        return replace(base, name=f"{base.name},{READING}", words=words)
    choices = {"choices_from": base.words.choices_from} if base.words.choices_from else {}
    content = {"makes": ["chat"], "user": "{text}", "parser": READING, "source": SOURCE.strip(), **choices}
    return prompts.recorded(READING, content, ())


def _first_in_words(task: Task) -> str:
    """Return the first of the task's prompts that has a model write: it says whether questions have choices."""
    for name in task.prompts:
        prompt = prompts.load(task.name, name, task.examples(), format=task.prompt_format)
        if "chat" in prompt.words.makes:
            return name
    raise ConfigError(f"task {task.name} has no prompt for models that write, so no answers in words.")


def write(
    settings: Main, task: Task, prompt: Prompt, name: str, rows: Mapping[str, Sequence[Row]], facts: Recorded
) -> Path:
    """Write the run of the rows of each item, scored; return its folder.

    Raises DataError for an answer that is none of the item's.
    """
    config: dict[str, Any] = {"task": settings.task}
    config |= {"prompt": prompt.name, "model": {"kind": READING, "name": name}, "samples": settings.samples}
    # What tells these rows from others: their answers, by item.
    content = {item: [(row.reply, row.answer, "") for row in several] for item, several in rows.items()}
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
    answered = (
        (_record(item, row, prompt, sample), None) for item in items for sample, row in enumerate(rows[item.id])
    )
    outcome = leave(task, items, answered, folder, Progress(f"{task.name} {name}"), settings.samples)
    if outcome.stopped is not None:
        raise DataError(str(outcome.stopped))
    return path


def _record(item: Item, row: Row, prompt: Prompt, sample: int) -> Record:
    outcome = _outcome(row, item, prompt)
    return Record(
        **{name: getattr(item, "id" if name == "item" else name) for name in OF_ITEM},
        request=None,
        outcome=outcome,
        answer=None if isinstance(outcome, Failure) else prompt.parse(outcome, item.fields),
        sample=sample,
    )


def _outcome(row: Row, item: Item, prompt: Prompt) -> Response | Failure:
    if row.reply is not None and ended(row.finish_reason) == "refused":
        # As of a run: whatever is left of it is no answer.
        return Failure("content_filter", "the reply was withheld")
    text = row.reply if row.reply is not None else _word(row, item, prompt)
    usage = Usage(input=row.input_tokens, output=row.output_tokens)
    return Response(text, usage=usage, finish_reason=row.finish_reason, reasoning=row.reasoning)


def _word(row: Row, item: Item, prompt: Prompt) -> str:
    """Return a recorded answer as the parser of such takes it, "" for none. Raises DataError for another word."""
    word = (row.answer or "").strip().rstrip(".").strip()
    if not word:
        return ""
    known: dict[str, str] = _WORDS
    if prompt.words.choices_from is not None:
        texts: Any = item.fields.get(prompt.words.choices_from, ())
        letters = LETTERS[: len(texts)]
        known = {letter.casefold(): letter for letter in letters}
        known |= {str(text).casefold(): letter for text, letter in zip(texts, letters, strict=True)}
    if (answer := known.get(word.casefold())) is None:
        raise DataError(f"{row.where} has the answer {row.answer!r:.60}; {', '.join(known)} are allowed, or nothing.")
    return answer
