// Differences between runs on the same items: by each setting in which they differ, and of models to the best of them.
import { findRun, taskWithMostRuns } from "../data/runs.js";
import { report } from "../data/store.js";
import { addressOf, visit } from "../ui/address.js";
import { selectField } from "../ui/controls.js";
import { breakable, el, titledSection } from "../ui/dom.js";
import { intervalBar, rangeText } from "../ui/score_cells.js";
import { sortableTable } from "../ui/table.js";

const ABOUT =
  "Runs on the same items, compared item by item. An interval that does not reach zero, the line in the middle, and " +
  "a small p speak for a difference that chance does not make; of several in one table one is soon found by chance. " +
  "A star (*) marks those that stay below 0.05 when all p of their table are corrected together (Holm): go by the " +
  "star.";

export const differencesView = {
  title: "Differences",
  listed: () => report.differences.length > 0,

  show(place, route) {
    const tasks = [...new Set(report.differences.map((table) => table.task))];
    const asked = route.query.get("task");
    const task = tasks.includes(asked) ? asked : taskWithMostRuns(tasks);
    place.classList.add("differences");
    place.append(el("h1", {}, "Differences"));
    if (!tasks.length) {
      place.append(el("p", {}, "No two runs of this page have the same items and their answers here."));
      return;
    }
    if (tasks.length > 1) place.append(el("div", { class: "controls" }, taskField(tasks, task)));
    place.append(el("p", { class: "above" }, ABOUT));
    const tables = report.differences.filter((table) => table.task === task);
    place.append(...tables.map((table, k) => tableSection(table, lastNotes(table, tables.slice(k + 1)))));
  },
};

function taskField(tasks, value) {
  const onchange = (task) => visit(addressOf("differences", [], { task }));
  return selectField({ label: "Task", value, options: tasks.map((task) => [task, task]), onchange });
}

// A note of several tables stands below the last of them.
const lastNotes = (table, later) => table.notes.filter((note) => !later.some(({ notes }) => notes.includes(note)));

function tableSection(table, notes) {
  const columns = table.columns.filter((column) => !column.in_caption).map((column) => shownColumn(table, column));
  const sortable = sortableTable({
    label: table.heading,
    columns,
    rows: table.rows,
    mark: (row) => `role-${(findRun(row.run) || {}).role || "model"}`,
    onsort: (order) => sortable.sort(order),
  });
  return titledSection(
    breakable(table.heading),
    el("p", { class: "above" }, table.above),
    table.settings && el("p", { class: "settings" }, breakable(table.settings)),
    sortable.node,
    el(
      "div",
      { class: "notes" },
      notes.map((note) => el("p", {}, note)),
    ),
  );
}

function shownColumn(table, column) {
  if (column.kind === "text") return { ...column, value: (row) => row[column.name], show: (row) => name(row, column) };
  const value = (row) => row[column.name].value;
  const cells = table.rows.map((row) => row[column.name]);
  const isDifference = column.name.endsWith("/difference");
  const most =
    isDifference && Math.max(...cells.flatMap((cell) => [cell.value, ...(cell.interval || [])]).map(Math.abs));
  const wide = cells.some(({ interval }) => interval);
  return { ...column, wide, value, show: (row) => scoreCell(row[column.name], wide, most) };
}

function name(row, column) {
  const run = column.name === "model" && findRun(row.run);
  const text = breakable(row[column.name] || "–");
  return run ? el("a", { href: addressOf("run", [run.id]) }, text) : text;
}

// A difference is drawn around zero, which is in the middle of its bar.
function scoreCell({ value, interval, text }, wide, most) {
  if (!wide || value === null) return text;
  const [number, ...range] = text.split(" ");
  const shifted = interval && interval.map((end) => end + most);
  if (most === false) return [number, " ", el("span", { class: "own-range" }, rangeText(range.join(" ")))];
  return [number, " ", rangeText(range.join(" ")), intervalBar(value + most, shifted, 2 * most)];
}
