"""Pages on the disk: whole or not at all, and nothing of anybody else's is touched."""

from __future__ import annotations

import pytest
from support.page_help import Page, unpacked

from harness.report import bundle
from harness.report.__main__ import main

DATA = {"title": "t", "runs": []}


def write(out, *values, **settings):
    chunks = {f"answers/{k}": bundle.pack(value) for k, value in enumerate(values)}
    return bundle.write(out, DATA, chunks, **settings)


@pytest.mark.parametrize("text", ["é \u2028\x00", "\ud83d"])
def test_what_is_packed_comes_out_and_what_json_has_no_number_for_is_null(text):
    value = {"a": [*range(2500)], "b": {"c": [[k, text] for k in range(9)], "d": {}}, "e": [], "f": None}
    assert unpacked(bundle.pack(value)) == value
    assert unpacked(bundle.pack({"a": [float("nan"), -float("inf"), 0.5]})) == {"a": [None, None, 0.5]}


def test_too_large_for_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "INSIDE", 100)
    out, folder = tmp_path / "report.html", tmp_path / "report_files"
    assert write(out, "small") is None and not folder.exists()
    assert write(out, list(range(500)), "x") == folder
    assert len(list(folder.iterdir())) == 2 and set(Page(out).data["beside"]) == {"answers/0", "answers/1"}
    assert write(out, list(range(500)), "x", place="inside") is None
    assert not folder.exists() and Page(out).data["beside"] == {}


def test_a_new_page_takes_away_what_the_old_one_had_beside_it(tmp_path):
    out, folder = tmp_path / "report.html", tmp_path / "report_files"
    write(out, "old", "older", place="beside")
    before = {file.name for file in folder.iterdir()}
    (folder / "notes.txt").write_text("mine")
    write(out, "new", place="beside")
    (folder / "notes.txt").unlink()
    assert [f"report_files/{file.name}" for file in folder.iterdir()] == list(Page(out).data["beside"].values())
    assert not before & {file.name for file in folder.iterdir()}


@pytest.mark.parametrize("at", ["answers-1", "report.html"])
def test_an_interruption_leaves_the_old_page_with_its_answers(tmp_path, monkeypatch, at):
    out = tmp_path / "report.html"
    write(out, "old", place="beside")
    old = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    really = bundle.atomic_file

    def interrupted(name, setting):
        if at in name:
            raise KeyboardInterrupt
        return really(name, setting)

    monkeypatch.setattr(bundle, "atomic_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(out, "new", "newer", place="beside")
    assert {file: file.read_bytes() for file in old} == old
    monkeypatch.undo()
    write(out, "new", "newer", place="beside")
    assert len(list((tmp_path / "report_files").iterdir())) == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere"], "there is no folder nowhere"),
        (["out=x.pdf"], "the page's name has to end in .html"),
        (
            ["results", "out=a file/x.html"],
            "a file/x.html cannot be written (a file is no folder): choose another out=.",
        ),
        (["results", "answers=some"], "'auto', 'inside', 'beside' or 'none'"),
    ],
)
def test_what_cannot_be_is_one_sentence(arguments, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a file").touch()
    assert main(arguments) == 1
    message = capsys.readouterr().err
    assert sentence in message and message.count("\n") == 1
