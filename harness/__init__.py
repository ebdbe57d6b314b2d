"""An evaluation harness for causal reasoning in language models.

A task gives items, a prompt turns an item into a request, a model answers requests, the prompt reads the
answer, the task scores the records. `python -m harness --help` shows what there is to run.
"""

import sys

__version__ = "0.1.0"

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    # `python -m harness…` looks for every import in the working directory first, and somebody's yaml.py may lie there:
    # what is installed goes before it, as with the command `harness`. At this moment argv has no other word yet.
    sys.path.append(sys.path.pop(0))
