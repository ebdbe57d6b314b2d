// The scores of a run by the groups of a breakdown: a row of colours and a table.
import { heatClass } from "../../charts/heat.js";
import {
  bestEnd,
  formatCount,
  formatInterval,
  formatMetric,
  groupTitle,
  isPercent,
  metricTitle,
} from "../../data/format.js";
import { metricsIn } from "../../data/runs.js";
import { report } from "../../data/store.js";
import { el } from "../../ui/dom.js";
import { intervalBar, intervalBarHead, rangeText } from "../../ui/score_cells.js";
import { sortableTable } from "../../ui/table.js";

/** What a row of scores counts. */
export const COUNTS = ["items", "positives", "clusters", "unreadable", "failed"];

const MOST_COLOURED = 20; // groups

/**
 * Return the folds of a label set's breakdowns. Closed, and built when they are opened, are those that say little: of a
 * few items a group, as on a terminal, or with the same groups as one before; and crossed ones (network/structure),
 * which are long.
 */
export function breakdownFolds(run, breakdowns) {
  const titles = new Map(); // by the scores of its groups, of the first breakdown that has them
  return breakdowns.map(([name, groups]) => {
    const scores = JSON.stringify(
      Object.values(groups)
        .map((row) => JSON.stringify(row))
        .sort(),
    );
    const first = titles.get(scores);
    if (!first) titles.set(scores, groupTitle(name));
    const most = Math.max(...Object.values(groups).map((row) => row.items));
    const isSmall = most <= report.few_items;
    const reason = first
      ? `, the same as by ${first}`
      : isSmall
        ? `, of ${formatCount(most)} item${most === 1 ? "" : "s"} at most`
        : "";
    return breakdownFold(run, name, groups, reason);
  });
}

function breakdownFold(run, name, groups, reason) {
  const title = groupTitle(name);
  const rows = Object.entries(groups).map(([group, row]) => ({ group, ...row }));
  const metrics = metricsIn(rows);
  const main = run.main.find((metric) => metrics.includes(metric));
  const summary = el("summary", {}, el("h3", {}, `By ${title}`), ` ${rows.length} groups${reason}`);
  const isOpen = !reason && !name.includes("/");
  const fold = el("details", { class: "breakdown", open: isOpen, ontoggle: build }, summary);
  if (fold.open) build();
  return fold;

  function build() {
    if (fold.children.length > 1) return;
    const label = `${run.model} by ${title}`;
    const columns = [
      { name: "group", title, kind: "text", value: (row) => groupText(row.group) },
      ...metrics.map((metric) => metricColumn(metric, run.main)),
      ...COUNTS.map(countColumn),
      ...(rows.some((row) => row.cut_off) ? [{ ...countColumn("cut_off"), title: "cut off in thought" }] : []),
    ];
    const table = sortableTable({ label, rows, columns, onsort: (order) => table.sort(order) });
    if (main && rows.length <= MOST_COLOURED) fold.append(colourStrip(rows, main, title));
    fold.append(table.node);
  }
}

const groupText = (group) => group.replace(/_/g, " ");

function colourStrip(rows, metric, title) {
  const entries = rows.map((row) => {
    const square = el("span", { class: `square ${heatClass(row[metric])}` }, formatMetric(metric, row[metric]));
    return el("li", {}, el("span", { class: "group" }, groupText(row.group)), square);
  });
  return el("ul", { class: "strip", "aria-label": `${metricTitle(metric)} by ${title}` }, entries);
}

// The main metrics have bars.
function metricColumn(metric, main) {
  const hasBar = isPercent(metric) && main.includes(metric);
  const show = (row) => {
    const text = formatMetric(metric, row[metric]);
    if (!hasBar) return text;
    const ends = (row.intervals || {})[metric];
    return [text, " ", rangeText(formatInterval(metric, ends)), intervalBar(row[metric], ends, 1)];
  };
  return {
    name: metric,
    title: metricTitle(metric),
    kind: "metric",
    head: hasBar && intervalBarHead(true),
    best: bestEnd(metric),
    value: (row) => row[metric],
    show,
  };
}

function countColumn(name) {
  const show = (row) => (name in row ? formatCount(row[name]) : "–");
  return { name, title: name, kind: "count", value: (row) => row[name], show };
}
