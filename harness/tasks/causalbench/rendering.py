"""What an item lets a prompt say about a network: names, questions, background texts, and the data as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from harness.tasks.causalbench.networks import Network, load, meanings, sample
from harness.tasks.causalbench.questions import Template
from harness.types import JSON

Format = Literal["variable_name", "background", "data", "background_data"]
Names = Literal["original", "readable"]

TITLES = {"hepar2": "Hepar II", "win95pts": "Win95PTS"}
"""Networks that the paper does not call by their capitalised name."""
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Wording:
    """How one network's questions are put."""

    network: str
    names: Names
    format: Format
    rows: int
    parts: int
    seed: int

    def fields(self, template: Template, *nodes: int) -> dict[str, JSON]:
        """Return the fields of an item that asks `template` about the variables a, b (and c).

        - a, b, c: the names. question, and question_within: the same with a small initial, to go on a sentence.
        - statement: the question as a hypothesis. variables: the names as a list in words.
        - knowledge, with a background: each variable's name and text.
        - parts, with data: the rows as text, in so many parts; parts_in_words, and the network's title.
        """
        names = [self._names[node] for node in nodes]
        words = dict(zip("abc", names, strict=False))
        question = template.question.format_map(words)
        values: dict[str, JSON] = {
            **words,
            "question": question,
            "question_within": question[0].lower() + question[1:],
            "statement": template.statement.format_map(words),
            "variables": f"{', '.join(names[:-1])} and {names[-1]}",
        }
        if self.format.startswith("background"):
            # "Meanwhile" between the texts: Figure 22.
            values["knowledge"] = " Meanwhile, ".join(self._texts[node] for node in nodes)
        if self.format.endswith("data"):
            values |= self._data
        return values

    @cached_property
    def _names(self) -> tuple[str, ...]:
        if self.names == "original":
            return self._loaded.variables
        return tuple(meaning.name for meaning in meanings(self.network).values())

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        texts = (meaning.text for meaning in meanings(self.network).values())
        return tuple(f"{name}: {text}" for name, text in zip(self._names, texts, strict=True))

    @cached_property
    def _data(self) -> Mapping[str, JSON]:
        return {
            "network": TITLES.get(self.network, self.network.capitalize()),
            "parts": matrices(self.network, self._names, rows=self.rows, parts=self.parts, seed=self.seed),
            "parts_in_words": _NUMBERS[self.parts] if self.parts < len(_NUMBERS) else str(self.parts),
        }

    @property
    def _loaded(self) -> Network:
        return load(self.network)


def matrices(network: str, names: tuple[str, ...], *, rows: int, parts: int, seed: int) -> tuple[str, ...]:
    """Write observations of the network as text, in parts of equal length (the first a row longer where need be).

    Each part begins with the names; cells are the alphabetical codes of the states, as the authors coded them
    (Zhou et al., Appendix D.C, Figure 21).
    """
    import numpy as np

    header = " | ".join(names)
    observations = sample(network, rows, seed=seed)
    return tuple(
        "\n".join([header, *(" | ".join(map(str, row)) for row in part.tolist())])
        for part in np.array_split(observations, parts)
    )
