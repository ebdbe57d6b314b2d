"""How long a million fresh items over seven variables take, with labels and texts, and how much memory.

python benchmarks/fresh.py             on one core, 24 hypotheses a premise: there are 76,907 classes
python benchmarks/fresh.py 100000      fewer
"""

from __future__ import annotations

import resource
import sys
import time
from itertools import islice

from harness.plugins.fresh.task import Fresh

items = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
start = time.process_time()
task = Fresh("corr2cause/fresh", ("plain",), num_nodes=(7,), per_premise=24, limit=items)
made = characters = yes = 0
for item in islice(task.items(), items):
    made += 1
    characters += len(str(item.fields["input"]))
    yes += item.labels["audited"]
    if made in (items // 10, items // 2, items):
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{made:>9,} items  {time.process_time() - start:6.1f} s of processor time  {memory:,} MB at most")
print(f"{characters / made:,.0f} characters each, {100 * yes / made:.2f}% Yes")
