"""Figures: what a publisher takes, with the names of the tables; the same chart gives the same bytes."""

from __future__ import annotations

import struct
import sys
from xml.etree import ElementTree

import pytest
from support.written_runs import put, scores

from harness.charts import charts_of
from harness.charts.values import MARKS, ReliabilityChart, ReliabilityRow
from harness.leaderboard.build import build
from harness.leaderboard.comparable import find_runs
from harness.plugins.figures import plot, plot_cells, plot_lines
from harness.plugins.figures.plot import main
from harness.plugins.figures.plot_paper import COLOURS, TEXT, in_lines, ink, shorten, style, text_width, wrap
from harness.runtime.signals import INTERRUPTED
from harness.scoring.classification import Bin

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
    assert "F1 by model" in texts and table.heading in " ".join(texts)


def test_every_kind_is_drawn_one_file_for_each_chart_and_nothing_twice(results, tmp_path, capsys):
    files = [file.stem for file in draw_charts(results, tmp_path / "out", "format=svg", "metric=f1")]
    assert files == sorted(
        [
            *(f"corr2cause-{name}" for name in ("confusion", "cost-f1-usd", "heat-relation-f1", "robustness-f1")),
            *(f"corr2cause{place}-scores-f1" for place in ("", "-perturbation=permutation")),
            "corr2cause-perturbation=permutation-confusion",
        ]
    )
    output = capsys.readouterr().out
    assert output.count(".svg: ") == len(files) and "For the captions:\nLines: 95% intervals" in output
    heat = svg_texts(tmp_path / "out/corr2cause-heat-relation-f1.svg")
    assert {"parent", "child", "collider", "90", "10", "–"} <= set(heat)
    bars = svg_texts(tmp_path / "out/corr2cause-confusion.svg")
    assert {"right", "wrong", "Yes is true (20)"} <= set(bars) and bars.count("11") == 2


def test_the_same_chart_gives_the_same_bytes_whatever_the_users_style(results, tmp_path):
    import matplotlib

    options = ["chart=corr2cause/robustness/f1", "format=pdf,svg,png"]
    first = draw_charts(results, tmp_path / "a", *options)
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "savefig.dpi": 50, "text.usetex": True}):
        second = draw_charts(results, tmp_path / "b", *options)
    assert len(first) == 3 and [f.read_bytes() for f in first] == [f.read_bytes() for f in second]


def test_many_lines_have_frames_of_their_own_with_different_names(tmp_path):
    models = [f"a-model-with-a-very-long-name-{number:02}-indeed-very-very-long" for number in range(9)]
    for model in models:
        put(tmp_path / "r", model)
        put(tmp_path / "r", model, variant="perturbation=paraphrase", items="b")
    (file,) = draw_charts(tmp_path / "r", tmp_path / "out", "chart=robustness", "format=svg")
    texts = svg_texts(file)
    assert all(model in "".join(texts) for model in models) and not set(models) & set(texts)


def test_marks_tell_what_answered_as_they_do_on_the_page(tmp_path):
    kinds = {"always_no": "baseline", "reasoner": "solver", "pc": "algorithm", "column_order": "cheat"}
    for number in range(8):  # more lines than share a frame
        put(tmp_path, f"gpt-{number}", task="causalbench/causality", headline="exact", parts=NETWORKS)
    for model, role in kinds.items():
        data = (500, 0) if role == "algorithm" else None
        put(tmp_path, model, task="causalbench/causality", headline="exact", parts=NETWORKS, data=data, role=role)
    charts = {chart.kind: chart for chart in charts_of(find_runs([str(tmp_path)])) if chart.kind in ("scores", "scale")}
    shapes = {"o": "disc", "s": "square", "D": "diamond", "^": "triangle"}
    colours = {"#0072B2": "blue", "#D55E00": "orange", "#009E73": "green", "#6E6E6E": "grey"}
    with style():
        single, many = plot_cells.scores(charts["scores"], 6.75).figure, plot_lines.scale(charts["scale"], 6.75).figure
    assert len(single.axes) == 1 and len(many.axes) == 12
    for figure, chart in ((single, charts["scores"]), (many, charts["scale"])):
        lines_with_mark = [line for axes in figure.axes for line in axes.lines if line.get_marker() != "None"]
        for line, row in zip(lines_with_mark, chart.rows, strict=True):
            mark = MARKS[row.role]
            assert row.role == kinds.get(row.label, "model")
            assert (shapes[line.get_marker()], colours[line.get_color()]) == (mark.shape, mark.colour)
            assert (line.get_markerfacecolor() == "white") == mark.open
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == [mark.title for mark in MARKS.values()]


def test_lines_in_one_frame_are_told_apart_and_marked_as_elsewhere(tmp_path):
    kinds = {"m": "model", "n": "model", "always_no": "baseline", "always_yes": "baseline", "reasoner": "solver"}
    for model, role in kinds.items():
        put(tmp_path, model, task="causalbench/causality", headline="exact", parts=NETWORKS, role=role)
    (chart,) = (
        chart for chart in charts_of(find_runs([str(tmp_path)])) if chart.kind == "scale" and chart.metric == "f1"
    )
    with style():
        (axes,) = plot_lines.scale(chart, 6.75).figure.axes
    drawn_lines = [line for line in axes.lines if line.get_marker() != "None"]
    line_of = {row.label: line for line, row in zip(drawn_lines, chart.rows, strict=True)}
    markers = {"model": "o", "baseline": "s", "solver": "D"}
    assert {model: line.get_marker() for model, line in line_of.items()} == {m: markers[kinds[m]] for m in kinds}
    assert len({line.get_color() for line in line_of.values()}) == len(
        {str(line._dash_pattern) for line in drawn_lines}
    )
    assert len({line.get_color() for line in line_of.values()}) == len(kinds)
    assert all(line.get_color() in COLOURS for line in drawn_lines)
    # In their own colour, as they are in the charts of scores: the reasoner, and the first model.
    assert line_of["reasoner"].get_color() == "#009E73"
    assert line_of[next(row.label for row in chart.rows if row.role == "model")].get_color() == "#0072B2"


def test_names_that_are_too_long_take_several_lines_and_lose_nothing(tmp_path):
    prompts = [f"{'a-long-prompt' * 3}-{number}" for number in range(3)]
    for prompt in prompts:
        put(tmp_path / "r", "org/model-name", prompt=prompt, parts={"relation": GROUPS})
    for kind in ("scores", "heat", "confusion"):
        (file,) = draw_charts(tmp_path / "r", tmp_path / kind, f"chart={kind}", "metric=f1", "format=svg")
        text = "".join(svg_texts(file))
        assert all(text.count(prompt) == 1 for prompt in prompts) and "…" not in text
    name = "mmhc · samples=1500"
    assert in_lines([name], text_width(name)) == [name] and in_lines([name], 0.9) == ["mmhc\nsamples=1500"]
    for line in in_lines(["x" * 60 + "/y_z · " + "w" * 9], 1.0)[0].split("\n"):
        assert text_width(line) <= 1.0 + 1e-5


def test_what_is_the_same_of_all_data_is_said_once(tmp_path, capsys):
    for samples in (500, 1500):
        put(tmp_path / "r", "pc", data=(samples, 0))
    (file,) = draw_charts(tmp_path / "r", tmp_path / "out", "chart=scores", "metric=f1", "format=svg")
    assert {"pc · samples=500", "pc · samples=1500"} <= set(svg_texts(file))
    assert "The data of all algorithms: seed=0." in capsys.readouterr().out


def test_what_has_no_value_is_not_drawn(tmp_path, capsys):
    put(tmp_path / "r", "m", None, parts={"relation": {"child": scores(None)}})
    files = [file.stem for file in draw_charts(tmp_path / "r", tmp_path / "out", "format=svg")]
    assert files == ["corr2cause-confusion"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["chart=scoers"], "there is no chart 'scoers' (did you mean 'scores'?)"),
        (["chart=corr2cause/9/*"], "There are corr2cause/confusion, "),
        (
            ["chart=corr2cause/haet/*"],
            "there is no chart 'corr2cause/haet/*' (did you mean 'corr2cause/heat/*'?). There",
        ),
        (["chart=scale"], "error: no chart of kind scale: no run here is over two networks or more."),
        (["metric=f2"], "there is no metric 'f2'. There are accuracy, f1, precision."),
        (["chart=cost", "metric=precision"], "no chart fits both chart=cost and metric=precision"),
        (["format=gif"], "there is no format 'gif'. There are pdf, png, svg."),
        (["out=results/corr2cause/default/plain/gpt-4/result.json"], "choose another out="),
    ],
)
def test_what_cannot_be_drawn_is_said(results, settings, sentence, monkeypatch, capsys):
    monkeypatch.chdir(results.parent)
    assert main(["results", *settings]) == 1
    assert sentence in capsys.readouterr().err


def test_without_matplotlib_the_extra_is_named(results, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main([str(results)]) == 1
    assert "figures need matplotlib: python -m pip install -e '" in capsys.readouterr().err


def test_an_interruption_tells_what_is_there(results, tmp_path, monkeypatch, capsys):
    really = plot._sheet

    def second(figure, width):
        if figure.chart.kind == "heat":
            raise KeyboardInterrupt
        return really(figure, width)

    monkeypatch.setattr(plot, "_sheet", second)
    assert main([str(results), "chart=scores,heat", f"out={tmp_path}/o", "format=svg"]) == INTERRUPTED
    there = len(list((tmp_path / "o").iterdir()))
    output = capsys.readouterr().err
    assert there and f"interrupted: {there} of " in output and f"in {tmp_path}/o/, each whole." in output


def test_incomplete_runs_are_nothing_to_draw(tmp_path, capsys):
    put(tmp_path / "r", "m", complete=False)
    assert main([str(tmp_path / "r")]) == 1
    assert "no run is complete" in capsys.readouterr().err


def test_names_fit_and_stay_different():
    names = [f"{'x' * 40}{number}{'y' * 40}" for number in range(12)]
    short_names = shorten(names, 1.0)
    assert len(set(short_names)) == 12 and all(text_width(name) <= 1.0 for name in short_names)
    assert shorten(["short"], text_width("short")) == ["short"]
    assert all(text_width(line, TEXT) <= 1.0 for line in wrap(f"some words and {'z' * 60}", 1.0, TEXT))


@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_name_with_signs_that_the_font_lacks_is_drawn(tmp_path):
    put(tmp_path / "r", "通义 \N{ROBOT FACE}", 0.5)
    assert draw_charts(tmp_path / "r", tmp_path / "out", "chart=scores")


def test_numbers_are_readable_on_every_colour_of_the_heat_map():
    from matplotlib import colormaps

    def luminance(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    with style():
        for step in range(101):
            colour = colormaps["cividis"](step / 100)
            light = 1.0 if ink(colour) == "white" else 0.0
            high, low = sorted((luminance(colour), light), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5


DICHROMATS = {  # Machado, Oliveira and Fernandes (2009), severity 1.0; of linear RGB
    "protanopia": [(0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)],
    "deuteranopia": [(0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)],
}
XYZ = [(0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)]


def lab(linear):
    """Return CIE L*a*b* of linear sRGB, white D65."""
    x, y, z = (
        sum(a * b for a, b in zip(row, linear, strict=True)) / white
        for row, white in zip(XYZ, (0.9505, 1, 1.089), strict=True)
    )
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("sight", DICHROMATS)
def test_the_colour_blind_tell_the_colours_apart(sight):
    from itertools import combinations
    from math import dist

    from matplotlib.colors import to_rgb

    colours = []
    for colour in COLOURS:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        mixed = [sum(a * b for a, b in zip(row, linear, strict=True)) for row in DICHROMATS[sight]]
        colours.append(lab([min(max(c, 0.0), 1.0) for c in mixed]))
    # 2.3 is a just noticeable difference.
    assert min(dist(colour, other) for colour, other in combinations(colours, 2)) > 10


def test_every_count_of_the_confusion_has_a_number_in_its_bar_or_beside_it(tmp_path, capsys):
    counts = {"tp": 47, "fn": 3, "tn": 218, "fp": 31, "unreadable_negative": 1}
    overall = scores(0.5, items=300, positives=50, confusion=counts)
    put(tmp_path / "results", "m", parts={"overall": {"all": overall}})
    (file,) = draw_charts(tmp_path / "results", tmp_path / "out", "chart=confusion", "format=svg")
    numbers = [number for text in svg_texts(file) for number in text.split(", ")]
    assert {"47", "3", "218", "31", "1"} <= set(numbers)
    assert "Beside a bar: the counts that have no room in it" in capsys.readouterr().out


def test_marks_of_one_cost_stand_a_few_points_apart_around_it_and_those_of_one_score_furthest():
    costs, scores_ = (1.0, 1.0, 1.0, 1.0, 2.0), (0.4, 0.4, 0.2, 0.2, 0.4)
    aside = plot_lines._aside(costs, scores_)
    assert sum(aside) == pytest.approx(0)
    assert aside[4] == 0
    assert max(aside) - min(aside) == pytest.approx(0.05)
    assert [abs(aside[0] - aside[1]), abs(aside[2] - aside[3])] == pytest.approx([0.1 / 3] * 2)
    assert len({round(one, 6) for one in aside[:4]}) == 4


def test_a_reliability_diagram_has_a_frame_for_each_run_with_its_bins_and_the_diagonal():
    bins = [Bin(0.05, 0.1, (0.0, 0.2), 20, 9), Bin(0.9, 0.6, None, 12, 3)]
    numbers = {"ece": 0.14, "error": 0.16, "error_interval": (0.1, 0.2), "brier": 0.1, "brier_interval": None}
    rows = [
        ReliabilityRow(run=f"r/{name}", label=name, role="model", family="x", bins=bins[:count], **numbers)
        for name, count in (("sure", 2), ("unsure", 1))
    ]
    common = {"id": "t/reliability/stated", "task": "t", "heading": "", "title": "Reliability", "notes": []}
    chart = ReliabilityChart(**common, source="stated", rows=rows)
    with style():
        figure = plot_lines.reliability(chart, 3.25).figure
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["sure", "unsure"]
    for axes, row in zip(figure.axes, rows, strict=True):
        diagonal, *whiskers, marks = axes.lines
        assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0, 100]
        assert [list(line.get_ydata()) for line in whiskers] == [[0, 20]]
        points = zip(marks.get_xdata(), marks.get_ydata(), strict=True)
        assert list(points) == [(pytest.approx(100 * b.predicted), pytest.approx(100 * b.observed)) for b in row.bins]
        assert axes.get_xlabel() == "error 16.0, ECE 14.0"
