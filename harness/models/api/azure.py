"""A deployment of Azure OpenAI: by its v1 API, or with api_version by the older one; with a key or Entra tokens."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from harness.errors import ConfigError
from harness.models.api.openai import Chat
from harness.types import JSON

if TYPE_CHECKING:
    from harness.models.api.client import Wire
    from harness.models.api.pace import Pace

TOKEN = "AZURE_OPENAI_AD_TOKEN"
_SCOPE = "https://cognitiveservices.azure.com/.default"


@dataclass(frozen=True, kw_only=True)
class Azure(Chat):
    """Chat completions of a deployment."""

    api_version: str | None = None

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {**super().identity, **({"api_version": self.api_version} if self.api_version else {})}

    def check_key(self) -> None:
        """Raise ConfigError where there is neither a key nor a token."""
        if self.key or not (os.environ.get(TOKEN) or _has_identity()):
            super().check_key()

    def wire(self, pace: Pace) -> Wire:
        """Return the SDK's client for one run."""
        from openai import AsyncAzureOpenAI, AsyncOpenAI

        from harness.models.api.client import HttpClient, Wire

        http = HttpClient(self.base_url, self.timeout)
        options: dict[str, Any] = {"max_retries": 0, "timeout": http.timeout, "http_client": http}
        token = os.environ.get(TOKEN) or (None if self.key else _tokens())
        if self.api_version is None:
            sdk: Any = AsyncOpenAI(api_key=self.key or token, base_url=self.base_url, **options)
        else:
            root = self.base_url.rstrip("/").removesuffix("/v1").removesuffix("/openai")
            way = "api_key" if self.key else "azure_ad_token" if isinstance(token, str) else "azure_ad_token_provider"
            credential: dict[str, Any] = {way: self.key or token}
            sdk = AsyncAzureOpenAI(azure_endpoint=root, api_version=self.api_version, **credential, **options)
        return Wire(sdk, self.key or (token if isinstance(token, str) else ""), pace)


def _has_identity() -> bool:
    return find_spec("azure") is not None and find_spec("azure.identity") is not None


def _tokens() -> Any:
    """Return a function that gets Entra tokens, as the environment, a managed identity or `az login` give them."""
    if not _has_identity():
        raise ConfigError(f"Entra tokens need {TOKEN}, or azure-identity: pip install azure-identity aiohttp.")
    from azure.identity import aio

    return aio.get_bearer_token_provider(aio.DefaultAzureCredential(), _SCOPE)
