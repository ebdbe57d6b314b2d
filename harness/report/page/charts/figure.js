// The frame of every chart: title, controls, a drawing as wide as its container, legend, notes, and the numbers as a
// table.
import { bestEnd, formatInterval, formatMetric, metricTitle } from "../data/format.js";
import { addressOf } from "../ui/address.js";
import { el, svgEl } from "../ui/dom.js";
import { sortableTable } from "../ui/table.js";
import { rovingFocus } from "../ui/tip.js";

/**
 * Return {node, draw()} of a chart; parts: {draw(width, name) → node, numbers() → {columns, rows}, legend, note,
 * across}. Links in the drawing become one tab stop, `across` of them in a row.
 */
export function chartFigure(chart, parts) {
  const name = `chart-${chart.id.replace(/[^\w]+/g, "-")}`;
  const place = el("div", { class: "drawing" });
  let width = 0;
  const draw = () => {
    const drawing = parts.draw(width, name);
    place.replaceChildren(drawing);
    rovingFocus([...drawing.querySelectorAll("a")], parts.across);
  };
  new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (!now || now === width) return; // gone from the page, or only its height has changed
    width = now;
    draw();
  }).observe(place);
  const title = el("h3", { id: `${name}-title` }, chart.title);
  const node = el(
    "figure",
    { class: `chart chart-${chart.kind}`, id: name, "aria-labelledby": `${name}-title` },
    el("figcaption", {}, title),
    parts.legend,
    place,
    parts.note,
    chart.notes.map((note) => el("p", { class: "note" }, note)),
    numbersFold(chart, parts.numbers),
  );
  return { node, draw };
}

function numbersFold(chart, numbers) {
  const inside = el("div", {});
  const fillTable = () => {
    const { columns, rows } = numbers();
    const onsort = (order) => table.sort(order);
    const table = sortableTable({ label: `The numbers: ${chart.title}`, columns, rows, onsort });
    inside.replaceChildren(table.node);
  };
  const ontoggle = (event) => {
    if (event.target.open) fillTable();
  };
  return el("details", { class: "numbers", ontoggle }, el("summary", {}, "The numbers"), inside);
}

/** Return the SVG of a chart. It is a group and no image, as its marks are links that a screen reader has to reach. */
export function chartSvg(chart, name, width, height, ...children) {
  const labels = `${name}-name ${name}-desc`;
  const help = "Arrow keys move from mark to mark, Enter opens the run; the same numbers stand below as a table.";
  return svgEl(
    "svg",
    { role: "group", "aria-labelledby": labels, width, height, viewBox: `0 0 ${width} ${height}` },
    svgEl("title", { id: `${name}-name` }, `${chart.title}${chart.heading ? ` (${chart.heading})` : ""}`),
    svgEl("desc", { id: `${name}-desc` }, help),
    children,
  );
}

/** Return a link to a run's view around `children`. */
export function runLink(run, attributes, ...children) {
  return svgEl("a", { href: addressOf("run", [run]), ...attributes }, children);
}

/** The column of "The numbers" that all charts have. */
export const NAME_COLUMN = {
  name: "label",
  title: "run",
  kind: "text",
  value: (row) => row.label,
  show: (row) => el("a", { href: addressOf("run", [row.run]) }, row.label),
};

/** Return a column of "The numbers": a metric with its interval, where there is one. */
export function metricColumn(metric, name, title, value, ends) {
  const show = (row) => `${formatMetric(metric, value(row))} ${formatInterval(metric, ends && ends(row))}`.trim();
  return { name, title, kind: "metric", best: bestEnd(metric), value, show };
}

/** Return a metric and its interval as lines of a tip. */
export function scoreLines(metric, value, ends) {
  const interval = ends ? [["95% interval", formatInterval(metric, ends)]] : [];
  return [[metricTitle(metric), formatMetric(metric, value)], ...interval];
}
