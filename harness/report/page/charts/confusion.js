// What became of positives and negatives: two bars for each run, each as long as all items of that label.
// Segments differ by pattern as well as by colour.
import { formatCount } from "../data/format.js";
import { el, svgEl } from "../ui/dom.js";
import { withTip } from "../ui/tip.js";
import { chartFigure, chartSvg, NAME_COLUMN, runLink } from "./figure.js";
import { shortenAll, textWidth } from "./labels.js";
import { linearScale } from "./scales.js";

// The segments of a bar in their order: [pattern, title].
const PARTS = [
  ["right", "right"],
  ["wrong", "wrong"],
  ["unreadable", "unreadable"],
  ["failed", "failed call"],
];

// The two bars of a run; `keys` are those of its counts for each part, `titles` what the first two are called in a tip.
const SIDES = [
  {
    title: "Gold label yes",
    keys: ["tp", "fn", "unreadable_positive", "failed_positive"],
    titles: ["true positives", "false negatives"],
  },
  {
    title: "Gold label no",
    keys: ["tn", "fp", "unreadable_negative", "failed_negative"],
    titles: ["true negatives", "false positives"],
  },
];

const COLUMN_TITLES = {
  tp: "TP",
  fn: "FN",
  tn: "TN",
  fp: "FP",
  unreadable_positive: "unreadable, gold yes",
  failed_positive: "failed, gold yes",
  unreadable_negative: "unreadable, gold no",
  failed_negative: "failed, gold no",
};

/** Return {node}: for each run what became of the items whose answer is Yes, and of those whose answer is No. */
export function confusionChart(chart) {
  const { rows } = chart;
  const countColumn = (key) => ({
    name: key,
    title: COLUMN_TITLES[key],
    kind: "count",
    value: (row) => row.counts[key],
    show: (row) => formatCount(row.counts[key]),
  });
  return chartFigure(chart, {
    legend: legend(chart),
    draw: (width, name) => draw(chart, width, name),
    across: 1,
    numbers: () => ({ rows, columns: [NAME_COLUMN, ...SIDES.flatMap((side) => side.keys).map(countColumn)] }),
  });
}

function legend(chart) {
  const name = `legend-${chart.id.replace(/\W+/g, "-")}`;
  const occurs = (_, place) => chart.rows.some((row) => SIDES.some((side) => row.counts[side.keys[place]]));
  const entries = PARTS.filter(occurs).map(([part, title]) => {
    const fill = `url(#${name}-${part})`;
    const rect = svgEl("rect", { class: `part ${part}`, width: 22, height: 12, fill });
    return el("li", {}, svgEl("svg", { width: 22, height: 12, "aria-hidden": "true" }, patterns(name), rect), title);
  });
  return el("ul", { class: "legend", "aria-label": "Legend" }, entries);
}

function draw(chart, width, name) {
  const { rows } = chart;
  const narrow = width < 620;
  const longest = Math.max(...rows.map((row) => textWidth(row.label, 13)));
  const left = narrow ? 0 : Math.min(longest + 16, width * 0.32);
  const layout = {
    name,
    width,
    narrow,
    left,
    barWidth: narrow ? width : (width - left - 16) / 2,
    rowHeight: narrow ? 62 : 24,
    top: narrow ? 4 : 22,
  };
  const texts = rows.map((row) => row.label);
  const labels = shortenAll(texts, narrow ? width : left - 12, 13);
  const sideTitle = (side, number) =>
    svgEl("text", { class: "tick", x: left + number * (layout.barWidth + 16), y: 12 }, side.title);
  return chartSvg(
    chart,
    name,
    width,
    layout.top + rows.length * layout.rowHeight,
    patterns(name),
    !narrow && SIDES.map(sideTitle),
    rows.map((row, number) => confusionRow(row, labels[number], layout.top + number * layout.rowHeight, layout)),
  );
}

function confusionRow(row, label, y, layout) {
  const { narrow, left, barWidth, width, rowHeight } = layout;
  const link = runLink(row.run, { class: "row" }, svgEl("rect", { class: "hit", x: 0, y, width, height: rowHeight }));
  const bars = SIDES.map((side, place) => {
    const x = narrow ? 0 : left + place * (barWidth + 16);
    return sideBar(row, side, x, narrow ? y + 20 + place * 19 : y + 4, layout);
  });
  // The bars lie over the link and let the pointer through.
  return [
    withTip(
      link,
      row.label,
      SIDES.flatMap((side) => tipLines(row, side)),
    ),
    svgEl("text", { class: "name", x: 0, y: y + (narrow ? 15 : 16.5) }, label),
    svgEl("g", { class: "bars" }, bars),
  ];
}

function tipLines(row, side) {
  const counts = side.keys.map((key, place) => [side.titles[place] || PARTS[place][1], row.counts[key]]);
  const occurring = counts.filter(([, count], place) => count || place < 2);
  const heading = ["", `${side.title}: ${formatCount(sideTotal(row, side))}`];
  return [heading, ...occurring.map(([title, count]) => [title, formatCount(count)])];
}

function sideBar(row, side, from, y, { name, barWidth }) {
  const x = linearScale([0, sideTotal(row, side)], [from, from + barWidth]);
  let total = 0;
  return side.keys.map((key, place) => {
    const count = row.counts[key];
    if (!count) return null;
    const start = x(total);
    total += count;
    const width = x(total) - start;
    const part = PARTS[place][0];
    const number = formatCount(count);
    const hasRoom = (text) => width > textWidth(text, 12) + 12;
    const full = place < 2 ? `${COLUMN_TITLES[key]} ${number}` : number;
    const text = hasRoom(full) ? full : number;
    const plate = { class: "plate", x: start + 3, y: y + 2, width: textWidth(text, 12) + 4, height: 12 };
    const fill = `url(#${name}-${part})`;
    return [
      svgEl("rect", { class: `part ${part}`, x: start, y, width: Math.max(1, width - 1), height: 16, fill }),
      hasRoom(number) && part !== "right" && svgEl("rect", plate),
      hasRoom(number) && svgEl("text", { class: `inside ${part}`, x: start + 5, y: y + 12.3 }, text),
    ];
  });
}

function sideTotal(row, side) {
  return side.keys.reduce((sum, key) => sum + row.counts[key], 0);
}

/** Return fills by name: right full, wrong hatched, unreadable dotted, failed crossed. */
function patterns(name) {
  const pattern = (part, size, ...children) =>
    svgEl(
      "pattern",
      { id: `${name}-${part}`, width: size, height: size, patternUnits: "userSpaceOnUse" },
      svgEl("rect", { class: `ground ${part}`, width: size, height: size }),
      children,
    );
  return svgEl(
    "defs",
    {},
    pattern("right", 8),
    pattern("wrong", 6, svgEl("path", { class: "ink wrong", d: "M-1 1l2-2M0 6l6-6M5 7l2-2" })),
    pattern("unreadable", 5, svgEl("circle", { class: "ink unreadable", cx: 2.5, cy: 2.5, r: 1 })),
    pattern("failed", 6, svgEl("path", { class: "ink failed", d: "M0 0l6 6M6 0l-6 6" })),
  );
}
