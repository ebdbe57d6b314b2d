"""The papers' tables: published rows as they are printed, measured ones from the right place, none as the other."""

import csv
import io
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from support.preset_help import every_run, laid, one, printed_lines, run
from support.thinned import few
from support.written_runs import write_manifest

from harness.errors import ConfigError
from harness.leaderboard import __main__ as leaderboard
from harness.plugins.papers.presets import preset, presets
from harness.plugins.papers.published import rows as published_rows
from harness.storage.result_json import result_json
from harness.tables.latex_html import html, latex
from harness.tables.markdown_csv_json import as_csv, as_json, markdown

NAMES = "4 5 6 12 13 II III IV V VI VII VIII IX X XI XIII XIV XV XVI XVII XVIII XIX XX XXI".split()  # noqa: SIM905
LAID_OUT = [name for name in NAMES if name != "VIII"]
"""Those that are rows and columns of numbers; VIII has marks (test_preset_marks.py)."""


def test_there_is_one_for_every_table_with_results():
    assert [preset.name for _, preset in presets()] == NAMES


@pytest.mark.parametrize("name", few([*LAID_OUT, "5a", "5b", "6a", "6b"], 6))
def test_without_runs_the_printed_digits_are_all_there_and_nothing_else(name):
    table = one(name)
    expected = Counter()
    for row in published_rows():
        if row.benchmark == preset(name).benchmark and row.table in preset(name).published:
            expected.update(row.printed.values())
    if name == "V":
        expected = Counter(f"{float(v):.0%}" if float(v) <= 1 else v for v in expected.elements())
    numbers = [
        c
        for line in table.lines
        for c, column in zip(line.cells, table.columns, strict=True)
        if column.kind == "metric"
    ]
    assert Counter(c.text.rstrip("*") for c in numbers if c.text != "–") == expected
    for c in numbers:
        if c.text != "–":
            digits = float(c.text.rstrip("*%"))
            assert c.value == pytest.approx(digits) or c.value == pytest.approx(digits / 100)
    assert "Nothing is measured yet" in table.notes[-1] and preset(name).command in table.notes[-1]
    assert printed_lines(table) == table.lines


@pytest.mark.parametrize("name", LAID_OUT)
def test_the_printed_rows_keep_the_papers_order(name):
    """The file has the paper's order; a row stands where it is first told of."""
    layout, table = preset(name), one(name)
    stubs = len(layout.rows)
    keys = [tuple(c.value for c in line.cells[:stubs]) for line in table.lines]
    assert len(set(keys)) == len(keys)
    expected = []
    for row in published_rows():
        if row.benchmark == layout.benchmark and row.table in layout.published:
            axis = row.setting.get(layout.axis.setting, "") if layout.axis else ""
            expected.append(tuple(row.model if kind == "model" else axis for kind in layout.rows))
    assert [key for key in keys if key in expected] == list(dict.fromkeys(expected))


def test_rows_groups_and_columns_that_the_papers_have():
    four = one("4")
    assert [name for _, name, _ in four.groups()] == [
        "Random Baselines",
        "BERT-Based Models",
        "LLaMa-Based Models",
        "GPT-Based Models",
    ]
    assert [c.title for c in four.columns] == ["model", "F1", "Precision", "Recall", "Accuracy"]
    assert [line.cells[0].text for line in four.lines][9:11] == ["LLaMa-7B", "Alpaca-7B"]
    assert [line.cells[0].text for line in one("V").lines][:5] == [
        "BERT-large",
        "RoBERTa-large",
        "DeBERTa-v3-large",
        "DistilBERT-mnli",
        "LLAMA-7B",
    ]
    structures = "Direct (1), Direct (2), Chain (1), Chain (2), Average of Chain, Confounder, Collider"
    assert ", ".join(line.cells[0].text for line in one("IV").lines) == structures
    assert one("VII").headings() == [
        ("", 2),
        *((f, 2) for f in ("Var.", "Var. + B. K.", "Var. + T. D.", "Var. + B. K. + T. D.")),
    ]
    assert [line.cells[0].text for line in one("VII").lines][:4] == ["Asia", "", "", "Cancer"]
    assert [c.title for c in one("XIII").columns][:4] == ["F1 score", "Asia", "Cancer", "Earthquake"]
    assert [line.cells[0].text for line in one("II").lines][3:5] == ["Survey", "Sachs"]
    assert "Alarm" not in [line.cells[0].text for line in one("VI").lines]
    assert [c.title for c in one("5b").columns] == ["model", "F1 (Paraph.)", "F1 (Var. Ref.)", "F1 (renamed)"]


@pytest.mark.parametrize("name", few(LAID_OUT, 6))
def test_every_table_has_its_measured_rows_apart_in_every_form(name):
    tables = laid(name, *every_run())
    measured = [line for table in tables for line in table.lines if line.block and not line.block.published]
    beside = [c for table in tables for c in table.columns if c.over.startswith("Measured")]
    assert measured or beside
    assert not any(line.block.published for line in measured)
    assert "Nothing is measured" not in " ".join(tables[-1].notes)
    text = markdown(tables)
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1
    rows = list(csv.DictReader(io.StringIO(as_csv(tables))))
    assert len(rows) == sum(len(table.lines) for table in tables)
    if measured:
        assert {bool(row["published"]) for row in rows} == {True, False}
        assert all(row["set"].startswith("Measured here") for row in rows if not row["published"])
    assert json.loads(as_json(tables))["tables"][0]["columns"]
    _well_formed(latex(tables), html(tables))


def _well_formed(tex, page):
    for columns, body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", tex, re.DOTALL):
        for row in re.findall(r"^(.*) \\\\$", body, re.MULTILINE):
            spans = [int(n) for n in re.findall(r"\\multicolumn\{(\d+)\}", row)]
            assert len(re.findall(r"(?<!\\)&", row)) + 1 + sum(spans) - len(spans) == len(columns)
    widths = set()
    for table in re.findall(r"<table>.*?</table>", page, re.DOTALL):
        for row in re.findall(r"<tr>(.*?)</tr>", table):
            widths.add(sum(int(n or 1) for n in re.findall(r'<t[hd](?: class="\w+")?(?: colspan="(\d+)")?>', row)))
        assert len(widths) == 1
        assert table.count("<tbody>") == table.count("</tbody>")


def test_names_of_presets(capsys):
    assert preset("causalbench/xi") is preset("XI") and preset("corr2cause/4") is preset("Table 4")
    assert leaderboard.main(["preset="]) == 0
    assert re.findall(r"preset=(\S+)", capsys.readouterr().out) == NAMES
    with pytest.raises(
        ConfigError, match=r"there is no preset 'XXII' \(did you mean 'XXI'\?\)\. There are:\n(.|\n)*=XXI"
    ):
        preset("XXII")
    with pytest.raises(ConfigError, match=r"there is no preset XII: Tables I and XII of CausalBench are settings"):
        preset("causalbench/XII")
    with pytest.raises(ConfigError, match="preset=4"):
        preset("causalbench/4")


def test_on_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert leaderboard.main(["preset=4"]) == 0
    assert "Nothing is measured yet" in capsys.readouterr().out
    row = run("corr2cause", "gpt4", variant="version=v1")
    place = tmp_path / "results" / "gpt4"
    place.mkdir(parents=True)
    names = {"task": row.task, "variant": row.variant, "prompt": row.prompt, "model": row.model}
    content = {"run": names, "complete": True, **result_json(row.result)}
    (place / "result.json").write_text(json.dumps(content), encoding="utf-8")
    write_manifest(place, names, row.result)
    for ending in ("md", "csv", "json", "tex", "html"):
        assert leaderboard.main(["results", "preset=4", f"out=x.{ending}"]) == 0
        percent = f"{100 * row.result.overall['f1']:.2f}"
        assert (str(row.result.overall["f1"]) if ending == "csv" else percent) in (tmp_path / f"x.{ending}").read_text()
    assert not list(tmp_path.rglob("LEADERBOARD.md"))
    capsys.readouterr()
    for wrong in (["nowhere", "preset=4"], ["preset=4", "metrics=f1"], ["preset=4", "published=true"]):
        assert leaderboard.main(wrong) == 1
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_latex_sets_every_table(tmp_path):
    tables = "\n\\clearpage\n".join(latex(laid(name, *every_run())) for name in NAMES)
    _set("article", tables, tmp_path)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
@pytest.mark.parametrize("paper", ["article", "[twocolumn]{article}"])
def test_latex_sets_a_whole_leaderboard_with_published_rows(paper, tmp_path, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[2])
    file = tmp_path / "board.tex"
    assert leaderboard.main(["results", "published=true", f"out={file}"]) == 0
    tables = file.read_text(encoding="utf-8")
    assert tables.count(r"\begin{table") > 52
    _set(paper, tables, tmp_path)


def _set(paper, tables, folder):
    """Set the tables in a paper whose margins are LaTeX's own: none is too high, too wide or held back too long."""
    kind = paper if "{" in paper else f"{{{paper}}}"
    text = (
        f"\\documentclass{kind}\\usepackage[T1]{{fontenc}}"
        f"\\usepackage{{booktabs,graphicx}}\\begin{{document}}\n{tables}\n\\end{{document}}\n"
    )
    (folder / "all.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    assert process.returncode == 0, process.stdout[-2000:]
    assert "Overfull" not in process.stdout and "Float too large" not in process.stdout
