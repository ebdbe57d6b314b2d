"""CLadder's published questions: 1,000 built in, others from the Hugging Face Hub or files as the authors have them."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.tasks.cladder.full_precision import flat, value_of_numbers
from harness.tasks.cladder.graphs import GRAPHS, Scm
from harness.tasks.cladder.items import QuestionChoice, groups
from harness.tasks.cladder.parse_text import read_question
from harness.tasks.cladder.queries import NUMERIC, RUNGS, Ask, Query
from harness.tasks.cladder.questions import exact_answer
from harness.tasks.cladder.stated import Stated, follows, stated_answer
from harness.tasks.cladder.stories import graphs_of, names, story
from harness.tasks.data_files import Columns, DataFile, filled, hub_rows
from harness.tasks.text_models import UnreadableText
from harness.types import Item

HUB_PATH = "causalnlp/CLadder"
HUB_SPLIT = "full_v1.5_default"
"""The 10,112 questions of version 1.5."""
Models = Mapping[Any, Mapping[str, Any]]
"""The rows of a file of models, by model_id."""
_OF_THE_GRAPH = re.compile(r" has a direct effect on | is unobserved\.")


@dataclass(frozen=True)
class SourceRow:
    """A question of a data set, with where it comes from for error messages."""

    where: str
    name: str
    """The item's id."""
    text: str
    label: int
    columns: Columns
    """query_type, graph_id, story_id, as the data set has them."""
    model: Mapping[str, Any] | None = None
    """The model's own row, where the data set has one."""

    @cached_property
    def stated(self) -> Stated | None:
        """What the text states; None where it is in other words, or says two things."""
        try:
            return read_question(self.text)
        except UnreadableText:
            return None

    @cached_property
    def labels(self) -> dict[str, int]:
        """The answers of the label sets that can be told.

        `exact` takes the model's parameters, or numbers at full precision that follow from them, or no numbers.
        """
        labels = {"published": self.label}
        answer = None if self.stated is None else stated_answer(self.stated)
        if answer is not None:
            labels["stated"] = int(answer)
        if self._scm is not None and (ask := self._ask) is not None:
            labels["exact"] = exact_answer(self._scm, ask)
        elif self.query not in NUMERIC and answer is not None:
            labels["exact"] = int(answer)
        elif (value := self._value) is not None and (ask := self._ask) is not None:
            labels["exact"] = int(bool(follows(ask, (value, value))))
        return labels

    @property
    def _value(self) -> float | None:
        """What is asked for, by the numbers that the row has at full precision; None where they do not tell it."""
        return value_of_numbers(self.query, self.graph, self.columns.get("given_info"))

    @property
    def _ask(self) -> Ask | None:
        """What is asked, by the text, or by the columns where that says two things."""
        if self.stated is not None:
            return self.stated.ask
        polarity = self.columns.get("polarity")
        return Ask(self.query, polarity) if self.query in NUMERIC and isinstance(polarity, bool) else None

    @cached_property
    def _scm(self) -> Scm | None:
        graph = GRAPHS.get(str(self.columns.get("graph_id")))
        if self.model is None or graph is None or not isinstance(self.model.get("params"), Mapping):
            return None
        told = {_variable(key): tuple(flat(table)) for key, table in self.model["params"].items()}
        if any(len(told.get(node, ())) != 2 ** len(causes) for node, causes in graph.parents.items()):
            return None
        return Scm(graph, {node: told[node] for node in graph.nodes})

    @cached_property
    def variant(self) -> str:
        """Which of the three: what the model's row says, or whether the words of the story are there."""
        name = str(self.columns.get("story_id"))
        if name.startswith("nonsense"):
            return "nonsense"
        if self.model is not None:
            return "anticommonsense" if self.model.get("anticommonsense") else "commonsense"
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
    def difficulty(self) -> str:
        """The strength of the causes by the model's row, or ""."""
        row = self.model or {}
        return str(row.get("difficulty") or {"random": "random"}.get(str(row.get("builder")), ""))

    @property
    def cluster(self) -> str:
        """Story, graph and variant, and the model where it is known."""
        known = (self.model or self.columns).get("model_id")
        model = "" if known is None else f"-model{known}"
        return f"{self.columns.get('story_id')}-{self.graph}-{self.variant}{model}"

    def item(self, choice: QuestionChoice) -> Item:
        """Return it as an item."""
        background, given, asked = _parted(self.text)
        return Item(
            id=self.name,
            fields={
                "text": self.text,
                "background": background,
                "given": given,
                "question": asked,
            },
            labels=self.labels,
            cluster=self.cluster,
            groups=groups(self.query, self.graph, self.variant, self.difficulty),
        )


@cache
def balanced1000() -> Sequence[SourceRow]:
    """Return the first 1,000 questions of the authors' balanced set, as data/README.md says; each is read once."""
    packed = (resources.files("harness") / "data" / "cladder" / "balanced1000.json.gz").read_bytes()
    return tuple(_rows(json.loads(gzip.decompress(packed)), where="balanced1000", stem="balanced", models=dict))


def from_file(path: str) -> list[SourceRow]:
    """Return the questions of a file in the authors' layout or the Hub's: JSON, JSON lines, CSV or Parquet."""
    return list(_rows(DataFile(path).rows(), where=path, stem=Path(path).stem, models=lambda: _models(path)))


def digest_of(path: str) -> str:
    """Return the SHA-256 of a file, and of the file of models beside it where there is one."""
    digests = [DataFile(path).digest()]
    digests += [DataFile(str(file)).digest() for file in _model_files(path)]
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def from_hub(name: str, revision: str | None, split: str) -> list[SourceRow]:
    """Return the questions of a split of the Hub's data set, or of a local folder in the same layout."""
    table, _ = hub_rows(name, split, revision)
    return list(_rows(table, where=f"{name}, {split}", stem=split, models=dict))


def _rows(table: Iterable[Columns], *, where: str, stem: str, models: Callable[[], Models]) -> Iterator[SourceRow]:
    known: Models | None = None
    ids: set[str] = set()
    for number, columns in enumerate(table, start=1):
        here = f"{where}, row {number}"
        if columns.get("given_info") is not None and columns.get("question"):
            if known is None:
                known = models()
            row = _authors_row(columns, known, here, f"{stem}-{number}")
            yield row if row.name not in ids else replace(row, name=f"{row.name}-{stem}-{number}")
            ids.add(row.name)
        elif columns.get("prompt") and columns.get("label") not in (None, ""):
            _query_of(columns, here)
            name = f"{stem}-{columns.get('id', number)}"
            yield SourceRow(here, name, str(columns["prompt"]).strip(), _label(columns["label"], here), columns)
        else:
            raise DataError(
                f"{here} needs the columns prompt, label and query_type, or given_info, question, answer and meta; it "
                f"has {filled(columns)}. Questions in other columns are task=questions."
            )


def _authors_row(columns: Columns, models: Models, where: str, name: str) -> SourceRow:
    """Return a question as the authors' JSON files have it, with the background that stands there or with its model."""
    meta = columns.get("meta")
    if not isinstance(meta, Mapping):
        raise DataError(f"{where} has no meta: it says what kind of question it is, and of which model.")
    _query_of(meta, where)
    model = models.get(meta.get("model_id"))
    background = columns.get("background") or (model or {}).get("background")
    if not background:
        raise DataError(
            f"{where} asks about model {meta.get('model_id')}, and no file beside it says what that is: put the "
            "authors' cladder-v1-meta-models.json (or test-model-meta.json) into the same folder."
        )
    parts = (background, columns["given_info"], columns["question"])
    text = " ".join(str(part).strip() for part in parts if part)
    identity = str(columns.get("desc_id") or columns.get("question_id") or name)
    return SourceRow(where, identity, text, _label(columns.get("answer"), where), meta, model)


def _parted(text: str) -> tuple[str, str, str]:
    """Return a text's background, what it gives, and what it asks."""
    sentences = re.split(r"(?<=[.:]) ", text)
    last = max((place for place, one in enumerate(sentences) if _OF_THE_GRAPH.search(one)), default=-1)
    parts = sentences[: last + 1], sentences[last + 1 : -1], sentences[-1:]
    background, given, asked = (" ".join(part) for part in parts)
    return background, given, asked


def _query_of(columns: Columns, where: str) -> None:
    if columns.get("query_type") not in RUNGS:
        raise DataError(f"{where} has the query_type {columns.get('query_type')!r}; {', '.join(RUNGS)} are CLadder's.")


def _label(value: object, where: str) -> int:
    text = str(value).strip().lower()
    if text not in ("yes", "no"):
        raise DataError(f"{where} has the answer {value!r}; yes and no are allowed.")
    return int(text == "yes")


def _model_files(path: str) -> Sequence[Path]:
    """Return the files of models that may belong to a file of questions: those beside it whose names say so."""
    file = DataFile(path).file
    return sorted(other for other in file.parent.glob("*model*.json") if other != file)


def _models(path: str) -> Models:
    rows = (row for file in _model_files(path) for row in DataFile(str(file)).rows())
    return {row["model_id"]: row for row in rows if "model_id" in row}


def _variable(key: str) -> str:
    """Return the variable of a table's name: V2 of p(V2 | X)."""
    return key.removeprefix("p(").removesuffix(")").partition(" | ")[0]
