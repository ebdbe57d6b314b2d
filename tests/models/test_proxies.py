"""Proxies that the environment names: for servers elsewhere, not for this machine's own."""

from __future__ import annotations

import pytest
from support.openai_server import chat_reply
from support.outcomes import asked
from support.server import RawServer, http

from harness.errors import ConfigError
from harness.types import Response


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.8.8.8", "somewhere.invalid"])
def test_a_proxy_is_used_for_other_machines_only(key, monkeypatch, variable, host):
    for name in ("HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "all_proxy", "no_proxy", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
    proxy, server = RawServer(lambda *_: http(chat_reply("by proxy"))), RawServer(lambda *_: http(chat_reply("direct")))
    monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.port}")
    try:
        try:
            outcome = asked(f"http://{host}:{server.port}/v1", "?", attempts=1)["?"]
        except Exception:
            assert host in ("[::1]", "127.8.8.8") and not proxy.asked  # addresses at which the server does not listen
        else:
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
    with pytest.raises(ConfigError, match=f"no client can be made for the proxy in {variable}") as refused:
        asked("http://somewhere.invalid/v1", "?", attempts=1)
    assert PASSWORD not in str(refused.value)
