// Scores with their intervals: a line for each run.
import { formatCount, formatMetric, metricTitle } from "../data/format.js";
import { svgEl } from "../ui/dom.js";
import { withTip } from "../ui/tip.js";
import { chartFigure, chartSvg, metricColumn, NAME_COLUMN, runLink, scoreLines } from "./figure.js";
import { shortenAll, textWidth } from "./labels.js";
import { roleLegend, roleMark } from "./marks.js";
import { linearScale, metricRange, verticalGrid } from "./scales.js";

/** Return {node}: a line for each run with its score and interval. */
export function scoresChart(chart) {
  const { metric, rows } = chart;
  return chartFigure(chart, {
    legend: roleLegend(rows),
    draw: (width, name) => draw(chart, width, name),
    numbers: () => ({
      rows,
      columns: [
        NAME_COLUMN,
        metricColumn(
          metric,
          "value",
          metricTitle(metric),
          (row) => row.value,
          (row) => row.interval,
        ),
        ...["items", "clusters"].map(countColumn),
      ],
    }),
  });
}

function countColumn(name) {
  return { name, title: name, kind: "count", value: (row) => row[name], show: (row) => formatCount(row[name]) };
}

function draw(chart, width, name) {
  const { metric, rows } = chart;
  const narrow = width < 520;
  const longest = Math.max(...rows.map((row) => textWidth(row.label, 13)));
  const left = narrow ? 6 : Math.min(longest + 16, width * 0.4);
  const right = 52;
  const rowHeight = narrow ? 38 : 24;
  const top = 24;
  const bottom = top + rows.length * rowHeight;
  const values = rows.flatMap((row) => [row.value, ...(row.interval || [])]);
  const range = metricRange(metric, values);
  const x = linearScale(range, [left, width - right - 6]);
  const labels = rows.map((row) => row.label);
  const layout = { metric, width, narrow, rowHeight, top, x };
  layout.names = shortenAll(labels, narrow ? width - 12 : left - 12, 13);
  return chartSvg(
    chart,
    name,
    width,
    bottom + (rows.length * rowHeight > 500 ? 22 : 4),
    verticalGrid(metric, x, range, top, bottom, Math.min(6, (width - left) / 70)),
    rows.map((row, number) => scoreRow(row, number, layout)),
  );
}

function scoreRow(row, number, { metric, width, narrow, rowHeight, top, x, names }) {
  const middle = top + (number + 0.5) * rowHeight + (narrow ? 8 : 0);
  const ends = row.interval;
  const link = runLink(
    row.run,
    { class: "row" },
    svgEl("rect", { class: "hit", x: 0, y: top + number * rowHeight, width, height: rowHeight }),
    ends && svgEl("line", { class: "whisker", x1: x(ends[0]), x2: x(ends[1]), y1: middle, y2: middle }),
    row.value !== null && roleMark(row.role, x(row.value), middle),
  );
  const lines = [
    ...scoreLines(metric, row.value, ends),
    ["items", formatCount(row.items)],
    ["clusters", formatCount(row.clusters)],
    ["role", row.role],
  ];
  return svgEl(
    "g",
    { class: `role-${row.role}` },
    withTip(link, row.label, lines),
    svgEl("text", { class: "name", x: narrow ? 6 : 0, y: narrow ? middle - 14 : middle + 4.5 }, names[number]),
    svgEl(
      "text",
      { class: "number", x: width, y: middle + 4.5, "text-anchor": "end" },
      formatMetric(metric, row.value),
    ),
  );
}
