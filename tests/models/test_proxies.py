"""Proxies that the environment names: for servers elsewhere, not for this machine's own."""

from __future__ import annotations

import pytest
from support.openai_server import plain_chat as chat
from support.outcomes import each
from support.server import RawServer, http

from harness.errors import ConfigError
from harness.models.api.openai import Chat
from harness.types import ChatRequest, Message, Response


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.8.8.8", "somewhere.invalid"])
def test_a_proxy_is_used_for_other_machines_only(key, monkeypatch, variable, host):
    for name in ("HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "all_proxy", "no_proxy", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
    proxy, server = RawServer(lambda *_: http(chat("by proxy"))), RawServer(lambda *_: http(chat("direct")))
    monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.port}")
    try:
        model = Chat(name="m", model="m", base_url=f"http://{host}:{server.port}/v1", attempts=1)
        try:
            outcomes = dict(each(model.respond([ChatRequest((Message("user", "?"),), max_tokens=4)])))
        except Exception:
            assert host in ("[::1]", "127.8.8.8") and not proxy.asked  # addresses at which the server does not listen
        else:
            (outcome,) = outcomes.values()
            assert isinstance(outcome, Response)
            assert outcome.text == ("by proxy" if host == "somewhere.invalid" else "direct")
            assert bool(proxy.asked) is (host == "somewhere.invalid")
    finally:
        proxy.close()
        server.close()


PASSWORD = "hunter2-hunter2"


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY", "https_proxy"])
@pytest.mark.parametrize(
    "address", [f"foo://me:{PASSWORD}@h:1", f"http://me:{PASSWORD}@[::h:1", f"http://me:{PASSWORD}@h:port"]
)
def test_a_proxy_that_is_none_is_named_without_its_password(key, monkeypatch, variable, address):
    monkeypatch.setenv(variable, address)
    model = Chat(name="m", model="m", base_url="http://somewhere.invalid/v1", attempts=1)
    with pytest.raises(ConfigError, match=f"no client can be made for the proxy in {variable}") as refused:
        list(model.respond([ChatRequest((Message("user", "?"),), max_tokens=4)]))
    assert PASSWORD not in str(refused.value)
