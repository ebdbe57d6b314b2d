"""How replies are read, beside the reading of a careful person.

python benchmarks/reading.py [replies.jsonl …]       lines as in tests/data: reply, verdict, finish_reason, why
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from harness.prompting.reading import read
from harness.types import LETTERS

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
LABELS = {1: "yes", 0: "no", None: "unreadable"}
STATEMENT = "A directly causes B"
FORMS = {"cot": "Answer: {answer}"} | dict.fromkeys(("plain", "network", "story"), "{answer}")
NEXT = ("Can we deduct the following", "Suppose there is a closed")


def agreement(file: Path) -> str:
    """Return how many replies are read as a person reads them, or left where that is as good, and others by kind."""
    found: Counter[str] = Counter()
    kinds: Counter[tuple[str, str]] = Counter()
    for line in file.read_text(encoding="utf-8").splitlines():
        reply = json.loads(line)
        choices = reply.get("choices", ())
        label = read(
            reply["reply"],
            cut_off=reply.get("finish_reason") == "length",
            statement=reply.get("statement", STATEMENT),
            next_words=NEXT,
            choices=choices,
            form=FORMS.get(reply.get("prompt", ""), ""),
        ).label
        said = LABELS[None] if label is None else LETTERS[label] if choices else LABELS[label]
        as_good = reply.get("acceptable", ("unreadable",) if "unreadable acceptable" in reply.get("why", "") else ())
        kind = (
            "as a person reads it"
            if said in (reply["verdict"], *as_good)
            else "not read"
            if label is None
            else "although nothing is said"
            if reply["verdict"] == LABELS[None]
            else "as another answer"
        )
        found[kind] += 1
        if kind != "as a person reads it":
            kinds[kind, reply.get("why", reply.get("prompt", "")).partition(" | ")[0]] += 1
    counts = ", ".join(f"{count} {kind}" for kind, count in found.most_common())
    return counts + "".join(f"\n  {count} x {kind}: {why}" for (kind, why), count in kinds.most_common())


if __name__ == "__main__":
    for name in map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(DATA.glob("replies*.jsonl")):
        print(f"{name.name}\n{agreement(name)}\n")
