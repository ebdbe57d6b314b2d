// The leaderboard: the tables of one task, filtered and sorted together; all of that stands in the address.
import { breakdownsOf, taskWithMostRuns } from "../../data/runs.js";
import { report } from "../../data/store.js";
import { setQuery } from "../../ui/address.js";
import { el, fill } from "../../ui/dom.js";
import { isUsual } from "./columns.js";
import { boardControls } from "./controls.js";
import { publishedSection } from "./published.js";
import { measuredSection, tableContents, TableSet } from "./tables.js";

export const boardView = {
  title: "Leaderboard",
  listed: () => true,
  show: (place, route) => showBoard(place, Object.fromEntries(route.query)),
};

function showBoard(place, query) {
  const board = boardOf(query);
  place.append(el("h1", {}, "Leaderboard"));
  if (!board.tasks.length) {
    place.append(el("p", {}, "There is no run to show."));
    return;
  }
  const tableSet = new TableSet(board);
  const sections = el("div", {});
  const update = { filter: () => tableSet.filter(), draw, drawControls };
  let form = boardControls(board, update);
  fill(place, {}, [form, tableContents(board), sections]);
  draw();
  const section = document.getElementById(`table-${board.state.at}`);
  if (section) requestAnimationFrame(() => section.scrollIntoView());

  function draw() {
    const showsPublished = board.state.published === "1";
    tableSet.clear();
    sections.replaceChildren(...board.measured.map((table, number) => measuredSection(board, tableSet, table, number)));
    if (showsPublished) sections.append(publishedSection(board, tableSet));
    form.querySelector(".to-published").hidden = !showsPublished;
    tableSet.filter();
  }

  // Other columns have other controls; the keyboard stays where it was.
  function drawControls() {
    const before = form;
    form = boardControls(board, update);
    before.replaceWith(form);
    form.elements["Broken down by"].focus();
    draw();
  }
}

/**
 * Return what the parts of the leaderboard share: the tables of the chosen task, what can be chosen, and `state`, what
 * is: the settings of the address, which `change` keeps up with.
 */
function boardOf(query) {
  const tables = [...report.tables, ...report.published];
  const tasks = [...new Set(tables.map((table) => table.task))];
  const state = { ...query, task: tasks.includes(query.task) ? query.task : taskWithMostRuns(tasks) };
  const ofTask = (list) => list.filter((table) => table.task === state.task);
  const measured = ofTask(report.tables);
  const metrics = distinctColumns(measured).filter((column) => column.kind !== "text");
  const breakdowns = breakdownsOf(measured.filter((table) => table.label_set)); // none of models by benchmarks
  const breakdown = () => (breakdowns.has(state.by) ? state.by : null);
  const score = () => {
    const scores = breakdowns.get(breakdown());
    return scores.includes(state.score) ? state.score : scores[0];
  };
  const usualColumns = metrics
    .filter(({ name }) => measured.some((table) => isUsual(table, name)))
    .map((column) => column.name);
  const chosenColumns = () => (state.columns ? state.columns.split(",") : null); // null: nobody has chosen
  const change = (changes, then) => {
    Object.assign(state, changes);
    setQuery(changes);
    if (then) then();
  };
  const published = ofTask(report.published);
  return {
    tasks,
    state,
    measured,
    published,
    metrics,
    breakdowns,
    breakdown,
    score,
    usualColumns,
    chosenColumns,
    change,
  };
}

function distinctColumns(tables) {
  const columns = new Map();
  for (const column of tables.flatMap((table) => table.columns)) {
    if (!columns.has(column.name)) columns.set(column.name, column);
  }
  return [...columns.values()];
}
