// The columns of the leaderboard: names that lead to their run, numbers with their intervals, best and second marked.
import { bestEnd, formatCount, formatInterval, formatMetric, isPercent } from "../../data/format.js";
import { findRun, headlineScores } from "../../data/runs.js";
import { addressOf } from "../../ui/address.js";
import { breakable, el } from "../../ui/dom.js";
import { bestPlaces, emphasized, intervalBar, intervalBarHead, rangeText } from "../../ui/score_cells.js";

/** Return the columns of a table with what stands in their cells; `chosen` names those of numbers (default: all). */
export function tableColumns(table, chosen) {
  const isWanted = (column) => column.kind === "text" || !chosen || chosen.includes(column.name);
  return table.columns.filter(isWanted).map((column) => {
    if (column.kind === "metric") return metricColumn(table, column);
    const value = (row) => row[column.name];
    if (column.kind === "count") return { ...column, value, show: (row) => countText(value(row)) };
    return { ...column, value, show: column.name === "model" ? modelCell : null };
  });
}

const countText = (value) => (typeof value === "number" ? formatCount(value) : value);

function metricColumn(table, column) {
  const cells = table.rows.map((row) => row[column.name]);
  // In a published table with a row for each model and network, the best of all networks says nothing.
  const isComparable = !table.published || table.columns.filter(({ kind }) => kind === "text").length === 1;
  const places = isComparable ? bestPlaces(cells, column.best) : new Map();
  const hasRange = cells.some((cell) => cell && cell.text.includes(" "));
  const percent = isPercent(column.name);
  const most = percent ? 1 : Math.max(...cells.map(upperEnd));
  return {
    ...column,
    wide: hasRange,
    head: hasRange && intervalBarHead(percent),
    value: (row) => (row[column.name] ? row[column.name].value : null),
    show: (row) => (row[column.name] ? scoreCell(row[column.name], { places, hasRange, most }) : null),
  };
}

function upperEnd(cell) {
  if (!cell) return 0;
  return (cell.interval ? cell.interval[1] : cell.value) || 0;
}

function scoreCell(cell, { places, hasRange, most }) {
  const [value, ...range] = cell.text.split(" ");
  const number = emphasized(value, places);
  if (!hasRange) return number;
  return [number, " ", rangeText(range.join(" ")), intervalBar(cell.value, range.length ? cell.interval : null, most)];
}

function modelCell(row) {
  const run = findRun(row.run);
  if (!run) return breakable(row.model);
  const hasRole = run.role !== "model" && run.role !== row.model;
  const link = el("a", { href: addressOf("run", [run.id]) }, breakable(row.model));
  return [link, hasRole && el("span", { class: "role" }, ` ${run.role}`)];
}

/** Return the columns of a table with one metric by the groups of a breakdown in the place of the overall numbers. */
export function groupColumns(table, breakdown, metric) {
  const groupsOf = (row) => headlineScores(row.run)[breakdown] || {};
  const groups = [...new Set(table.rows.flatMap((row) => Object.keys(groupsOf(row))))];
  const columns = groups.map((group) => groupColumn(table, group, metric, (row) => groupsOf(row)[group] || {}));
  return [...tableColumns(table, []), ...columns];
}

function groupColumn(table, group, metric, scoresOf) {
  const best = bestEnd(metric);
  const value = (row) => scoresOf(row)[metric] ?? null;
  const cells = table.rows.map((row) => ({ value: value(row), text: formatMetric(metric, value(row)) }));
  const places = bestPlaces(cells, best);
  const interval = (row) => formatInterval(metric, (scoresOf(row).intervals || {})[metric]);
  return {
    name: group,
    title: group.replace(/_/g, " "),
    kind: "metric",
    wide: true,
    head: [" ", rangeText()],
    best,
    value,
    show: (row) => [emphasized(formatMetric(metric, value(row)), places), " ", rangeText(interval(row))],
  };
}
