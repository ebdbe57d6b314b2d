"""Figures: what a publisher takes, with the names of the tables; the same chart gives the same bytes."""

from __future__ import annotations

import struct
import sys
from xml.etree import ElementTree

import pytest
from support.written_runs import put, scores

from harness.leaderboard.build import build
from harness.leaderboard.comparable import find_runs
from harness.plot import draw
from harness.plot.__main__ import main
from harness.plot.charts import charts_of
from harness.plot.names import MARKS

GROUPS = {name: scores(value) for name, value in (("parent", 0.9), ("child", None), ("collider", 0.1))}
NETWORKS = {"network": {name: scores(0.5) for name in ("asia", "cancer")}}
TEXTS = "{http://www.w3.org/2000/svg}text"


@pytest.fixture
def results(tmp_path):
    """Two models as they are and permuted, one of them with a price."""
    folder = tmp_path / "results"
    for model, f1 in (("gpt-4", 0.8), ("a$b$_c", 0.4)):
        cost = {"usd": 2.5, "answers_without_cost": 0} if f1 > 0.5 else None
        put(folder, model, f1, parts={"relation": GROUPS}, cost=cost)
        put(folder, model, f1 / 2, variant="perturbation=permutation", items="b")
    return folder


def draw_charts(results, out, *settings):
    assert main([str(results), f"out={out}", *settings]) == 0
    return sorted(out.iterdir())


def svg_texts(file):
    """Return the texts of an SVG, in their order."""
    return ["".join(element.itertext()).strip() for element in ElementTree.parse(file).iter(TEXTS)]


def test_a_pdf_embeds_its_fonts_as_truetype_and_has_no_date(results, tmp_path):
    (file,) = draw_charts(results, tmp_path / "out", "chart=corr2cause/scores/f1")
    content = file.read_bytes()
    assert file.name == "corr2cause-scores-f1.pdf" and content.startswith(b"%PDF")
    assert b"/FontFile2" in content and b"/Type3" not in content and b"CreationDate" not in content
    width = float(content.partition(b"/MediaBox [ 0 0 ")[2].split()[0])
    assert width == 3.25 * 72


def test_a_png_is_as_wide_as_asked_at_300_dots_per_inch(results, tmp_path):
    (file,) = draw_charts(results, tmp_path / "out", "chart=corr2cause/scores/f1", "format=png", "width=text")
    width, _ = struct.unpack(">II", file.read_bytes()[16:24])
    assert width == 6.75 * 300


def test_an_svg_says_the_names_and_numbers_of_the_tables_in_their_order(results, tmp_path):
    table = build(find_runs([str(results)]))[0]
    (file,) = draw_charts(results, tmp_path / "out", "chart=corr2cause/scores/f1", "format=svg")
    texts = svg_texts(file)
    names = [line.cells[0].text for line in table.lines]
    assert [text for text in texts if text in names] == names == ["gpt-4", "a$b$_c"]
    at = [column.name for column in table.columns].index("f1")
    assert all(line.cells[at].text in texts for line in table.lines)
    assert "font-family: 'DejaVu Sans', sans-serif" in file.read_text(encoding="utf-8")
    assert "Corr2Cause: F1 by model" in texts and table.heading in " ".join(texts)


def test_the_same_chart_gives_the_same_bytes_whatever_the_users_style(results, tmp_path):
    import matplotlib

    options = ["chart=corr2cause/robustness/f1", "format=pdf,svg,png"]
    first = draw_charts(results, tmp_path / "a", *options)
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "savefig.dpi": 50, "text.usetex": True}):
        second = draw_charts(results, tmp_path / "b", *options)
    assert len(first) == 3 and [f.read_bytes() for f in first] == [f.read_bytes() for f in second]


def test_what_is_the_same_of_all_data_is_said_once(tmp_path, capsys):
    for samples in (500, 1500):
        put(tmp_path / "r", "pc", data=(samples, 0))
    (file,) = draw_charts(tmp_path / "r", tmp_path / "out", "chart=scores", "metric=f1", "format=svg")
    assert {"pc · samples=500", "pc · samples=1500"} <= set(svg_texts(file))
    assert "The data of all algorithms: seed=0." in capsys.readouterr().out


def test_what_has_no_value_is_not_drawn(tmp_path):
    put(tmp_path / "r", "m", None, parts={"relation": {"child": scores(None)}})
    files = [file.stem for file in draw_charts(tmp_path / "r", tmp_path / "out", "format=svg")]
    assert files and "corr2cause-scores-f1" not in files


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["chart=scoers"], "there is no chart 'scoers' (did you mean 'scores'?)"),
        (["chart=corr2cause/9/*"], "there is no chart 'corr2cause/9/*'"),
        (["chart=scale"], "there is no chart 'scale'"),
        (["metric=f2"], "there is no metric 'f2'. There "),
        (["format=gif"], "there is no format 'gif'. There are pdf, png, svg."),
        (["out=results/corr2cause/default/plain/gpt-4/result.json"], "choose another out="),
    ],
)
def test_what_cannot_be_drawn_is_said(results, settings, sentence, monkeypatch, capsys):
    monkeypatch.chdir(results.parent)
    assert main(["results", *settings]) == 1
    assert sentence in capsys.readouterr().err


def test_without_matplotlib_the_extra_is_named(results, monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "harness.plot.draw", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main([str(results)]) == 1
    assert "figures need matplotlib: python -m pip install -e '" in capsys.readouterr().err


def test_a_file_for_each_chart_and_words_for_the_captions(results, tmp_path, capsys):
    files = [file.stem for file in draw_charts(results, tmp_path / "out", "format=svg", "metric=f1")]
    places = ("-scores-f1", "-perturbation=permutation-scores-f1", "-robustness-f1")
    assert files == sorted(f"corr2cause{place}" for place in places)
    output = capsys.readouterr().out
    assert output.count(".svg: ") == len(files) and "For the captions:\nLines: 95% intervals" in output


def test_marks_tell_what_answered_as_they_do_on_the_page(tmp_path):
    kinds = {"always_no": "baseline", "reasoner": "solver", "pc": "algorithm", "column_order": "cheat"}
    for number in range(4):
        put(tmp_path, f"gpt-{number}", task="causalbench/causality", headline="exact", parts=NETWORKS)
    for model, role in kinds.items():
        data = (500, 0) if role == "algorithm" else None
        put(tmp_path, model, task="causalbench/causality", headline="exact", parts=NETWORKS, data=data, role=role)
    charts = {
        chart["kind"]: chart for chart in charts_of(find_runs([str(tmp_path)])) if chart["kind"] in ("scores", "scale")
    }
    shapes = {"o": "disc", "s": "square", "D": "diamond", "^": "triangle"}
    for chart in charts.values():
        figure = draw.figure_of(chart, 6.75)
        marked = [line for axes in figure.axes for line in axes.lines if line.get_marker() != "None"]
        for line, row in zip(marked, chart["rows"], strict=True):
            mark = MARKS[row["role"]]
            assert row["role"] == kinds.get(row["label"].partition(" ")[0], "model")
            assert shapes[line.get_marker()] == mark.shape and (line.get_markerfacecolor() == "white") == mark.open
        (legend,) = figure.legends
        names = [text.get_text() for text in legend.get_texts()]
        assert names == ([mark.title for mark in MARKS.values()] if chart["kind"] == "scores" else
                         [row["label"] for row in chart["rows"]])  # fmt: skip


def test_lines_in_one_frame_are_told_apart(tmp_path):
    for number in range(9):
        put(tmp_path, f"m{number}", task="causalbench/causality", headline="exact", parts=NETWORKS)
    (chart,) = (each for each in charts_of(find_runs([str(tmp_path)])) if each["id"].endswith("scale/f1"))
    (axes,) = draw.figure_of(chart, 6.75).axes
    lines = [line for line in axes.lines if line.get_marker() != "None"]
    assert len({(line.get_color(), str(line._dash_pattern)) for line in lines}) == 9


def test_incomplete_runs_are_nothing_to_draw(tmp_path, capsys):
    put(tmp_path / "r", "m", complete=False)
    assert main([str(tmp_path / "r")]) == 1
    assert "no run is complete" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_name_with_signs_that_the_font_lacks_is_drawn(tmp_path):
    put(tmp_path / "r", "通义 \N{ROBOT FACE}", 0.5)
    assert draw_charts(tmp_path / "r", tmp_path / "out", "chart=scores")
