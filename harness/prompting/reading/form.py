"""The form that the prompt asks for: a line of its own, a tag or a field that holds the answer and nothing else."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from harness.prompting.reading.normalise import normalised

PLACE = "{answer}"
"""What stands in a prompt file's form for the answer: "Answer: {answer}"."""


def last_in_form(text: str, form: str, answers: str) -> re.Match[str] | None:
    """Return the last line of a normalised text that has the form and one of the answers, a pattern, and no more.

    A form that is the answer alone has to be the whole text. None where another answer stands in the line before.
    """
    lines = list(_line(form, answers).finditer(text))
    for before, last in pairwise(lines[-2:]):
        if before.groups() != last.groups() and not re.search(r"\w", text[before.end() : last.start()]):
            return None
    return lines[-1] if lines else None


@lru_cache(maxsize=256)
def _line(form: str, answers: str) -> re.Pattern[str]:
    """Return the pattern of a line of the form: tags, fields and labels are alike once they are normalised."""
    before, after = (re.escape(part.strip()) for part in normalised(form.replace(PLACE, " 0 ")).split("0"))
    if not before and not after:
        return re.compile(rf"\A[^\w]*(?:{answers})[^\w]*\Z")
    return re.compile(rf"^[^\w\n]*(?:final )?{before}[^\w\n]*(?:{answers})[^\w\n]*{after}[^\w\n]*$", re.MULTILINE)
