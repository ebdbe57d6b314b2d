// The columns of the leaderboard: names that lead to their run, numbers with their intervals, best and second marked.
import { bestEnd, formatCount, formatInterval, formatMetric, isPercent } from "../../data/format.js";
import { findRun, headlineScores } from "../../data/runs.js";
import { addressOf } from "../../ui/address.js";
import { breakable, el } from "../../ui/dom.js";
import { bestPlaces, emphasized, intervalBar, intervalBarHead, rangeText } from "../../ui/score_cells.js";

/**
 * Return the columns of a table with what stands in their cells; `chosen` names those of numbers. Where nobody has
 * chosen they are the usual ones.
 */
export function tableColumns(table, chosen) {
  const isChosen = (column) => (chosen ? chosen.includes(column.name) : isUsual(table, column.name));
  const isWanted = (column) => column.kind === "text" || isChosen(column);
  return table.columns.filter(isWanted).map((column) => {
    if (column.kind === "metric") return metricColumn(table, column);
    const value = (row) => row[column.name];
    if (column.kind === "count") return { ...column, value, show: (row) => countText(value(row)) };
    return { ...column, value, show: column.name === "model" ? modelCell : null };
  });
}

/**
 * Tell whether a column is shown where nobody has chosen: the caption does not say it, being the same in all rows, and
 * some of the compared runs has it, not a baseline alone.
 */
export function isUsual(table, name) {
  const column = table.columns.find((own) => own.name === name);
  if (!column || column.in_caption) return false;
  const compared = table.rows.filter(isCompared);
  return !compared.length || compared.some((row) => hasValue(row[name]));
}

const hasValue = (cell) => (cell && typeof cell === "object" ? cell.value !== null : cell !== null);
const countText = (value) => (typeof value === "number" ? formatCount(value) : value);

function metricColumn(table, column) {
  const cells = table.rows.map((row) => row[column.name]);
  const places = bestPlaces(comparedCells(table.rows, cells), column.best);
  const hasRange = cells.some((cell) => cell && cell.text.includes(" "));
  const percent = isPercent(column.name.split("/")[0]); // f1/corr2cause, of models by benchmarks
  const most = percent ? 1 : Math.max(...cells.map(upperEnd));
  return {
    ...column,
    wide: hasRange,
    head: hasRange && intervalBarHead(percent),
    value: (row) => (row[column.name] ? row[column.name].value : null),
    show: (row) =>
      row[column.name] ? scoreCell(row[column.name], { places: placesOf(row, places), hasRange, most }) : null,
  };
}

// Best and second are marked among what is compared: no baseline, solver or cheat, and nothing that a paper prints.
const isCompared = (row) => (findRun(row.run) || {}).ranked;
const comparedCells = (rows, cells) => cells.filter((_, number) => isCompared(rows[number]));
const placesOf = (row, places) => (isCompared(row) ? places : new Map());

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
  const places = bestPlaces(comparedCells(table.rows, cells), best);
  const interval = (row) => formatInterval(metric, (scoresOf(row).intervals || {})[metric]);
  return {
    name: group,
    title: group.replace(/_/g, " "),
    kind: "metric",
    wide: true,
    head: [" ", rangeText()],
    best,
    value,
    show: (row) => [emphasized(formatMetric(metric, value(row)), placesOf(row, places)), " ", rangeText(interval(row))],
  };
}
