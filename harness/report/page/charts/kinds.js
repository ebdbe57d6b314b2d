// The kinds of charts, by the names that harness.plot.charts gives them.
import { confusionChart } from "./confusion.js";
import { costChart } from "./cost.js";
import { heatChart } from "./heat.js";
import { robustnessChart, scaleChart } from "./lines.js";
import { reliabilityChart } from "./reliability.js";
import { scoresChart } from "./scores.js";

/** Each is called with a chart and {heat, onheat}, and returns {node}; a heat map also choose(metric). */
export const CHART_KINDS = {
  scores: scoresChart,
  heat: heatChart,
  confusion: confusionChart,
  reliability: reliabilityChart,
  robustness: robustnessChart,
  names: robustnessChart,
  directness: robustnessChart,
  scale: scaleChart,
  cost: costChart,
};
