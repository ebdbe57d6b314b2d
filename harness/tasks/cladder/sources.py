"""CLadder's published questions: 1,000 built in, others from the Hugging Face Hub or a file in its columns."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path

from harness.errors import DataError
from harness.tasks.cladder.items import QuestionChoice, item_of
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


@dataclass(frozen=True)
class SourceRow:
    """A question of a data set."""

    name: str
    """The item's id."""
    text: str
    label: int
    columns: Columns
    """query_type, graph_id, story_id, as the data set has them; of those built in also model_id and exact."""

    difficulty = ""
    """Rows do not tell it."""

    @cached_property
    def labels(self) -> dict[str, int]:
        """The answers of the label sets that can be told; `exact` takes a column, or a question without numbers."""
        labels = {"published": self.label}
        try:
            answer = stated_answer(read_question(self.text))
        except UnreadableText:  # it is in other words, or says two things
            answer = None
        if answer is not None:
            labels["stated"] = int(answer)
        if isinstance(exact := self.columns.get("exact"), int):
            labels["exact"] = exact
        elif self.query not in NUMERIC and answer is not None:
            labels["exact"] = int(answer)
        return labels

    @cached_property
    def variant(self) -> str:
        """Which of the three: the words of the story tell, and whether all of them are there."""
        name = str(self.columns.get("story_id"))
        if name.startswith("nonsense"):
            return "nonsense"
        if name not in names(nonsense=False):
            return "commonsense"
        (graph,) = graphs_of(name)
        called = {words.name for words in story(name, graph).words.values()}
        return "commonsense" if all(one.lower() in self.text.lower() for one in called) else "anticommonsense"

    @property
    def query(self) -> Query:
        query: Query = self.columns["query_type"]
        return query

    @property
    def graph(self) -> str:
        return str(self.columns.get("graph_id"))

    @property
    def cluster(self) -> str:
        """Story, graph and variant, and the model where it is known."""
        known = self.columns.get("model_id")
        model = "" if known is None else f"-model{known}"
        return f"{self.columns.get('story_id')}-{self.graph}-{self.variant}{model}"

    def item(self, choice: QuestionChoice) -> Item:
        """Return it as an item."""
        return item_of(self, self.text, *_parted(self.text))


@cache
def balanced1000() -> Sequence[SourceRow]:
    """Return the first 1,000 questions of the authors' balanced set, as data/README.md says; each is read once."""
    packed = (resources.files("harness") / "data" / "cladder" / "balanced1000.json.gz").read_bytes()
    return tuple(_rows(json.loads(gzip.decompress(packed)), where="balanced1000"))


def from_file(path: str) -> list[SourceRow]:
    """Return the questions of a file in the Hub's columns: JSON, JSON lines, CSV or Parquet."""
    return list(_rows(DataFile(path).rows(), where=path, stem=f"{Path(path).stem}-"))


def from_hub(name: str, revision: str | None, split: str) -> list[SourceRow]:
    """Return the questions of a split of the Hub's data set, or of a local folder in the same layout."""
    table, _ = hub_rows(name, split, revision)
    return list(_rows(table, where=f"{name}, {split}", stem=f"{split}-"))


def _rows(table: Iterable[Columns], *, where: str, stem: str = "") -> Iterator[SourceRow]:
    for number, columns in enumerate(table, start=1):
        here = f"{where}, row {number}"
        if not columns.get("prompt") or columns.get("label") in (None, ""):
            raise DataError(
                f"{here} needs the columns prompt, label and query_type; it has {filled(columns)}. Questions in other "
                "columns are task=questions."
            )
        if (query := columns.get("query_type")) not in RUNGS:
            raise DataError(f"{here} has the query_type {query!r}; {', '.join(RUNGS)} are CLadder's.")
        label = str(columns["label"]).strip().lower()
        if label not in ("yes", "no"):
            raise DataError(f"{here} has the label {columns['label']!r}; yes and no are allowed.")
        name = f"{stem}{columns.get('id', number)}"
        yield SourceRow(name, str(columns["prompt"]).strip(), int(label == "yes"), columns)


def _parted(text: str) -> tuple[str, str, str]:
    """Return a text's background, what it gives, and what it asks."""
    sentences = re.split(r"(?<=[.:]) ", text)
    last = max((place for place, one in enumerate(sentences) if _OF_THE_GRAPH.search(one)), default=-1)
    parts = sentences[: last + 1], sentences[last + 1 : -1], sentences[-1:]
    background, given, asked = (" ".join(part) for part in parts)
    return background, given, asked
