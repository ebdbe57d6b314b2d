"""How a model is fine-tuned over an API: one YAML of configs/recipe/, validated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.errors import ConfigError
from harness.models.api.endpoint import Endpoint, Positive
from harness.models.api.openai import Chat, Completions
from harness.types import JSON

Whole = Annotated[int, Field(gt=0, strict=True)]
Auto = Literal["auto"]
_HOW = (
    *("submit", "cancel", "price", "fewest_rows", "row_tokens", "megabytes", "poll"),
    *("api_key_env", "timeout", "attempts", "max_wait", "max_total_wait"),
)
"""Settings that no job depends on."""


@dataclass(frozen=True, kw_only=True)
class HostedRecipe:
    """A base on a server, and the settings of its job; configs/recipe/openai.yaml says what each one means."""

    name: str
    model: str
    base_url: str
    api_key_env: str | None = "OPENAI_API_KEY"
    submit: bool = False
    cancel: bool = False
    settings: Literal["harness", "paper"] = "harness"
    epochs: Whole | Auto = 1
    batch_size: Whole | Auto = "auto"
    learning_rate_multiplier: Positive | Auto = "auto"
    suffix: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    validation: bool = False
    yes_share: Annotated[float, Field(gt=0, lt=1)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31, strict=True)] = 0
    job: Whole = 1
    price: Annotated[float, Field(ge=0)] | None = None
    fewest_rows: Whole = 10
    row_tokens: Whole = 65_536
    megabytes: Positive = 512.0
    poll: Positive = 30.0
    timeout: Positive = 600.0
    attempts: Whole = 10
    max_wait: Positive = 120.0
    max_total_wait: Positive = 900.0

    def __post_init__(self) -> None:
        """Refuse two wishes at once, several addresses, and all that no endpoint takes. Raises ConfigError."""
        if self.submit and self.cancel:
            raise ConfigError("submit=true makes a job and cancel=true ends it: give one of them.")
        if len(self.endpoint.addresses) > 1:
            raise ConfigError("recipe.base_url has several addresses, and a job is known to one server: give one.")

    @cached_property
    def endpoint(self) -> Endpoint:
        """The adapter that will evaluate the model: it writes the rows as it will write the questions."""
        settings: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("model", "base_url", "api_key_env", "timeout", "attempts", "max_wait", "max_total_wait")
        }
        endpoint = Completions if self.settings == "paper" else Chat
        return endpoint(name=self.name, temperature=None, **settings)

    @property
    def prompt(self) -> str | None:
        """The prompt that is learned where none is named; None for the first one that the model accepts."""
        return "cls" if self.settings == "paper" else None

    @property
    def hyperparameters(self) -> dict[str, JSON]:
        """The hyperparameters of the job as they are sent."""
        return {
            "n_epochs": self.epochs,
            "batch_size": self.batch_size,
            "learning_rate_multiplier": self.learning_rate_multiplier,
        }

    def as_json(self) -> Mapping[str, JSON]:
        """Return the settings that the job depends on, and its name."""
        settings = {name: value for name, value in asdict(self).items() if name not in _HOW}
        return settings | {"base_url": self.base_url.rstrip("/")}
