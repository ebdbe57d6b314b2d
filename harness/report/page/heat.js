// A run's scores by the groups of a breakdown: a table whose cells are coloured by their number.
"use strict";

Harness.charts.heat = function heat(chart, { heat: wanted, onheat }) {
  let metric = chart.metrics.includes(wanted) ? wanted : chart.metrics[0];
  const { columns, rows } = chart;
  const controls = Harness.select({ label: "Metric", value: metric, options: chart.metrics.map((name) => [name, Harness.called(name)]), onchange: onheat });
  const made = Harness.figure(chart, {
    across: columns.length,
    controls,
    legend: Harness.heatLegend(),
    draw,
    numbers: () => ({
      rows,
      columns: [Harness.nameColumn, ...columns.map((column, number) => Harness.numberColumn(metric, column.group, column.title,
        (row) => (row.cells[number] ? row.cells[number].values[metric] : null), (row) => (row.cells[number] ? row.cells[number].intervals[metric] : null)))],
    }),
  });
  return { ...made, choose };

  function choose(name) {
    if (!chart.metrics.includes(name)) return;
    metric = name;
    controls.querySelector("select").value = name;
    made.draw();
    refill();
  }

  function draw() {
    const head = columns.map((column) => Harness.el("th", { scope: "col" }, column.title,
      Harness.el("span", { class: "count" }, Harness.count(column.items), Harness.el("span", { class: "unseen" }, " items"))));
    return Harness.el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": `${chart.title}, ${Harness.called(metric)}` },
      Harness.el("table", { class: "heat" }, Harness.el("caption", { class: "unseen" }, `${chart.title}: ${Harness.called(metric)}`),
        Harness.el("thead", {}, Harness.el("tr", {}, Harness.el("th", { scope: "col" }, "run", Harness.el("span", { class: "count" }, "items")), head)),
        Harness.el("tbody", {}, rows.map((row) => Harness.el("tr", {}, Harness.el("th", { scope: "row" }, Harness.breakable(row.label)),
          row.cells.map((cell, number) => square(row, cell, columns[number])))))));
  }

  function square(row, cell, column) {
    const value = cell ? cell.values[metric] : null;
    const link = Harness.el("a", { href: Harness.address("run", [row.run]) }, Harness.shown(metric, value));
    const lines = cell ? [...Harness.scoreLines(metric, value, cell.intervals[metric]), ["items", Harness.count(cell.items)], ["positives", Harness.count(cell.positives)]]
      : [[Harness.called(metric), "no such items"]];
    return Harness.el("td", { class: Harness.heatClass(metric, value) }, Harness.tell(link, `${row.label}, ${column.title}`, lines));
  }

  function refill() {
    const fold = made.node.querySelector("details.numbers");
    if (fold.open) fold.dispatchEvent(new Event("toggle"));
  }
};

// One of nine colours for a share; the metrics of heat maps are shares.
Harness.heatClass = function heatClass(metric, value) {
  return value === null || value === undefined ? "none" : `h${Math.min(8, Math.floor(value * 9))}`;
};

Harness.heatLegend = function heatLegend() {
  return Harness.el("p", { class: "legend heat-legend", "aria-hidden": "true" }, "0 ",
    [...Array(9).keys()].map((step) => Harness.el("span", { class: `h${step}` })), " 100");
};
