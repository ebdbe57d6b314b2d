// Cost against score, a mark for each model; the cost on a logarithmic axis where it spans more than a decade.
"use strict";

Harness.charts.cost = function cost(chart) {
  const { metric, rows, unit } = chart;
  const amount = (value) => (unit === "USD" ? `$${Harness.amount(value)}` : Harness.amount(value));
  const costs = rows.map((row) => row.x);
  const log = Math.min(...costs) > 0 && Math.max(...costs) > 10 * Math.min(...costs);
  return Harness.figure(chart, {
    legend: Harness.roleLegend(rows),
    draw,
    numbers: () => ({
      rows,
      columns: [Harness.nameColumn, { name: "x", title: `${unit} per 1,000 items`, kind: "metric", best: "low", value: (row) => row.x, show: (row) => amount(row.x) },
        Harness.numberColumn(metric, "value", Harness.called(metric), (row) => row.value, (row) => row.interval)],
    }),
  });

  function draw(width, name) {
    const [left, top, right] = [34, 12, width - 14];
    const height = Math.max(300, Math.min(460, width * 0.5));
    const bottom = height - 44;
    const range = Harness.range(metric, rows.flatMap((row) => [row.value, ...(row.interval || [])]));
    const y = Harness.linear(range, [bottom, top]);
    const span = log ? [Math.min(...costs) / 1.4, Math.max(...costs) * 1.4] : [0, Math.max(...costs) * 1.08 || 1];
    const straight = Harness.linear(log ? span.map(Math.log10) : span, [left, right]);
    const x = (value) => straight(log ? Math.log10(value) : value);
    const dots = rows.map((row) => ({ x: x(row.x), y: y(row.value) }));
    const placed = Harness.labelled(dots, Harness.fittedAll(rows.map((row) => row.label), width < 520 ? 110 : 200), [left, top, width, bottom],
      rows.map((row, number) => row.interval && [dots[number].x - 1, y(row.interval[1]), dots[number].x + 1, y(row.interval[0])]));
    return Harness.drawing(chart, name, width, height,
      Harness.ticks(...range, 5).map((value) => [
        Harness.svg("line", { class: value === range[0] ? "axis-line" : "grid-line", x1: left, x2: right, y1: y(value), y2: y(value) }),
        Harness.svg("text", { class: "tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, Harness.tickText(metric, value)),
      ]),
      Harness.costTicks(span, log, (right - left) / 60).map((value) => [
        Harness.svg("line", { class: "grid-line", x1: x(value), x2: x(value), y1: top, y2: bottom }),
        Harness.svg("text", { class: "tick", x: x(value), y: bottom + 17, "text-anchor": "middle" }, amount(value)),
      ]),
      Harness.svg("text", { class: "axis-title", x: right, y: height - 6, "text-anchor": "end" }, `${unit} per 1,000 items${log ? ", logarithmic" : ""}`),
      rows.map((row, number) => mark(row, dots[number], placed[number])));

    function mark(row, at, label) {
      const link = Harness.runLink(row.run, { class: "point" },
        row.interval && Harness.svg("line", { class: "whisker", x1: at.x, x2: at.x, y1: y(row.interval[0]), y2: y(row.interval[1]) }),
        Harness.svg("circle", { class: "hit", cx: at.x, cy: at.y, r: 11 }), Harness.shape(row.role, at.x, at.y));
      const lines = [[`${unit} per 1,000 items`, amount(row.x)], ...Harness.scoreLines(metric, row.value, row.interval)];
      return Harness.svg("g", { class: `role-${row.role}` }, Harness.tell(link, row.label, lines, link.querySelector(".mark")),
        label && Harness.svg("text", { class: "beside", x: label.x, y: label.y + 4, "text-anchor": label.anchor }, label.text));
    }
  }
};

// Round amounts: on a logarithmic axis 1, 2 and 5 times powers of ten, or fewer where there is no room for all.
Harness.costTicks = function costTicks([low, high], log, wanted) {
  if (!log) return Harness.ticks(low, high, wanted);
  for (const times of [[1, 2, 5], [1, 3], [1]]) {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
      found.push(...times.map((each) => Number((each * 10 ** power).toPrecision(3))).filter((value) => value >= low && value <= high));
    }
    if (found.length <= wanted || times.length === 1) return found;
  }
  return [];
};

// Where the names of dots may stand so that they cover neither dots nor each other, nor the lines of intervals if that can
// be had: beside, above or below; null where nothing is free (the tip and the table name that dot).
Harness.labelled = function labelled(dots, texts, [left, top, right, bottom], whiskers) {
  const boxes = dots.map((dot) => [dot.x - 6, dot.y - 6, dot.x + 6, dot.y + 6]);
  const order = dots.map((_, number) => number).sort((a, b) => dots[a].y - dots[b].y);
  const sides = [[9, 0, "start"], [-9, 0, "end"], [7, -11, "start"], [7, 11, "start"], [-7, -11, "end"], [-7, 11, "end"], [0, -14, "middle"], [0, 14, "middle"]];
  const apart = (a, b) => a[2] < b[0] || a[0] > b[2] || a[3] < b[1] || a[1] > b[3];
  const found = dots.map(() => null);
  for (const strict of [true, false]) for (const number of order) if (!found[number]) found[number] = place(number, strict);
  return found;

  function place(number, strict) {
    const { x, y } = dots[number];
    const wide = Harness.textWidth(texts[number], 12);
    for (const [dx, dy, anchor] of sides) {
      const start = x + dx - (anchor === "end" ? wide : anchor === "middle" ? wide / 2 : 0);
      const box = [start, y + dy - 7, start + wide, y + dy + 7];
      const inside = box[0] >= left && box[2] <= right && box[1] >= top - 8 && box[3] <= bottom;
      const free = boxes.every((other) => apart(box, other)) && (!strict || whiskers.every((line) => !line || apart(box, line)));
      if (!inside || !free) continue;
      boxes.push(box);
      return { x: x + dx, y: y + dy, anchor, text: texts[number] };
    }
    return null;
  }
};
