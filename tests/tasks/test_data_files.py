"""Files of the user's as other programs leave them: encodings, separators, quotes, and what is said of them."""

from __future__ import annotations

import pytest

from harness.errors import ConfigError, DataError
from harness.tasks.data_files import DataFile

ROWS = [{"a": "x", "b": "é"}, {"a": "y, z", "b": ""}]
TEXT = 'a,b\nx,é\n"y, z",\n'


def rows(path, content: bytes | str) -> list[dict]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(DataFile(str(path)).rows())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_marks_and_line_ends_of_any_kind(tmp_path, encoding, end):
    assert rows(tmp_path / "a.csv", TEXT.replace("\n", end).encode(encoding)) == ROWS


@pytest.mark.parametrize(("sign", "name"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_other_separators_are_known_by_the_first_line_and_told(tmp_path, sign, name):
    file = tmp_path / "a.csv"
    assert rows(file, f"a{sign}b\nx, and{sign}1\n") == [{"a": "x, and", "b": "1"}]
    assert DataFile(str(file)).remarks() == (f"{file}: its columns are told apart by {name}.",)
    assert rows(tmp_path / "a.tsv", "a\tb\nx\t1\n") == [{"a": "x", "b": "1"}]


def test_a_field_of_any_length_and_a_column_without_a_name(tmp_path):
    long = "w" * 200_000
    assert rows(tmp_path / "a.csv", f",a\n0,{long}\n\n") == [{"a": long}]
    assert rows(tmp_path / "a.json", '\n [{"a": 1}, {"a": 2}]') == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", "a,b\nx,caf\xe9\n".encode("latin-1"), r"line 2 is not UTF-8 \(.* it has 'x,café'\): save"),
        ("a.csv", TEXT.encode("utf-16-le"), "looks like UTF-16 without its mark: save it as UTF-8"),
        ("a.csv", b"\xff\xfea", "begins as utf-16-le and goes on otherwise: save it as UTF-8"),
        ("a.csv", "a,a\n1,2\n", "two columns called 'a'"),
        (
            "a.csv",
            "a,b\n1,2,3\n",
            r"row 1 \(the header not counted\) has 3 cells, and the first line names 2 columns: put a text",
        ),
        ("a.csv", 'a,b\n"1,2\n', "its quotation marks do not close"),
        ("a.jsonl", "{}\n{\n", "line 2 is not a JSON object"),
        ("a.json", "[1]", "row 1 is not a JSON object"),
        ("a.json", "[1", "a.json is not JSON"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path, name, content, sentence):
    with pytest.raises(DataError, match=sentence):
        rows(tmp_path / name, content)


def test_another_kind_of_file_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"ends in \.txt: a \.csv, \.tsv or \.jsonl file is needed"):
        rows(tmp_path / "a.txt", TEXT)
