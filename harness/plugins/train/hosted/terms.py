"""What a provider charges for fine-tuning, and until when it does: the rows of harness/data/hosted_training.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from urllib.parse import urlsplit

from pydantic import ConfigDict, TypeAdapter

from harness.models.api.addresses import on_this_machine
from harness.models.api.families import Globs, bare_name, matches, shipped_rows
from harness.models.api.retired import plan_note
from harness.plugins.train.hosted.recipe import HostedRecipe


@dataclass(frozen=True, kw_only=True)
class Price:
    """What models cost to train, in USD per million tokens."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    match: Globs
    usd: float


@dataclass(frozen=True, kw_only=True)
class Provider:
    """A company that fine-tunes over an API; without a row that matches, one of which nothing is known."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    hosts: Globs = ("*",)
    closes: date | None = None
    closed_to: str = ""
    closes_source: str = ""
    deploys: bool = False
    prices: tuple[Price, ...] = ()
    price_source: str = ""


@cache
def _providers() -> dict[str, Provider]:
    return TypeAdapter(dict[str, Provider]).validate_python(shipped_rows("hosted_training.yaml")["providers"])


def provider_at(base_url: str) -> tuple[str, Provider]:
    """Return the name and the row of the provider whose own server is at an address; "" where it is nobody known."""
    host = (urlsplit(base_url).hostname or "").lower()
    known = ((name, row) for name, row in _providers().items() if matches(row.hosts, host))
    return next(known, ("", Provider()))


def price_of(recipe: HostedRecipe) -> tuple[float, str] | None:
    """Return USD per million tokens of training, and where that is written; None where nobody knows."""
    if recipe.price is not None:
        return recipe.price, "recipe.price"
    if on_this_machine(recipe.base_url):
        return 0.0, "on this machine"
    _, provider = provider_at(recipe.base_url)
    row = next((row for row in provider.prices if matches(row.match, bare_name(recipe.model))), None)
    return None if row is None else (row.usd, provider.price_source)


def notes(recipe: HostedRecipe, today: date | None = None) -> Iterator[str]:
    """Yield what is to be known of the provider before a job is made; nothing of servers that are nobody's known."""
    today = today or datetime.now(UTC).date()
    name, provider = provider_at(recipe.base_url)
    if provider.closes is not None:
        open_still = today < provider.closes
        to = f"; it is closed already to {provider.closed_to}" if provider.closed_to and open_still else ""
        when = (
            f"takes no new fine-tuning jobs from {provider.closes} on"
            if open_still
            else (f"has taken no new fine-tuning jobs since {provider.closes}")
        )
        yield f"{name} {when}{to}. Source: {provider.closes_source}."
    if gone := plan_note(recipe.model, recipe.base_url, today):
        yield f"{gone} What was fine-tuned from it goes with it."
    if provider.deploys:
        yield (
            f"{name} asks for a deployment of the fine-tuned model before it answers: its name is then the model.model "
            "to evaluate."
        )
