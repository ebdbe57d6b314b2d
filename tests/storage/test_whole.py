"""A file or folder to write: what can be told before the work, and that its folder is made."""

from __future__ import annotations

import os

import pytest

from harness.errors import StoreError
from harness.storage.atomic_write import atomic_file, check


@pytest.mark.parametrize(
    ("out", "folder", "message"),
    [
        ("file/x.csv", False, "file/x.csv cannot be written (file is no folder): choose another out=."),
        ("file/a/b/x.csv", False, "(file is no folder)"),
        ("file", True, "(file is no folder)"),
        ("folder", False, "folder cannot be written (it is a folder)"),
        (".", False, "(it is a folder)"),
        ("new/", False, "new/ cannot be written (it is a folder)"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_work(tmp_path, monkeypatch, out, folder, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError) as error:
        check(out, folder=folder)
    assert message in str(error.value)


@pytest.mark.parametrize("out", ["x.csv", "folder/x.csv", "new/er/x.csv", "-", "/dev/stdout", "file"])
def test_what_can_be_written_passes_and_nothing_is_made_yet(tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    check(out)
    check("new/er", folder=True)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


def test_the_folder_is_made(tmp_path):
    with atomic_file(str(tmp_path / "new" / "er" / "x.csv")) as file:
        file.write("x")
    assert [path.name for path in (tmp_path / "new" / "er").iterdir()] == ["x.csv"]


@pytest.mark.parametrize("name", ["LEADERBOARD.md", ".LEADERBOARD.md.tmp"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_somebody_has_put_in_the_place_of_a_file_is_not_written_through(tmp_path, name, kind):
    outside, sent = tmp_path / "outside", tmp_path / "sent"
    sent.mkdir()
    outside.write_text("mine")
    (sent / name).symlink_to(outside) if kind == "link" else os.mkfifo(sent / name)
    with atomic_file(str(sent / "LEADERBOARD.md"), user_path=False) as file:
        file.write("the table")
    assert outside.read_text() == "mine"
    assert (sent / "LEADERBOARD.md").read_text() == "the table" and not (sent / "LEADERBOARD.md").is_symlink()
    assert [path.name for path in sent.iterdir()] == ["LEADERBOARD.md"]
