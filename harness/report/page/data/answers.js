// The answers of a run in columns, and which of them stand beside those of another run.
import { loadChunk } from "./store.js";

/** What may become of an answer, by its code. */
export const OUTCOMES = ["right", "wrong", "unreadable", "failed"];

const answersById = new Map(); // id of a run → promise of its answers

/**
 * Return the answers of a run with the items that they answer, prepared once: {run, items, answers, count, status,
 * gold, text, first}, in which status, gold and text have a value for each row and `first` is the first row of an item.
 */
export function loadAnswers(run) {
  if (!run.answers) {
    return Promise.reject(new Error(run.no_answers || "This run's answers are not in this page."));
  }
  if (!answersById.has(run.id)) answersById.set(run.id, prepare(run));
  return answersById.get(run.id);
}

async function prepare(run) {
  const [items, columns] = await Promise.all([loadChunk(run.answers.items), loadChunk(run.answers.answers)]);
  const count = columns.item.length;
  const empty = (value) => new Array(count).fill(value); // a column that holds nothing is left out
  const answers = { reply: empty(""), read: empty(null), right: empty(null), ...columns };
  const status = new Uint8Array(count);
  const gold = new Int8Array(count);
  const text = new Array(count);
  const first = new Map(); // id of an item → the first row that answers it
  const labels = items.labels[run.result.headline] || []; // those of another label set would be another gold
  for (let row = 0; row < count; row++) {
    const item = answers.item[row];
    const failure = answers.failure && answers.failure[row];
    status[row] = failure ? 3 : answers.read[row] === null ? 2 : answers.right[row] ? 0 : 1;
    gold[row] = labels[item] ?? -1;
    const reply = failure ? `${failure.kind} ${failure.detail}` : answers.reply[row];
    text[row] = `${items.ids[item]}\n${items.words[item]}\n${reply}`.toLowerCase();
    if (!first.has(items.ids[item])) first.set(items.ids[item], row);
  }
  return { run, items, answers, count, status, gold, text, first };
}

/**
 * Return for each row of a run the row of another run that answers the same item, or -1. Of several answers to an item
 * the first stands beside the first, the second beside the second; a run that asked once stands beside each of them.
 */
export function matchRows(set, other) {
  const sampleOf = (side, row) => (side.answers.sample ? side.answers.sample[row] : 0);
  const rows = new Int32Array(set.count);
  for (let row = 0; row < set.count; row++) {
    let match = other.first.get(set.items.ids[set.answers.item[row]]) ?? -1;
    if (match >= 0 && other.answers.sample) {
      const item = other.answers.item[match]; // rows are in the order of items and samples
      const sample = sampleOf(set, row);
      while (other.answers.item[match] === item && sampleOf(other, match) < sample) match++;
      if (other.answers.item[match] !== item || sampleOf(other, match) !== sample) match = -1;
    }
    rows[row] = match;
  }
  return rows;
}
