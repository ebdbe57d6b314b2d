"""Money as an invariant: stories of batches with servers whose behaviour is drawn (batch_model.py)."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from batch_model import CHOICES, draw, story


def stories(count: int, seed: int, folder: Path) -> Counter[str]:
    tally: Counter[str] = Counter()
    source = random.Random(seed)
    for number in range(count):
        choice = draw(source, quiet=source.choice([0.3, 0.7, 0.9]))
        place = folder / str(number)
        place.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            try:
                tally += story(dict(choice), place, patch)
            except BaseException as error:
                odd = {name: value for name, value in choice.items() if value != CHOICES[name][0]}
                raise AssertionError(f"story {number} of seed {seed}: {odd}") from error
    return tally


def test_no_request_is_billed_twice_whatever_a_server_does(tmp_path):
    tally = stories(100, 1, tmp_path)
    assert tally["complete"] > 20 and tally["waits"] > 10 and tally["forgotten"] > 5, tally


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_no_request_is_billed_twice_in_thousands_of_stories(tmp_path, seed):
    stories(500, seed, tmp_path)
