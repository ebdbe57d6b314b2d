// What a run was and how it came about: answers that could not be read, usage and cost, settings, provenance.
import { formatCount, formatMetric, formatNumber, formatTime, metricTitle } from "../../data/format.js";
import { el, titledSection } from "../../ui/dom.js";
import { scrollTable } from "../../ui/table.js";

/** Return what became of the items: right and wrong by gold label, unreadable, failed, and how the replies ended. */
export function answersSection({ result }) {
  const row = result.scores[result.headline].overall.all;
  const counts = row.confusion;
  const facts = factList([
    !counts && ["Unreadable replies", formatCount(row.unreadable)],
    !counts && ["Failed calls", formatCount(row.failed)],
    countsFact("Answers by grade", result.grades),
    firmFact(row.firm),
    countsFact("Failures by kind", result.failures),
    countsFact("How replies ended", result.finish_reasons),
    row.cut_off > 0 && ["Cut off while the model was thinking", formatCount(row.cut_off)],
    countsFact("Models that the server named", result.served_models),
    countsFact("Providers behind the server", result.providers),
    countsFact("Configurations of the server (fingerprints)", result.system_fingerprints),
  ]);
  return titledSection("Answers", counts && confusionTable(counts, result.headline), facts);
}

// Between what numbers the metrics are where only answers in their form, or announced, count.
function firmFact(firm) {
  const bounds = Object.entries(firm || {});
  const range = (name, ends) => `${metricTitle(name)} ${ends.map((end) => formatMetric(name, end)).join(" to ")}`;
  const title = "If all others than form and announced had been wrong, or right";
  return bounds.length > 0 && [title, bounds.map(([name, ends]) => range(name, ends)).join(", ")];
}

function countsFact(title, counts) {
  const entries = Object.entries(counts || {});
  return entries.length > 0 && [title, entries.map(([name, count]) => `${name} ${formatCount(count)}`).join(", ")];
}

function confusionTable(counts, headline) {
  const heads = ["said yes", "said no", "unreadable", "failed call"].map((title) =>
    el("th", { scope: "col", class: "number" }, title),
  );
  const cell = (name) => el("td", { class: "number" }, formatCount(counts[name] || 0));
  const rows = [
    ["yes", "tp", "fn", "unreadable_positive", "failed_positive"],
    ["no", "fp", "tn", "unreadable_negative", "failed_negative"],
  ].map(([gold, ...names]) => el("tr", {}, el("th", { scope: "row" }, gold), names.map(cell)));
  return scrollTable(
    "Answers by gold label",
    { class: "data" },
    `Answers by gold label (${headline})`,
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, `gold (${headline})`), heads)),
    el("tbody", {}, rows),
  );
}

/** Return the sections of a run's notes, usage, settings and provenance; those that hold nothing are left out. */
export function factSections({ id, result, manifest }) {
  const notes = (result.notes || []).map((note) => el("p", { class: "prose" }, note));
  return [
    notes.length > 0 && titledSection("Notes", notes),
    factSection("Several answers an item", Object.entries(result.samples || {}).map(sampleFact)),
    factSection("Usage and cost", costFacts(result, manifest)),
    factSection("Settings", flatSettings(manifest.configuration)),
    factSection("How it came about", provenanceFacts(id, result, manifest)),
  ].filter(Boolean);
}

function sampleFact([name, value]) {
  const isShare = name !== "number" && typeof value === "number";
  return [name.replace(/_/g, " "), isShare ? `${formatNumber(100 * value, 2)}%` : String(value ?? "–")];
}

function costFacts(result, { price }) {
  const cost = result.cost || {};
  const usage = Object.entries(result.usage || {});
  return [
    ...usage.map(([name, count]) => [`${name.replace(/_/g, " ")} tokens`, formatCount(count)]),
    "usd" in cost && ["cost", dollarText(cost.usd)],
    cost.answers && ["answers paid for", formatCount(cost.answers)],
    cost.answers_without_cost && ["answers without a count of tokens", formatCount(cost.answers_without_cost)],
    cost.price && ["price", cost.price],
    ...flatSettings(price).map(([name, value]) => [`price: ${name}`, value]),
  ];
}

function dollarText(usd) {
  if (usd === null) return "unknown, as the model's price is";
  return `$${usd.toLocaleString("en-US", { maximumSignificantDigits: 4 })}`;
}

function provenanceFacts(id, { interval }, manifest) {
  const { harness, versions, machine, items, started, ended, python } = manifest;
  const joined = (pairs) => pairs.map(([name, value]) => `${name} ${value}`).join(", ");
  return [
    ["run", id],
    harness && ["harness", versionText(harness)],
    started && ["started", formatTime(started)],
    ended && ["ended", formatTime(ended)],
    items && ["items", `${items.count === undefined ? "" : formatCount(items.count)}, SHA-256 ${items.sha256}`],
    interval && ["intervals", `${100 * interval.level}%, ${interval.method}, seed ${interval.seed}`],
    python && ["Python", python],
    machine && ["machine", joined(flatSettings(machine))],
    versions && ["packages", joined(Object.entries(versions))],
  ];
}

function versionText({ version, commit, dirty }) {
  const changes = dirty ? ", with changes that are not committed" : "";
  return `${version || ""}${commit ? `, commit ${commit}` : ""}${changes}`;
}

function factSection(title, pairs) {
  const list = factList(pairs);
  return list && titledSection(title, list);
}

// Names and what they are, one below the other; null where there is nothing.
function factList(pairs) {
  const facts = pairs.filter(Boolean);
  if (!facts.length) return null;
  const rows = facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
  return el("dl", { class: "about" }, rows);
}

// Settings within settings as ["model.temperature", "0"].
function flatSettings(value, name = "") {
  if (value === null || value === undefined) return name ? [[name, "none"]] : [];
  if (typeof value !== "object") return [[name, String(value)]];
  if (Array.isArray(value)) return [[name, value.map(entryText).join(", ") || "none"]];
  return Object.entries(value).flatMap(([key, inside]) => flatSettings(inside, name ? `${name}.${key}` : key));
}

const entryText = (entry) => (entry && typeof entry === "object" ? JSON.stringify(entry) : String(entry));
