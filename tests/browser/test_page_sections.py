"""What plug-ins say below a reply: the chain of claims with its verdicts and graphs, and the filter by first error."""

from __future__ import annotations

from pathlib import Path

import pytest
from facts import address, page_data
from playwright.sync_api import expect
from support.thinned import few

from harness import evaluate
from harness.report.__main__ import main

pytestmark = pytest.mark.browser

ITEM = "n4-g52-collider-C-A"


@pytest.fixture(scope="module")
def argued(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a run that argues in claims and one that is asked whole premises."""
    folder = tmp_path_factory.mktemp("argued")
    settings = {"task": "corr2cause", "split": "all", "perturbation": "permutation", "results": str(folder / "runs")}
    evaluate(model="forgets_colliders", prompt="trace", num_nodes=[4, 5], limit=60, **settings)
    evaluate(model="hypothesis_only", num_nodes=[4], whole=True, limit=4, **settings)
    assert main([str(folder / "runs"), f"out={folder / 'report.html'}"]) == 0
    return folder / "report.html"


def id_of(report: Path, model: str) -> str:
    return next(run["id"] for run in page_data(report)["runs"] if run["model"] == model)


@pytest.mark.parametrize(("width", "scheme"), few([(360, "dark"), (1280, "light")], 1))
def test_a_chain_with_its_verdicts_and_graphs(open_page, argued: Path, width: int, scheme: str) -> None:
    page = open_page(address("item", id_of(argued, "forgets_colliders"), ITEM), path=argued, width=width, scheme=scheme)
    expect(page.get_by_role("heading", name="The chain, claim by claim")).to_be_visible()
    expect(page.get_by_text("Breaks first: collider.")).to_be_visible()
    lines = page.locator(".judged > li")
    assert lines.count() == 12
    assert "1. A and B are not adjacent" in lines.first.inner_text()
    assert lines.first.locator(".verdict").all_inner_texts() == ["✓ entailed", "✓ follows"]
    broken = page.locator(".judged > li:has(.verdict.wrong)").first
    assert broken.locator(".verdict").all_inner_texts() == ["✗ refuted", "✗ a leap"]
    assert broken.locator("svg").count() == 0  # drawn when somebody asks
    broken.locator("summary").click()
    expect(broken.locator("svg.graph")).to_have_count(1)
    assert "A → C" in (broken.locator("svg.graph").first.get_attribute("aria-label") or "")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", few(["light", "dark"], 1))
def test_sections_are_accessible(open_page, axe: str, argued: Path, scheme: str) -> None:
    page = open_page(address("item", id_of(argued, "forgets_colliders"), ITEM), path=argued, scheme=scheme)
    page.evaluate("document.querySelectorAll('.judged details').forEach((one) => (one.open = true))")
    page.evaluate(axe)
    assert page.evaluate("async () => (await axe.run('.said')).violations.map((one) => one.id)") == []


def test_answers_are_filtered_by_the_first_error(open_page, argued: Path) -> None:
    page = open_page(address("answers", id_of(argued, "forgets_colliders")), path=argued)
    page.get_by_label("First error").select_option("collider")
    count = page.locator(".answer-count")
    expect(count).not_to_have_text("60 of 60 answers.")
    assert 0 < int(count.inner_text().split(" ")[0]) < 60
    assert "first_error=collider" in page.evaluate("location.hash")
    page.get_by_role("grid").get_by_role("link").first.click()
    expect(page.get_by_text("Breaks first: collider.")).to_be_visible()


def test_the_believed_class_stands_beside_the_true_one(open_page, argued: Path) -> None:
    page = open_page(address("answers", id_of(argued, "hypothesis_only")), path=argued)
    page.get_by_role("grid").get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="The world that its answers fit")).to_be_visible()
    pictures = page.locator(".said figure")
    assert pictures.count() == 2 and pictures.first.locator("figcaption").inner_text() == "The true class"
    lines = page.locator(".said svg").first.locator(".edge")
    heads = page.locator(".said svg").first.locator(".head")
    assert lines.count() > heads.count()  # some edges have no direction
