// From values to places in a drawing, and the round numbers of axes.
import { formatTick, isPercent } from "../data/format.js";
import { svgEl } from "../ui/dom.js";

/** Return a function from values in [low, high] to places in [from, to]. */
export function linearScale([low, high], [from, to]) {
  return (value) => from + ((value - low) / (high - low || 1)) * (to - from);
}

/** Return round numbers in a range, about `wanted` of them: steps of 1, 2 or 5. */
export function roundTicks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough * 0.999);
  const ticks = [];
  for (let number = Math.ceil(low / step - 1e-9); number * step <= high + step * 1e-9; number += 1) {
    ticks.push(Number((number * step).toPrecision(12)));
  }
  return ticks;
}

/** Return the range of a metric in a chart: from 0 to the next tenth for shares, to a round number for others. */
export function metricRange(metric, values) {
  const most = Math.max(0, ...values.filter((value) => value !== null && value !== undefined));
  if (isPercent(metric)) return [0, Math.min(1, Math.max(0.1, Math.ceil(most * 10 - 1e-9) / 10))];
  const steps = roundTicks(0, most || 1, 5);
  const last = steps[steps.length - 1];
  return [0, last + (last < most ? steps[1] : 0)];
}

/** Return round amounts: on a logarithmic axis 1, 2 and 5 times powers of ten, or fewer where not all have room. */
export function amountTicks([low, high], log, wanted) {
  if (!log) return roundTicks(low, high, wanted);
  for (const factors of [[1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
      const values = factors.map((factor) => Number((factor * 10 ** power).toPrecision(3)));
      ticks.push(...values.filter((value) => value >= low && value <= high));
    }
    if (ticks.length <= wanted || factors.length === 1) return ticks;
  }
  return [];
}

/** Return the lines of a horizontal axis, with their numbers above and, for tall charts, below as well. */
export function verticalGrid(metric, x, [low, high], top, bottom, wanted) {
  const tick = (value, y) =>
    svgEl("text", { class: "tick", x: x(value), y, "text-anchor": "middle" }, formatTick(metric, value));
  return roundTicks(low, high, wanted).map((value) => [
    gridLine(value === low, { x1: x(value), x2: x(value), y1: top, y2: bottom }),
    tick(value, top - 6),
    bottom - top > 500 && tick(value, bottom + 14),
  ]);
}

/** Return the lines of a vertical axis from `left` to `right`, with their numbers to the left. */
export function horizontalGrid(metric, y, [low, high], left, right) {
  return roundTicks(low, high, 5).map((value) => [
    gridLine(value === low, { x1: left, x2: right, y1: y(value), y2: y(value) }),
    svgEl("text", { class: "tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, formatTick(metric, value)),
  ]);
}

function gridLine(isAxis, ends) {
  return svgEl("line", { class: isAxis ? "axis-line" : "grid-line", ...ends });
}
