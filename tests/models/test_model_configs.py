"""The files in configs/model/: their names, and the model that each one makes."""

from __future__ import annotations

import re

import pytest
from model_sections import FILES, merged, model, text_of
from support.thinned import few

from harness.models.api.openai import Chat
from harness.models.local.causal_lm import CausalLM
from harness.models.local.masked_lm import MaskedLM
from harness.models.local.nli import NLI

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


@pytest.mark.parametrize("name", FILES)
def test_every_file_makes_its_model_and_says_what_it_is(name, key):
    own_name = re.search(r"^name: (.+?)(?: +#.*)?$", text_of(name), re.MULTILINE)[1]
    assert own_name in (name, "${.model}", "${.path}")
    assert merged(name).name == (name if own_name == name else "NAME" if own_name == "${.model}" else "LOCAL")
    assert text_of(name).startswith("# ")


@pytest.mark.parametrize(("name", "kind", "source"), few(CAUSALBENCH, 4))
def test_the_models_of_causalbench_are_there(name, kind, source, key):
    made = model(name)
    assert type(made) is kind and (made.model if kind is Chat else made.path) == source
    assert "CausalBench" in text_of(name).partition("\n")[0]
    if kind is CausalLM and name not in ("llama_7b", "gpt2"):  # those two are first of all the other benchmark's
        assert made.method == "generate"


def test_they_are_nineteen():
    assert len(CAUSALBENCH) == 19


def test_only_what_needs_it_runs_code_of_its_own(key):
    trusted = {name for name in FILES if getattr(merged(name), "trust_remote_code", False)}
    assert trusted == {"internlm_7b", "internlm_20b"}
