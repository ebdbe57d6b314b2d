// Cost against score, a mark for each model; the cost on a logarithmic axis where it spans more than a decade.
import { formatAmount, metricTitle } from "../data/format.js";
import { el, svgEl } from "../ui/dom.js";
import { withTip } from "../ui/tip.js";
import { chartFigure, chartSvg, metricColumn, NAME_COLUMN, runLink, scoreLines } from "./figure.js";
import { placeLabels, shortenAll } from "./labels.js";
import { roleLegend, roleMark } from "./marks.js";
import { amountTicks, horizontalGrid, linearScale, metricRange } from "./scales.js";

const LEFT = 34; // room for the numbers of the axis
const TOP = 12;
const ASIDE = "Marks of nearly one cost stand side by side, each a little off its own.";

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
  const aside = el("p", { class: "note", hidden: true }, ASIDE);
  return chartFigure(chart, {
    legend: roleLegend(rows),
    draw: (width, name) => draw(chart, width, name, aside),
    note: aside,
    numbers: () => ({ rows, columns: [NAME_COLUMN, costColumn, scoreColumn] }),
  });
}

const withUnit = (unit, text) => (unit === "USD" ? `$${text}` : text);
const amountText = (unit, value) => withUnit(unit, formatAmount(value));

function draw(chart, width, name, aside) {
  const { metric, rows, unit } = chart;
  const right = width - 14;
  const height = Math.max(300, Math.min(460, width * 0.5));
  const bottom = height - 44;
  const values = rows.flatMap((row) => [row.value, ...(row.interval || [])]);
  const range = metricRange(metric, values);
  const y = linearScale(range, [bottom, TOP]);
  const { log, span, x } = costScale(rows, right);
  const own = rows.map((row) => x(row.x));
  const places = sideBySide(own, rows);
  aside.hidden = places.every((place, number) => place === own[number]);
  const dots = rows.map((row, number) => ({ x: places[number], y: y(row.value) }));
  const labels = dotLabels(rows, dots, y, width, bottom);
  const ticks = amountTicks(span, log, (right - LEFT) / 60);
  const tickText = (value) => withUnit(unit, formatAmount(value, Math.max(...ticks)));
  const verticals = ticks.map((value) => [
    svgEl("line", { class: "grid-line", x1: x(value), x2: x(value), y1: TOP, y2: bottom }),
    svgEl("text", { class: "tick", x: x(value), y: bottom + 17, "text-anchor": "middle" }, tickText(value)),
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

const SPREAD = 8; // pixels over all marks of nearly one cost: on a measured axis more would be read as other costs

// Models of nearly one cost are moved apart a little, those of neighbouring scores by half of it, so that marks and
// intervals can be told from each other.
function sideBySide(places, rows) {
  const order = [...places.keys()].sort((a, b) => places[a] - places[b]);
  const groups = [];
  for (const number of order) {
    const group = groups.at(-1);
    if (group && places[number] - places[group[0]] < SPREAD / 2) group.push(number);
    else groups.push([number]);
  }
  const moved = [...places];
  for (const group of groups.filter((members) => members.length > 1)) {
    const middle = group.reduce((sum, number) => sum + places[number], 0) / group.length;
    const half = Math.ceil(group.length / 2);
    group
      .sort((a, b) => rows[b].value - rows[a].value || a - b)
      .forEach((number, rank) => {
        const slot = (rank % 2) * half + Math.floor(rank / 2);
        moved[number] = middle + (slot / (group.length - 1) - 0.5) * SPREAD;
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
