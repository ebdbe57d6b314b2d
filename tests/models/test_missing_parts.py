"""If something is not installed or missing, a sentence says what to do."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.outcomes import each

from harness.errors import ConfigError
from harness.models.local.nli import NLI
from harness.types import PairRequest

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
