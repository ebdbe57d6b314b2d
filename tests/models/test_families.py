"""The one table of what models and servers take: every row is read, and the first that matches counts."""

from __future__ import annotations

import re

import pytest

from harness.models.api.families import Family, Provider, family_of, family_tables, provider_of


@pytest.mark.parametrize(
    ("model", "reasoning"),
    [
        ("o1", True),
        ("openai/o3-mini", True),
        ("ft:o4-mini-2025-04-16:mine::1", True),
        ("GPT-5.1", True),
        ("gpt-5-chat-latest", False),
        ("gpt-4o", False),
        ("olmo-2", False),
    ],
)
def test_names_of_openai(model, reasoning):
    row = family_of(model)
    assert row.reasoning is reasoning
    assert row.limit == ("max_completion_tokens" if reasoning else "max_tokens")
    assert row.temperature == row.stop == ("refused" if reasoning else "sent")


@pytest.mark.parametrize(
    ("model", "row"),
    [
        ("gpt-6.1-sol", "thinks, no temperature, max_completion_tokens"),
        ("openai/gpt-oss-120b", "thinks"),
        ("claude-opus-5-5", "thinks, no temperature"),
        ("anthropic/claude-sonnet-5.5", "thinks, no temperature"),
        ("us.anthropic.claude-opus-5", "thinks, no temperature"),
        ("anthropic/claude-opus-4.8", "no temperature"),
        ("claude-sonnet-4-5", ""),
        ("claude-3-5-sonnet-20241022", ""),
        ("anthropic/claude-3.7-sonnet:thinking", "thinks"),
        ("models/gemini-3.8-flash", "thinks"),
        ("gemini-2.5-pro", "thinks"),
        ("gemini-2.5-flash-lite", ""),
        ("deepseek-reasoner", "thinks, no temperature"),
        ("deepseek-chat", ""),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "thinks"),
        ("qwen/qwen3-235b-a22b", "thinks"),
        ("qwen3:8b", "thinks"),
        ("Qwen/Qwen3-4B-Instruct-2507", ""),
        ("Qwen/QwQ-32B", "thinks"),
        ("Qwen/Qwen2.5-7B-Instruct", ""),
        ("kimi-k2-thinking", "thinks"),
        ("kimi-k2.6", "thinks, no temperature"),
        ("moonshotai/kimi-k2-instruct", ""),
        ("grok-4.7", "thinks, max_completion_tokens"),
        ("grok-4-1-fast-non-reasoning", ""),
        ("magistral-medium-2509", "thinks"),
        ("mistral-small-2603", ""),
        ("z-ai/glm-4.5-air", "thinks"),
        ("MiniMaxAI/MiniMax-M2.1", "thinks"),
        ("microsoft/phi-4-reasoning-plus", "thinks"),
        ("microsoft/phi-4", ""),
        ("allenai/olmo-3-32b-think", "thinks"),
        ("meta-llama/Llama-3.3-70B-Instruct", ""),
    ],
)
def test_names_of_others(model, row):
    found = family_of(model)
    told = ["thinks"] * found.reasoning + ["no temperature"] * (found.temperature == "refused")
    assert ", ".join(told + [found.limit] * (found.limit != "max_tokens")) == row


@pytest.mark.parametrize(
    ("address", "seed"),
    [
        ("https://api.openai.com/v1", True),
        ("https://mine.openai.azure.com/openai/v1", True),
        ("http://localhost:8000/v1", True),
        ("http://10.0.0.7:8000/v1", True),
        ("http://gpu17:8000/v1", True),
        ("http://[::1]:8000/v1", True),
        ("https://api.x.ai/v1", True),
        ("https://api.groq.com/openai/v1", True),
        ("https://api.anthropic.com/v1", False),
        ("https://generativelanguage.googleapis.com/v1beta/openai", False),
        ("https://api.deepseek.com", False),
        ("https://api.mistral.ai/v1", False),
        ("https://api.moonshot.ai/v1", False),
        ("https://api.example.com/v1", False),
    ],
)
def test_who_understands_a_seed(address, seed):
    assert provider_of(address).seed is seed


def test_what_no_row_says():
    assert family_of("some-model") == Family()
    assert provider_of("https://api.example.com/v1") == Provider()


def test_every_row_is_reached_and_says_where_it_is_from():
    rows = family_tables()
    assert all(row.source.startswith("https://") for row in (*rows.families, *rows.providers))
    for number, family in enumerate(rows.families):
        reached = [glob for glob in family.match if family_of(_example(glob)) is family]
        assert reached == list(family.match), f"families, row {number + 1}: an earlier row takes what it is for"
    for number, provider in enumerate(rows.providers):
        addresses = ["http://localhost" if glob == "local" else f"https://{_example(glob)}" for glob in provider.match]
        reached = [address for address in addresses if provider_of(address) is provider]
        assert reached == addresses, f"providers, row {number + 1}: an earlier row takes what it is for"
    assert all(family_of(row.thinks_like).reasoning for row in rows.providers if row.thinks_like)


def _example(glob: str) -> str:
    """Return a name that a glob matches."""
    return re.sub(r"\[(.).*?\]", r"\1", glob).replace("*.", "a.").replace("*", "").replace("?", "x")
