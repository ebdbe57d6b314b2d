// Where to go from a run: its answers and graphs, and another run beside it.
import { formatCount } from "../../data/format.js";
import { runName } from "../../data/runs.js";
import { report } from "../../data/store.js";
import { addressOf } from "../../ui/address.js";
import { selectField } from "../../ui/controls.js";
import { el } from "../../ui/dom.js";

/** Return links from a run to its answers, graphs and charts, and a choice of runs to compare it with. */
export function runLinks(run, query) {
  const { answers, graphs } = run;
  const isOnSameItems = (other) => other.answers && answers && other.answers.items === answers.items;
  const others = report.runs.filter((other) => other !== run && isOnSameItems(other));
  const link = (title, ...address) => el("a", { class: "action", href: addressOf(...address) }, title);
  return el(
    "div",
    { class: "links" },
    answers && link(`Answers (${formatCount(answers.count)})`, "answers", [run.id]),
    graphs && link("Graphs, true and predicted", "graphs", [run.id, graphs.networks[0]]),
    !answers && run.no_answers && el("span", { class: "quiet" }, run.no_answers),
    others.length > 0 && compareLink(run, others, query),
    link("Charts of this task", "charts", [], { task: run.task }),
  );
}

function compareLink(run, others, query) {
  const link = el("a", { class: "action" }, "Compare the answers");
  const setTarget = (vs) => link.setAttribute("href", addressOf("answers", [run.id], { vs }));
  const first = others.some((other) => other.id === query.vs) ? query.vs : others[0].id;
  setTarget(first);
  const chooser = selectField({
    label: "Beside run",
    value: first,
    options: others.map((other) => [other.id, runName(other)]),
    onchange: setTarget,
  });
  return el("span", { class: "beside-run" }, chooser, link);
}
