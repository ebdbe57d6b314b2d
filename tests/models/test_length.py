"""The lower bound of a text's tokens against the published patterns, spelled out with the classes that `re` lacks."""

from __future__ import annotations

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.models.api.token_bound import tokens_at_least

CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SIGN = r"[^\r\n\p{L}\p{N}]?"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
NUMBER, SIGNS = r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
# What OpenAI publishes in tiktoken: cl100k_base as it was and as it is, and o200k_base.
PATTERNS = {
    "cl100k_2022": "|".join([CONTRACTION, SIGN + r"\p{L}+", NUMBER, SIGNS + r"[\r\n]*", SPACES]),
    "cl100k_2024": "|".join(
        [CONTRACTION, SIGN + r"\p{L}+", NUMBER, SIGNS + r"[\r\n]*", r"\s+\Z|\s*[\r\n]|\s+(?!\S)|\s"]
    ),
    "o200k": "|".join(
        [
            f"{SIGN}{UPPER}*{LOWER}+{CONTRACTION}?",
            f"{SIGN}{UPPER}+{LOWER}*{CONTRACTION}?",
            NUMBER,
            SIGNS + r"[\r\n/]*",
            SPACES,
        ]
    ),
}
COMPILED = [regex.compile(pattern) for pattern in PATTERNS.values()]


def fewest(text: str) -> int:
    """Return the number of pieces under the pattern that makes the fewest."""
    found = [pattern.findall(text) for pattern in COMPILED]
    assert all("".join(pieces) == text for pieces in found)
    return min(map(len, found))


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


TEXTS = st.text(
    st.sampled_from(list("aBs tlve'REſK0129²½Ⅷ.,/(|_-\n\r\t \u00a0\u2028\u3000éñ中ǅ\u0301…→🙂'\x00\x1f"))
    | st.characters(exclude_categories=["Cs"]),
    max_size=40,
)


@settings(max_examples=1500, deadline=None)
@given(TEXTS)
@example("it'ſ")
@example("e\u0301t")
@example(":\n/ foo")
@example("½1")
def test_it_is_never_more_than_the_pieces_of_the_published_patterns(text):
    assert tokens_at_least(text) <= fewest(text)


@settings(max_examples=1000, deadline=None)
@given(st.text(st.sampled_from(list("abs t'ld019.,/(\n\t|")), max_size=60))
def test_it_is_never_more_in_ascii_either(text):
    assert tokens_at_least(text) <= fewest(text)


def test_it_is_exact_for_prose_and_tables():
    prose = "Suppose there is a closed system of 2 variables, A and B. Does A cause B? Answer Yes or No.\n\n"
    table = "asia,smoke,tub\n" + "0,1,0\n" * 50 + "12.5 | -0.331\n"
    for text in (prose, table, prose * 20 + table):
        assert tokens_at_least(text) == fewest(text)


def test_it_grows_with_every_row_and_is_remembered():
    table = ""
    counts = []
    for k in range(50):
        table += f"{k},yes,no,{k / 7:.4f}\n"
        counts.append(tokens_at_least(table))
    assert counts == sorted(set(counts))
    before = tokens_at_least.cache_info().hits
    assert tokens_at_least(table) == counts[-1] and tokens_at_least.cache_info().hits == before + 1
