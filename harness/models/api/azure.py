"""A deployment of Azure OpenAI: by its v1 API, or with api_version by the older one; with a key or Entra tokens."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from harness.models.api.openai import Chat
from harness.types import JSON

if TYPE_CHECKING:
    import httpx2

TOKEN = "AZURE_OPENAI_AD_TOKEN"
_SCOPE = "https://cognitiveservices.azure.com/.default"


@dataclass(frozen=True, kw_only=True)
class Azure(Chat):
    """Chat completions of a deployment."""

    api_version: str | None = None

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {**super().identity, **({"api_version": self.api_version} if self.api_version else {})}

    @property
    def key(self) -> str:
        return super().key or os.environ.get(TOKEN, "").strip()

    def check_key(self) -> None:
        """Raise ConfigError where there is neither a key nor a token, nor azure-identity to get one."""
        if self.key or find_spec("azure") is None or find_spec("azure.identity") is None:
            super().check_key()

    def sdk(self, http: httpx2.AsyncClient) -> Any:
        """Return the SDK's client; Entra tokens come of the environment, a managed identity or `az login`."""
        from openai import AsyncAzureOpenAI, AsyncOpenAI

        credential: Any = self.key
        if not credential:
            from azure.identity import aio

            credential = aio.get_bearer_token_provider(aio.DefaultAzureCredential(), _SCOPE)
        options: dict[str, Any] = {"max_retries": 0, "timeout": http.timeout, "http_client": http}
        if self.api_version is None:
            return AsyncOpenAI(api_key=credential, base_url=self.base_url, **options)
        root = self.base_url.rstrip("/").removesuffix("/v1").removesuffix("/openai")
        way = "api_key" if super().key else "azure_ad_token" if self.key else "azure_ad_token_provider"
        options |= {way: credential, "azure_endpoint": root, "api_version": self.api_version}
        return AsyncAzureOpenAI(**options)
