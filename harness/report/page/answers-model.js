// A run's answers in columns, and what a filter leaves of them.
"use strict";

Harness.STATUS = ["right", "wrong", "unreadable", "failed"];
Harness.CONTRASTS = {
  differ: "answers differ",
  ab: "first right, second not",
  ba: "second right, first not",
};

// The run that an address puts beside the first, or null: no run stands beside itself.
Harness.secondOf = function secondOf(route) {
  const id = route.query.get("vs");
  const run = id ? Harness.theRun(id) : null;
  return id === route.parts[0] ? null : run;
};

// Right and wrong are by the labels that a run is scored by: a sentence where those of two runs are not the same.
Harness.otherLabels = function otherLabels(run, other) {
  if (!other || run.result.headline === other.result.headline) return null;
  const told = (one) => `${one.model} by the ${one.result.headline} labels`;
  return Harness.el("p", { class: "warning" }, `Right and wrong are not by the same labels: ${told(run)}, ${told(other)}.`);
};

// The answers of a run with the items they answer, prepared once.
Harness.answersOf = function answersOf(run) {
  if (!run.answers) return Promise.reject(new Error(run.no_answers || "This run's answers are not in this page."));
  if (!Harness.prepared.has(run.id)) Harness.prepared.set(run.id, prepare(run));
  return Harness.prepared.get(run.id);

  async function prepare(run) {
    const [items, found] = await Promise.all([Harness.chunk(run.answers.items), Harness.chunk(run.answers.answers)]);
    const count = found.item.length;
    const none = (value) => new Array(count).fill(value); // a column that has nothing is left out
    const answers = { reply: none(""), read: none(null), right: none(null), ...found };
    const status = new Uint8Array(count);
    const gold = new Int8Array(count);
    const text = new Array(count);
    const first = new Map(); // item id → the first row that answers it
    const labels = items.labels[run.result.headline] || []; // those of another set would be another gold
    for (let row = 0; row < count; row++) {
      const item = answers.item[row];
      const failure = answers.failure && answers.failure[row];
      status[row] = failure ? 3 : answers.read[row] === null ? 2 : answers.right[row] ? 0 : 1;
      gold[row] = labels[item] ?? -1;
      text[row] = `${items.ids[item]}\n${items.words[item]}\n${failure ? `${failure.kind} ${failure.detail}` : answers.reply[row]}`.toLowerCase();
      if (!first.has(items.ids[item])) first.set(items.ids[item], row);
    }
    return { run, items, answers, count, status, gold, text, first };
  }
};
Harness.prepared = new Map();

// What a filter may ask: search, status, gold, and every group that tells items apart. `other` is a second run or null.
Harness.facets = function facets(set, other) {
  const found = [
    { name: "right", title: "Outcome", values: Harness.STATUS, of: (row) => set.status[row] },
    { name: "gold", title: "Gold", values: ["No", "Yes"], of: (row) => set.gold[row] },
  ];
  if (other) {
    const second = matching(set, other);
    const names = Object.keys(Harness.CONTRASTS);
    const right = (side, row) => row >= 0 && side.answers.right[row] === true; // with task.unreadable=no also without a Yes or No
    found.push({
      name: "contrast", title: "The two", values: names, titles: Object.values(Harness.CONTRASTS),
      // Several values may hold for one answer: the list of those that do.
      all: (row) => {
        const a = right(set, row), b = right(other, second[row]);
        // Of two that say Yes one may be right and the other wrong, by label sets that differ.
        const same = second[row] >= 0 && set.answers.read[row] === other.answers.read[second[row]]
          && (set.status[row] < 2 || set.status[row] === other.status[second[row]]);
        return [...(same ? [] : [0]), ...(a && !b ? [1] : []), ...(b && !a ? [2] : [])];
      },
    });
  }
  for (const [name, group] of Object.entries(set.items.groups)) {
    if (group.names.length < 2 || group.names.length > 40) continue;
    found.push({ name, title: titled(name), values: group.names, of: (row) => group.codes[set.answers.item[row]] });
  }
  return found;
};

function titled(name) {
  const title = Harness.groupTitle(name);
  return title[0].toUpperCase() + title.slice(1);
}

// For each row of a set the row of another run that answers the same item, or -1. Of several answers to an item the first
// stands beside the first, the second beside the second; a run that asked once stands beside each of them.
Harness.matching = matching;
function matching(set, other) {
  const draw = (side, row) => (side.answers.sample ? side.answers.sample[row] : 0);
  const rows = new Int32Array(set.count);
  for (let row = 0; row < set.count; row++) {
    let found = other.first.get(set.items.ids[set.answers.item[row]]) ?? -1;
    if (found >= 0 && other.answers.sample) {
      const item = other.answers.item[found]; // rows are in the order of items and draws
      while (other.answers.item[found] === item && draw(other, found) < draw(set, row)) found++;
      if (other.answers.item[found] !== item || draw(other, found) !== draw(set, row)) found = -1;
    }
    rows[row] = found;
  }
  return rows;
}

// {rows, counts}: the rows that pass, and for each facet how many would pass with each of its values, other filters kept.
Harness.filtered = function filtered(set, facets, query) {
  const needle = (query.get("q") || "").trim().toLowerCase();
  const wanted = facets.map((facet) => facet.values.indexOf(query.get(facet.name) || ""));
  const counts = facets.map((facet) => new Uint32Array(facet.values.length));
  const rows = [];
  for (let row = 0; row < set.count; row++) {
    if (needle && !set.text[row].includes(needle)) continue;
    let failing = -1; // the one facet that this row does not pass, -2 where there are several
    for (let k = 0; k < facets.length && failing !== -2; k++) {
      if (wanted[k] < 0 || passes(facets[k], row, wanted[k])) continue;
      failing = failing === -1 ? k : -2;
    }
    if (failing === -2) continue;
    if (failing === -1) rows.push(row);
    for (let k = 0; k < facets.length; k++) {
      if (failing !== -1 && failing !== k) continue;
      if (facets[k].all) for (const value of facets[k].all(row)) counts[k][value]++;
      else if (facets[k].of(row) >= 0) counts[k][facets[k].of(row)]++;
    }
  }
  return { rows: sorted(set, rows, query.get("sort") || "", query.get("order") === "desc"), counts };
};

function passes(facet, row, value) {
  return facet.all ? facet.all(row).includes(value) : facet.of(row) === value;
}

Harness.SORTS = {
  "": "order of the items",
  probability: "probability of Yes",
  length: "length of the reply",
  output: "tokens of the reply",
  usd: "cost",
};

function sorted(set, rows, by, down) {
  const { answers } = set;
  const keys = {
    probability: (row) => answers.probability && answers.probability[row],
    length: (row) => answers.reply[row].length,
    output: (row) => answers.output && answers.output[row],
    usd: (row) => answers.usd && answers.usd[row],
  };
  const key = keys[by];
  if (key) rows.sort((a, b) => compare(key(a), key(b)) || a - b);
  return rows;

  // What has no value comes last, whichever way the others go.
  function compare(a, b) {
    const none = (value) => value === null || value === undefined;
    if (none(a) || none(b)) return none(a) - none(b);
    return (a - b) * (down ? -1 : 1);
  }
}

// The sorts that a run has values for.
Harness.sortsOf = function sortsOf(set) {
  const has = { probability: set.answers.probability, output: set.answers.output, usd: set.answers.usd };
  return Object.entries(Harness.SORTS).filter(([name]) => !(name in has) || has[name]);
};

Harness.label = (read) => (read === null || read === undefined || read < 0 ? "–" : read ? "Yes" : "No");
