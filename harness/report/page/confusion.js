// What became of positives and negatives: two bars for each run, each as long as all items of that label.
// Segments differ by pattern as well as by colour.
"use strict";

Harness.confusionParts = [
  ["right", "right"], ["wrong", "wrong"], ["unreadable", "unreadable"], ["failed", "failed call"],
];

Harness.charts.confusion = function confusion(chart) {
  const { rows } = chart;
  const sides = [
    { title: "Gold label yes", keys: ["tp", "fn", "unreadable_positive", "failed_positive"], said: ["true positives", "false negatives"] },
    { title: "Gold label no", keys: ["tn", "fp", "unreadable_negative", "failed_negative"], said: ["true negatives", "false positives"] },
  ];
  const names = { tp: "TP", fn: "FN", tn: "TN", fp: "FP", unreadable_positive: "unreadable, gold yes", failed_positive: "failed, gold yes", unreadable_negative: "unreadable, gold no", failed_negative: "failed, gold no" };
  const occurring = Harness.confusionParts.filter((part, place) => rows.some((row) => sides.some((side) => row.counts[side.keys[place]])));
  return Harness.figure(chart, {
    legend: Harness.el("ul", { class: "legend", "aria-label": "Legend" }, occurring.map(([part, title]) => Harness.el("li", {},
      Harness.svg("svg", { width: 22, height: 12, "aria-hidden": "true" }, Harness.patterns(`legend-${chart.id.replace(/\W+/g, "-")}`),
        Harness.svg("rect", { class: `part ${part}`, width: 22, height: 12, fill: `url(#legend-${chart.id.replace(/\W+/g, "-")}-${part})` })), title))),
    draw,
    across: 1,
    numbers: () => ({
      rows,
      columns: [Harness.nameColumn, ...sides.flatMap((side) => side.keys).map((key) => ({ name: key, title: names[key], kind: "count", value: (row) => row.counts[key], show: (row) => Harness.count(row.counts[key]) }))],
    }),
  });

  function draw(width, name) {
    const narrow = width < 620;
    const left = narrow ? 0 : Math.min(Math.max(...rows.map((row) => Harness.textWidth(row.label, 13))) + 16, width * 0.32);
    const labels = Harness.fittedAll(rows.map((row) => row.label), narrow ? width : left - 12, 13);
    const across = narrow ? width : (width - left - 16) / 2;
    const tall = narrow ? 62 : 24;
    const top = narrow ? 4 : 22;
    return Harness.drawing(chart, name, width, top + rows.length * tall, Harness.patterns(name),
      !narrow && sides.map((side, number) => Harness.svg("text", { class: "tick", x: left + number * (across + 16), y: 12 }, side.title)),
      rows.map(line));

    function line(row, number) {
      const y = top + number * tall;
      const link = Harness.runLink(row.run, { class: "row" }, Harness.svg("rect", { class: "hit", x: 0, y, width, height: tall }));
      const lines = sides.flatMap((side) => [["", `${side.title}: ${Harness.count(total(row, side))}`],
        ...side.keys.map((key, place) => [side.said[place] || Harness.confusionParts[place][1], row.counts[key]]).filter(([, count], place) => count || place < 2).map(([said, count]) => [said, Harness.count(count)])]);
      // The bars lie over the link and let the pointer through.
      return [Harness.tell(link, row.label, lines),
        Harness.svg("text", { class: "name", x: 0, y: y + (narrow ? 15 : 16.5) }, labels[number]),
        Harness.svg("g", { class: "bars" }, sides.map((side, place) => bar(row, side, narrow ? 0 : left + place * (across + 16), narrow ? y + 20 + place * 19 : y + 4)))];
    }

    function bar(row, side, from, y) {
      const x = Harness.linear([0, total(row, side)], [from, from + across]);
      let done = 0;
      return side.keys.map((key, place) => {
        const count = row.counts[key];
        if (!count) return null;
        const start = x(done);
        done += count;
        const part = Harness.confusionParts[place][0];
        const text = Harness.count(count);
        const room = x(done) - start > Harness.textWidth(text, 12) + 12;
        const said = place < 2 ? `${names[key]} ${text}` : text;
        const shown = x(done) - start > Harness.textWidth(said, 12) + 12 ? said : text;
        return [
          Harness.svg("rect", { class: `part ${part}`, x: start, y, width: Math.max(1, x(done) - start - 1), height: 16, fill: `url(#${name}-${part})` }),
          room && part !== "right" && Harness.svg("rect", { class: "plate", x: start + 3, y: y + 2, width: Harness.textWidth(shown, 12) + 4, height: 12 }),
          room && Harness.svg("text", { class: `inside ${part}`, x: start + 5, y: y + 12.3 }, shown),
        ];
      });
    }
  }

  function total(row, side) {
    return side.keys.reduce((sum, key) => sum + row.counts[key], 0);
  }
};

// Fills by name: right full, wrong hatched, unreadable dotted, failed crossed.
Harness.patterns = function patterns(name) {
  const pattern = (part, size, ...children) => Harness.svg("pattern", { id: `${name}-${part}`, width: size, height: size, patternUnits: "userSpaceOnUse" },
    Harness.svg("rect", { class: `ground ${part}`, width: size, height: size }), children);
  return Harness.svg("defs", {},
    pattern("right", 8),
    pattern("wrong", 6, Harness.svg("path", { class: "ink wrong", d: "M-1 1l2-2M0 6l6-6M5 7l2-2" })),
    pattern("unreadable", 5, Harness.svg("circle", { class: "ink unreadable", cx: 2.5, cy: 2.5, r: 1 })),
    pattern("failed", 6, Harness.svg("path", { class: "ink failed", d: "M0 0l6 6M6 0l-6 6" })));
};
