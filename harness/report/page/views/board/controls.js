// What chooses the rows and the columns of the leaderboard.
import { groupTitle, metricTitle } from "../../data/format.js";
import { findRun } from "../../data/runs.js";
import { addressOf, visit } from "../../ui/address.js";
import {
  checkboxList,
  controlForm,
  distinctOptions,
  searchField,
  selectField,
  switchField,
} from "../../ui/controls.js";
import { el } from "../../ui/dom.js";

/** Return the form; `update` is what the view does after a change: {filter, draw, drawControls}. */
export function boardControls(board, update) {
  const { state, published } = board;
  return controlForm(
    { class: "controls", role: "search", "aria-label": "Choose rows and columns" },
    taskField(board),
    searchField({
      label: "Filter",
      value: state.q,
      placeholder: "model, prompt, variant",
      oninput: (q) => board.change({ q }, update.filter),
    }),
    runField("Role", "role", board, update),
    breakdownFields(board, update),
    columnsField(board, update),
    published.length > 0 &&
      switchField({
        label: "Published numbers",
        on: state.published === "1",
        onchange: (on) => board.change({ published: on ? "1" : "" }, update.draw),
      }),
    el("button", { class: "plain to-published", type: "button", onclick: toPublished }, "Go to them"),
  );
}

function taskField({ state, tasks }) {
  return selectField({
    label: "Task",
    value: state.task,
    options: tasks.map((task) => [task, task]),
    onchange: (task) => visit(addressOf("board", [], { task, published: state.published })),
  });
}

// A select of what differs among the runs; where nothing does there is none.
function runField(label, part, { measured, state, change }, update) {
  const runs = measured.flatMap((table) => table.rows.map((row) => findRun(row.run) || {}));
  const values = runs.map((run) => run[part]);
  const options = distinctOptions(values, "all");
  if (options.length <= 2) return null;
  const onchange = (value) => change({ [part]: value }, update.filter);
  return selectField({ label, value: state[part] || "", options, onchange });
}

function breakdownFields(board, update) {
  const { breakdowns, change } = board;
  if (!breakdowns.size) return null;
  const breakdown = board.breakdown();
  const titles = [...breakdowns.keys()].map((name) => [name, groupTitle(name)]);
  return [
    selectField({
      label: "Broken down by",
      value: breakdown || "",
      options: [["", "nothing"], ...titles],
      onchange: (by) => change({ by, score: "", sort: "", order: "" }, update.drawControls),
    }),
    breakdown &&
      selectField({
        label: "Score",
        value: board.score(),
        options: breakdowns.get(breakdown).map((name) => [name, metricTitle(name)]),
        onchange: (score) => change({ score }, update.draw),
      }),
  ];
}

function columnsField(board, update) {
  const { metrics } = board;
  if (board.breakdown() || metrics.length < 2) return null;
  const usual = board.usualColumns.join(",");
  const namesText = (names) => (names.join(",") === usual ? "" : names.join(",") || "none");
  return checkboxList({
    label: "Columns",
    options: metrics.map((column) => [column.name, column.title]),
    on: board.chosenColumns() || board.usualColumns,
    onchange: (names) => board.change({ columns: namesText(names) }, update.draw),
  });
}

// Published numbers stand below all that was measured, which may be many screens.
function toPublished() {
  const heading = document.getElementById("published");
  heading.scrollIntoView();
  heading.focus({ preventScroll: true });
}
