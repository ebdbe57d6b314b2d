// Lines that are named at their ends: scores over steps. Models full, algorithms dashed, baselines dotted.
import { report } from "../data/store.js";
import { svgEl } from "../ui/dom.js";
import { withTip } from "../ui/tip.js";
import { chartFigure, chartSvg, metricColumn, NAME_COLUMN, runLink, scoreLines } from "./figure.js";
import { spreadHeights, textWidth, wrapped } from "./labels.js";
import { roleLegend, roleMark } from "./marks.js";
import { horizontalGrid, linearScale, metricRange } from "./scales.js";

const COLOURS = ["blue", "orange", "green", "pink", "yellow", "sky", "black"];
const LEFT = 32; // room for the numbers of the axis
const TOP = 12;
const LINE = 13; // the height of a line of a name

/** Draw scores over perturbations. */
export function robustnessChart(chart) {
  const rows = chart.rows.map((row) => ({
    ...row,
    values: row.points.map((point) => (point ? point.value : null)),
    intervals: row.points.map((point) => (point ? point.interval : null)),
    runs: row.points.map((point) => (point ? point.run : row.run)),
  }));
  return lineChart(
    chart,
    rows,
    chart.steps.map((title) => ({ title, fullTitle: title })),
  );
}

/** Draw scores over networks by their size. */
export function scaleChart(chart) {
  const rows = chart.rows.map((row) => ({ ...row, runs: row.values.map(() => row.run) }));
  const steps = chart.networks.map(({ name, nodes, edges, scale }) => ({
    title: name,
    below: nodes,
    fullTitle: `${name} (${nodes} variables, ${edges} edges, ${scale})`,
  }));
  return lineChart(chart, rows, steps);
}

// rows: [{label, role, values, intervals, runs}], a value for each of the steps [{title, below, fullTitle}].
function lineChart(chart, rows, steps) {
  const classes = lineClasses(rows);
  const stepColumn = (step, number) =>
    metricColumn(
      chart.metric,
      step.title,
      step.title,
      (row) => row.values[number],
      (row) => row.intervals[number],
    );
  return chartFigure(chart, {
    legend: roleLegend(rows, true),
    draw: (width, name) => draw(chart, lineLayout(chart.metric, rows, steps, width), classes, name),
    across: steps.length,
    numbers: () => ({ rows, columns: [NAME_COLUMN, ...steps.map(stepColumn)] }),
  });
}

// Up to seven lines have a colour each, the first of a role that of the role, as in figures; more are told apart by
// their names alone, and by what answered.
function lineClasses(rows) {
  const coloured = rows.filter((row) => row.role !== "baseline");
  const firsts = coloured.filter((row) => row === coloured.find((other) => other.role === row.role));
  const others = coloured.filter((row) => !firsts.includes(row));
  const free = COLOURS.filter((name) => !firsts.some((row) => report.marks[row.role].colour === name));
  return rows.map((row) => {
    const ownColour = others.includes(row) && coloured.length <= 7;
    return `role-${row.role} ${ownColour ? `line-${free[others.indexOf(row)]}` : ""}`;
  });
}

// Where everything stands in a drawing of this width.
function lineLayout(metric, rows, steps, width) {
  const crowded = rows.length > 8;
  const aisle = crowded ? 40 : 24; // where the lines' ends lead to their names
  const longest = Math.max(...rows.map((row) => textWidth(row.label, 12)));
  const right = Math.min(longest + 10 + aisle, width * 0.42);
  const names = rows.map((row) => wrapped(row.label, right - aisle - 2)); // whole, however narrow the screen
  const nameHeight = LINE * Math.max(...names.map((lines) => lines.length)) + 2;
  const gap = (width - LEFT - right) / Math.max(1, steps.length - 1);
  const tight = crowded || gap < rows.length * 2.5 + 16; // no room for all intervals at once
  const turned = steps.length > 1 && gap < Math.max(...steps.map((step) => textWidth(step.title, 12))) + 8;
  const bottom = TOP + Math.max(width < 520 ? 260 : 320, rows.length * (nameHeight + 3));
  const values = rows.flatMap((row) => [...row.values, ...(crowded ? [] : row.intervals.flat())]);
  const range = metricRange(metric, values);
  const last = steps.length - 1;
  return {
    ...{ metric, rows, steps, width, right, aisle, gap, crowded, tight, turned, bottom, range, names, nameHeight },
    foot: footHeight(steps, turned),
    y: linearScale(range, [bottom, TOP]),
    x: (number) => LEFT + 6 + (last > 0 ? (number * (width - LEFT - right - 6)) / last : 0),
  };
}

function footHeight(steps, turned) {
  if (turned) return Math.max(...steps.map((step) => textWidth(turnedTitle(step), 12))) + 14;
  return steps.some((step) => step.below) ? 38 : 24;
}

const turnedTitle = (step) => (step.below ? `${step.title} ${step.below}` : step.title);

function draw(chart, layout, classes, name) {
  const { metric, rows, steps, width, bottom, foot, range, nameHeight, x, y } = layout;
  const ends = rows.map((row) => row.values.reduce((end, value, step) => (value === null ? end : step), -1));
  const numbers = [...rows.keys()].filter((number) => ends[number] >= 0);
  const endHeights = numbers.map((number) => y(rows[number].values[ends[number]]));
  const heights = spreadHeights(endHeights, nameHeight, [TOP, bottom]);
  return chartSvg(
    chart,
    name,
    width,
    bottom + foot,
    [horizontalGrid(metric, y, range, LEFT, x(steps.length - 1)), stepTitles(layout)],
    numbers.map((number, k) => line(number, ends[number], heights[k], layout, classes[number])),
  );
}

function stepTitles({ steps, gap, turned, bottom, x }) {
  return steps.map((step, number) => {
    if (turned) {
      const transform = `translate(${x(number) + 4} ${bottom + 8}) rotate(-90)`;
      const attributes = { class: gap < 14 ? "tick tiny" : "tick", transform, "text-anchor": "end" };
      return svgEl("text", attributes, turnedTitle(step));
    }
    const text = (y, anchor, title) => svgEl("text", { class: "tick", x: x(number), y, "text-anchor": anchor }, title);
    return [
      text(bottom + 17, number || gap > 70 ? "middle" : "start", step.title),
      step.below && text(bottom + 32, "middle", step.below),
    ];
  });
}

function line(number, end, height, layout, lineClass) {
  const { rows, names, width, right, aisle, crowded, tight, x, y } = layout;
  const row = rows[number];
  // Intervals of several lines at one step stand side by side.
  const aside = tight ? 0 : (number - (rows.length - 1) / 2) * 2.5;
  const start = x(end) + 6;
  const nameX = width - right + aisle;
  const endY = y(row.values[end]);
  const leader = `M${start} ${endY}L${Math.max(start, nameX - aisle + 6)} ${endY}L${nameX - 4} ${height}`;
  const whisker = (ends, step) => {
    if (!ends || row.values[step] === null) return null;
    const at = x(step) + aside;
    return svgEl("line", { class: "whisker", x1: at, x2: at, y1: y(ends[0]), y2: y(ends[1]) });
  };
  return svgEl(
    "g",
    { class: `series ${lineClass}${crowded ? " crowded" : ""}${tight ? " tight" : ""}` },
    row.intervals.map(whisker),
    svgEl("path", { class: "line", d: linePath(row.values, x, y) }),
    svgEl("path", { class: "leader", d: leader }),
    row.values.map((value, step) => value !== null && stepMark(row, step, layout)),
    endName(names[number], nameX, height),
  );
}

function endName(lines, x, middle) {
  const top = middle + 4 - ((lines.length - 1) * LINE) / 2;
  const tspans = lines.map((text, number) => svgEl("tspan", { x, y: top + number * LINE }, text));
  return svgEl("text", { class: "end" }, tspans);
}

function linePath(values, x, y) {
  const parts = values.map((value, step) => {
    if (value === null) return "";
    return `${step && values[step - 1] !== null ? "L" : "M"}${x(step)} ${y(value)}`;
  });
  return parts.join("");
}

function stepMark(row, step, { metric, steps, x, y }) {
  const value = row.values[step];
  const link = runLink(
    row.runs[step],
    {},
    svgEl("circle", { class: "hit", cx: x(step), cy: y(value), r: 9 }),
    roleMark(row.role, x(step), y(value), 3.5),
  );
  return withTip(link, `${row.label}, ${steps[step].fullTitle}`, scoreLines(metric, value, row.intervals[step]));
}
