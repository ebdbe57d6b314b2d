"""What an item lets a prompt say about a network (names, questions, texts, data), and the settings that choose it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator

from harness.codec import shuffled
from harness.errors import ConfigError
from harness.tasks.base import OneOrMore, capitalised
from harness.tasks.causalbench.networks import (
    NETWORKS,
    SCALES,
    Network,
    authors_texts,
    load,
    meanings,
    sample,
)
from harness.tasks.causalbench.templates import Template
from harness.types import JSON

Format = Literal["variable_name", "background", "data", "background_data"]
Names = Literal["original", "readable"]
Columns = Literal["file", "shuffled"]
Background = Literal["ours", "authors"]
DEFAULT = tuple(name for name in NETWORKS if name != "pathfinder")
"""The fourteen networks of the paper's tables."""
Networks = Annotated[
    tuple[Literal[("all", *NETWORKS)], ...],  # type: ignore[valid-type]
    OneOrMore,
    AfterValidator(lambda names: ("all",) if "all" in names else tuple(n for n in NETWORKS if n in names)),
]
Scales = Annotated[tuple[Literal["all", "small", "medium", "large", "very_large"], ...], OneOrMore]

TITLES = {"hepar2": "Hepar II", "win95pts": "Win95PTS"}
"""Networks that the paper does not call by their capitalised name."""
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PARTS = (
    "There are a total of {parts_in_words} parts matrices, together forming an input sample of the Bayesian network "
    "named {network}. You need to combine the {parts_in_words} input matrix into a unified input sample of the "
    "Bayesian network matrix in the order of input."
)
"""Figure 21, word for word."""
_ONE_PART = "There is one part, which is the whole input sample of the Bayesian network named {network}."


@dataclass(frozen=True)
class Wording:
    """How one network's questions are put."""

    network: str
    names: Names
    format: Format
    rows: int
    parts: int
    seed: int
    columns: Columns = "shuffled"
    background: Background = "ours"

    def fields(self, template: Template, *nodes: int) -> dict[str, JSON]:
        """Return the fields of an item that asks `template` about the variables a, b (and c).

        - question_within has a small initial, to go on a sentence; statement is the question as a hypothesis;
          variables are the names as a list in words; knowledge, with a background, is each variable's name and text.
        - parts, with data: the rows as text, part by part, each after the announcement.
        """
        names = [self._names[node] for node in nodes]
        words = dict(zip("abc", names, strict=False))
        question, statement = template.question, template.statement
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        if self.names == "readable":  # these bring the articles that they need; identifiers keep their case
            question = question.replace("the {", "{")
            statement, listed = capitalised(statement.format_map(words)), capitalised(listed)
        question = question.format_map(words)
        values: dict[str, JSON] = {
            **words,
            "question": question,
            "question_within": question[0].lower() + question[1:],
            "statement": statement.format_map(words),
            "variables": listed,
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
        return tuple(meaning.within for meaning in meanings(self.network).values())

    @cached_property
    def _headings(self) -> tuple[str, ...]:
        """The names by themselves."""
        if self.names == "original":
            return self._loaded.variables
        return tuple(meaning.name for meaning in meanings(self.network).values())

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        if self.background == "authors":  # which bring the names themselves: Figure 22
            return tuple(authors_texts(self.network)[variable] for variable in self._loaded.variables)
        texts = (meaning.text for meaning in meanings(self.network).values())
        return tuple(f"{name}: {text}" for name, text in zip(self._headings, texts, strict=True))

    @cached_property
    def _data(self) -> Mapping[str, JSON]:
        order, called = self._order, title(self.network)
        number = _NUMBERS[self.parts] if self.parts < len(_NUMBERS) else str(self.parts)
        return {
            "network": called,
            "parts": matrices(self.network, self._headings, order, rows=self.rows, parts=self.parts, seed=self.seed),
            "parts_in_words": number,
            "announcement": (_PARTS if self.parts > 1 else _ONE_PART).format(network=called, parts_in_words=number),
        }

    @property
    def _order(self) -> Sequence[int]:
        """Which variable stands in each column; each network has a draw of its own, as one may favour directions."""
        places = range(len(self._loaded.variables))
        return places if self.columns == "file" else shuffled(places, "columns", self.network, self.seed)

    @property
    def _loaded(self) -> Network:
        return load(self.network)


def title(network: str) -> str:
    return TITLES.get(network, network.capitalize())


def matrices(
    network: str, names: Sequence[str], order: Sequence[int], *, rows: int, parts: int, seed: int
) -> tuple[str, ...]:
    """Write observations of the network as text, in parts of equal length (the first a row longer where need be).

    Each part begins with the names, the columns in the order given; cells are the alphabetical codes of the states, as
    the authors coded them (Zhou et al., Appendix D.C, Figure 21).
    """
    import numpy as np

    header = " | ".join(names[k] for k in order)
    observations = sample(network, rows, seed=seed)[:, list(order)]
    return tuple(
        "\n".join([header, *(" | ".join(map(str, row)) for row in part.tolist())])
        for part in np.array_split(observations, parts)
    )


def chosen_networks(networks: Networks | None, scale: Scales | None) -> tuple[str, ...]:
    """Return the chosen networks in the paper's order; the paper's fourteen if neither setting is given.

    Raises ConfigError where both are, or none is left.
    """
    if networks is not None and scale is not None:
        raise ConfigError(
            "task.networks and task.scale both choose networks: give one of them (harness discover: network=null)."
        )
    if networks == () or scale == ():
        raise ConfigError(f"no network is left: task.networks takes {', '.join(NETWORKS)}, or all.")
    if "all" in (*(networks or ()), *(scale or ())):
        return NETWORKS
    if scale is not None:
        return tuple(name for name in NETWORKS if SCALES[name] in scale)
    return DEFAULT if networks is None else networks
