"""Answers that others have recorded without the replies that they were read from: taken as they are."""

from __future__ import annotations

from harness.types import LETTERS, RECORDED, Answer, Response

_LABELS = {"Yes": 1, "No": 0} | {letter: place for place, letter in enumerate(LETTERS)}


def recorded(response: Response) -> Answer:
    """Return the answer that stands for the reply: Yes, No or the letter of a choice; none for anything else."""
    return Answer(_LABELS.get(response.text), rule=RECORDED)
