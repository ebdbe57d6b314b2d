// What the answers of a run can be filtered and sorted by, and the rows that are left.
import { matchRows, OUTCOMES } from "./answers.js";
import { answerNames, groupTitle } from "./format.js";

const CONTRASTS = {
  differ: "answers differ",
  ab: "first right, second not",
  ba: "second right, first not",
};

const SORTS = {
  "": "order of the items",
  probability: "probability of Yes",
  length: "length of the reply",
  output: "tokens of the reply",
  usd: "cost",
};

const MOST_VALUES = 40; // of a filter

/**
 * Return what a filter may ask for: outcome, gold, grade, and every group that tells items apart; with a second run
 * also what the two have in common. Each is {name, title, values, of(row)}, with `all(row)` for `of` where several
 * values may hold for one answer.
 */
export function facetsOf(set, other) {
  const facets = [
    { name: "right", title: "Outcome", values: OUTCOMES, of: (row) => set.status[row] },
    { name: "gold", title: "Gold", values: answerNames(set.items), of: (row) => set.gold[row] },
  ];
  const grades = [...new Set(set.answers.grade || [])].filter(Boolean).sort();
  if (grades.length > 1) {
    const of = (row) => grades.indexOf(set.answers.grade[row]);
    facets.push({ name: "grade", title: "How read", values: grades, of });
  }
  if (other) facets.push(contrastFacet(set, other));
  for (const [name, group] of Object.entries(set.items.groups)) {
    if (group.names.length < 2 || group.names.length > MOST_VALUES) continue;
    const of = (row) => group.codes[set.answers.item[row]];
    facets.push({ name, title: capitalized(groupTitle(name)), values: group.names, of });
  }
  return facets;
}

function contrastFacet(set, other) {
  const matches = matchRows(set, other);
  // With task.unreadable=no an answer may be right without a Yes or No.
  const isRight = (side, row) => row >= 0 && side.answers.right[row] === true;
  return {
    name: "contrast",
    title: "The two",
    values: Object.keys(CONTRASTS),
    titles: Object.values(CONTRASTS),
    all: (row) => {
      const match = matches[row];
      const a = isRight(set, row);
      const b = isRight(other, match);
      // Of two that say Yes one may be right and the other wrong, by label sets that differ.
      const same =
        match >= 0 &&
        set.answers.read[row] === other.answers.read[match] &&
        (set.status[row] < 2 || set.status[row] === other.status[match]);
      return [...(same ? [] : [0]), ...(a && !b ? [1] : []), ...(b && !a ? [2] : [])];
    },
  };
}

const capitalized = (text) => text[0].toUpperCase() + text.slice(1);

/**
 * Return {rows, counts}: the rows that pass the query of an address, and for each facet how many would pass with each
 * of its values, other filters kept.
 */
export function filterAnswers(set, facets, query) {
  const needle = (query.get("q") || "").trim().toLowerCase();
  const chosenValues = facets.map((facet) => facet.values.indexOf(query.get(facet.name) || ""));
  const counts = facets.map((facet) => new Uint32Array(facet.values.length));
  const rows = [];
  for (let row = 0; row < set.count; row++) {
    if (needle && !set.text[row].includes(needle)) continue;
    let failing = -1; // the one facet that this row does not pass, -2 where there are several
    for (let k = 0; k < facets.length && failing !== -2; k++) {
      if (chosenValues[k] < 0 || passes(facets[k], row, chosenValues[k])) continue;
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
  return { rows: sortRows(set, rows, query.get("sort") || "", query.get("order") === "desc"), counts };
}

function passes(facet, row, value) {
  return facet.all ? facet.all(row).includes(value) : facet.of(row) === value;
}

/** Return the sorts that a run has values for: [[name, title], …]. */
export function sortsOf(set) {
  const { probability, output, usd } = set.answers;
  const columns = { probability, output, usd };
  return Object.entries(SORTS).filter(([name]) => !(name in columns) || columns[name]);
}

function sortRows(set, rows, by, descending) {
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
    const isMissing = (value) => value === null || value === undefined;
    if (isMissing(a) || isMissing(b)) return isMissing(a) - isMissing(b);
    return (a - b) * (descending ? -1 : 1);
  }
}
