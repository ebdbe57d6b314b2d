// Lines that are named at their ends: scores over steps. Models full, algorithms dashed, baselines dotted.
"use strict";

Harness.charts.robustness = function robustness(chart) {
  const rows = chart.rows.map((row) => ({
    ...row,
    values: row.points.map((point) => (point ? point.value : null)),
    intervals: row.points.map((point) => (point ? point.interval : null)),
    runs: row.points.map((point) => (point ? point.run : row.run)),
  }));
  return Harness.lineChart(chart, rows, chart.steps.map((title) => ({ title, said: title })));
};

Harness.charts.scale = function scale(chart) {
  const rows = chart.rows.map((row) => ({ ...row, runs: row.values.map(() => row.run) }));
  const steps = chart.networks.map((one) => ({ title: one.name, under: one.nodes, said: `${one.name} (${one.nodes} variables, ${one.edges} edges, ${one.scale})` }));
  return Harness.lineChart(chart, rows, steps);
};

Harness.lineChart = function lineChart(chart, rows, steps) {
  const { metric } = chart;
  // Up to seven lines have a colour each, the first of a role that of the role, as in figures; more are told apart by their names
  // alone, and by what answered.
  const coloured = rows.filter((row) => row.role !== "baseline");
  const firsts = coloured.filter((row) => row === coloured.find((one) => one.role === row.role));
  const others = coloured.filter((row) => !firsts.includes(row));
  const free = ["blue", "orange", "green", "pink", "yellow", "sky", "black"].filter((name) => !firsts.some((row) => Harness.data.marks[row.role].colour === name));
  const look = (row) => `role-${row.role} ${others.includes(row) && coloured.length <= 7 ? `line-${free[others.indexOf(row)]}` : ""}`;
  const crowded = rows.length > 8;
  return Harness.figure(chart, {
    legend: Harness.roleLegend(rows, true),
    draw,
    across: steps.length,
    numbers: () => ({
      rows,
      columns: [Harness.nameColumn, ...steps.map((step, number) => Harness.numberColumn(metric, step.title, step.title, (row) => row.values[number], (row) => row.intervals[number]))],
    }),
  });

  function draw(width, name) {
    const left = 32;
    const aisle = crowded ? 40 : 24; // where the lines' ends lead to their names
    const right = Math.min(Math.max(...rows.map((row) => Harness.textWidth(row.label, 12))) + 10 + aisle, width * 0.42);
    const names = Harness.fittedAll(rows.map((row) => row.label), right - aisle - 2);
    const gap = (width - left - right) / Math.max(1, steps.length - 1);
    const tight = crowded || gap < rows.length * 2.5 + 16; // no room for all intervals at once
    const turned = steps.length > 1 && gap < Math.max(...steps.map((step) => Harness.textWidth(step.title, 12))) + 8;
    const foot = turned ? Math.max(...steps.map((step) => Harness.textWidth(said(step), 12))) + 14 : steps.some((step) => step.under) ? 38 : 24;
    const top = 12;
    const bottom = top + Math.max(width < 520 ? 260 : 320, rows.length * 18);
    const range = Harness.range(metric, rows.flatMap((row) => [...row.values, ...(crowded ? [] : row.intervals.flat())]));
    const y = Harness.linear(range, [bottom, top]);
    const x = (number) => left + 6 + (steps.length > 1 ? (number * (width - left - right - 6)) / (steps.length - 1) : 0);
    const last = rows.map((row) => row.values.reduce((found, value, number) => (value === null ? found : number), -1));
    const shown = rows.map((row, number) => number).filter((number) => last[number] >= 0);
    const heights = Harness.apart(shown.map((number) => y(rows[number].values[last[number]])), 15, [top, bottom]);
    return Harness.drawing(chart, name, width, bottom + foot, axes(), shown.map((number, place) => series(rows[number], number, last[number], heights[place])));

    function said(step) { return step.under ? `${step.title} ${step.under}` : step.title; }

    function axes() {
      return [
        Harness.ticks(...range, 5).map((value) => [
          Harness.svg("line", { class: value === range[0] ? "axis-line" : "grid-line", x1: left, x2: x(steps.length - 1), y1: y(value), y2: y(value) }),
          Harness.svg("text", { class: "tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, Harness.tickText(metric, value)),
        ]),
        steps.map((step, number) => (turned
          ? Harness.svg("text", { class: gap < 14 ? "tick tiny" : "tick", transform: `translate(${x(number) + 4} ${bottom + 8}) rotate(-90)`, "text-anchor": "end" }, said(step))
          : [Harness.svg("text", { class: "tick", x: x(number), y: bottom + 17, "text-anchor": number || gap > 70 ? "middle" : "start" }, step.title),
            step.under && Harness.svg("text", { class: "tick", x: x(number), y: bottom + 32, "text-anchor": "middle" }, step.under)])),
      ];
    }

    function series(row, number, end, height) {
      // Intervals of several lines at one step stand side by side.
      const aside = tight ? 0 : (number - (rows.length - 1) / 2) * 2.5;
      const from = x(end);
      const to = width - right + aisle;
      return Harness.svg("g", { class: `series ${look(row)}${crowded ? " crowded" : ""}${tight ? " tight" : ""}` },
        row.intervals.map((ends, step) => ends && row.values[step] !== null && Harness.svg("line", { class: "whisker", x1: x(step) + aside, x2: x(step) + aside, y1: y(ends[0]), y2: y(ends[1]) })),
        Harness.svg("path", { class: "line", d: path(row.values) }),
        Harness.svg("path", { class: "leader", d: `M${from + 6} ${y(row.values[end])}L${Math.max(from + 6, to - aisle + 6)} ${y(row.values[end])}L${to - 4} ${height}` }),
        row.values.map((value, step) => value !== null && point(row, step)),
        Harness.svg("text", { class: "end", x: to, y: height + 4 }, names[number]));
    }

    function path(values) {
      return values.map((value, step) => (value === null ? "" : `${step && values[step - 1] !== null ? "L" : "M"}${x(step)} ${y(value)}`)).join("");
    }

    function point(row, step) {
      const link = Harness.runLink(row.runs[step], {},
        Harness.svg("circle", { class: "hit", cx: x(step), cy: y(row.values[step]), r: 9 }), Harness.shape(row.role, x(step), y(row.values[step]), 3.5));
      return Harness.tell(link, `${row.label}, ${steps[step].said}`, Harness.scoreLines(metric, row.values[step], row.intervals[step]));
    }
  }
};
