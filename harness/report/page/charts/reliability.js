// Reliability diagrams: a frame for each run, what was predicted across and what is so up.
import { formatCount, formatInterval, formatMetric } from "../data/format.js";
import { svgEl } from "../ui/dom.js";
import { withTip } from "../ui/tip.js";
import { chartFigure, chartSvg, metricColumn, NAME_COLUMN, runLink } from "./figure.js";
import { shortenAll } from "./labels.js";
import { roleLegend, roleMark } from "./marks.js";
import { horizontalGrid, linearScale, verticalGrid } from "./scales.js";

const SHARE = "observed"; // a metric without a description is a share
const WIDEST = 250;
const LEFT = 34; // room for the numbers of the axis
const TOP = 76; // room for name, numbers and ticks
const BELOW = 26;

/** Return {node}: for each run a mark for each bin of its probabilities, with the diagonal. */
export function reliabilityChart(chart) {
  return chartFigure(chart, {
    legend: roleLegend(chart.rows),
    draw: (width, name) => draw(chart, width, name),
    across: Math.max(...chart.rows.map((row) => row.bins.length)),
    numbers: () => ({ rows: chart.rows.flatMap(binRows), columns: columns() }),
  });
}

const binRows = (row) => row.bins.map((bin) => ({ ...bin, label: row.label, run: row.run }));

function columns() {
  const share = (name, ends) => metricColumn(SHARE, name, name, (row) => row[name], ends);
  const count = (name) => ({
    name,
    title: name,
    kind: "count",
    value: (row) => row[name],
    show: (row) => formatCount(row[name]),
  });
  return [NAME_COLUMN, share("predicted"), share("observed", (row) => row.interval), count("items"), count("clusters")];
}

function draw(chart, width, name) {
  const across = Math.max(1, Math.min(chart.rows.length, Math.floor(width / 200)));
  const panel = Math.min(width / across, WIDEST + LEFT);
  const height = TOP + panel - LEFT - 14 + BELOW;
  const names = shortenAll(
    chart.rows.map((row) => row.label),
    panel - 14,
    13,
  );
  const frames = chart.rows.map((row, number) =>
    frame(row, names[number], (number % across) * panel, Math.floor(number / across) * height, panel),
  );
  return chartSvg(chart, name, width, Math.ceil(chart.rows.length / across) * height, frames);
}

function frame(row, name, left, top, panel) {
  const [from, to] = [LEFT, panel - 14];
  const [low, high] = [TOP + to - from, TOP];
  const x = linearScale([0, 1], [from, to]);
  const y = linearScale([0, 1], [low, high]);
  return svgEl(
    "g",
    { class: `series role-${row.role}`, transform: `translate(${left} ${top})` },
    svgEl("text", { class: "name", x: 0, y: 14 }, name),
    numberLines(row).map((line, number) => svgEl("text", { class: "tick", x: 0, y: 29 + 14 * number }, line)),
    verticalGrid(SHARE, x, [0, 1], high, low, 4),
    horizontalGrid(SHARE, y, [0, 1], from, to),
    svgEl("line", { class: "diagonal", x1: from, y1: low, x2: to, y2: high }),
    row.bins.map((bin) => whisker(bin, x, y)),
    row.bins.map((bin) => binMark(row, bin, x, y)),
  );
}

function numberLines({ error, error_interval: ends, ece, brier }) {
  const root = error === null ? [] : [`error ${formatMetric("error", error)} ${formatInterval("error", ends)}`];
  return [...root, `ECE ${formatMetric("ece", ece)}, Brier ${formatMetric("brier", brier)}`];
}

function whisker({ predicted, interval }, x, y) {
  if (!interval) return null;
  const at = x(predicted);
  return svgEl("line", { class: "whisker", x1: at, x2: at, y1: y(interval[0]), y2: y(interval[1]) });
}

function binMark(row, bin, x, y) {
  const { predicted, observed, interval, items, clusters } = bin;
  const link = runLink(
    row.run,
    {},
    svgEl("circle", { class: "hit", cx: x(predicted), cy: y(observed), r: 7 }),
    roleMark(row.role, x(predicted), y(observed), 3.5),
  );
  const lines = [
    ["predicted", formatMetric(SHARE, predicted)],
    ["observed", formatMetric(SHARE, observed)],
    ...(interval ? [["95% interval", formatInterval(SHARE, interval)]] : []),
    ["items", formatCount(items)],
    ["clusters", formatCount(clusters)],
  ];
  return withTip(link, `${row.label}, ${formatCount(items)} items`, lines);
}
