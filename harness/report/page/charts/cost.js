// Cost against score, a mark for each model; the cost on a logarithmic axis where it spans more than a decade.
import { formatAmount, metricTitle } from "../data/format.js";
import { svgEl } from "../ui/dom.js";
import { withTip } from "../ui/tip.js";
import { chartFigure, chartSvg, metricColumn, NAME_COLUMN, runLink, scoreLines } from "./figure.js";
import { placeLabels, shortenAll } from "./labels.js";
import { roleLegend, roleMark } from "./marks.js";
import { amountTicks, horizontalGrid, linearScale, metricRange } from "./scales.js";

const LEFT = 34; // room for the numbers of the axis
const TOP = 12;

/** Return {node}: a point for each run, its score over its cost. */
export function costChart(chart) {
  const { metric, rows, unit } = chart;
  const costColumn = {
    name: "x",
    title: `${unit} per 1,000 items`,
    kind: "metric",
    best: "low",
    value: (row) => row.x,
    show: (row) => amountText(unit, row.x),
  };
  const scoreColumn = metricColumn(
    metric,
    "value",
    metricTitle(metric),
    (row) => row.value,
    (row) => row.interval,
  );
  return chartFigure(chart, {
    legend: roleLegend(rows),
    draw: (width, name) => draw(chart, width, name),
    numbers: () => ({ rows, columns: [NAME_COLUMN, costColumn, scoreColumn] }),
  });
}

const amountText = (unit, value) => (unit === "USD" ? `$${formatAmount(value)}` : formatAmount(value));

function draw(chart, width, name) {
  const { metric, rows, unit } = chart;
  const right = width - 14;
  const height = Math.max(300, Math.min(460, width * 0.5));
  const bottom = height - 44;
  const values = rows.flatMap((row) => [row.value, ...(row.interval || [])]);
  const range = metricRange(metric, values);
  const y = linearScale(range, [bottom, TOP]);
  const { log, span, x } = costScale(rows, right);
  const places = sideBySide(rows.map((row) => x(row.x)));
  const dots = rows.map((row, number) => ({ x: places[number], y: y(row.value) }));
  const labels = dotLabels(rows, dots, y, width, bottom);
  const verticals = amountTicks(span, log, (right - LEFT) / 60).map((value) => [
    svgEl("line", { class: "grid-line", x1: x(value), x2: x(value), y1: TOP, y2: bottom }),
    svgEl("text", { class: "tick", x: x(value), y: bottom + 17, "text-anchor": "middle" }, amountText(unit, value)),
  ]);
  const title = `${unit} per 1,000 items${log ? ", logarithmic" : ""}`;
  return chartSvg(
    chart,
    name,
    width,
    height,
    horizontalGrid(metric, y, range, LEFT, right),
    verticals,
    svgEl("text", { class: "axis-title", x: right, y: height - 6, "text-anchor": "end" }, title),
    rows.map((row, number) => whisker(row, dots[number], y)), // below all marks, so that none hides one
    rows.map((row, number) => costMark(chart, row, dots[number], labels[number])),
  );
}

function costScale(rows, right) {
  const costs = rows.map((row) => row.x);
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  const log = least > 0 && most > 10 * least;
  const span = log ? [least / 1.4, most * 1.4] : [0, most * 1.08 || 1];
  const scale = linearScale(log ? span.map(Math.log10) : span, [LEFT, right]);
  return { log, span, x: (value) => scale(log ? Math.log10(value) : value) };
}

const MARK = 11; // pixels from one mark to the next, where they would hide each other

// Models of nearly one cost stand side by side, each a little off its own place; the table has the numbers.
function sideBySide(places) {
  const order = [...places.keys()].sort((a, b) => places[a] - places[b]);
  const groups = [];
  for (const number of order) {
    const group = groups.at(-1);
    if (group && places[number] - places[group.at(-1)] < MARK) group.push(number);
    else groups.push([number]);
  }
  const moved = [...places];
  for (const group of groups.filter((members) => members.length > 1)) {
    const middle = group.reduce((sum, number) => sum + places[number], 0) / group.length;
    group
      .sort((a, b) => a - b)
      .forEach((number, k) => {
        moved[number] = middle + (k - (group.length - 1) / 2) * MARK;
      });
  }
  return moved;
}

function whisker(row, at, y) {
  if (!row.interval) return null;
  const [low, high] = row.interval;
  const line = svgEl("line", { class: "whisker", x1: at.x, x2: at.x, y1: y(low), y2: y(high) });
  return svgEl("g", { class: `role-${row.role}` }, line);
}

function dotLabels(rows, dots, y, width, bottom) {
  const texts = rows.map((row) => row.label);
  const names = shortenAll(texts, Math.max(200, width - LEFT - 20));
  const whiskers = rows.map(({ interval }, number) => {
    const { x } = dots[number];
    return interval && [x - 1, y(interval[1]), x + 1, y(interval[0])];
  });
  return placeLabels(dots, names, [LEFT, TOP, width, bottom], whiskers);
}

function costMark({ metric, unit }, row, at, label) {
  const ends = row.interval;
  const link = runLink(
    row.run,
    { class: "point" },
    svgEl("circle", { class: "hit", cx: at.x, cy: at.y, r: 11 }),
    roleMark(row.role, at.x, at.y),
  );
  const lines = [[`${unit} per 1,000 items`, amountText(unit, row.x)], ...scoreLines(metric, row.value, ends)];
  return svgEl(
    "g",
    { class: `role-${row.role}` },
    withTip(link, row.label, lines, link.querySelector(".mark")),
    label && svgEl("text", { class: "beside", x: label.x, y: label.y + 4, "text-anchor": label.anchor }, label.text),
  );
}
