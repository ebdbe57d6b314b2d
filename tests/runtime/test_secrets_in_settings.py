"""What is a key is decided once: keys in all places are refused and masked, harmless settings and sentences are not."""

from __future__ import annotations

import pytest
import yaml

from harness.errors import ConfigError
from harness.runtime.secrets import mask_keys, refuse_arguments, refuse_config, secret_name

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz"
WORD = "hunter2hunter2"
PLACES = {
    "a provider's form": ([f"task.path={KEY}"], {"task": {"path": KEY}}),
    "a parameter": ([f"+model.extra.api_key={WORD}"], {"model": {"extra": {"api_key": WORD}}}),
    "nested": ([f"+x={{env: [{{HF_TOKEN: {WORD}}}]}}"], {"x": {"env": [{"HF_TOKEN": WORD}]}}),
    "a shell line": ([f"x.setup=[export HF_TOKEN={WORD}]"], {"x": {"setup": [f"export HF_TOKEN={WORD}"]}}),
    "a flag": ([f"model.args=[--api-key={WORD}]"], {"model": {"args": [f"--api-key={WORD}"]}}),
    "a flag and a value": ([f"model.args=[--api-key,{WORD}]"], {"model": {"args": ["--api-key", WORD]}}),
    "an address": ([f"model.base_url=http://me:{WORD}@h/v1"], {"model": {"base_url": f"http://me:{WORD}@h/v1"}}),
    "a query": ([f"model.base_url=http://h/v1?token={WORD}"], {"model": {"base_url": f"http://h/v1?token={WORD}"}}),
    "of the environment": (["results=in-the-environment"], {"results": "in-the-environment"}),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_key_is_refused_without_being_shown_and_masked(place, monkeypatch):
    monkeypatch.setenv("SOME_SERVICE_TOKEN", "in-the-environment")
    arguments, config = PLACES[place]
    for refuse, settings in ((refuse_arguments, ["task.limit=5", *arguments]), (refuse_config, config)):
        with pytest.raises(ConfigError, match="looks like a key") as refused:
            refuse(settings)
        assert not any(key in str(refused.value) for key in (KEY, WORD, "in-the-environment"))
    shown = mask_keys(f"{' '.join(arguments)} {config!r} {yaml.safe_dump(config)}") if place[:6] != "a flag" else ""
    assert not any(key in shown for key in (KEY, WORD, "in-the-environment"))
    assert mask_keys(shown) == shown


@pytest.mark.parametrize(
    "setting",
    [
        "model=openai", "model.api_key_env=AZURE_API_KEY", "model.path=/data/hf_models_of_the_group/llama_7b_chat_hf",
        "~model.extra.token", "results=/somewhere/with/sockets", "model.requests_per_minute=1000", "-m", "--cfg",
        "+model.extra.prompt_cache_key=corr2cause", "+model.extra.stop_token=token12345", "model.args=[--api-key,none]",
        "x.setup=[export HF_TOKEN=$HF_TOKEN]", "x.setup=[export VLLM_API_KEY=$(cat ~/.vllm)]",
        "model.base_url=https://gateway.ai.cloudflare.com/v1/0123456789abcdef0123456789abcdef/mine/openai",
    ],
)  # fmt: skip
def test_settings_that_hold_none(setting, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "none")
    refuse_arguments([setting])
    assert mask_keys(setting) == setting


@pytest.mark.parametrize(
    "sentence",
    [
        "there is no setting --auth-token: harness --help lists them",
        "the key of the cache is its digest, and a token: of a model ends a reply",
        "max(rows, key=len) and sorted(names, key=operator.itemgetter)",
        "set the environment variable OPENAI_API_KEY (export OPENAI_API_KEY=…), or say model.api_key_env=null if this",
    ],
)
def test_sentences_are_left_as_they_are(sentence):
    assert mask_keys(sentence) == sentence


def test_names_of_parameters():
    named = ["token", "session_token", "accessToken", "db_password", "x-goog-api-key", "apiKey", "client_secret"]
    others = ["max_tokens", "stop_token_ids", "prompt_cache_key", "tokenizer", "bos_token", "keyword", "secretary"]
    assert all(map(secret_name, named)) and not any(map(secret_name, others))
