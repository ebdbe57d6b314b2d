"""The settings of harness finetune, whatever the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from harness.errors import ConfigError
from harness.models.local.checkpoint import Device
from harness.settings import check_keys, first_sentence


@dataclass(frozen=True)
class Settings:
    """The command's own settings; configs/finetune.yaml says what each one means."""

    recipe: dict[str, Any]
    task: dict[str, Any]
    out: Annotated[str, Field(min_length=1)]
    prompt: str | None = None
    dev_limit: Annotated[int, Field(gt=0, strict=True)] | None = None
    device: Device = "auto"
    submit: bool | str = False
    debug: bool = False


def settings_of(config: Mapping[str, Any]) -> Settings:
    """Return a composed config, validated. Raises ConfigError."""
    check_keys(config, list(Settings.__dataclass_fields__), "")
    try:
        return TypeAdapter(Settings).validate_python(dict(config))
    except ValidationError as error:
        raise ConfigError(first_sentence(error, "")) from None
