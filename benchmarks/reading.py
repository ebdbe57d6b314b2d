"""How replies are read: beside the reading of a careful person, how long it takes, and that it takes linear time.

python benchmarks/reading.py [replies.jsonl …]       lines as in tests/data: reply, verdict, finish_reason, why
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from harness.prompting.reading import read
from harness.types import LETTERS

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
LABELS = {1: "yes", 0: "no", None: "unreadable"}
STATEMENT = "A directly causes B"
FORMS = {"cot": "Answer: {answer}"} | dict.fromkeys(("plain", "network", "story"), "{answer}")
NEXT = ("Can we deduct the following", "Suppose there is a closed")
SHORT = [
    "Yes",
    "**No**",
    "Answer: No",
    "Yes, it does.",
    "The answer is no.",
    "No, because correlation is not causation.",
]
THOUGHT = (
    "Step 1: A correlates with B, and C is independent of A given B. We consider the DAGs in the class. Therefore the "
    "edge may point either way, since the v-structure is not present. If it were, we could deduce the direction. "
)
LONG = THOUGHT * (2000 // len(THOUGHT.split())) + "\n\nAnswer: No"
# What could take quadratic time: each repeated to a megabyte.
HOSTILE = [
    *(
        "Answer: Yes\n",
        "the answer is ",
        "final answer\n",
        "yes ",
        "no, ",
        "a directly causes b ",
        "if the answer is yes ",
    ),
    *(
        "we cannot deduce that ",
        "it is not true that ",
        "wrong to say ",
        "nothing in the premise justifies ",
        "because ",
    ),
    *(
        "suppose. then ",
        "step 1: yes? ",
        "question: yes\n",
        "user: ",
        "(a) yes (b) no ",
        ", though, ",
        "not ",
        "a, ",
        "; ",
    ),
    *(
        "<think",
        "<think>",
        "</think>",
        "<a ",
        "<|channel|>",
        "\\boxed{",
        "\\",
        '": "',
        "|",
        "[ ]\n",
        "~~",
        "*",
        "_",
        "->",
    ),
    *(":", " ", "\u00a0", "\t", "\n", ".", "(", "=", "- ", "\x00", "✅", "是，"),
    *("```thinking\n", "<details><summary>thought", "analysis", "reasoning: ", "yes, i mean no, ", "answer ", "yes\n"),
    *("&nbsp;", "</td>   ", "when a is ", "it is wrong to ", "graph 1: ", "even if whether ", "答案是", "不能从"),
    *("with ", "a - ", "yes\n \n", "were ", "fails to "),
]


def main(files: list[Path]) -> None:
    """Print the three."""
    for file in files:
        print(f"{file.name}\n{agreement(file)}\n")
    print("a reply, µs    " + ", ".join(f"{reply!r} {seconds(read_it(reply)) * 1e6:.1f}" for reply in SHORT))
    print(f"a chain of thought of {len(LONG.split()):,} words, ms    {seconds(read_it(LONG)) * 1e3:.2f}")
    times = {shape: seconds(read_it(shape * (1_000_000 // len(shape))), times=1) for shape in HOSTILE}
    worst = max(times, key=lambda shape: times[shape])
    print(f"1 MB of each of {len(times)} hostile shapes, s    at most {times[worst]:.2f} ({worst!r})")


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


def read_it(reply: str) -> Callable[[], object]:
    """Return the call that reads a reply."""
    return lambda: read(reply, statement=STATEMENT, next_words=NEXT)


def seconds(call: Callable[[], object], times: int = 0) -> float:
    """Return the processor time of a call: the least of five runs of a tenth of a second, or of one call."""
    if times:
        begin = time.process_time()
        call()
        return time.process_time() - begin
    least = float("inf")
    for _ in range(5):
        calls, begin = 0, time.process_time()
        while time.process_time() - begin < 0.1:
            call()
            calls += 1
        least = min(least, (time.process_time() - begin) / calls)
    return least


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or sorted(DATA.glob("replies*.jsonl")))
