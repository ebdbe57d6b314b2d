"""Every number told of a benchmark says where it comes from, and those that follow from what ships are made here.

A comment stands behind a paragraph, list or table: `<!-- numbers: quick NAME; given 21 95 -->` (NAME is a function of
support/document_numbers.py, which returns what has to be printed, in its order; those given are defined or others'),
`<!-- numbers: command … -->` (minutes, or tests of its own) or `<!-- numbers: source … -->` (printed by others, counted
by hand, a definition). It speaks for all that stands between it and the marker, or the heading, before it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.document_numbers import QUICK, constant_models, recorded_answers, scores

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "docs" / f"{name}.md" for name in ("findings", "paper/findings", "corr2cause", "causalbench", "cladder")
]
MARKER = re.compile(r"<!-- numbers: (?P<kind>quick|command|source) (?P<what>[^;>]+?)(?:; given (?P<given>[^>]+?))? -->")
NOT_A_RESULT = re.compile(
    r"`[^`]*`|\]\([^)]*\)|https?://\S+|\b(?:Tables?|Figures?|[Ss]ections?|Appendix|arXiv|doi) [\dIVX.]+"
    r"(?:(?:,| and| to| or) \d+[a-z]?)*|\b(?:19|20)\d\d\b|\b[A-Za-z§][\w§]*\d\w*|\d+-bit|§[\d.]+"
)
NUMBER = re.compile(r"(?<![\w.])[-−+]?\d[\d,]*(?:\.\d+)?(?:e-\d+)?")


def regions(page: Path) -> Iterator[tuple[list[str], re.Match[str] | None]]:
    """Yield the lines that a marker speaks for, and it; lines that none speaks for with None."""
    lines: list[str] = []
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for line in text.splitlines():
        if line.startswith("#"):
            yield lines, None
            lines = []
        elif marker := MARKER.search(line):
            yield [*lines, line[: marker.start()]], marker
            lines = [line[marker.end() :]]
        else:
            lines.append(line)
    yield lines, None


def numbers(lines: list[str], *, cells: bool = False) -> list[str]:
    """Return the numbers that lines print, those below ten left out; with `cells` all of a table."""
    # The first column has names.
    table = [line for line in lines if line.startswith("|")][2:] if cells else []
    found = _in(" ".join(line for line in lines if not (cells and line.startswith("|"))))
    kept = [n for n in found if "." in n or "," in n or len(n.lstrip("-")) > 1]
    return kept + [n for line in table for n in _in(" | ".join(line.split("|")[2:]))]


def _in(words: str) -> list[str]:
    found = NUMBER.findall(NOT_A_RESULT.sub(" ", words))
    return [number.rstrip(",").replace("−", "-").lstrip("+") for number in found]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_number_says_where_it_comes_from(page):
    orphans = [(found, lines) for lines, marker in regions(page) if marker is None and (found := numbers(lines))]
    assert not orphans, "\n".join(f"{found}: {' '.join(lines)[:300]}" for found, lines in orphans)


MADE_HERE = [
    (page, lines, marker) for page in PAGES for lines, marker in regions(page) if marker and marker["kind"] == "quick"
]


@pytest.mark.parametrize(
    ("page", "lines", "marker"),
    [pytest.param(*one, id=f"{one[0].parent.stem}-{one[0].stem}-{one[2]['what']}") for one in MADE_HERE],
)
def test_numbers_that_take_seconds_are_those_of_their_command(page, lines, marker):
    printed = numbers(lines, cells=True)
    given = Counter((marker["given"] or "").split())
    for number in printed[:]:
        if given[number]:
            given[number] -= 1
            printed.remove(number)
    assert not +given, f"given, and not printed: {dict(+given)}"
    assert printed == QUICK[marker["what"]](), f"{page.name}: {marker['what']}"


def test_the_floors_that_pages_quote_are_those_that_ship():
    yes, no, counts = (
        scores(model, "default", "published")["all"] for model in ("always_yes", "always_no", "shortcut")
    )
    floors = [f"{100 * value:.2f}" for value in (yes["f1"], counts["f1"], no["accuracy"])]
    for name in ("README.md", "skills/measure-causal-reasoning/SKILL.md"):
        assert all(floor in (ROOT / name).read_text(encoding="utf-8") for floor in floors), (name, floors)


def test_constant_models_of_causalbench_and_recorded_answers_score_as_their_pages_say():
    assert constant_models() in (ROOT / "docs/tasks.md").read_text(encoding="utf-8")
    assert recorded_answers() in (ROOT / "docs/recorded.md").read_text(encoding="utf-8")


def test_what_is_told_of_the_reader_is_what_its_benchmark_counts():
    command = [sys.executable, str(ROOT / "benchmarks/reading.py")]
    counts: Counter[str] = Counter()
    for number, kind in re.findall(r"(?<=[ \n])(\d+) (as|not|although)", subprocess.check_output(command, text=True)):
        counts[kind] += int(number)
    page = " ".join((ROOT / "docs/prompts.md").read_text(encoding="utf-8").split())
    assert f"On {counts.total():,} replies" in page
    assert f"{counts['as']:,} are read as a person reads them" in page
    assert (
        f"{counts['although']} is read although it says nothing, {counts['not']} not at all and none as another" in page
    )


def test_all_that_is_made_here_is_printed_somewhere():
    assert {marker["what"] for _, _, marker in MADE_HERE} == set(QUICK)
