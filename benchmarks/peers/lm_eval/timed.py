"""lm-evaluation-harness's own command, which leaves in the file SECONDS how long its answers took to compute.

SECONDS=file python timed.py run --model hf …
"""

import os
import sys
import time
from pathlib import Path

from lm_eval.__main__ import cli_evaluate
from lm_eval.models.huggingface import HFLM


def timed(compute):
    """Tokenizing and forward passes: neither the start of the process nor the loading of the model."""

    def computed(self, requests, *args, **kwargs):
        started = time.perf_counter()
        found = compute(self, requests, *args, **kwargs)
        Path(os.environ["SECONDS"]).write_text(str(time.perf_counter() - started))
        return found

    return computed


HFLM.loglikelihood, HFLM.generate_until = timed(HFLM.loglikelihood), timed(HFLM.generate_until)

if __name__ == "__main__":
    sys.exit(cli_evaluate())
