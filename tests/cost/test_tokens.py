"""How many tokens a text has, without a vocabulary: as many as it has pieces."""

from __future__ import annotations

import pytest

from harness.cost.size import tokens_at_least


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", 0),
        ("Yes", 1),
        ("Does A cause B?", 5),  # Does| A| cause| B|?
        ("asia,tub\nyes,no\n", 6),  # asia|,tub|⏎|yes|,no|⏎
        ("It's 12345.67 kg", 7),  # It's| |123|45|.|67| kg
        ("  x", 2),  # one space stays with the word
        ("0.1, 0.25", 8),  # 0|.|1|,| |0|.|25
        ("é", 1),  # what is not ASCII counts nothing, but no text is empty
        ("naïve", 1),
    ],
)
def test_pieces_counted_by_hand(text, pieces):
    assert tokens_at_least(text) == pieces
