// One item: what was asked, what was replied, what was read from it, and why the gold label is what it is.
"use strict";

Harness.views.item = {
  title: "Answer",
  async show(place, route) {
    const [runId, itemId] = route.parts;
    const run = Harness.theRun(runId);
    const other = Harness.secondOf(route);
    Harness.lastItem = itemId;
    Harness.titled(itemId, run.model);
    const set = await Harness.answersOf(run);
    const second = other && (await Harness.answersOf(other));
    const row = set.first.get(itemId);
    if (row === undefined) throw new Error(itemId ? `The run ${run.id} has no answer to ${itemId}.` : "The address names no item.");
    const item = set.answers.item[row];
    place.append(
      steps(set, second, row, route),
      Harness.el("h1", { class: "words" }, set.items.words[item]),
      Harness.el("p", { class: "quiet" }, itemId, ...told(set.items, item)),
      gold(set.items, item, run.result.headline),
      Harness.el("div", { class: "choosers" }, Harness.runChooser({
        label: "Beside", none: "no other run", runs: Harness.besides(run, "answers"), chosen: other,
        onchange: (vs) => { Harness.visit(Harness.address("item", [run.id, itemId], { ...Object.fromEntries(route.query), vs })); },
      })));
    place.append(Harness.otherLabels(run, other) || "");
    const sides = [await side(set, row, itemId)];
    if (second) {
      const match = second.first.get(itemId);
      sides.push(match === undefined ? Harness.el("section", {}, Harness.el("h2", {}, Harness.runName(second.run)), Harness.el("p", {}, "This run was not asked this item.")) : await side(second, match, itemId));
    }
    place.append(Harness.el("div", { class: "sides" }, sides));
    const why = await Harness.why(set, item);
    if (why) place.append(why);
  },
};

// The item's place among those that pass the filters in the address, and the ways to its neighbours.
function steps(set, second, row, route) {
  const facets = Harness.facets(set, second);
  const { rows } = Harness.filtered(set, facets, route.query);
  const items = [...new Set(rows.map((one) => set.answers.item[one]))]; // several replies to one item are one step
  const at = items.indexOf(set.answers.item[row]), query = Object.fromEntries(route.query);
  const address = (k) => Harness.address("item", [set.run.id, set.items.ids[items[k]]], query);
  const way = (k, words, key) => (k >= 0 && k < items.length ? Harness.el("a", { href: address(k), rel: key === "j" ? "next" : "prev", "aria-keyshortcuts": key }, words) : Harness.el("span", { class: "quiet" }, words));
  const back = Harness.el("a", { href: Harness.address("answers", [set.run.id], query) }, "All answers");
  if (at < 0) return Harness.el("nav", { class: "steps", "aria-label": "Neighbours" }, back);
  return Harness.el("nav", { class: "steps", "aria-label": "Neighbours" }, back, way(at - 1, "‹ previous (k)", "k"), way(at + 1, "next (j) ›", "j"), Harness.el("span", { class: "quiet" }, `${Harness.count(at + 1)} of ${Harness.count(items.length)}`));
}

window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, [role=grid]")) return;
  const link = { j: "next", k: "prev" }[event.key];
  const found = link && document.querySelector(`.steps a[rel=${link}]`);
  if (found) found.click();
});

function told(items, item) {
  const parts = [` · cluster ${items.clusters[item]}`];
  for (const [name, group] of Object.entries(items.groups)) if (group.codes[item] >= 0) parts.push(` · ${Harness.groupTitle(name)} ${group.names[group.codes[item]]}`);
  return parts;
}

function gold(items, item, headline) {
  const sets = Object.entries(items.labels);
  const differ = new Set(sets.map(([, labels]) => labels[item])).size > 1;
  return Harness.el("p", { class: "gold" }, "Gold: ", sets.map(([name, labels], k) => [k ? ", " : "", Harness.el("strong", {}, Harness.label(labels[item])), sets.length > 1 ? ` (${name}${name === headline ? ", scored here" : ""})` : ""]),
    differ && Harness.el("span", { class: "note" }, " The label sets do not agree on this item."));
}

async function side(set, row, itemId) {
  const { answers, run } = set;
  const rows = [];
  for (let k = 0; k < set.count; k++) if (answers.item[k] === answers.item[row]) rows.push(k);
  const prompts = run.answers.prompts ? await Harness.chunk(run.answers.prompts) : null;
  const messages = prompts && prompts.messages[answers.item[row]];
  return Harness.el("section", { class: "side", "aria-label": run.id },
    Harness.el("h2", {}, Harness.el("a", { href: Harness.address("run", [run.id]) }, run.model), Harness.el("span", { class: "quiet" }, ` ${run.prompt} · ${run.variant}`)),
    rows.length > 1 && Harness.el("p", { class: "quiet" }, "Asked several times: the majority of these replies is scored."),
    rows.map((one, k) => reply(set, one, rows.length > 1 && `Reply ${k + 1} of ${rows.length}`)),
    Harness.el("h3", {}, "Prompt"),
    messages ? messages.map(([role, text]) => message(role, prompts.texts[text])) : Harness.el("p", { class: "quiet" }, "Nothing was sent to a model for this item."));
}

// `draw` names one of several replies, of which none is scored for itself.
function reply(set, row, draw) {
  const { answers } = set;
  const failure = answers.failure && answers.failure[row];
  const text = answers.reply[row] || "";
  const span = (answers.span && answers.span[row]) || "";
  const asNo = (((set.run.manifest.configuration || {}).task || {}).unreadable) === "no";
  const number = (name) => (answers[name] ? answers[name][row] : null);
  const facts = [
    ["read", failure ? "nothing: the call failed" : answers.read[row] === null ? `nothing that answers the question${draw ? "" : `: scored as ${asNo ? "No" : "wrong"}`}` : Harness.label(answers.read[row])],
    ["read from", failure || !span ? null : `“${span}”`],
    ["probability of Yes", number("probability") === null ? null : number("probability").toFixed(4)],
    ["finish reason", answers.finish && answers.finish.names[answers.finish.codes[row]]],
    ["tokens", number("input") === null && number("output") === null ? null : `${number("input") ?? "?"} in, ${number("output") ?? "?"} out`],
    ["cost", number("usd") === null ? null : `$${number("usd").toPrecision(3)}`],
    ["seconds", number("seconds") ? number("seconds").toFixed(2) : null],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  return Harness.el("div", { class: "reply" },
    Harness.el("h3", {}, `${draw || "Reply"} `, Harness.outcome(set, row)),
    failure ? message(`failed: ${failure.kind}`, failure.detail) : message("model", text, span),
    Harness.el("dl", { class: "of-reply" }, facts.map(([name, value]) => [Harness.el("dt", {}, name), Harness.el("dd", {}, Harness.el("bdi", {}, value))])));
}

// A message as it is: white space, line breaks and all. Long ones are cut until somebody asks for the rest.
function message(role, text, span) {
  const LONG = 3000;
  const body = Harness.el("pre", { dir: "auto", tabindex: 0, "aria-label": `${role}, text` });
  const [at, end] = span ? spanIn(text, span) : [-1, -1];
  const cut = text.length > LONG && !(at > LONG - 200);
  fill(cut ? text.slice(0, LONG) : text);
  const more = cut && Harness.el("button", { class: "plain", type: "button", onclick: () => { fill(text); more.remove(); } }, `Show all ${Harness.count(text.length)} characters`);
  return Harness.el("div", { class: "message" }, Harness.el("p", { class: "role" }, role), body, more);

  function fill(shown) {
    if (at < 0 || at >= shown.length) body.replaceChildren(shown);
    else body.replaceChildren(shown.slice(0, at), Harness.el("mark", {}, shown.slice(at, end)), shown.slice(end));
  }
}

// Where the words that decided begin and end. The parser gives them in lower case, without emphasis, quotation marks,
// more than one space, or what stands in <think>; a single word counts where it begins the reply, all others where they
// come last.
function spanIn(text, span) {
  const words = span.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("'", "['’]"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])${words.join("[\\s*_`#>\"“”„«»'‘’]+")}(?![\\p{L}\\p{N}])`, "giu");
  const thought = text.lastIndexOf("</think>");
  const start = pattern.lastIndex = thought < 0 ? 0 : thought + "</think>".length;
  const found = [];
  for (let one; (one = pattern.exec(text)); ) found.push(one);
  if (!found.length) return [-1, -1];
  const leads = words.length === 1 && !/[\p{L}\p{N}]/u.test(text.slice(start, found[0].index));
  const { index, 0: shown } = leads ? found[0] : found[found.length - 1];
  return [index, index + shown.length];
}
