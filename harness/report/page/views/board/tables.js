// The tables of measured runs on the leaderboard: each with its heading, notes, and how many rows a filter leaves.
import { formatCount, groupTitle, metricTitle } from "../../data/format.js";
import { findRun, headlineScores } from "../../data/runs.js";
import { report } from "../../data/store.js";
import { addressOf } from "../../ui/address.js";
import { announce, breakable, el } from "../../ui/dom.js";
import { sortableTable } from "../../ui/table.js";
import { groupColumns, tableColumns } from "./columns.js";

// The notes of a table are about its overall numbers: where its groups have intervals, this one stands in their place.
const GROUP_NOTE =
  "In brackets: 95% intervals, each over the clusters that have items of the group; within one network of " +
  "CausalBench over its pairs of variables. A run's page tells how many they are.";

/** Return a section with a measured table, the `number`th of its task. */
export function measuredSection(board, tableSet, table, number) {
  const heading = table.heading || table.task;
  const id = `table-${number + 1}`;
  const rowsLeft = el("span", { class: "count" });
  const anchor = { class: "anchor", "aria-label": `Address of the table ${heading}` };
  const link = board.measured.length > 1 && tableLink(board, number, anchor, "#");
  const breakdown = breakdownOf(board, table);
  const [columns, summary] = breakdown
    ? [groupColumns(table, breakdown, board.score()), `${metricTitle(board.score())} by ${groupTitle(breakdown)}. `]
    : [tableColumns(table, board.chosenColumns()), null];
  return el(
    "section",
    { "aria-labelledby": id },
    el("h2", { id }, breakable(heading), " ", link),
    el("p", { class: "above" }, table.above, " ", summary, rowsLeft),
    table.settings && el("p", { class: "settings" }, breakable(table.settings)),
    table.rows.length > 0 && tableSet.add(table, columns, rowsLeft, heading),
    tableNotes(board, table),
  );
}

// Printed numbers have no groups here, nor has a table that a plug-in makes of no label set.
const breakdownOf = (board, table) => (table.published || !table.label_set ? null : board.breakdown());

/** Return the list of a task's tables, or null where there is one. */
export function tableContents(board) {
  const { measured } = board;
  if (measured.length < 2) return null;
  const entries = measured.map((table, number) => {
    const link = tableLink(board, number, {}, breakable(table.heading || table.task));
    return el("li", {}, link, `, ${rowsText(table.rows.length)}`);
  });
  return el(
    "details",
    { class: "contents" },
    el("summary", {}, `${measured.length} tables: runs on other items or labels are not comparable`),
    el("nav", { "aria-label": "Tables of this task" }, el("ol", {}, entries)),
  );
}

// To a table of this view: rows and columns stay as they are chosen, in the address too.
function tableLink(board, number, attributes, ...children) {
  const onclick = (event) => {
    event.preventDefault();
    board.change({ at: number + 1 });
    document.getElementById(`table-${number + 1}`).scrollIntoView();
  };
  const href = addressOf("board", [], { task: board.state.task, at: number + 1 });
  return el("a", { ...attributes, href, onclick }, children);
}

/** Return the notes below a table, and links to the runs that are not complete. */
export function tableNotes(board, table) {
  const incomplete = table.not_complete || [];
  const names = incomplete.map((run) => `${run.variant}/${run.prompt}/${run.model}`);
  const sentence = "Not complete, so not ranked: ";
  const runs = report.runs.filter((run) => !run.complete && run.task === table.task);
  const ownNotes = () => table.notes.filter((note) => !note.startsWith(sentence) || !runs.length);
  const groupNotes = () => (hasGroupIntervals(board, table) ? [GROUP_NOTE] : []);
  const notes = breakdownOf(board, table) ? groupNotes() : ownNotes();
  const links = runs.map((run, number) => {
    const name = [run.variant, run.prompt, run.model].join("/");
    return [number ? ", " : "", el("a", { href: addressOf("run", [run.id]) }, name)];
  });
  const isLinked = names.length > 0 && runs.length > 0;
  return el(
    "div",
    { class: "notes" },
    notes.map((note) => el("p", {}, note)),
    isLinked && el("p", { class: "warning" }, sentence, links, "."),
  );
}

function hasGroupIntervals(board, table) {
  return table.rows.some((row) => {
    const groups = Object.values(headlineScores(row.run)[board.breakdown()] || {});
    return groups.some((group) => (group.intervals || {})[board.score()]);
  });
}

/** Return a number of rows in words: 1 row, 2 rows. */
export const rowsText = (number) => `${formatCount(number)} row${number === 1 ? "" : "s"}`;

/** The tables in sight, measured and published, which are sorted and filtered together. */
export class TableSet {
  constructor(board) {
    this.board = board;
    this.tables = [];
  }

  clear() {
    this.tables = [];
  }

  /** Return the node of one more table; `rowsLeft` is where the number of its rows stands. */
  add(table, columns, rowsLeft, label) {
    const { state, change } = this.board;
    const sortable = sortableTable({
      label,
      columns,
      rows: table.rows,
      mark: (row) => `role-${(findRun(row.run) || {}).role || "published"}`,
      sort: state.sort ? { by: state.sort, order: state.order } : null,
      onsort: ({ by, order }) => {
        change({ sort: by, order }, () => this.sort());
        announce(`Sorted by ${metricTitle(by)}, ${order}ending.`);
      },
    });
    this.tables.push({ sortable, rowsLeft, rows: table.rows });
    return sortable.node;
  }

  sort() {
    const { sort, order } = this.board.state;
    for (const { sortable } of this.tables) if (sortable.has(sort)) sortable.sort({ by: sort, order });
  }

  filter() {
    const { q, role } = this.board.state;
    const words = (q || "").toLowerCase().split(/\s+/).filter(Boolean);
    let total = 0;
    for (const { sortable, rowsLeft, rows } of this.tables) {
      const visible = sortable.filter((row) => this.passes(row, words));
      total += visible;
      const all = rowsText(rows.length);
      rowsLeft.textContent = visible === rows.length ? `${all}.` : `${formatCount(visible)} of ${all}.`;
    }
    if (words.length || role) announce(`${rowsText(total)} left.`);
  }

  passes(row, words) {
    const { role } = this.board.state;
    const run = findRun(row.run);
    if (run && role && run.role !== role) return false;
    const text = [row.model, row.prompt, row.variant, row.folder].filter(Boolean).join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  }
}
