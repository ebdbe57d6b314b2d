"""The page of harness reread sample=: marks outlive a reload and are saved as harness reread marks= takes them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from facts import Runs
from playwright.sync_api import expect

from harness.plugins.reread.__main__ import main

pytestmark = pytest.mark.browser


def test_marks_outlive_a_reload_and_are_saved_for_the_command(chromium, runs: Runs, tmp_path: Path, capsys) -> None:
    folder = shutil.copytree(runs.get("org/careful", variant="limit=6,samples=3").folder, tmp_path / "run")
    assert main([str(folder), "sample=9"]) == 0
    page = chromium.page
    page.goto((folder / "marks.html").as_uri())
    expect(page.get_by_role("status")).to_have_text("0 of 9 marked.")
    for card, mark in enumerate(["right", "right", "unclear", "right", "wrong"]):
        page.get_by_role("button", name=mark).nth(card).click()
    page.get_by_role("button", name="wrong").nth(1).click()  # another mind
    page.reload()
    expect(page.get_by_role("status")).to_have_text("5 of 9 marked.")
    assert page.locator("[aria-pressed=true]").all_inner_texts() == ["right", "wrong", "unclear", "right", "wrong"]
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the marks").click()
    download.value.save_as(tmp_path / "saved.json")
    assert main([str(folder), f"marks={tmp_path / 'saved.json'}"]) == 0
    shown = capsys.readouterr().out
    assert "Of 4 replies" in shown and "reads 2 otherwise" in shown and "1 unclear, 4 not marked" in shown
    troubles = [message for message in chromium.messages if not message.startswith(("file://", "blob:"))]
    chromium.messages.clear()
    assert not troubles and not page.evaluate("window.owned")
