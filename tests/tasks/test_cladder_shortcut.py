"""What CLadder's questions give away without graph and formula: words alone, kind and numbers alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.cladder_help import task

from harness.settings import build
from harness.tasks.cladder.shortcut import FEATURES, features, words_of


def model(sees):
    return build({"_target_": "harness.tasks.cladder.shortcut.LadderShortcut", "name": "it", "sees": sees}, "model")


def accuracy(sees, items):
    right = [(model(sees).log_odds(str(item.fields["text"])) > 0) == item.labels["stated"] for item in items]
    return sum(right) / len(right)


@pytest.fixture(scope="module")
def items():
    return list(task(seed=7, limit=4000).items())


@pytest.mark.slow
def test_the_pages_numbers_are_those_of_its_command():
    page = (Path(__file__).parents[2] / "docs" / "cladder.md").read_text()
    items = list(task().items())
    for name, sees in (("cladder_words", "words"), ("cladder_shortcut", "numbers")):
        assert f"| {name} | {100 * accuracy(sees, items):.1f} [" in page
    assert f"`always_no` has {100 - 100 * sum(item.labels['stated'] for item in items) / len(items):.1f}:" in page


def test_words_see_no_number_and_numbers_no_other_word(items):
    for item in items[:300]:
        text = str(item.fields["text"])
        assert words_of(text) == words_of(re.sub(r"\d+%", "50%", re.sub(r"-?\d\.\d+\.", "0.12.", text)))
        assert len(features(text)) == len(FEATURES) and features(text)[10] in (0, 1)
    backdoor = next(item for item in items if item.groups["query"].startswith("back-door"))
    assert features(str(backdoor.fields["text"]))[-9:] == [-1] * 9
