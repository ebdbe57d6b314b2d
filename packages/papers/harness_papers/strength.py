"""The task causalbench/strength: rank the causes and the effects of each variable, with their strengths (Appendix F).

The two questions are the paper's; it has no truth and no score for them. Both are this project's: see the README.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from harness.codec import content_digest, shuffled
from harness.tasks.base import subset
from harness.tasks.causalbench.networks import NETWORKS, SCALES, load, meanings
from harness.tasks.causalbench.rendering import Names, Networks, Scales, chosen_networks, title
from harness.types import JSON, Item, Record, Result
from harness_papers.strength_scores import FILE, HEADLINE, SIDES, others, summarize


@cache
def shared_names() -> Counter[str]:
    """Return in how many networks a variable is called so, by identifier or by readable name inside a sentence."""
    names: Counter[str] = Counter()
    for network in NETWORKS:
        readable = (meaning.within for meaning in meanings(network).values())
        names.update({word.casefold() for word in (*load(network).variables, *readable)})
    return names


@dataclass(frozen=True)
class Strength:
    """Two questions a variable; its config says what each setting means."""

    name: str
    prompts: tuple[str, ...]
    networks: Networks | None = None
    scale: Scales | None = None
    among: Literal["anything", "network"] = "anything"
    names: Names = "original"
    limit: Annotated[int, Field(gt=0, strict=True)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    prior: Annotated[float, Field(ge=0, le=1)] = field(default=0.5, kw_only=True)
    remarks, like, draw_size = (), "", None  # as TaskBase has them

    def __post_init__(self) -> None:
        chosen_networks(self.networks, self.scale)

    @property
    def headline(self) -> str:
        return HEADLINE

    @property
    def prompt_format(self) -> str:
        return "" if self.among == "anything" else self.among

    @property
    def data(self) -> Mapping[str, JSON]:
        return {"strengths": content_digest(FILE)}

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        """Return (): the paper asks zero-shot."""
        return ()

    def items(self) -> Sequence[Item]:
        """Return the questions, network by network, variable by variable: its causes, then its effects."""
        everything = list(self._items())
        if self.limit is None:
            return everything
        return subset(
            everything,
            self.limit,
            stratum=lambda item: (item.cluster, item.groups["side"]),
            name=lambda item: item.id,
            seed=self.seed,
        )

    def summarize(self, records: Iterable[Record]) -> Result:
        return summarize(records)

    def _name_in_question(self, word: str, network: str) -> str:
        """Return a variable as the question names it: with its network where another has one of that name.

        Two networks must not be asked one question with two answers. A closed list tells them apart by itself.
        """
        if self.among == "network" or shared_names()[word.casefold()] < 2:
            return word
        return f"{word} (in the network {title(network)})"

    def _items(self) -> Iterator[Item]:
        for network in chosen_networks(self.networks, self.scale):
            variables = load(network).variables
            known = meanings(network).values()
            headings = variables if self.names == "original" else [meaning.name for meaning in known]
            words = variables if self.names == "original" else [meaning.within for meaning in known]
            for k, variable in enumerate(variables):
                for side in SIDES:
                    fields: dict[str, JSON] = {"variable": self._name_in_question(words[k], network), "side": side}
                    if self.among == "network":
                        # Not in the order of the file: in ten networks every edge runs along it.
                        rest = [word for other, word in enumerate(headings) if other != k]
                        order = shuffled(rest, self.seed, "candidates", network, variable, side)
                        fields["candidates"] = "; ".join(order)
                    yield Item(
                        id=f"{network}/{side}/{variable}",
                        fields=fields,
                        labels={HEADLINE: int(bool(others(network, variable, side)))},
                        cluster=network,
                        unit=variable,
                        groups={"network": network, "scale": SCALES[network], "side": side},
                    )
