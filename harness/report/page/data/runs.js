// Runs by their id, what they are called, and which of them may stand beside each other.
import { report } from "./store.js";

let runsById = null;

/** Return the run with this id, or undefined. */
export function findRun(id) {
  runsById ||= new Map(report.runs.map((run) => [run.id, run]));
  return runsById.get(id);
}

/** Return the run with this id. Throws where an address names none, or one that is not in the page. */
export function requireRun(id) {
  const run = findRun(id);
  if (!run) throw new Error(id ? `There is no run ${id} in this page.` : "The address names no run.");
  return run;
}

/** Return the run that an address puts beside its first, or null: no run stands beside itself. */
export function secondRun(route) {
  const id = route.query.get("vs");
  const run = id ? requireRun(id) : null;
  return id === route.parts[0] ? null : run;
}

/** Return the other runs of a run's task that have `part` (answers or graphs), as they were asked the same things. */
export function comparableRuns(run, part) {
  return report.runs.filter((other) => other[part] && other.task === run.task && other !== run);
}

/** Name a run by its model, then by what tells it from the model's other runs: a select shows the beginning. */
export function runName(run) {
  // The folder stands before the place, where several folders have the same run.
  const place = `//${[run.task, run.variant, run.prompt, run.model].join("/")}`;
  const folder = run.id.endsWith(place) ? run.id.slice(0, -place.length) : "";
  const variant = run.variant === "default" ? "" : run.variant;
  return [run.model, run.prompt, variant, run.task, folder].filter(Boolean).join(" · ");
}

/** Return the task that a view begins with where its address names none: the one with the most runs. */
export function taskWithMostRuns(tasks) {
  const count = (task) => report.runs.filter((run) => run.task === task).length;
  return [...tasks].sort((a, b) => count(b) - count(a))[0];
}

/** Return the breakdowns of a run's scores under its headline labels: {overall: {…}, relation: {…}, …}. */
export function headlineScores(id) {
  const { result } = findRun(id) || { result: {} };
  return (result.scores || {})[result.headline] || {};
}

/** Return the metrics of some rows in the order of the tables; those without a title are left to result.json. */
export function metricsIn(rows) {
  return Object.keys(report.metrics).filter((name) => rows.some((row) => name in row));
}

/**
 * Return the breakdowns of some tables' runs, each with its metrics; crossed ones (network/structure) stand on the
 * run's page.
 */
export function breakdownsOf(tables) {
  const rowsByName = new Map();
  for (const row of tables.flatMap((table) => table.rows)) {
    for (const [name, groups] of Object.entries(headlineScores(row.run))) {
      if (name === "overall" || name.includes("/")) continue;
      rowsByName.set(name, [...(rowsByName.get(name) || []), ...Object.values(groups)]);
    }
  }
  return new Map([...rowsByName].map(([name, rows]) => [name, metricsIn(rows)]));
}
