// Scores with their intervals: a line for each run.
"use strict";

Harness.charts = {};

Harness.charts.scores = function scores(chart) {
  const { metric, rows } = chart;
  return Harness.figure(chart, {
    legend: Harness.roleLegend(rows),
    draw,
    numbers: () => ({
      rows,
      columns: [Harness.nameColumn, Harness.numberColumn(metric, "value", Harness.called(metric), (row) => row.value, (row) => row.interval),
        ...["items", "clusters"].map((name) => ({ name, title: name, kind: "count", value: (row) => row[name], show: (row) => Harness.count(row[name]) }))],
    }),
  });

  function draw(width, name) {
    const narrow = width < 520;
    const longest = Math.max(...rows.map((row) => Harness.textWidth(row.label, 13)));
    const left = narrow ? 6 : Math.min(longest + 16, width * 0.4);
    const names = Harness.fittedAll(rows.map((row) => row.label), narrow ? width - 12 : left - 12, 13);
    const right = 52;
    const tall = narrow ? 38 : 24;
    const top = 24;
    const bottom = top + rows.length * tall;
    const range = Harness.range(metric, rows.flatMap((row) => [row.value, ...(row.interval || [])]));
    const x = Harness.linear(range, [left, width - right - 6]);
    return Harness.drawing(chart, name, width, bottom + (rows.length * tall > 500 ? 22 : 4),
      Harness.grid(metric, x, range, top, bottom, Math.min(6, (width - left) / 70)), rows.map(line));

    function line(row, number) {
      const middle = top + (number + 0.5) * tall + (narrow ? 8 : 0);
      const link = Harness.runLink(row.run, { class: "row" },
        Harness.svg("rect", { class: "hit", x: 0, y: top + number * tall, width, height: tall }),
        row.interval && Harness.svg("line", { class: "whisker", x1: x(row.interval[0]), x2: x(row.interval[1]), y1: middle, y2: middle }),
        row.value !== null && Harness.shape(row.role, x(row.value), middle));
      const lines = [...Harness.scoreLines(metric, row.value, row.interval), ["items", Harness.count(row.items)], ["clusters", Harness.count(row.clusters)], ["role", row.role]];
      return Harness.svg("g", { class: `role-${row.role}` }, Harness.tell(link, row.label, lines),
        Harness.svg("text", { class: "name", x: narrow ? 6 : 0, y: narrow ? middle - 14 : middle + 4.5 }, names[number]),
        Harness.svg("text", { class: "number", x: width, y: middle + 4.5, "text-anchor": "end" }, Harness.shown(metric, row.value)));
    }
  }
};
