"""The prompts that the harness sends for the public test split, for other programs: one JSON line each.

python benchmarks/prompts_of_the_test_split.py PROMPTS.jsonl
"""

import json
import sys
from pathlib import Path

from harness.prompting import prompts
from harness.tasks.corr2cause import Corr2Cause
from harness.types import ChatRequest

if __name__ == "__main__":
    prompt = prompts.load("corr2cause", "plain", ())
    items = Corr2Cause(name="corr2cause", prompts=("plain",)).items()
    texts = (prompt.render(item.fields, (), ChatRequest).messages[-1].content for item in items)
    Path(sys.argv[1]).write_text("".join(json.dumps({"prompt": text}) + "\n" for text in texts))
