"""CLadder's questions follow from the authors' parameters, byte for byte (tests/data/README.md has the source)."""

import json
import lzma
from pathlib import Path

import pytest

from harness.tasks.cladder.models import sample
from harness.tasks.cladder.queries import NUMERIC
from harness.tasks.cladder.wording import background

FILE = Path(__file__).parents[1] / "data" / "cladder_questions.json.xz"
PUBLISHED = json.loads(lzma.decompress(FILE.read_bytes()))


def test_all_4164_questions_are_made_again_byte_for_byte():
    made = [pair for model in sample() for pair in model.questions()]
    assert len(made) == len(PUBLISHED["questions"]) == 4164
    for (name, given, asked, answer, value, _), (own, question) in zip(PUBLISHED["questions"], made, strict=True):
        assert (name, given, asked) == (own, question.given, question.text)
        assert answer == ("yes" if question.published() else "no"), name
        if question.ask.query in NUMERIC:
            assert question.model.numbers.value(question.ask.query) == pytest.approx(value, abs=1e-12), name


def test_every_background_is_made_again_byte_for_byte():
    assert {str(model.id): background(model.story) for model in sample()} == PUBLISHED["backgrounds"]
