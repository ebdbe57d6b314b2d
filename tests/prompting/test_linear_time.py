"""Every reader of replies takes linear time: a model that repeats itself until it is cut off must not hang a run."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from functools import partial

from harness.prompting import reading

TOKENS = (
    *".,-()[]{}/+:;!?^&%@—…_*#=|<>~\"'`\\ \n\t0aAyn$",
    *("yes", "no", "Yes\n", "No. ", "Yes, ", "yes no ", "Answer: ", "answer is ", "the answer is not ", "so ", "wait "),
    *("A) ", "(a) ", "1. ", "| a ", "|\n", "**Yes**", "<b>", "</b>", "<think>", "</think>", "<answer>", "\\boxed{"),
    *("```", "```thinking\n", "<details>", '{"answer":', '"a": "b", ', "[x] ", "[ ] ", "☐ ", "☑", "e.g. ", "~~a", "~~"),
    *("\\n", "&nbsp;", "é", "\u0301", "\u200b", "答案", "答案是", "不能", "Q: ", "Question: ", "\nA: ", "\n\n", "\r\n"),
    *(" - ", " → ", "->", "if ", "not ", "cannot ", "it is ", "it does ", "A causes B. ", "A directly causes B"),
    *("because ", "therefore ", "the hypothesis ", "we can ", "I think ", "I say ", "that's ", "step 1: ", "option a "),
    *("true ", "right, ", "(yes or no) ", "can be deduced ", "yeees", "'' ", "? ", '?" is ', "; ", "...", "word "),
    *("A and B are independent given C, ", "the answer for this that your ", "0.9 ", "strength ", "(0.9) ", "12%, "),
    *("<|channel|>", "analysis", "[INST]", "causes are ", "Smoking, ", ". ", ". So ", "Yes, but "),
)
TEXTS = ("a dog barked", "A causes B", "yes", "no")
READERS: dict[str, Callable[[str], object]] = {
    "verdict": lambda text: reading.read(text, statement="A directly causes B.", next_words=("Can we deduct this:",)),
    "cut off": lambda text: reading.read(text, cut_off=True),
    "choices": lambda text: reading.read(text, choices=TEXTS),
}
LENGTH = 3000
ENOUGH = 0.02
"""CPU seconds below which nothing is measured: such a quadratic takes four seconds for the 80,000 that are read."""


def shapes(draw: random.Random, each: int) -> Iterator[tuple[str, Callable[[int], str]]]:
    """Yield texts of any length: `each` times one token repeated, some in turn, some in any order."""
    for token in draw.sample(TOKENS, min(each, len(TOKENS))):
        yield repr(token), partial(repeated, "", [token])
    for _ in range(each):
        first, some = draw.choice(("", "Yes. ", "The answer is ", "1. Smoking (0.9)\n")), draw.sample(TOKENS, 3)
        yield f"{first!r} {some} in turn", partial(repeated, first, some)
        yield f"{first!r} {some} mixed", partial(mixed, first, some, draw.getrandbits(32))


def repeated(first: str, some: list[str], length: int) -> str:
    return (first + "".join(some) * length)[:length]


def mixed(first: str, some: list[str], seed: int, length: int) -> str:
    return (first + "".join(random.Random(seed).choices(some, k=length)))[:length]


def seconds(reader: Callable[[str], object], text: str) -> float:
    reading._read_short.cache_clear()
    start = time.process_time()
    reader(text)
    return time.process_time() - start


def slow(draw: random.Random, each: int) -> list[str]:
    """Return the readers and shapes whose time grows by far more than the length."""
    found = []
    for name, text in shapes(draw, each):
        for kind, reader in READERS.items():
            if (long := seconds(reader, text(2 * LENGTH))) < ENOUGH:
                continue
            # The least of several: another process takes the processor away, and memory is warm at the second.
            short = min(seconds(reader, text(LENGTH)) for _ in range(3))
            long = min(long, *(seconds(reader, text(2 * LENGTH)) for _ in range(2)))
            # Once more: a text that ends otherwise at half its length may be read at a glance there.
            if long > 3 * short and seconds(reader, text(4 * LENGTH)) > 3 * long:
                found.append(f"{kind} of {name}: {short:.3f} s, twice as long {long:.3f} s")
    return found


def test_twice_the_length_takes_twice_the_time():
    assert slow(random.Random(1), 2) == []
