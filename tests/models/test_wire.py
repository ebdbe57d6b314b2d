"""A call on the wire: its bytes, its certificates, and proxies that ask for a password."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import threading

import pytest
from support.openai_server import plain_chat
from support.outcomes import each
from support.server import Call, RawServer, Reply, http

from harness import __version__
from harness.models.api.client import _certificates
from harness.models.api.openai import Chat
from harness.models.api.proxies import proxy_for
from harness.types import ChatRequest, Message, Response

SENT = """\
POST /v1/chat/completions HTTP/1.1
Host: 127.0.0.1:{port}
Accept: application/json
Content-Type: application/json
User-Agent: causal-harness/{version}
Authorization: Bearer {key}
OpenAI-Organization: org-1
OpenAI-Project: project-1
Accept-Encoding: gzip, deflate
Content-Length: 113

"""
"""As the OpenAI SDK's transport sent it, but for its name, the case of letters and the order of the last two lines."""
BODY = (
    rb'{"model":"m","messages":[{"role":"user","content":"H\u00e4h? \ud83d"}],'
    rb'"temperature":0.0,"seed":0,"max_tokens":4}'
)


def outcome(base_url: str, question: str = "?", **settings):
    model = Chat(name="m", model="m", base_url=base_url, attempts=1, **settings)
    return dict(each(model.respond([ChatRequest((Message("user", question),), max_tokens=4)]))).popitem()[1]


class Recorder(RawServer):
    """Keeps the calls, byte by byte."""

    def __init__(self) -> None:
        self.calls: list[tuple[bytes, bytes]] = []
        super().__init__(lambda *_: http(plain_chat("No")))

    async def answer(self, call: Call) -> Reply:
        self.calls.append((call.head, call.body))
        return await super().answer(call)


def test_the_bytes_of_a_request(key, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-1")
    server = Recorder()
    try:
        assert outcome(server.url, "Häh? \ud83d").text == "No"
    finally:
        server.close()
    head = SENT.format(port=server.port, version=__version__, key=key).replace("\n", "\r\n").encode()
    assert server.calls == [(head, BODY)]


PROXIED = {
    ("http", "http://api.example/v1"): "http://proxy.example:3128",
    ("https", "https://api.example/v1"): "http://proxy.example:3128",
    ("http", "https://api.example/v1"): "",
    ("all", "https://api.example/v1"): "http://proxy.example:3128",
    ("all", "https://api.inside.example/v1"): "",
    ("all", "http://10.1.2.3:8000/v1"): "",
    ("all", "http://11.1.2.3:8000/v1"): "http://proxy.example:3128",
}


@pytest.fixture
def _no_proxies(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.usefixtures("_no_proxies")
@pytest.mark.parametrize(("scheme", "url"), PROXIED)
def test_a_proxy_is_chosen_by_scheme_host_and_network_and_given_its_password(monkeypatch, scheme, url):
    monkeypatch.setenv(f"{scheme}_proxy", "http://me:secret@proxy.example:3128")
    monkeypatch.setenv("no_proxy", "inside.example,10.0.0.0/8")
    password = {"Proxy-Authorization": "Basic bWU6c2VjcmV0"} if PROXIED[scheme, url] else {}
    assert proxy_for(url) == (PROXIED[scheme, url], password)


@pytest.mark.usefixtures("_no_proxies")
def test_a_password_reaches_the_proxy_and_not_the_server(key, monkeypatch):
    proxy = RawServer(lambda *_: http(plain_chat("by proxy")))
    monkeypatch.setenv("http_proxy", f"http://me:secret@127.0.0.1:{proxy.port}")
    try:
        assert outcome("http://somewhere.invalid/v1").text == "by proxy"
    finally:
        proxy.close()
    assert b"POST http://somewhere.invalid/v1/chat/completions HTTP/1.1\r\n" in proxy.heads[0]
    assert b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n" in proxy.heads[0]


@pytest.fixture
def encrypted(tmp_path):
    """A server on localhost with a certificate that nobody knows: its port, and the certificate's file."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not there")
    certificate, secret = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", secret, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, secret)
    loop = asyncio.new_event_loop()

    async def reply(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(http(plain_chat("encrypted"), Connection="close"))
        writer.close()

    server = loop.run_until_complete(asyncio.start_server(reply, "127.0.0.1", 0, ssl=context))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield server.sockets[0].getsockname()[1], certificate
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    server.close()
    loop.close()
    _certificates.cache_clear()


def test_an_encrypted_server_is_asked_where_its_certificate_is_known(encrypted, key, monkeypatch):
    port, certificate = encrypted
    _certificates.cache_clear()
    with pytest.raises(Exception, match="CERTIFICATE_VERIFY_FAILED"):
        outcome(f"https://localhost:{port}/v1")
    _certificates.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    answer = outcome(f"https://localhost:{port}/v1")
    assert isinstance(answer, Response) and answer.text == "encrypted"
