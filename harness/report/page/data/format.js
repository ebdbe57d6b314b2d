// Numbers and names as people read them: as the tables have them, shares in percent, a dash where one is undefined.
import { report } from "./store.js";

const UNKNOWN_METRIC = { percent: true, decimals: 2 };

/** Tell whether a metric is a share, shown in percent; one without a description is. */
export const isPercent = (metric) => (report.metrics[metric] || UNKNOWN_METRIC).percent;

/** Return the good end of a metric: "high", "low", or nothing where it has none. */
export const bestEnd = (metric) => (report.metrics[metric] || {}).best;

/** Return the metrics that heat maps show. */
export const heatMetrics = () => Object.keys(report.metrics).filter((name) => report.metrics[name].in_heat_maps);

/** Return the title of a metric; one without a title has its name, with spaces. */
export const metricTitle = (name) => (report.metrics[name] || {}).title || name.replace(/_/g, " ");

/** Return the title of a breakdown: "num_nodes" → "number of variables". */
export const groupTitle = (name) =>
  name.replace("num_nodes", "number of variables").replace(/_/g, " ").replace("/", " and ");

/** Return a count with commas: 12,345. */
export const formatCount = (number) => number.toLocaleString("en-US");

/** Return a metric's value as tables have it: in percent where it is a share, a dash where it is undefined. */
export function formatMetric(metric, value) {
  if (value === null || value === undefined) return "–";
  const { percent, decimals } = report.metrics[metric] || UNKNOWN_METRIC;
  return formatNumber(percent ? 100 * value : value, decimals);
}

/**
 * Round as Python does, so that page and tables have one number: by the exact value, a half to the even digit
 * (15.625 → 15.62). toLocaleString alone rounds halves up, and takes 1.005 for one, though it is a little less.
 */
export function formatNumber(value, decimals) {
  const unit = 10 ** decimals;
  const lowest = Math.floor(value * unit);
  // No other number is exactly between two.
  const isHalf = Number.isInteger(value * 2 ** (decimals + 1)) && value * unit - lowest === 0.5;
  const rounded = isHalf ? (lowest + (lowest % 2 ? 1 : 0)) / unit : Number(value.toFixed(decimals));
  return rounded.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** Return an interval as tables have it: with one decimal less than the value, as the resamples tell no more. */
export function formatInterval(metric, ends) {
  if (!ends) return "";
  const { percent, decimals } = report.metrics[metric] || UNKNOWN_METRIC;
  const texts = ends.map((end) => formatNumber(percent ? 100 * end : end, Math.max(1, decimals - 1)));
  return `[${texts.join(", ")}]`;
}

/** Return the number that stands at a tick of an axis. */
export function formatTick(metric, value) {
  return (isPercent(metric) ? 100 * value : value).toLocaleString("en-US", { maximumFractionDigits: 2 });
}

/** Return an amount in few characters, as the `largest` beside it: 1,200,000 → 1.2M, 0.00042 → 0.00042. */
export function formatAmount(value, largest = value) {
  if (largest >= 10000 && value >= 1000)
    return value.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 });
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}

/** Return a time as people read it: 2026-11-21T07:53:57+00:00 → 2026-11-21 07:53:57 UTC. */
export const formatTime = (text) =>
  text
    .replace("T", " ")
    .replace(/\.\d+/, "")
    .replace(/(\+00:00|Z)$/, " UTC");

/** Return what the labels of a run's items are called: No and Yes, or the choices of its questions. */
export const answerNames = (items) => items.answers || ["No", "Yes"];

/** Return the word for a label or for what was read: one of the items' answers, or a dash for none. */
export function answerWord(label, items) {
  if (label === null || label === undefined || label < 0) return "–";
  return answerNames(items)[label] ?? String(label);
}
