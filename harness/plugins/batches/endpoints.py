"""The model behind a request: its settings as they are noted in the cache's file, and the model made of them again.

Only the project's own two endpoints are made: the file may come from somebody else, and names no code.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

from pydantic import TypeAdapter, ValidationError

from harness.codec import canonical, text_digest
from harness.errors import ConfigError, DataError, HarnessError
from harness.models.api.endpoint import Endpoint
from harness.models.api.openai import Chat, Completions
from harness.protocols import Model

_KINDS: dict[str, type[Endpoint]] = {"chat": Chat, "completions": Completions}


def endpoint_of(model: Model) -> Endpoint:
    """Return a model as an endpoint. Raises ConfigError where it is no model of an API."""
    if not isinstance(model, Endpoint):
        raise ConfigError(
            f"model={model.name} is asked on this machine: batches are lines for the server of an API model "
            "(model=openai model.model=…, gpt4, …)."
        )
    return model


def noted(endpoint: Endpoint) -> tuple[str, str]:
    """Return the settings of an endpoint as JSON, without any key, and their digest. Raises ConfigError."""
    kind = next((name for name, target in _KINDS.items() if type(endpoint) is target), None)
    if kind is None:
        raise ConfigError(
            f"model={endpoint.name} is of a class of its own ({type(endpoint).__name__}): a batch is read by those of "
            "harness.models.api.openai, Chat and Completions."
        )
    content = canonical({"kind": kind, "settings": asdict(endpoint)})
    return text_digest(content), content


def made_again(content: str) -> Endpoint:
    """Return the endpoint of noted settings. Raises DataError where they are not those of one."""
    try:
        noted_settings: Any = json.loads(content)
        target = _KINDS[noted_settings["kind"]]
        known = {f.name for f in fields(target)}
        settings = {name: value for name, value in noted_settings["settings"].items() if name in known}
        endpoint: Endpoint = TypeAdapter(target, config=None).validate_python(settings)
    except (ValueError, TypeError, KeyError, AttributeError, ValidationError, HarnessError) as error:
        raise DataError(
            f"the settings of a model that stand beside its batches cannot be used ({str(error).splitlines()[0]}): "
            "give model=… and task=… with the command."
        ) from None
    return endpoint
