"""CLadder's published questions: 1,000 built in, others from the Hugging Face Hub or a file in its columns."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.tasks.cladder.items import QuestionChoice, groups_of, item_of
from harness.tasks.cladder.parse_text import read_question
from harness.tasks.cladder.queries import NUMERIC, RUNGS, Query
from harness.tasks.cladder.stated import stated_answer
from harness.tasks.cladder.stories import graphs_of, names, story
from harness.tasks.data_files import Columns, DataFile, filled, hub_rows
from harness.tasks.text_models import UnreadableText
from harness.types import Item

HUB_PATH = "causalnlp/CLadder"
HUB_SPLIT = "full_v1.5_default"
"""The 10,112 questions of version 1.5."""
_OF_THE_GRAPH = re.compile(r" has a direct effect on | is unobserved\.")


def balanced1000(choice: QuestionChoice) -> list[Item]:
    """Return the first 1,000 questions of the authors' balanced set, as data/README.md says."""
    packed = (resources.files("harness") / "data" / "cladder" / "balanced1000.json.gz").read_bytes()
    return list(_items(json.loads(gzip.decompress(packed)), choice, where="balanced1000"))


def from_file(path: str, choice: QuestionChoice) -> list[Item]:
    """Return the questions of a file in the Hub's columns: JSON, JSON lines, CSV or Parquet."""
    return list(_items(DataFile(path).rows(), choice, where=path, stem=f"{Path(path).stem}-"))


def from_hub(name: str, revision: str | None, split: str, choice: QuestionChoice) -> list[Item]:
    """Return the questions of a split of the Hub's data set, or of a local folder in the same layout."""
    table, _ = hub_rows(name, split, revision)
    return list(_items(table, choice, where=f"{name}, {split}", stem=f"{split}-"))


def _items(table: Iterable[Columns], choice: QuestionChoice, *, where: str, stem: str = "") -> Iterator[Item]:
    """Yield the wanted rows; those of no model's id are in one cluster with all of story, graph and variant."""
    for number, columns in enumerate(table, start=1):
        here = f"{where}, row {number}"
        if not columns.get("prompt") or columns.get("label") in (None, ""):
            raise DataError(
                f"{here} needs the columns prompt, label and query_type; it has {filled(columns)}. Questions in other "
                "columns are task=questions."
            )
        query: Any = columns.get("query_type")
        if query not in RUNGS:
            raise DataError(f"{here} has the query_type {query!r}; {', '.join(RUNGS)} are CLadder's.")
        label = str(columns["label"]).strip().lower()
        if label not in ("yes", "no"):
            raise DataError(f"{here} has the label {columns['label']!r}; yes and no are allowed.")
        text, story_id, graph = str(columns["prompt"]).strip(), str(columns.get("story_id")), columns.get("graph_id")
        variant = _variant(story_id, text)
        if not choice.takes(query, variant, ""):
            continue
        labels = {"published": int(label == "yes"), **_labels(text, query, columns.get("exact"))}
        model = "" if (known := columns.get("model_id")) is None else f"-model{known}"
        cluster = f"{columns.get('story_id')}-{graph}-{variant}{model}"
        name = f"{stem}{columns.get('id', number)}"
        yield item_of(name, _parted(text), labels, cluster, groups_of(query, str(graph), variant))


def _labels(text: str, query: Query, exact: object) -> dict[str, int]:
    """Return the answers besides the published one; `exact` takes a column, or a question without numbers."""
    try:
        answer = stated_answer(read_question(text))
    except UnreadableText:  # it is in other words, or says two things
        answer = None
    labels = {} if answer is None else {"stated": int(answer)}
    if isinstance(exact, int):
        labels["exact"] = exact
    elif query not in NUMERIC and answer is not None:
        labels["exact"] = int(answer)
    return labels


def _variant(name: str, text: str) -> str:
    """Return which of the three: the words of the story tell, and whether all of them are there."""
    if name.startswith("nonsense"):
        return "nonsense"
    if name not in names(nonsense=False):
        return "commonsense"
    (graph,) = graphs_of(name)
    called = {words.name for words in story(name, graph).words.values()}
    return "commonsense" if all(one.lower() in text.lower() for one in called) else "anticommonsense"


def _parted(text: str) -> tuple[str, str, str]:
    """Return a text's background, what it gives, and what it asks."""
    sentences = re.split(r"(?<=[.:]) ", text)
    last = max((place for place, one in enumerate(sentences) if _OF_THE_GRAPH.search(one)), default=-1)
    parts = sentences[: last + 1], sentences[last + 1 : -1], sentences[-1:]
    background, given, asked = (" ".join(part) for part in parts)
    return background, given, asked
