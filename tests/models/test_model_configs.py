"""The files in configs/model/: what they are called, and that each one makes its model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest
from hydra import compose, initialize_config_dir

from harness.models.api.openai import Chat
from harness.models.local.causal_lm import CausalLM
from harness.models.local.masked_lm import MaskedLM
from harness.models.local.nli import NLI
from harness.settings import CONFIGS, build, listed, plain

# Table XII of the CausalBench paper: our name, the class, what it is called where it comes from.
CAUSALBENCH = [
    ("gpt35_1106", Chat, "gpt-3.5-turbo-1106"),
    ("gpt4_0613", Chat, "gpt-4-0613"),
    ("gpt4_1106", Chat, "gpt-4-1106-preview"),
    *((f"llama_{size}", CausalLM, "LOCAL") for size in ("7b", "13b", "33b")),
    *((f"opt_{size.replace('.', '_')}", CausalLM, f"facebook/opt-{size}") for size in ("1.3b", "2.7b", "6.7b", "66b")),
    *((f"internlm_{size}", CausalLM, f"internlm/internlm-{size}") for size in ("7b", "20b")),
    *((f"falcon_{size}", CausalLM, f"tiiuae/falcon-{size}") for size in ("7b", "40b")),
    ("gpt2", CausalLM, "gpt2"),
    ("bert_large", MaskedLM, "bert-large-uncased"),
    ("roberta_large", MaskedLM, "roberta-large"),
    ("deberta_v3_large", MaskedLM, "microsoft/deberta-v3-large"),
    ("distilbert_mnli", NLI, "typeform/distilbert-base-uncased-mnli"),
]
LOCAL = ["llama_7b", "llama_13b", "llama_33b", "alpaca_7b", "causal_lm", "masked_lm", "nli"]


@cache
def section(name: str, *overrides: str) -> Mapping:
    needed = ["model.path=LOCAL"] if name in LOCAL else []
    needed += ["model.model=NAME"] if name in ("openai", "openai_completions") else []
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        return plain(compose("config", overrides=[f"model={name}", *needed, *overrides]).model)


def model(name: str, *overrides: str):
    return build(section(name, *overrides), "model")


@pytest.mark.parametrize("name", listed(CONFIGS, "model"))
def test_every_file_makes_its_model_and_says_what_it_is(name, key):
    expected = {
        "openai": "NAME",
        "openai_completions": "NAME",
        "causal_lm": "LOCAL",
        "masked_lm": "LOCAL",
        "nli": "LOCAL",
    }
    assert model(name).name == expected.get(name, name)
    assert (CONFIGS / "model" / f"{name}.yaml").read_text().startswith("# ")


@pytest.mark.parametrize(("name", "kind", "source"), CAUSALBENCH)
def test_the_models_of_causalbench_are_there(name, kind, source, key):
    made = model(name)
    assert type(made) is kind and (made.model if kind is Chat else made.path) == source
    assert "CausalBench" in (CONFIGS / "model" / f"{name}.yaml").read_text().partition("\n")[0]
    if kind is CausalLM and name not in ("llama_7b", "gpt2"):  # those two are first of all the other benchmark's
        assert made.method == "generate"


def test_they_are_nineteen():
    assert len(CAUSALBENCH) == 19


def test_only_what_needs_it_runs_code_of_its_own(key):
    trusted = {name for name in listed(CONFIGS, "model") if getattr(model(name), "trust_remote_code", False)}
    assert trusted == {"internlm_7b", "internlm_20b"}


def test_the_contexts_that_are_known(key):
    known = {name: getattr(model(name), "context", None) for name in listed(CONFIGS, "model")}
    assert {name: tokens for name, tokens in known.items() if tokens} == {
        "gpt35": 16385,
        "gpt35_1106": 16385,
        "gpt4": 8192,
        "gpt4_0613": 8192,
        "gpt4_1106": 128000,
        "gpt4_turbo": 128000,
        "gpt4o": 128000,
    }
    assert model("gpt4", "model.context=null").context is None
