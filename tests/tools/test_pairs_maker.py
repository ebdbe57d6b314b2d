"""tools/pairs.py: a small part of the index of pairs is made once more."""

from __future__ import annotations

from support.tools import tool

from harness.tasks.corr2cause.fresh.matching import index
from harness.tasks.corr2cause.shortcut import CLAIMS


def test_the_index_is_what_its_command_makes():
    for name, rows in tool("pairs").make(5).items():
        shipped = [(pair.n, CLAIMS.index(pair.kind), *pair.yes, *pair.no) for pair in index(name)]
        assert [row for row in shipped if row[0] == 5] == list(map(tuple, rows))
