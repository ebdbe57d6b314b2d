"""An evaluation harness for causal reasoning in language models.

A task gives items, a prompt turns an item into a request, a model answers requests, the prompt reads the
answer, the task scores the records. `python -m harness --help` shows what there is to run.
"""

__version__ = "0.1.0"
