"""Checkpoints that need Python code of their own: it is neither fetched nor run."""

from __future__ import annotations

import json

import pytest
from support.outcomes import each

from harness.errors import ConfigError
from harness.models.local.causal_lm import CausalLM
from harness.types import ChoiceRequest, Message


def test_a_checkpoint_that_needs_its_own_code_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "model.safetensors").touch()
    (tmp_path / "modeling_own.py").write_text("raise SystemExit('it ran')\n")
    classes = {"AutoConfig": "modeling_own.Config", "AutoModelForCausalLM": "modeling_own.Model"}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "of_its_own", "auto_map": classes}))
    model = CausalLM(name="own", path=str(tmp_path), dtype="float32", device="cpu")
    with pytest.raises(ConfigError, match=r"needs Python code of its own, which is not run here: .*model=vllm_server"):
        list(each(model.respond([ChoiceRequest((Message("user", "?"),), ("Yes", "No"))])))
