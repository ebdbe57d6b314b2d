"""Which form of the protocol a server speaks: as it is set, or by its address."""

from __future__ import annotations

from urllib.parse import urlsplit

from harness.errors import RunStopped
from harness.models.api.addresses import split
from harness.models.api.batch_settings import Dialect
from harness.models.api.endpoint import Endpoint
from harness.plugins.batches.dialects import Files, Mistral, Together
from harness.plugins.batches.inline import Anthropic, OpenRouter

_DIALECTS: dict[Dialect, type[Files]] = {
    "openai": Files,
    "together": Together,
    "mistral": Mistral,
    "openrouter": OpenRouter,
    "anthropic": Anthropic,
}


def dialect_of(endpoint: Endpoint) -> Files:
    """Return the form of an endpoint's server: as it is set, else as the table of providers has it.

    Raises RunStopped for a server with a form that is not known here, or that cannot take what would be asked.
    """
    dialect = endpoint.batch.dialect if endpoint.batch is not None else None
    known = dialect or endpoint.provider.batches
    if known == "other":
        raise RunStopped(
            f"{urlsplit(split(endpoint.base_url)[0]).hostname} takes batches in a form of its own, which model.batch "
            "does not speak: ask it without, or write the requests for a web form (python -m harness.cache requests)."
        )
    form = _DIALECTS[known]()
    form.check(endpoint)
    return form
