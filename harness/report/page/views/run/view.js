// One run: its scores with intervals and bounds, every label set and breakdown, then what it was and how it came about.
import { formatCount, formatInterval, formatMetric, heatMetrics, isPercent, metricTitle } from "../../data/format.js";
import { findRun, metricsIn } from "../../data/runs.js";
import { addressOf, setQuery } from "../../ui/address.js";
import { selectField } from "../../ui/controls.js";
import { breakable, el, titledSection } from "../../ui/dom.js";
import { setTitle } from "../../ui/router.js";
import { intervalBar, rangeText } from "../../ui/score_cells.js";
import { sortableTable } from "../../ui/table.js";
import { breakdownFolds, COUNTS } from "./breakdowns.js";
import { answersSection, factSections } from "./facts.js";
import { runLinks } from "./links.js";

const MOST_LARGE = 4; // numbers

export const runView = {
  title: "Run",
  listed: () => false,
  show: (place, route) => showRun(place, route.parts[0], Object.fromEntries(route.query)),
};

function showRun(place, id, query) {
  const run = findRun(id);
  if (!run) {
    const link = el("a", { href: addressOf("board") }, "All runs");
    const sentence = `This page has no run ${id || "without a name"}. `;
    place.append(el("h1", {}, "No such run"), el("p", {}, sentence, link));
    return;
  }
  const sets = labelSets(run);
  setTitle(run.model);
  place.classList.add("run", `role-${run.role}`);
  place.append(...heading(run, query));
  if (!sets.length) place.append(el("p", {}, "There are no scores in its result.json."));
  else place.append(mainScores(run), allScores(run, sets), answersSection(run), breakdowns(run, sets, query));
  place.append(...factSections(run));
}

// Those that have scores, the headline first.
function labelSets({ result }) {
  const scores = result.scores || {};
  const others = Object.keys(scores).filter((name) => name !== result.headline);
  return [result.headline, ...others].filter((name) => scores[name]);
}

function heading(run, query) {
  const { result } = run;
  const parts = [
    run.prompt && `prompt ${run.prompt}`,
    run.variant && `variant ${run.variant}`,
    run.role,
    result.headline && `${result.headline} labels`,
  ];
  const warning =
    "This run is not complete: its scores are those of the answers so far, and it is in no leaderboard and no chart.";
  const nodes = [
    el("p", { class: "crumbs" }, el("a", { href: addressOf("board", [], { task: run.task }) }, run.task)),
    el("h1", {}, breakable(run.model)),
    el("p", { class: "above" }, breakable(parts.filter(Boolean).join(" · "))),
    !run.complete && el("p", { class: "banner", role: "note" }, warning),
    runLinks(run, query),
  ];
  return nodes.filter(Boolean);
}

// What the run is ranked by, then what heat maps show, large.
function mainScores({ result, main }) {
  const row = ((result.scores[result.headline] || {}).overall || {}).all || {};
  const names = [...new Set([...main, ...heatMetrics()])].filter((name) => name in row).slice(0, MOST_LARGE);
  const figures = names.map((name) => {
    const ends = (row.intervals || {})[name];
    const number = el("span", { class: "big" }, formatMetric(name, row[name]));
    const bar = isPercent(name) && intervalBar(row[name], ends, 1);
    const interval = rangeText(formatInterval(name, ends));
    return el("div", {}, el("dt", {}, metricTitle(name)), el("dd", {}, number, " ", interval, bar));
  });
  return el("dl", { class: "figures", "aria-label": "Main scores" }, figures);
}

// Every metric of every label set: a column for each row of "overall".
function allScores({ result }, sets) {
  const columns = sets.flatMap((set) =>
    Object.entries(result.scores[set].overall || {}).map(([group, row]) => {
      const title = `${set}${group === "all" ? "" : `, ${group}`}`;
      return { title, row };
    }),
  );
  const names = metricsIn(columns.map((column) => column.row));
  const hasBounds = columns.some(({ row }) => Object.keys(row.bounds || {}).length);
  const hasFirm = columns.some(({ row }) => row.firm);
  const about =
    "Below a value: what it would be if all unreadable replies and failed calls had been wrong, " +
    "and if all had been right.";
  const table = sortableTable({
    label: "All scores, by label set",
    rows: [...names, ...COUNTS],
    columns: [{ name: "metric", title: "metric", kind: "text", value: metricTitle }, ...columns.map(scoreColumn)],
  });
  return titledSection(
    "Scores",
    table.node,
    hasBounds && el("p", { class: "notes" }, about),
    hasFirm && el("p", { class: "notes" }, "Firm: the same if only answers in the form or announced counted."),
    columns.flatMap(missingIntervals),
  );
}

function scoreColumn({ title, row }) {
  return {
    name: title,
    title: `${title} labels`.replace(", mean of networks labels", " labels, mean of networks"),
    kind: "metric",
    wide: true,
    value: (name) => row[name],
    show: (name) => scoreCell(row, name),
  };
}

function scoreCell(row, name) {
  if (!(name in row)) return ["– ", rangeText()];
  if (COUNTS.includes(name)) return [formatCount(row[name]), " ", rangeText()];
  const range = (ends) => ends && ends.map((end) => formatMetric(name, end)).join(" to ");
  const below = range((row.bounds || {})[name]);
  const firm = range((row.firm || {})[name]);
  const interval = formatInterval(name, (row.intervals || {})[name]);
  return [
    formatMetric(name, row[name]),
    " ",
    rangeText(interval),
    below && el("span", { class: "below" }, below),
    firm && el("span", { class: "below" }, `firm: ${firm}`),
  ];
}

// Why metrics have no interval, a note for each reason.
function missingIntervals({ title, row }) {
  return Object.entries(row.no_interval || {}).map(([reason, names]) => {
    const metrics = metricsIn([Object.fromEntries(names.map((name) => [name, true]))]);
    if (!metrics.length) return null;
    const titles = metrics.map(metricTitle).join(", ");
    return el("p", { class: "notes" }, `No interval, ${title} labels: ${reason} (${titles}).`);
  });
}

function breakdowns(run, sets, query) {
  const set = sets.includes(query.labels) ? query.labels : sets[0];
  const inside = el("div", {});
  const fill = (name) => {
    const parts = Object.entries(run.result.scores[name]).filter(([part]) => part !== "overall");
    inside.replaceChildren(...breakdownFolds(run, parts));
  };
  fill(set);
  const chooser = selectField({
    label: "Label set",
    value: set,
    options: sets.map((name) => [name, name]),
    onchange: (labels) => {
      setQuery({ labels });
      fill(labels);
    },
  });
  return titledSection("Breakdowns", sets.length > 1 && el("div", { class: "controls" }, chooser), inside);
}
