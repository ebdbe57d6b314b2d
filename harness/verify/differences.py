"""Where two JSON values differ, in sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

MOST_LISTED = 5
"""Problems of one kind that are listed one by one."""
NOTHING = object()
"""What stands in the place of a value that is not there."""


def differences(there: Any, expected: Any, at: str, source: str) -> Iterator[str]:
    """Yield where two JSON values differ: a few sentences, then the number of the others."""
    sentences = list(each_difference(there, expected, at, source))
    yield from sentences[:MOST_LISTED]
    if len(sentences) > MOST_LISTED:
        yield f"… and {len(sentences) - MOST_LISTED:,} more values of {at.partition('.')[0]}."


def each_difference(there: Any, expected: Any, at: str, source: str) -> Iterator[str]:
    """Yield a sentence for each value that is another than expected from a source; `at` names the place."""
    if isinstance(there, dict) and isinstance(expected, dict):
        for name in {**there, **expected}:
            place = f"{at} / {name}" if ":" in at else f"{at}: {name}"
            yield from each_difference(there.get(name, NOTHING), expected.get(name, NOTHING), place, source)
    elif there != expected or isinstance(there, bool) != isinstance(expected, bool):
        yield f"{at}: {_shown(there)} there, {_shown(expected)} {source}."


def _shown(value: Any) -> str:
    return "nothing" if value is NOTHING else json.dumps(value, ensure_ascii=False)[:200]
