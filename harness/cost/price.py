"""What tokens cost: by the model's config, nothing on this machine, else by the model's entry in genai-prices.

genai-prices is a table in a package: nothing is looked up over the network. It finds the provider by the address and
the model by rules; wherever a price is shown, its entry is named. A manifest holds the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from harness.codec import token_count
from harness.models.api.families import on_this_machine
from harness.plugin import version_of
from harness.protocols import Service
from harness.types import JSON, Usage

_BEYOND = ("requests_kcount", "output_reasoning_mtok", "output_citation_mtok", "input_mchars")
"""Prices for something else than tokens of input and output; such an entry is not used."""
Steps = tuple[tuple[int, float], ...]
"""(tokens of input, USD per million) in ascending order: a call with more input than that pays this price for all."""
KINDS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached_input": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}
"""The kinds of tokens, and what genai-prices calls their prices."""


@dataclass(frozen=True)
class Price:
    """Prices of one model, as a manifest has them; None where tokens of that kind cost what input does."""

    input: Steps
    output: Steps
    cached_input: Steps | None = None
    cache_write: Steps | None = None
    source: str = ""
    """Where the numbers come from: the config, or an entry of genai-prices by version, provider and model."""

    @property
    def kinds(self) -> dict[str, Steps]:
        """The prices by kind of token, those that are not None."""
        return {kind: steps for kind in KINDS if (steps := getattr(self, kind)) is not None}

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of one call in USD; None where its tokens were not counted, or cannot be those of a call.

        Cached and written input are parts of input, reasoning is a part of output, as in OpenAI's usage.
        """
        if not countable(usage) or usage.input is None or usage.output is None:
            return None
        cached, cache_write = usage.cached_input or 0, usage.cache_write or 0
        parts = (
            (usage.input - cached - cache_write, self.input),
            (cached, self.cached_input or self.input),
            (cache_write, self.cache_write or self.input),
            (usage.output, self.output),
        )
        return sum(tokens * _at(steps, usage.input) for tokens, steps in parts) / 1e6

    def most(self, input: int, output: int) -> float:
        """Return an upper bound in USD for a call with at most these many tokens, whatever is cached."""
        dearest = {kind: max(usd for start, usd in steps if start <= input) for kind, steps in self.kinds.items()}
        return (output * dearest.pop("output") + input * max(dearest.values())) / 1e6

    def uncached(self, input: int, output: int, a_call: int) -> float:
        """Return the cost in USD of uncached tokens in calls of `a_call` input tokens each."""
        return (input * _at(self.input, a_call) + output * _at(self.output, a_call)) / 1e6

    def to_json(self) -> dict[str, JSON]:
        """Return the prices as they stand, and where they come from, for the manifest."""
        prices = {kind: [list(step) for step in steps] for kind, steps in self.kinds.items()}
        unit = "[tokens of input from which it holds, USD per million tokens]"
        return {"unit": unit, **prices, "source": self.source}

    def __str__(self) -> str:
        said = {
            kind: f"${steps[0][1]:g}" + "".join(f" (${usd:g} above {start:,})" for start, usd in steps[1:])
            for kind, steps in self.kinds.items()
        }
        cached = f"{said['cached_input']} cached, " if "cached_input" in said else ""
        return f"{said['input']} in, {cached}{said['output']} out per million tokens: {self.source}"


FREE = Price(((0, 0.0),), ((0, 0.0),), source="on this machine")


def from_json(values: Mapping[str, Any]) -> Price:
    """Return the price that `to_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
    steps = {kind: tuple((int(start), float(usd)) for start, usd in values[kind]) for kind in KINDS if values.get(kind)}
    return Price(**steps, source=str(values["source"]))


def cost_of(usage: Usage, price: Price | None) -> float | None:
    """Return the cost of one call in USD: the charge reported by the server, else by the price; None if unknown."""
    if usage.usd is not None:
        return usage.usd
    return None if price is None else price.cost(usage)


def countable(usage: Usage) -> bool:
    """Return whether the counts can be those of one call: there, none negative, no part above the whole.

    A call without any input does not exist: servers that do not count report 0.
    """
    input, output = token_count(usage.input), token_count(usage.output)
    parts = [token_count(count or 0) for count in (usage.cached_input, usage.cache_write, usage.reasoning)]
    if not input or output is None or None in parts:
        return False
    cached, cache_write, reasoning = (count or 0 for count in parts)
    return cached + cache_write <= input and reasoning <= output


def dollars(usd: float) -> str:
    """Return an amount as text: cents where there are dollars, more digits below."""
    if usd >= 1:
        return f"${usd:,.2f}"
    return f"${usd:.4f}" if usd >= 0.01 or usd == 0 else f"${usd:.6f}"


def table() -> str:
    """Return the name of the price table with its version."""
    return f"genai-prices {version_of('genai-prices')}"


def costs_money(service: Service | None) -> bool:
    """Return whether answers may cost money: they have a price or come from another machine."""
    return service is not None and (not on_this_machine(service.base_url) or bool(own_price(service)))


def price_of(service: Service | None, at: str | None = None) -> Price | None:
    """Return what a model's tokens cost, today or at a time of ISO 8601; None where unknown."""
    if service is None:
        return None
    if own := own_price(service):
        price: Price | None = Price(**own, source="the model's config")
    elif on_this_machine(service.base_url):
        return FREE
    else:
        price = _table_price(service, at)
    if price is None or service.batch_window is None:
        return price
    shares: dict[str, Any] = {
        kind: tuple((start, usd * service.discount) for start, usd in steps) for kind, steps in price.kinds.items()
    }
    return replace(price, **shares, source=f"{price.source}, in batches at {100 * service.discount:g}%")


def own_price(service: Service) -> dict[str, Any]:
    """Return the prices of the model's config."""
    return {kind: ((0, float(usd)),) for kind, usd in (service.price or {}).items() if usd is not None}


def _table_price(service: Service, at: str | None) -> Price | None:
    """Return the price in genai-prices; None without an entry, or if more than tokens is billed."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        provider = get_snapshot().find_provider(None, None, service.base_url)
        time = datetime.now(UTC) if at is None else datetime.fromisoformat(at).astimezone(UTC)
    except (LookupError, ValueError, OverflowError):
        return None
    # Only the provider's own entries: the package would fall back on those of another provider.
    if (model := provider.find_model(service.model)) is None:
        return None
    # Where the price depends on the hour, take the dearest.
    dated = model.prices if isinstance(model.prices, list) else []
    hourly = [entry.prices for entry in dated if hasattr(entry.constraint, "start_time")]
    entries = [model.get_prices(time, {"service_tier": service.tier} if service.tier else None), *hourly]
    prices = max(entries, key=lambda entry: (_steps(entry.output_mtok) or ((0, 0.0),))[0][1])
    steps: dict[str, Any] = {kind: _steps(getattr(prices, theirs)) for kind, theirs in KINDS.items()}
    if steps["input"] is None or steps["output"] is None or any(vars(prices).get(name) for name in _BEYOND):
        return None
    source = f"{table()}, {provider.id}/{model.id}{' (its dearest hour)' * bool(hourly)}"
    return Price(**steps, source=source)


def _at(steps: Steps, input: int) -> float:
    """Return the price that holds for a call with `input` tokens of input."""
    return max(((start, usd) for start, usd in steps[1:] if input > start), default=steps[0])[1]


def _steps(price: Any) -> Steps | None:
    """Return the steps of a price of the table, which is a number or a base with tiers; None for None."""
    if price is None:
        return None
    tiers = getattr(price, "tiers", ())
    return ((0, float(getattr(price, "base", price))), *((tier.start, float(tier.price)) for tier in tiers))
