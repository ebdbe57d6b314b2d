// The answers of a run, searched and filtered, alone or beside those of a second run.
import { loadAnswers } from "../../data/answers.js";
import { comparableRuns, requireRun, secondRun } from "../../data/runs.js";
import { report } from "../../data/store.js";
import { addressOf, currentRoute, replaceAddress, visit } from "../../ui/address.js";
import { runChooser } from "../../ui/controls.js";
import { el } from "../../ui/dom.js";
import { setTitle } from "../../ui/router.js";
import { showExplorer } from "./explorer.js";
import { labelsWarning } from "./marks.js";

export const answersView = {
  title: "Answers",
  listed: () => report.runs.some((run) => run.answers),

  async show(place, route) {
    const runs = report.runs.filter((run) => run.answers);
    const named = route.parts.length ? route : firstRoute(runs);
    const run = requireRun(named.parts[0]);
    const other = secondRun(named);
    setTitle("Answers", run.model);
    place.append(el("h1", {}, "Answers"), choosers(runs, run, other), labelsWarning(run, other) || "");
    if (!run.answers) {
      place.append(el("p", {}, run.no_answers));
      return;
    }
    const waiting = el("p", { class: "quiet" }, "Reading the answers…");
    place.append(waiting);
    const [set, second] = await Promise.all([loadAnswers(run), other ? loadAnswers(other) : null]);
    waiting.remove();
    showExplorer(place, set, second);
  },
};

// The route of the first run, of models before others, which becomes the address. Throws where no run has answers.
function firstRoute(runs) {
  const isModel = (run) => run.role === "model";
  const run = runs.find(isModel) || runs.find(({ role }) => role !== "baseline") || runs[0];
  if (!run) throw new Error("No run in this page has its answers here; the page of a run says why.");
  replaceAddress(addressOf("answers", [run.id], filters()));
  return currentRoute();
}

function choosers(runs, run, other) {
  return el(
    "div",
    { class: "choosers" },
    runChooser({
      label: "Run",
      runs,
      chosen: run,
      onchange: (id) => visit(addressOf("answers", [id], filters())),
    }),
    runChooser({
      label: "Beside",
      none: "no other run",
      runs: comparableRuns(run, "answers"),
      chosen: other,
      onchange: (vs) => visit(addressOf("answers", [run.id], { ...filters(), contrast: "", vs })),
    }),
    el("p", { class: "quiet" }, el("a", { href: addressOf("run", [run.id]) }, "Scores of this run")),
  );
}

// As they are now: they change without the view being shown anew.
function filters() {
  return Object.fromEntries(currentRoute().query);
}
