"""What `harness discover --help` says."""

from __future__ import annotations

from harness.cli.help_text import group_text, settings_text
from harness.config_files import CONFIGS, listed, root_file

_DISCOVER = """\
Classical causal discovery on data sampled from the networks, scored as the language models are.

  harness discover algorithm=hc network=asia samples=500
  harness discover -m algorithm=pc,hc,mmhc network=asia,sachs,alarm,insurance samples=500,1500
  harness discover -m algorithm=hc network=asia seed=0,1,2,3,4     several seeds give an interval
  harness discover algorithm=mmhc network=null                     the paper's fourteen networks in one row
"""


def text() -> str:
    """Return the help: examples, the command's settings, the algorithms and theirs."""
    algorithms = listed(CONFIGS, "algorithm").items()
    theirs = (settings_text(f"algorithm {name}", file, "algorithm.") for name, file in algorithms)
    return "\n".join([_DISCOVER, settings_text("discover", root_file("discover")), group_text("algorithm"), *theirs])
