"""tools/pairs.py and pair_trees.py: a part of the index made once more, and strict pairs, which trees see as equal."""

from __future__ import annotations

from support.tools import TOOLS, tool

from harness.tasks.corr2cause.fresh.matching import index
from harness.tasks.corr2cause.shortcut import CLAIMS


def test_the_index_is_what_its_command_makes():
    for name, rows in tool("pairs").make(5).items():
        shipped = [(pair.n, CLAIMS.index(pair.kind), *pair.yes, *pair.no) for pair in index(name)]
        assert [row for row in shipped if row[0] == 5] == list(map(tuple, rows))


def test_richer_counts_tell_the_halves_of_a_pair_apart_only_where_they_are_not_matched(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    row = tool("pair_trees").row
    for name in ("counts", "strict"):
        assert {bool((row(pair, pair.yes) == row(pair, pair.no)).all()) for pair in index(name)[:9]} == {
            name == "strict"
        }
