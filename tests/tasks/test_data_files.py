"""Files of the user's as other programs leave them: each cell as it stands there, one sentence for what is wrong."""

from __future__ import annotations

import csv
import datetime
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from question_files import items_of
from support.late import Late

from harness.errors import ConfigError, DataError
from harness.settings import without_path
from harness.tasks.data_files import DataFile

parquet, arrow = Late("pyarrow.parquet"), Late("pyarrow")

ROWS = [{"a": "x", "b": "é"}, {"a": "y, z", "b": ""}]
TEXT = 'a,b\nx,é\n"y, z",\n'
LOOKS_LIKE_MORE = [
    "007",
    "1e5",
    "1.0",
    "NA",
    "nan",
    "null",
    "None",
    "true",
    "2024-01-01",
    "-",
    " x ",
    "#",
    "'=1",
    "“x”",
]
"""What a reader that guesses types would change."""
CELLS = st.sampled_from(LOOKS_LIKE_MORE) | st.text('ab0,;\t|"\n\r\\é\u2028 ', max_size=8)


def rows(path: Path, content: bytes | str) -> list[Any]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(DataFile(str(path)).rows())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=6).filter(lambda t: all(map(any, t))),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
)
def test_each_cell_of_a_table_is_the_text_that_it_is(table, sign, end):
    text, cells = io.StringIO(), [["a", "b"], *table]
    # A bare \r at the end of a line could be that line's own.
    quoting = csv.QUOTE_ALL if any("\r" in cell for row in cells for cell in row) else csv.QUOTE_MINIMAL
    csv.writer(text, delimiter=sign, lineterminator=end, quoting=quoting).writerows(cells)
    with tempfile.TemporaryDirectory() as folder:
        assert [list(row.values()) for row in rows(Path(folder, "a.csv"), text.getvalue())] == table


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from("abc"),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | CELLS,
                lambda value: st.lists(value, max_size=2) | st.dictionaries(st.sampled_from("xy"), value, max_size=2),
                max_leaves=4,
            ),
        ),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
)
def test_each_value_of_json_is_what_it_is(content, is_list):
    text = json.dumps(content, indent=1) if is_list else "\n\n".join(map(json.dumps, content))
    with tempfile.TemporaryDirectory() as folder:
        read = rows(Path(folder, "a.json" if is_list else "a.jsonl"), text)
    assert json.dumps(read) == json.dumps(content)  # 1, 1.0 and true are equal, and are not the same


def test_parquet_is_read_with_the_types_that_it_has(tmp_path):
    columns = {
        "question": ["Which?", "What?"],
        "choices": [["a cat", "a dog"], ["a cow", "a cat"]],
        "label": [1, 0],
        "when": [datetime.date(2024, 1, 1), None],
        "id": ["007", "1e5"],
    }
    parquet.write_table(arrow.table(columns), tmp_path / "mine.parquet")
    first, second = items_of(tmp_path / "mine.parquet")
    assert (first.id, first.labels, first.fields["choices"]) == ("007", {"gold": 1}, ["a cat", "a dog"])
    assert (second.id, first.fields["when"], second.fields["when"]) == ("1e5", "2024-01-01", "")


@pytest.mark.parametrize("name", ["a [1]*.csv", "http:x.csv", "é .csv", "a.CSV"])
def test_a_path_is_no_pattern_and_no_address(tmp_path, name):
    rows(tmp_path / "a1.csv", "a,b\nanother,file\n")
    assert rows(tmp_path / name, TEXT) == ROWS


def test_a_name_that_begins_as_a_home_and_is_none_is_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert rows(Path("~t.csv"), TEXT) == ROWS and without_path("~t.csv").startswith("~t.csv-")
    with pytest.raises(DataError, match=r"^~u\.csv does not exist"):
        DataFile("~u.csv").digest()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_marks_and_line_ends_of_any_kind(tmp_path, encoding, end):
    assert rows(tmp_path / "a.csv", TEXT.replace("\n", end).encode(encoding)) == ROWS
    text = '{"a": "x"}\n\n{"a": "y"}\n'.replace("\n", end)
    assert end == "\r" or rows(tmp_path / "a.jsonl", text.encode(encoding)) == [{"a": "x"}, {"a": "y"}]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f",a\n0,{'w' * 200_000}\n\n", [{"a": "w" * 200_000}]),
        ("\n  \na,b\n1,2\n", [{"a": "1", "b": "2"}]),
        ("a,b\n1\n,\n\n2,3\n", [{"a": "1", "b": ""}, {"a": "2", "b": "3"}]),
        (' a ,"b\nc"\n1,2\n', [{"a": "1", "b\nc": "2"}]),
        ("a,b,,\n1,2,,\n", [{"a": "1", "b": "2"}]),
    ],
)
def test_long_cells_empty_lines_and_columns_without_a_name(tmp_path, content, expected):
    assert rows(tmp_path / "a.csv", content) == expected


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", "a,b\nx,caf\xe9\n".encode("latin-1"), r"a\.csv is not UTF-8 \(.* it has '.*x,café'\): save"),
        *((f"a.{end}", TEXT.encode("utf-16-le"), "as UTF-16 does: save the file as UTF-8") for end in ("csv", "jsonl")),
        ("a.csv", TEXT.encode("utf-16"), "as UTF-16 does: save the file as UTF-8"),
        *((f"a.{end}", b"PK\x03\x04" + bytes(90), "is a zip archive, as files of Excel") for end in ("csv", "json")),
        ("a.jsonl", b"\x1f\x8b" + bytes(90), "is packed by gzip: unpack it"),
        *(("a.csv", f"{line}\na;b\n1;2\n", "begins with sep=, which Excel alone") for line in ("sep=;", '"sep=,"')),
        ("a.csv", "a|b\n1|2\n", "has one column: a comma, a semicolon or a tab separates cells"),
        *((f"a.{end}", f'{{"a": {"[" * 50_000}', f"a.{end} is not JSON: ") for end in ("json", "jsonl")),
        ("a.jsonl", b'{"a": "caf\xe9"}\n', r"a\.jsonl is not UTF-8 .*: save the file as UTF-8\."),
        ("a.csv", "a,a\n1,2\n", "two columns called 'a'"),
        ("a.csv", "a,b\n1,2\n\n1,2,3\n", r'row 2 \(the header .* has 3 cells, .* names 2 columns: put a .* in "…"\.$'),
        ("a.csv", "a\n1\n2,3\n", r"row 2 .* has 2 cells, and the first line names 1 column: put"),
        ("a.json", '[{"a": 1, "b": 2, "a": 3}]', "a name stands twice"),
        ("a.jsonl", '{"b": 2}\n{"a": 1, "a": 1}\n', r"a\.jsonl, line 2: a name stands twice\.$"),
        ("a.csv", "a,b\n“x, y”,1\n", r'row 1 .* has 3 cells, .* in "…" \(typographic marks, “ ”, do not hold it tog'),
        ("a.csv", "a;b\n«x; y»;1\n", r'put a text that holds semicolons in "…" \(typographic marks, « », do not'),
        ("a.csv", 'a,b\n"1,2\n', r"a\.csv, line 2: its quotation marks do not close"),
        ("a.csv", 'a,b\n"say \\"hi\\" now",2\n', r"a\.csv, line 2: its quotation marks do not close"),
        ("a.csv", 'a,"b\n1,2\n', "its quotation marks do not close"),
        *(("a.jsonl", f"{{}}\n{line}\n", "line 2 is not a JSON object") for line in ("{", "[1, 2]", '"text"', "null")),
        ("a.json", "[1]", "row 1 is not a JSON object"),
        ("a.json", "[1", "a.json is not JSON"),
        ("a.parquet", "", r"a\.parquet is no \.parquet file: "),
        ("a.parquet", TEXT * 9, r"a\.parquet is no \.parquet file: "),
        ("a.txt", TEXT, r"ends in \.txt: a \.csv, \.tsv, \.jsonl, \.json or \.parquet file is needed"),
        ("a.csv", "", r"a\.csv has no rows"),
        ("a.csv", "a,b\n\n", r"a\.csv has no rows"),
        ("a.json", "[]", r"a\.json has no rows"),
        ("a.jsonl", "\n", r"a\.jsonl has no rows"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path, name, content, sentence, capsys):
    with pytest.raises((ConfigError, DataError), match=sentence):
        rows(tmp_path / name, content)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["none.csv", "none.jsonl", "none.parquet"])
def test_a_file_that_is_not_there_or_a_folder_is_named(tmp_path, name):
    with pytest.raises(DataError, match=rf"{name} does not exist: a CSV"):
        list(DataFile(str(tmp_path / name)).rows())
    (tmp_path / name).mkdir()
    with pytest.raises(DataError, match=rf"{name} cannot be read: .*directory"):
        list(DataFile(str(tmp_path / name)).rows())
