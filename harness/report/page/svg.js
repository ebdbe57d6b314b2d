// What charts share: scales and their ticks, the width of text, labels that keep off each other, the shapes of marks.
"use strict";

Harness.linear = function linear([low, high], [from, to]) {
  return (value) => from + ((value - low) / (high - low || 1)) * (to - from);
};

// Round numbers in a range, about `wanted` of them: steps of 1, 2 or 5.
Harness.ticks = function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough * 0.999);
  const found = [];
  for (let number = Math.ceil(low / step - 1e-9); number * step <= high + step * 1e-9; number += 1) found.push(Number((number * step).toPrecision(12)));
  return found;
};

// The range of a metric in a chart: from 0 to the next tenth for shares, to a round number for others.
Harness.range = function range(metric, values) {
  const most = Math.max(0, ...values.filter((value) => value !== null && value !== undefined));
  if ((Harness.data.metrics[metric] || { percent: true }).percent) return [0, Math.min(1, Math.max(0.1, Math.ceil(most * 10 - 1e-9) / 10))];
  const steps = Harness.ticks(0, most || 1, 5);
  return [0, steps[steps.length - 1] + (steps[steps.length - 1] < most ? steps[1] : 0)];
};

Harness.tickText = function tickText(metric, value) {
  const percent = (Harness.data.metrics[metric] || { percent: true }).percent;
  return (percent ? 100 * value : value).toLocaleString("en-US", { maximumFractionDigits: 2 });
};

// Large and small amounts in few signs: 1,200,000 → 1.2M, 0.00042 → 0.00042.
Harness.amount = function amount(value) {
  if (value >= 10000) return value.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 });
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
};

Harness.textWidth = function textWidth(text, size = 12) {
  const pen = (Harness.pen ||= document.createElement("canvas").getContext("2d"));
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
};

// The text, cut so that it fits; `first` is the share of what is kept that stands before the cut.
Harness.fitted = function fitted(text, width, size = 12, first = 0.6) {
  if (Harness.textWidth(text, size) <= width) return text;
  let keep = text.length - 1;
  const cut = () => `${text.slice(0, Math.ceil(keep * first))}…${text.slice(text.length - Math.floor(keep * (1 - first)))}`;
  while (keep > 1 && Harness.textWidth(cut(), size) > width) keep -= 1;
  return cut();
};

// The names of a chart, cut where they stay different from each other if that can be had; an end that all long ones share
// (",seed=0") goes first.
Harness.fittedAll = function fittedAll(texts, width, size = 12) {
  const long = texts.filter((text) => Harness.textWidth(text, size) > width);
  let end = long.length > 1 ? (long[0].match(/[,·/].*$/) || [""])[0] : "";
  while (end && !long.every((text) => text.endsWith(end))) end = (end.slice(1).match(/[,·/].*$/) || [""])[0];
  const ways = ["", end].flatMap((gone) => [0.6, 0.4, 0.8, 0.1].map((first) => texts.map((text) => (
    Harness.fitted(gone && long.includes(text) ? `${text.slice(0, -gone.length)}…` : text, width, size, first)))));
  return ways.find((found) => new Set(found).size === new Set(texts).size) || ways[0];
};

// Heights for labels that want to stand at `wanted`, at least `gap` apart and within [top, bottom]: overlapping
// labels join a block that stands where its members on average want to.
Harness.apart = function apart(wanted, gap, [top, bottom]) {
  const order = wanted.map((at, number) => ({ at, number })).sort((a, b) => a.at - b.at || a.number - b.number);
  const blocks = [];
  for (const one of order) {
    let block = { members: [one], middle: one.at };
    for (;;) {
      const half = ((block.members.length - 1) * gap) / 2;
      block.middle = Math.min(Math.max(block.middle, top + half), Math.max(top + half, bottom - half));
      const before = blocks[blocks.length - 1];
      if (!before || before.middle + ((before.members.length - 1) * gap) / 2 + gap <= block.middle - half + 1e-6) break;
      blocks.pop();
      const members = [...before.members, ...block.members];
      const mean = members.reduce((sum, each, place) => sum + each.at - place * gap, 0) / members.length;
      block = { members, middle: mean + ((members.length - 1) * gap) / 2 };
    }
    blocks.push(block);
  }
  const found = [];
  for (const block of blocks) block.members.forEach((one, place) => { found[one.number] = block.middle + (place - (block.members.length - 1) / 2) * gap; });
  return found;
};

// A mark by what answered, as Harness.data.marks has it; the areas of the shapes are about the same.
Harness.shape = function shape(role, x, y, size = 4.5) {
  const { shape, open } = Harness.data.marks[role];
  const mark = open ? "mark open" : "mark";
  if (shape === "disc") return Harness.svg("circle", { class: mark, cx: x, cy: y, r: size });
  const corners = { square: [[-0.86, -0.86], [0.86, -0.86], [0.86, 0.86], [-0.86, 0.86]], diamond: [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]], triangle: [[0, -1.3], [1.25, 0.95], [-1.25, 0.95]] };
  return Harness.svg("polygon", { class: mark, points: corners[shape].map(([across, down]) => `${x + across * size},${y + down * size}`).join(" ") });
};

// What the shapes mean, where a chart has more than one; with `wide` on a piece of their line.
Harness.roleLegend = function roleLegend(rows, wide) {
  const roles = Object.keys(Harness.data.marks).filter((role) => rows.some((row) => row.role === role));
  if (roles.length < 2) return null;
  const sample = (role) => Harness.svg("svg", { width: wide ? 30 : 14, height: 14, "aria-hidden": "true", class: `role-${role}${wide ? " series" : ""}` },
    wide && Harness.svg("path", { class: "line", d: "M0 7h30" }), wide ? Harness.shape(role, 15, 7, 3.5) : Harness.shape(role, 7, 7));
  return Harness.el("ul", { class: "legend", "aria-label": "Legend" }, roles.map((role) => Harness.el("li", {}, sample(role), Harness.data.marks[role].title)));
};

// Colour and shape of each role as styles: the dots of tables take them too.
Harness.markStyles = function markStyles() {
  return Harness.el("style", {}, Object.entries(Harness.data.marks).map(([role, { colour, shape, open }]) => (
    `.role-${role} { --hue: var(--${colour}); --shape: var(--${shape}); --inside: var(${open ? "--page" : "--hue"}); }\n`)));
};
