"""What the YAML files for lm-evaluation-harness call: the documents, the reading of results, and F1.

`lm_eval run --include_path "$(harness bridges lm-eval)" --tasks corr2cause_audited`, with a task's own settings by
`--metadata '{"settings": {"limit": 60}}'`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.errors import ConfigError
from harness.tasks.question import Question, ScoredAnswer, questions, score, summarize
from harness.types import JSON, Metric

if TYPE_CHECKING:
    from datasets import Dataset

Document = dict[str, JSON]


def documents(
    task: str,
    defaults: Mapping[str, Any],
    prompt: str | None = None,
    settings: Mapping[str, Any] | None = None,
    **others: Any,
) -> dict[str, Dataset]:
    """Return the documents of a task, as lm-eval's `custom_dataset` gives them: one split, `test`.

    `settings`, of `--metadata '{"settings": {…}}'`, go before the file's `defaults`; `prompt` may stand among them.
    lm-eval hands over its own metadata as well, the model's arguments among them: `others`, which say nothing here.
    """
    from datasets import Dataset

    chosen = {"prompt": prompt, **defaults, **(settings or {})}
    return {"test": Dataset.from_list([_document(question) for question in questions(task, **chosen)])}


def _document(question: Question) -> Document:
    """Return a question as one text: system words begin it, as with system_role=user in a run of this project."""
    if [turn["role"] for turn in question.messages if turn["role"] != "system"] != ["user"]:
        raise ConfigError(
            f"prompt={question.metadata['prompt']} has several turns, and a document of lm-eval is one text: use a "
            "prompt without examples."
        )
    return {
        "text": " ".join(turn["content"] for turn in question.messages),
        "answer": question.answer,
        "choices": question.choices,
        "place": question.choices.index(question.answer),
        "metadata": json.dumps(question.metadata),  # as text: its keys differ from row to row
    }


def read(document: Document, results: Sequence[str]) -> Document:
    """Return the metrics of one generated reply. lm-eval tells no finish reason: what was cut off counts as whole."""
    metadata = json.loads(document["metadata"])
    return _metrics(metadata, score(metadata, results[0]))


def rank(document: Document, results: Sequence[tuple[float, bool]]) -> Document:
    """Return the metrics of one ranking: log-likelihoods of the choices, in their order."""
    logprobs = {choice: value for choice, (value, *_) in zip(document["choices"], results, strict=True)}
    metadata = json.loads(document["metadata"])
    return _metrics(metadata, score(metadata, None, logprobs=logprobs))


def _metrics(metadata: Document, answer: ScoredAnswer) -> Document:
    row = [{name: value for name, value in metadata.items() if name != "fields"}, asdict(answer)]
    counts = {"acc": float(answer.correct), "unreadable": float(bool(answer.reason))}
    return counts | dict.fromkeys(("f1", "f1_low", "f1_high"), row)


def f1(rows: Sequence[Any]) -> float | None:
    """Return F1 of Yes over the documents."""
    return _f1(rows).value


def f1_low(rows: Sequence[Any]) -> float | None:
    """Return the lower end of its 95% interval, over clusters; None where there are too few."""
    return (_f1(rows).interval or (None, None))[0]


def f1_high(rows: Sequence[Any]) -> float | None:
    """Return the upper end of its 95% interval."""
    return (_f1(rows).interval or (None, None))[1]


def _f1(rows: Sequence[Any]) -> Metric:
    result = summarize((metadata, ScoredAnswer(**answer)) for metadata, answer in rows)
    return result.overall.metric("f1") or Metric("f1", None)
