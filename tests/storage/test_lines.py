from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.items import LONG, Encoder

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def by_json(row):
    return json.dumps(row, ensure_ascii=False) + "\n"


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=8), VALUES, max_size=6), max_size=3))
def test_rows_are_encoded_as_json_encodes_them(rows):
    encoded = Encoder()
    assert [encoded(row) for row in rows] == list(map(by_json, rows))


@given(st.text(min_size=1, max_size=9), st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=6))
def test_a_long_text_comes_again_alone_and_inside_others(words, around):
    encoded = Encoder()
    long = words * LONG
    for before, after in around:
        row = {"a": long, "b": before + long + after, "c": (before + long)[:-1] + after, "d": long}
        assert encoded(row) == by_json(row)


def test_a_text_that_only_begins_like_the_known_one_is_another():
    encoded = Encoder()
    for text in ("x" * LONG + "1\n", "x" * LONG + '2"', "y" + "x" * LONG + "2", "é" * LONG, "x" * LONG):
        assert encoded({"text": text}) == by_json({"text": text})


def test_keys_and_values_with_percent_signs_braces_and_quotes():
    row = {"100%s": "%d", '"{}"': "{x}", "": "\u2028\x00\\"}
    assert Encoder()(row) == by_json(row)
