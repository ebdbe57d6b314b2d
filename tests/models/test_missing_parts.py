"""What cannot run here, or may not, is one sentence that says what to do."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from support.outcomes import each

from harness.errors import ConfigError
from harness.models.local.causal_lm import CausalLM
from harness.models.local.nli import NLI
from harness.types import ChoiceRequest, Message, PairRequest

ASK = "list(NLI(name='m', path=sys.argv[1], device='cpu').respond([PairRequest('A', 'B')]))"


def test_a_missing_package_names_the_extra(nli_path):
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from harness.models.local.nli import NLI\n"
        "from harness.types import PairRequest\n"
        "from harness.errors import ConfigError\n"
        f"try: {ASK}\nexcept ConfigError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code, str(nli_path)], capture_output=True, text=True).stdout
    assert "[local]'" in said and "harness[local]" not in said  # the public index has another package of that name


def test_a_missing_gpu_is_said(nli_path):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ConfigError, match=r"no CUDA device.*model\.device=cpu"):
        list(each(NLI(name="m", path=str(nli_path), device="cuda").respond([PairRequest("A", "B")])))


def test_a_checkpoint_that_needs_its_own_code_is_refused_and_the_code_not_run(tmp_path):
    (tmp_path / "model.safetensors").touch()
    (tmp_path / "modeling_own.py").write_text("raise SystemExit('it ran')\n")
    classes = {"AutoConfig": "modeling_own.Config", "AutoModelForCausalLM": "modeling_own.Model"}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "of_its_own", "auto_map": classes}))
    model = CausalLM(name="own", path=str(tmp_path), dtype="float32", device="cpu")
    with pytest.raises(ConfigError, match=r"needs Python code of its own, which is not run here: .*model=vllm_server"):
        list(each(model.respond([ChoiceRequest((Message("user", "?"),), ("Yes", "No"))])))
