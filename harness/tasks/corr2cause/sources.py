"""Corr2Cause from elsewhere: the Hugging Face Hub, or the user's own CSV or JSON lines file."""

from __future__ import annotations

import csv
import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from harness.causal.relations import Relation
from harness.codec import content_digest
from harness.errors import ConfigError, DataError, unknown
from harness.tasks.corr2cause.parse_text import Hypothesis, Premise, Unreadable, follows, read_hypothesis, read_premise
from harness.tasks.corr2cause.text import as_input
from harness.types import Item

T = TypeVar("T")

HUB_PATH = "causalnlp/corr2cause"
HUB_REVISION = "42ba12c769e11ff6427c9f52d7db58e3f9bf3e53"

_INPUT = re.compile(r"Premise: (?P<premise>.*?)\s*\nHypothesis: (?P<hypothesis>.*)", re.DOTALL)


@dataclass(frozen=True)
class Row:
    """One row of a data set, with where it comes from for error messages."""

    where: str
    id: str
    premise: str
    hypothesis: str
    label: int
    columns: Mapping[str, Any]

    @cached_property
    def _claim(self) -> Hypothesis:
        """Relation and variables from the columns where the row has them, else from the text."""
        given = {name: str(self.columns[name]) for name in ("relation", "var_i", "var_j") if self.columns.get(name)}
        if not given:
            return self._readable(lambda: read_hypothesis(self.hypothesis, self._listed_names))
        if len(given) < 3:
            raise DataError(f"{self.where}: relation, var_i and var_j go together; there is only {', '.join(given)}.")
        if given["relation"] not in tuple(Relation):
            raise DataError(f"{self.where}: {unknown('relation', given['relation'], Relation)}")
        return Hypothesis(Relation(given["relation"]), given["var_i"], given["var_j"])

    @cached_property
    def _premise(self) -> Premise:
        return self._readable(lambda: read_premise(self.premise))

    @property
    def _listed_names(self) -> tuple[str, ...] | None:
        try:
            return read_premise(self.premise).names
        except Unreadable:
            return None

    def _readable(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except Unreadable as departure:
            raise DataError(f"{self.where} cannot be read: {departure}.") from None

    @property
    def relation(self) -> Relation:
        """The claimed relation."""
        return self._claim.relation

    @property
    def num_nodes(self) -> int:
        """The number of variables."""
        given = self.columns.get("num_nodes")
        if given in (None, ""):
            return len(self._premise.names)
        if not str(given).isdecimal():
            raise DataError(f"{self.where} has num_nodes {given!r}; a number is needed.")
        return int(str(given))

    @cached_property
    def derived(self) -> int | None:
        """The label by logic; None where the premise is not in the benchmark's words or contradicts itself."""
        try:
            return int(follows(read_premise(self.premise), self._claim))
        except (Unreadable, ValueError):
            return None

    def check(self, *, derivable: bool) -> None:
        """Raises DataError where the row cannot be read, before anything is asked about any row."""
        _ = self.relation, self.num_nodes
        if derivable:
            self._derive()

    def _derive(self) -> int:
        read, claim = self._premise, self._claim
        for name in (claim.i, claim.j):
            if name not in read.names:
                raise DataError(f"{self.where} asks about {name!r}; its premise has {', '.join(read.names)}.")
        return int(self._readable(lambda: follows(read, claim)))

    def item(self) -> Item:
        """The row as a question. `reading` says whether relation and variables stood in the row."""
        claim = self._claim
        derived = self.derived
        return Item(
            id=self.id,
            fields={
                "premise": self.premise,
                "hypothesis": self.hypothesis,
                "statement": self.hypothesis.removesuffix("."),
                "input": as_input(self.premise, self.hypothesis),
                "relation": str(claim.relation),
                "var_i": claim.i,
                "var_j": claim.j,
                "num_nodes": self.num_nodes,
                "reading": "given" if self.columns.get("relation") else "derived",
            },
            labels={"published": self.label} | ({} if derived is None else {"audited": derived}),
            cluster=f"premise-{hashlib.sha256(self.premise.encode()).hexdigest()[:12]}",
            groups={"relation": str(claim.relation), "num_nodes": str(self.num_nodes)},
        )


def from_file(path: str) -> list[Row]:
    """The rows of a .csv, .jsonl or .json (lines) file."""
    file = Path(path).expanduser()
    readers = {".csv": _csv, ".jsonl": _jsonl, ".json": _jsonl}
    if file.suffix not in readers:
        raise ConfigError(f"task.path={path} ends in {file.suffix or 'nothing'}: a .csv or .jsonl file is needed.")
    try:
        found = list(_rows(readers[file.suffix](file), where=str(path), stem=file.stem))
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from None
    if not found:
        raise DataError(f"{path} has no rows: it needs a line for every item.")
    return found


def digest_of(path: str) -> str:
    """The SHA-256 of a data file or folder: another content is another configuration."""
    try:
        return content_digest(Path(path).expanduser())
    except OSError as error:
        raise _unreadable(path, error) from None


def is_folder(path: str) -> bool:
    """Whether it names a folder of this machine, not a data set of the Hub."""
    return Path(path).is_dir()


def hub_place(path: str | None, revision: str | None) -> tuple[str, str | None]:
    """(data set name or local folder, its revision: the pinned one where none is given, none for a folder)."""
    name = path or HUB_PATH
    if is_folder(name):
        return name, None
    return name, revision or (HUB_REVISION if name == HUB_PATH else None)


def _unreadable(path: str, error: Exception) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError(f"{path} does not exist; task.path names a CSV or JSON lines file.")
    return DataError(f"{path} cannot be read: {error}.")


def from_hub(path: str | None, revision: str | None, *, split: str, perturbation: str) -> list[Row]:
    """The rows of the Hub's data set at its pinned revision, or of a local folder in the same layout."""
    try:
        import datasets
    except ImportError:
        raise ConfigError('task.source=hub needs the datasets package: python -m pip install "harness[hub]".') from None
    name, version = hub_place(path, revision)
    datasets.disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # five retries would be told line by line
    try:
        config = _hub_config(datasets.get_dataset_config_names(name, revision=version), perturbation)
        table = datasets.load_dataset(name, config, split=split, revision=version)
    except ConfigError:
        raise
    except Exception as error:  # the library raises a dozen kinds for "not there" and "not reachable"
        raise DataError(
            f"the data set {name} (split {split}) cannot be loaded: {' '.join(str(error).split())[:300]}. "
            "Check the network, or give a local copy with task.path=FOLDER; task.source=builtin needs neither."
        ) from error
    return list(_rows(table, where=f"{name}, {split}", stem=f"{config}-{split}"))


def _hub_config(names: list[str], perturbation: str) -> str:
    """The configuration that holds the perturbed test set, told by a part of its name."""
    part = {"none": "default", "paraphrase": "paraphras", "refactorization": "refactor"}[perturbation]
    fitting = [name for name in names if part in name]
    if not fitting and perturbation == "none" and len(names) == 1:
        return names[0]
    if len(fitting) != 1:
        raise ConfigError(
            f"the data set has no single configuration for task.perturbation={perturbation}; "
            f"it has {', '.join(names)}. task.source=builtin makes all perturbations itself."
        )
    return fitting[0]


def _rows(table: Iterable[Mapping[str, Any]], *, where: str, stem: str) -> Iterator[Row]:
    for number, columns in enumerate(table):
        here = f"{where}, row {number + 1}"
        premise, hypothesis = _texts(columns, here)
        yield Row(here, f"{stem}-{number + 1}", premise, hypothesis, _label(columns, here), columns)


def _texts(columns: Mapping[str, Any], where: str) -> tuple[str, str]:
    if columns.get("premise") and columns.get("hypothesis"):
        return str(columns["premise"]).strip(), str(columns["hypothesis"]).strip()
    if not columns.get("input"):
        raise DataError(
            f"{where} needs the columns input and label, or premise, hypothesis and label; "
            f"it has {', '.join(str(name) for name, value in columns.items() if value not in (None, '')) or 'none'}."
        )
    found = _INPUT.fullmatch(str(columns["input"]).strip())
    if not found:
        raise DataError(f'{where}: the input is not of the form "Premise: …", newline, "Hypothesis: …".')
    return found["premise"], found["hypothesis"].strip()


def _label(columns: Mapping[str, Any], where: str) -> int:
    if columns.get("label") in (None, ""):
        raise DataError(f"{where} has no label; the column label takes 0 or 1.")
    text = str(columns["label"]).strip()
    if text not in ("0", "1"):
        raise DataError(f"{where} has the label {text!r}; 0 (does not follow) and 1 (follows) are allowed.")
    return int(text)


def _csv(file: Path) -> Iterator[Mapping[str, Any]]:
    with file.open(newline="", encoding="utf-8-sig") as lines:
        yield from csv.DictReader(lines)


def _jsonl(file: Path) -> Iterator[Mapping[str, Any]]:
    import jsonlines

    with jsonlines.open(file) as lines:
        try:
            yield from lines.iter(type=dict, skip_empty=True)
        except jsonlines.InvalidLineError as error:
            raise DataError(f"{file}, line {error.lineno} is not a JSON object.") from None
