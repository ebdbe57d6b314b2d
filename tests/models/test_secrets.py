"""A key goes to the server and nowhere else. The canary in conftest.py looks at what each of these tests leaves."""

from __future__ import annotations

import traceback

import pytest
from support.openai_server import KEY, chat_reply, error
from support.outcomes import each
from support.server import RawServer

from harness.errors import ConfigError, RunStopped
from harness.models.api.endpoint import _OWNED
from harness.models.api.openai import Chat, Completions
from harness.runtime.secrets import mask_keys, refuse_arguments, secret_name
from harness.types import ChatRequest, Failure, Message

LEAKED = "sk-proj-abcdefghijklmnopqrstuvwxyz"


def ask(text: str) -> ChatRequest:
    return ChatRequest((Message("user", text),), max_tokens=16)


def chat(url: str, **settings) -> Chat:
    return Chat(**{"name": "m", "model": "gpt-4", "base_url": url, "attempts": 2, **settings})


@pytest.mark.parametrize(
    "settings",
    [
        {"extra": {"api_key": "x"}},
        {"extra": {"headers": {"X-Key": "x"}}},
        {"extra": {"extra_headers": {"Authorization": "x"}}},
        {"extra": {"deep": {"list": [{"password": "x"}]}}},
        {"extra": {"anything": LEAKED}},
        {"extra": {"anything": f"Bearer {LEAKED[3:]}"}},
        {"extra": {"anything": f"before {KEY} after"}},
        {"base_url": f"http://localhost/{LEAKED}/v1"},
        {"base_url": f"http://localhost/v1?key={KEY}"},
        {"name": KEY},
        {"api_key_env": LEAKED},
        {"base_url": f"http://me:{KEY}@localhost/v1"},
        {"base_url": "me:secretpassword@localhost/v1"},
        {"base_url": "http://localhost/v1?token=secretpassword"},
    ],
)
def test_settings_that_hold_a_key_are_refused_without_being_shown(key, settings):
    with pytest.raises(ConfigError) as refused:
        chat(**{"url": "http://localhost/v1", **{("url" if k == "base_url" else k): v for k, v in settings.items()}})
    said = "".join(traceback.format_exception(refused.value))
    assert KEY not in said and LEAKED not in said and "secretpassword" not in said
    assert "key" in str(refused.value)


AZURE = "0123456789abcdef0123456789abcdef"
NAMES = [
    "token", "TOKEN", "session_token", "Session-Token", "sessionToken", "accessToken", "refresh_token", "id_token",
    "cookie", "Cookies", "set-cookie", "passwd", "password", "passphrase", "pwd", "db_password",
    "subscription-key", "Ocp-Apim-Subscription-Key", "x-functions-key", "x-goog-api-key", "X_CUSTOM_KEY", "apikey",
    "api_key", "api-key", "apiKey", "key", "private_key", "secret", "client_secret", "auth", "authorization",
    "proxy-authorization", "bearer", "jwt", "credentials", "headers", "extra_headers", "default-headers",
]  # fmt: skip
"""Of parameters that are made to hold a key."""
HARMLESS = [
    "max_tokens", "min_tokens", "stop_token_ids", "prompt_cache_key", "tokenizer", "return_token_ids", "bos_token",
    "return_tokens_as_token_ids", "skip_special_tokens", "truncate_prompt_tokens", "logit_bias", "user", "keyword",
    "monkey", "author", "prompt_logprobs", "min_new_tokens", "eos_token", "allowed_token_ids", "add_special_tokens",
    "max_completion_tokens", "cache_salt", "reasoning_effort", "service_tier", "secretary",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_made_to_hold_a_key(name):
    assert secret_name(name)
    with pytest.raises(ConfigError, match="looks like a key"):
        chat("http://localhost/v1", extra={name: "x"})
    with pytest.raises(ConfigError, match="looks like a key"):
        refuse_arguments(["model=gpt4", f"+model.extra.{name}=x"])
    with pytest.raises(ConfigError, match="looks like a key"):
        refuse_arguments([f"model.extra={{a: 1, {name}: x}}"])
    assert mask_keys(f"{name}=hunter2") == f"{name}=[a key]"
    assert "hunter2" not in mask_keys(f"{{'a': 1, '{name}': 'hunter2'}}")


@pytest.mark.parametrize("name", HARMLESS)
def test_names_that_are_not(name):
    assert not secret_name(name)
    chat("http://localhost/v1", extra={} if name in _OWNED else {name: "x"})
    refuse_arguments([f"+model.extra.{name}=x"])
    assert mask_keys(f"{name}=hunter2") == f"{name}=hunter2"


PATHS = [
    f"http://localhost/{AZURE}/v1",
    "http://localhost/openai/aZ8kQ2mN5pR7tV9xB3cD/v1",
    "http://localhost/token/hunter2hunter2/v1",
    "http://localhost/key/0123-4567-89/v1",
    f"http://me:{AZURE}@localhost/v1",
]


@pytest.mark.parametrize("url", PATHS)
def test_a_key_in_the_path_of_an_address(url):
    with pytest.raises(ConfigError, match=r"looks like a key|credentials"):
        chat(url)
    for arguments in ([f"model.base_url={url}"], [f"model.base_url=http://localhost/v1,{url}"]):
        with pytest.raises(ConfigError) as refused:
            refuse_arguments(arguments)
        assert AZURE not in str(refused.value) and "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://mine.openai.azure.com/openai/deployments/gpt-4o-mini-2024-07-18/",
        "https://api.scaleway.ai/01234567-89ab-cdef-0123-456789abcdef/v1",
        f"https://gateway.ai.cloudflare.com/v1/{AZURE}/mine/openai",
        "https://us-central1-aiplatform.googleapis.com/v1/projects/my-project-123456/locations/us-central1/endpoints/openapi",
        "https://openrouter.ai/api/v1",
        "http://[::1]:8000/v1",
    ],
)
def test_addresses_as_providers_give_them(url):
    chat(url)
    refuse_arguments([f"model.base_url={url}"])


@pytest.mark.parametrize("name", ["anything", "metadata"])
def test_32_hexadecimal_digits_are_a_key(name):
    with pytest.raises(ConfigError, match="looks like a key"):
        chat("http://localhost/v1", extra={name: AZURE})
    with pytest.raises(ConfigError, match="looks like a key"):
        refuse_arguments([f"+model.extra.{name}={AZURE}"])
    chat("http://localhost/v1", extra={"prompt_cache_key": AZURE, "user": AZURE, "seed_list": [AZURE + "00"]})


@pytest.mark.parametrize(
    "argument",
    [
        f"model.temperature={LEAKED}",
        f"model={LEAKED}",
        f"task.limit=5,{LEAKED}",
        f"--{LEAKED}",
        LEAKED,
        f"{LEAKED}=1",
        f"+model.extra.{LEAKED}=1",
        f"~model.{LEAKED}",
        f"results=results/{LEAKED}",
        "model.api_key=hunter2hunter2",
        "+api_key=hunter2hunter2",
        "model.base_url=https://me:hunter2hunter2@localhost/v1",
        "model.extra.a='hunter2-of-the-environment'",
        "model.extra.a=hunter2\\-of\\-the\\-environment",
    ],
)
def test_a_command_line_that_holds_a_key_is_refused_without_being_shown(monkeypatch, argument):
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "hunter2-of-the-environment")
    with pytest.raises(ConfigError) as refused:
        refuse_arguments(["task.limit=5", argument])
    assert LEAKED not in str(refused.value) and "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "argument",
    [
        "model=openai",
        "model.api_key_env=AZURE_API_KEY",
        "model.path=hf-internal-testing/tiny-random-gpt2",
        "model.path=/data/hf_models_of_the_group/llama_7b_chat_hf",
        "model.requests_per_minute=1000",
        "budget.requests=100",
        "~model.extra.token",
        "results=/somewhere/with/sockets",
        "-m",
        "--cfg",
    ],
)
def test_command_lines_that_hold_none(monkeypatch, argument):
    monkeypatch.setenv("SSH_AUTH_SOCK", "/somewhere/with/sockets")
    monkeypatch.setenv("HF_TOKEN", "none")
    refuse_arguments([argument])


def test_what_is_printed_as_an_error_is_masked(key):
    text = f"no {KEY} and {LEAKED} at https://me:hunter2@host/v1?token=hunter2&a=1 with {{'cookie': 'hunter2'}}"
    assert mask_keys(text) == (
        "no [the key] and [a key] at https://[a key]@host/v1?token=[a key]&a=1 with {'cookie': '[a key]'}"
    )
    sentence = "set the environment variable OPENAI_API_KEY (export OPENAI_API_KEY=…), or say model.api_key_env=null"
    assert mask_keys(sentence) == sentence


def test_a_key_in_an_address_is_masked_though_it_be_a_word_and_code_is_not():
    assert mask_keys("http://h/v1?key=hunter.two") == "http://h/v1?key=[a key]"
    assert mask_keys("http://h/v1?a=1&key=hunter") == "http://h/v1?a=1&key=[a key]"
    assert mask_keys("'key': 'hunter'") == "'key': '[a key]'"
    assert mask_keys("max(rows, key=len)") == "max(rows, key=len)"


def test_settings_that_only_sound_like_one_are_sent(serve, key):
    server = serve()
    extra = {"prompt_cache_key": "corr2cause", "stop_token_ids": [1], "skip_special_tokens": True, "user": "sk"}
    list(each(chat(server.url, extra=extra).respond([ask("?")])))
    assert extra.items() <= server.calls[0].items()


def test_no_representation_shows_the_key(key):
    for model in (chat("http://localhost/v1"), Completions(name="m", model="x", base_url="http://localhost/v1")):
        assert KEY not in f"{model!r} {model} {vars(model)} {model.identity}"


def test_a_server_that_repeats_the_key_does_not_get_it_into_an_answer_or_a_failure(serve, key):
    def reply(path, body, number):
        text = body["messages"][-1]["content"]
        return error(400, f"bad key {KEY}") if text == "refuse" else chat_reply(f"You sent {KEY}.")

    found = dict(each(chat(serve(reply).url).respond([ask("refuse"), ask("answer")])))
    assert found[ask("answer")].text == "You sent [the key]."
    assert isinstance(found[ask("refuse")], Failure) and found[ask("refuse")].detail == "400: bad key [the key]"


@pytest.mark.parametrize("page", [{"error": {"message": f"bad key {KEY}"}}, f"<p>bad key {KEY}</p>"])
def test_a_server_that_repeats_the_key_does_not_get_it_into_a_traceback(serve, key, page):
    with pytest.raises(RunStopped) as stopped:
        list(each(chat(serve(lambda *_: (401, page)).url).respond([ask("?")])))
    assert KEY not in "".join(traceback.format_exception(stopped.value))
    assert "refuses the key" in str(stopped.value)
    assert isinstance(page, str) or "bad key [the key]" in str(stopped.value)


@pytest.mark.parametrize("head", [f"X-{KEY}", f"HTTP/1.1 2000 {KEY}\r\nX", f"X: a\0{KEY}\r\nX"])
def test_a_key_in_malformed_http_is_not_quoted(key, head):
    sent = (
        f"{head}: x\r\n\r\n"
        if head.startswith("HTTP")
        else f"HTTP/1.1 200 OK\r\nContent-Length: {KEY}\r\n{head}: x\r\n\r\n"
    )
    server = RawServer(lambda *_: (sent.encode(),))
    try:
        with pytest.raises(RunStopped) as stopped:
            list(each(chat(server.url, attempts=1).respond([ask(str(k)) for k in range(20)])))
    finally:
        server.close()
    assert KEY not in "".join(traceback.format_exception(stopped.value))


def test_a_placeholder_is_a_word_that_replies_may_hold(serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    found = dict(each(chat(serve(lambda *_: chat_reply("There is none.")).url).respond([ask("?")])))
    assert found[ask("?")].text == "There is none."


def run(harness, url: str, *more: str, **settings):
    arguments = ("model=gpt4", f"model.base_url={url}", "task.limit=5", "model.max_wait=0.1", "debug=true", *more)
    return harness(*arguments, OPENAI_API_KEY=KEY, **settings)


@pytest.mark.slow
def test_no_command_writes_the_key(harness, serve):
    """What the fixtures look at: stdout and stderr of every command, and every file it leaves."""
    good, echo = serve(), serve(lambda *_: error(401, f"no {KEY}"))
    assert run(harness, good.url, fresh=True).returncode == 0
    assert run(harness, good.url).returncode == 0
    assert "[the key]" in run(harness, echo.url, "results=other").stderr
    assert (
        run(harness, serve(lambda *_: error(500, f"no {KEY}")).url, "results=third", "model.attempts=1").returncode == 1
    )
    unread = run(harness, serve(lambda *_: chat_reply(KEY)).url, "results=fourth")
    assert unread.returncode == 1 and "'[the key]'" in unread.stderr
    assert run(harness, good.url, "dry_run=true").returncode == 0
    assert run(harness, good.url, "--cfg", "job", "--resolve").returncode == 0
    assert run(harness, good.url, "-m").returncode == 0
    assert run(harness, "http://127.0.0.1:9/v1", "results=fifth").returncode == 1


def test_a_key_in_the_address_of_the_environment_is_refused(harness):
    done = harness("model=gpt4", "debug=true", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"http://u:{KEY}@localhost/v1")
    assert done.returncode == 1 and "looks like a key" in done.stderr
