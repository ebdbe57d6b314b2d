"""The limits on what a run may take, and amounts in their units."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from harness.cost.price import Price
from harness.errors import ConfigError
from harness.protocols import Service


@dataclass(frozen=True)
class Budget:
    """The limits of one run on what is asked now; answers from the cache take nothing. None: no limit."""

    usd: float | None = None
    requests: float | None = None
    minutes: float | None = None

    def __bool__(self) -> bool:
        return any(getattr(self, limit.name) is not None for limit in fields(self))

    def __str__(self) -> str:
        limits = {limit.name: getattr(self, limit.name) for limit in fields(self)}
        return ", ".join(f"budget.{name}={value:g}" for name, value in limits.items() if value is not None)

    def needs(self, price: Price | None, service: Service | None, group: str = "model") -> None:
        """Raise ConfigError for a limit in USD without a known price. `group` is the config group that sets the price.

        A server on this machine may stand before one that is paid for; who says that it costs nothing is believed.
        """
        if self.usd is None or service is None:
            return
        if price is None:
            why = "which is unknown"
        elif price.free and all(usd is None for usd in (service.price or {}).values()):
            why = f"and what runs on this machine ({service.base_url}) is taken to cost nothing"
        else:
            return
        nothing = "" if price is None else f" ({group}.price.input=0 {group}.price.output=0 if it is free)"
        raise ConfigError(
            f"budget.usd needs the {group}'s price, {why}: give {group}.price.input=… and {group}.price.output=… in "
            f"USD per million tokens{nothing}, or set budget.requests instead."
        )


@dataclass(slots=True)
class Amounts:
    """Amounts that calls take, in the unit of each limit but time."""

    usd: float = 0.0
    requests: float = 0.0

    def add(self, other: Amounts, times: int = 1) -> None:
        """Add another amount `times` times; a negative number subtracts it."""
        self.usd += times * other.usd
        self.requests += times * other.requests

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(self.usd + other.usd, self.requests + other.requests)


@dataclass
class Outlay:
    """What one job or several have taken from a budget they share."""

    spent: Amounts = field(default_factory=Amounts)
    aside: Amounts = field(default_factory=Amounts)
    """What is set aside for tries under way; of a job whose process has died it counts as spent."""
    unseen: Amounts = field(default_factory=Amounts)
    """What tries under way may take beyond what is set aside for them."""
