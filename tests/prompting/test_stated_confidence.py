"""How sure a reply says it is: read in its form, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigError
from harness.prompting.parsing import stated_confidence
from harness.prompting.prompts import load, recorded
from harness.types import Response

FORM = "Confidence: {confidence}"
PROMPT = load("corr2cause", "confidence", ())


def read(text, **more):
    return stated_confidence(Response(text, **more), FORM)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("Confidence: 80%", 0.8),
        ("Confidence: 80", 0.8),
        ("confidence:80 %.", 0.8),
        ("**Confidence:** 80%", 0.8),
        ("- Confidence: **80%**", 0.8),
        ("Confidence: 80\\%", 0.8),
        ("Confidence: 62.5%", 0.625),
        ("Confidence: 62,5 %", 0.625),
        ("Confidence: 0", 0.0),
        ("Confidence: 100%", 1.0),
        ("Confidence: 0.8%", 0.008),
        ("Confidence: 1%", 0.01),
        ("Confidence:　８０％", 0.8),
    ],
)
def test_a_number_of_percent_in_the_form_is_read(line, value):
    assert read(f"Answer: Yes\n{line}") == pytest.approx(value)


@pytest.mark.parametrize(
    "line",
    [
        "Confidence: 0.8", "Confidence: 1", "Confidence: 0,8", "Confidence: 101%", "Confidence: -5%", "Confidence: N%",
        "Confidence: high", "Confidence: about 80%", "Confidence: 80-90%", "Confidence: 80/100", "Confidence: 8 0%",
        "Confidence: 80% (fairly sure)", "My confidence: 80%", "80%", "Confidence is 80%", "Confidence:", "",
        "Confidence: 1,000", "Confidence: nan", "Confidence: ٨٠%", "Confidence: 80%\nConfidence: unsure",
    ],
)  # fmt: skip
def test_what_is_in_no_form_or_may_be_two_things_is_none(line):
    assert read(f"Answer: Yes\n{line}") is None


def test_the_last_line_of_the_form_counts_and_thoughts_do_not():
    assert read("Confidence: 30%\nAnswer: Yes\nConfidence: 90%") == 0.9
    assert read("<think>Confidence: 30%</think>Answer: Yes") is None
    assert read("<think>Confidence: 30%</think>Answer: Yes\nConfidence: 70%") == 0.7


def test_a_number_at_which_a_reply_was_cut_off_may_lack_digits():
    assert read("Answer: Yes\nConfidence: 8", finish_reason="length") is None
    assert read("Answer: Yes\nConfidence: 80%\nBecause", finish_reason="length") == 0.8


@given(st.text(alphabet="Confidence: 0123456789.,%-\n ", max_size=60))
def test_whatever_a_reply_says_it_is_a_share_or_nothing(text):
    for reply in (text, f"Answer: No\nConfidence: {text}"):
        assert (value := read(reply)) is None or 0 <= value <= 1


def test_the_prompt_asks_and_reads_both_lines():
    answer = PROMPT.parse(Response("Answer: No\nConfidence: 85%"), {"statement": "A directly causes B"})
    assert (answer.label, answer.stated_confidence, answer.probability) == (0, 0.85, None)
    unread = PROMPT.parse(Response("Confidence: 85%"), {"statement": "A directly causes B"})
    assert (unread.label, unread.stated_confidence) == (None, None)
    plain = load("corr2cause", "plain", ()).parse(Response("Answer: No\nConfidence: 85%"), {})
    assert (plain.label, plain.stated_confidence) == (0, None)


def test_the_words_of_a_manifest_read_it_again():
    again = recorded("confidence", PROMPT.as_json, ())
    assert again.parse(Response("Answer: Yes\nConfidence: 60"), {}).stated_confidence == 0.6


def test_a_form_without_words_before_the_number_is_refused():
    with pytest.raises(ConfigError, match="confidence: begins the line"):
        recorded("mine", {**PROMPT.as_json, "confidence": "{confidence}%"}, ())
