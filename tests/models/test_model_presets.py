"""The presets of hosted and local models: each agrees with the table of prices that is installed.

That each is composed and built is what test_model_configs.py shows.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo
from model_sections import FILES, bases, merged, model, open_settings, text_of

from harness.config_files import CONFIGS
from harness.cost.price import FREE, price_of
from harness.models.api.families import family_of
from harness.models.api.openai import Chat

SOURCE = re.compile(r"^# source: https://\S+ \(20\d\d-\d\d-\d\d\)$", re.MULTILINE)
LATER = sorted(name for name in FILES if SOURCE.search(text_of(name)))
"""Presets that say where they are from: all that came after the papers' own."""
LOCAL = [name for name in LATER if "causal_lm" in bases(name)]
PROVIDERS = [name for name in LATER if "model" in open_settings(name)]
HOSTED = [name for name in FILES if "openai" in bases(name) and "model" not in open_settings(name)]
"""Those of the papers are among them."""

PRICES_OF_THEIR_OWN = {"qwen3_8_max": "the table has no entry for Alibaba Cloud Model Studio"}
"""Why a preset states a price, by its name."""


def entry_of(preset: Chat) -> ModelInfo | None:
    """Return what the table has for a model at its own address."""
    try:
        return get_snapshot().find_provider(None, None, preset.base_url).find_model(preset.model)
    except LookupError:
        return None


def test_there_are_some_of_each_kind():
    assert len(HOSTED) >= 15 and len(LOCAL) >= 4
    assert {"claude", "gemini", "grok", "mistral", "deepseek", "qwen", "kimi", "openrouter", "azure"} <= set(PROVIDERS)
    assert set(PRICES_OF_THEIR_OWN) <= set(HOSTED)


@pytest.mark.parametrize("name", LATER)
def test_a_preset_is_of_a_few_lines_and_says_what_it_is(name):
    lines = text_of(name).splitlines()
    assert len(lines) <= 14 and max(map(len, lines)) <= 125
    preset = merged(name)
    assert preset.name == (name if name not in PROVIDERS else "NAME")
    there = preset.path if name in LOCAL else preset.model
    assert there in lines[0] or name in PROVIDERS, "the help says what the server, or the Hub, calls it"


@pytest.mark.parametrize("name", HOSTED)
def test_a_hosted_model_is_in_the_table_with_its_price(name):
    preset = merged(name)
    entry, price = entry_of(preset), price_of(preset)
    assert price is not None and price is not FREE, "a plan says what it costs"
    if name in PRICES_OF_THEIR_OWN:
        assert entry is None
        return
    assert price.source != "the model's config", "a price that the table has stands there alone"
    assert entry is not None and not entry.deprecated, f"{preset.model}: unknown to the table, or of the past"


@pytest.mark.parametrize("name", HOSTED)
def test_what_thinks_gets_room(name):
    preset = merged(name)
    assert preset.family.reasoning is family_of(preset.model).reasoning
    assert bool(preset.room_to_think) is preset.family.reasoning


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_provider_has_an_address_and_a_key_of_its_own(name):
    preset = merged(name)
    here = urlsplit(preset.base_url).hostname == "localhost"
    assert (preset.api_key_env is None) is here
    assert preset.api_key_env != "OPENAI_API_KEY", "OpenAI's key goes to nobody else"


def test_a_server_without_keys_is_asked_without_one(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert merged("ollama").check_key() is None and merged("ollama").key == "none"


@pytest.mark.parametrize("name", LOCAL)
def test_a_checkpoint_is_named_as_the_hub_names_it(name):
    path = merged(name).path
    assert re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", path)
    assert f"# source: https://huggingface.co/{path} " in text_of(name)


def test_files_laid_over_one_another_are_what_hydra_composes():
    for name in ("kimi_k3_1_pro", "qwen3_8_max", "azure", "olmo_2_7b"):
        assert merged(name) == model(name)


def test_the_document_lists_them_all():
    page = (CONFIGS.parent / "docs" / "presets.md").read_text(encoding="utf-8")
    assert not [name for name in LATER if f"`{name}`" not in page]
