"""Reading rankings: what stands in a reply as a name with its strength, in whatever form."""

from __future__ import annotations

import time

import pytest
from harness_papers.ranking import named, ranking
from harness_papers.stories import story

from harness.types import Response

FIGURE_32 = """\
Identifying and quantifying the causes of smoking involve 3 kinds of factors. The values below are illustrative:

1. Nicotine Addiction (0.9): Nicotine's addictive properties are a major factor. Once a person starts smoking (1 in 4) …

2. Social Influence (0.8): Peer pressure, smoking in the family, and social environments.

8. Cultural and Environmental Factors (0.2): In some cultures, smoking is more prevalent: 20% of adults.
"""
READ = {
    FIGURE_32: [("Nicotine Addiction", 0.9), ("Social Influence", 0.8), ("Cultural and Environmental Factors", 0.2)],
    "1) smoke - 90%\n2) tub: 8/10\n3) lung (0.5-0.7)": [("smoke", 0.9), ("tub", 0.8), ("lung", 0.6)],
    "1. smoke (strength: 0.9)\n2. tub [approx. .5]\n3. xray (8)": [("smoke", 0.9), ("tub", 0.5), ("xray", 8.0)],
    "1. Smoking\n2. Radon: a gas": [("Smoking", None), ("Radon", None)],
    "1. Radon has an estimated strength of 0.6.": [("Radon", 0.6)],
    "Smoking (0.9), soot (0.7), and genetics (0.3).": [("Smoking", 0.9), ("soot", 0.7), ("genetics", 0.3)],
    '[{"rank": 1, "name": "Smoking", "strength": 0.8}]': [("Smoking", 0.8)],
    "1. Smoking (\\(0.9\\))\n2. 'Radon' ($0.4$)": [("Smoking", 0.9), ("Radon", 0.4)],
    "Cause: Smoking, Strength: 0.9\nCause: Radon, Strength: 0.4": [("Smoking", 0.9), ("Radon", 0.4)],
    "1. lung (0.9)\n2. tub\n\nNote: these strengths (0.5) are illustrative.": [("lung", 0.9), ("tub", None)],
    "<think>1. foo (0.1)</think>1. Bar (0.9)\n2. bar (0.8)": [("Bar", 0.9)],
}
"""What the forms in which every name of every network is found again, in test_papers_strength.py, do not have."""


@pytest.mark.parametrize(("reply", "wanted"), READ.items(), ids=range(len(READ)))
def test_names_and_strengths_are_read_in_their_order(reply, wanted):
    answer = ranking(Response(reply))
    assert answer.label == 1
    assert [tuple(entry) for entry in named(answer)] == wanted


NOTHING = (
    "None.",
    "Answer: N/A",
    "1. None (0.0)",
    "None of the listed variables cause asia.",
    "asia has no causes among these variables.",
    "There are no direct or indirect effects of dysp in the list.",
    "asia is not caused by any of the variables.",
)
NO_RANKING = ("", "Yes", "No.", "I cannot rank that.", "There is no data about the causes of asia.")


def test_a_reply_that_has_nothing_to_name_is_an_empty_ranking_and_what_is_none_is_unreadable():
    for reply in NOTHING:
        answer = ranking(Response(reply))
        assert answer.label == 0 and named(answer) == (), reply
    assert {ranking(Response(reply)).label for reply in NO_RANKING} == {None}
    # The last name of a list that was cut off needs its strength.
    cut = ranking(Response("1. smoke (0.9): x\n2. tuberc", finish_reason="length"))
    assert [entry.name for entry in named(cut)] == ["smoke"]


@pytest.mark.parametrize("reader", [ranking, story])
def test_a_long_reply_is_read_in_time_that_grows_with_its_length(reader):
    for part in ("1. Smoking (0.9)\n", "Smoking, ", "(0.9) ", "| a ", "strength ", "1. ", "[", "causes are "):
        begin = time.process_time()
        reader(Response((part * 25_000)[:25_000]))
        assert time.process_time() - begin < 2, part
