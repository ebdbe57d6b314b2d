// What stands in the cells of scores: intervals as bars, and which numbers are best.
import { el } from "./dom.js";

/** Return a dot in its interval on a track from 0 to `most`; its numbers stand beside it, so screen readers skip it. */
export function intervalBar(value, ends, most) {
  const at = (number) => `${(100 * Math.min(1, Math.max(0, number / (most || 1)))).toFixed(2)}%`;
  return el(
    "span",
    { class: "bar", "aria-hidden": "true" },
    ends && el("span", { class: "whisker", style: `left:${at(ends[0])};right:calc(100% - ${at(ends[1])})` }),
    value !== null && value !== undefined && el("span", { class: "dot", style: `left:${at(value)}` }),
  );
}

/** Return what stands above a column of bars: room for the intervals' text, and the ends of the scale. */
export function intervalBarHead(percent) {
  const ends = ["0", "50", "100"].map((end) => el("span", {}, percent ? end : ""));
  return [" ", rangeText(), el("span", { class: "axis", "aria-hidden": "true" }, ends)];
}

/** Return the text of an interval, which columns align by. */
export function rangeText(text) {
  return el("span", { class: "range" }, text);
}

/**
 * Return which of the numbers in a column are best (0) and second (1), by their text; ties share a place, as in the
 * Markdown tables. cells: [{value, text: "36.06 [24.8, 51.9]"} or null, …].
 */
export function bestPlaces(cells, best) {
  const defined = cells.filter((cell) => cell && cell.value !== null && cell.value !== undefined);
  const values = new Map(defined.map((cell) => [cell.text.split(" ")[0], cell.value]));
  if (!best || values.size < 2) return new Map();
  const sign = best === "high" ? -1 : 1;
  const ranked = [...values.keys()].sort((a, b) => sign * (values.get(a) - values.get(b)));
  return new Map(ranked.slice(0, 2).map((text, place) => [text, place]));
}

/** Return the number bold where it is the best of its column, underlined where it is the second. */
export function emphasized(text, places) {
  const name = ["strong", "u"][places.get(text)];
  return name ? el(name, {}, text) : text;
}
