// The frame of every chart: title, controls, drawing as wide as its container, legend, notes, and the numbers as a table.
"use strict";

// how: {draw(width) → node, numbers() → {columns, rows}, legend, controls, across}. Links in the drawing become one tab stop.
Harness.figure = function figure(chart, how) {
  const name = `chart-${chart.id.replace(/[^\w]+/g, "-")}`;
  const drawing = Harness.el("div", { class: "drawing" });
  let width = 0;
  const draw = () => {
    const node = how.draw(width, name);
    drawing.replaceChildren(node);
    Harness.roving([...node.querySelectorAll("a")], how.across);
  };
  new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (!now || now === width) return; // gone from the page, or only its height has changed
    width = now;
    draw();
  }).observe(drawing);
  const node = Harness.el("figure", { class: `chart chart-${chart.kind}`, id: name, "aria-labelledby": `${name}-title` },
    Harness.el("figcaption", {}, Harness.el("h3", { id: `${name}-title` }, how.title || chart.title), how.controls),
    how.legend, drawing,
    chart.notes.map((note) => Harness.el("p", { class: "note" }, note)),
    numbers());
  return { node, draw };

  function numbers() {
    const inside = Harness.el("div", {});
    const fill = () => {
      const { columns, rows } = how.numbers();
      let made = null;
      const onsort = ({ by, order }) => made.sort({ by, order });
      made = Harness.table({ label: `The numbers: ${chart.title}`, columns, rows, onsort });
      inside.replaceChildren(made.node);
    };
    return Harness.el("details", { class: "numbers", ontoggle: (event) => { if (event.target.open) fill(); } },
      Harness.el("summary", {}, "The numbers"), inside);
  }
};

// The SVG of a chart. It is a group and no image, as the marks in it are links that a screen reader has to reach.
Harness.drawing = function drawing(chart, name, width, height, ...children) {
  return Harness.svg("svg", { role: "group", "aria-labelledby": `${name}-name ${name}-desc`, width, height, viewBox: `0 0 ${width} ${height}` },
    Harness.svg("title", { id: `${name}-name` }, `${chart.title}${chart.heading ? ` (${chart.heading})` : ""}`),
    Harness.svg("desc", { id: `${name}-desc` }, "Arrow keys move from mark to mark, Enter opens the run; the same numbers stand below as a table."),
    children);
};

Harness.runLink = function runLink(run, attributes, ...children) {
  return Harness.svg("a", { href: Harness.address("run", [run]), ...attributes }, children);
};

// Columns of "The numbers" that all charts share, and one for a metric with its interval.
Harness.nameColumn = { name: "label", title: "run", kind: "text", value: (row) => row.label, show: (row) => Harness.el("a", { href: Harness.address("run", [row.run]) }, row.label) };
Harness.numberColumn = function numberColumn(metric, name, title, value, ends) {
  return {
    name, title, kind: "metric", best: (Harness.data.metrics[metric] || {}).best, value,
    show: (row) => `${Harness.shown(metric, value(row))} ${Harness.interval(metric, ends && ends(row))}`.trim(),
  };
};

// "36.06, interval [24.8, 51.9]" as lines of a tip.
Harness.scoreLines = function scoreLines(metric, value, ends) {
  return [[Harness.called(metric), Harness.shown(metric, value)], ...(ends ? [["95% interval", Harness.interval(metric, ends)]] : [])];
};

// Vertical lines at round numbers of a horizontal axis, with their numbers above and, for tall charts, below as well.
Harness.grid = function grid(metric, x, [low, high], top, bottom, wanted) {
  return Harness.ticks(low, high, wanted).map((value) => [
    Harness.svg("line", { class: value === low ? "axis-line" : "grid-line", x1: x(value), x2: x(value), y1: top, y2: bottom }),
    Harness.svg("text", { class: "tick", x: x(value), y: top - 6, "text-anchor": "middle" }, Harness.tickText(metric, value)),
    bottom - top > 500 && Harness.svg("text", { class: "tick", x: x(value), y: bottom + 14, "text-anchor": "middle" }, Harness.tickText(metric, value)),
  ]);
};
