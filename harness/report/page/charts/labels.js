// The names in charts: how wide they are, how they are broken or cut, and where they keep off each other.

let pen = null;

/** Return the width of a text in pixels. */
export function textWidth(text, size = 12) {
  pen ||= document.createElement("canvas").getContext("2d");
  pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

/** Return a name in lines that fit: broken after its signs and spaces, within a word where there is no other way. */
export function wrapped(text, width, size = 12) {
  const lines = [""];
  for (const part of text.split(/(?<=[_/=,\s-])/)) {
    if (lines.at(-1) && textWidth(lines.at(-1) + part.trimEnd(), size) > width) lines.push("");
    for (const letter of part) {
      if (lines.at(-1) && textWidth(lines.at(-1) + letter.trim(), size) > width) lines.push("");
      lines[lines.length - 1] += letter;
    }
  }
  return lines;
}

// `first` is the share of what is kept that stands before the cut.
function shortened(text, width, size, first) {
  if (textWidth(text, size) <= width) return text;
  let keep = text.length - 1;
  const cut = () => {
    const end = text.slice(text.length - Math.floor(keep * (1 - first)));
    return `${text.slice(0, Math.ceil(keep * first))}…${end}`;
  };
  while (keep > 1 && textWidth(cut(), size) > width) keep -= 1;
  return cut();
}

/**
 * Return the names of a chart, cut so that they fit, where they stay different from each other if that can be had; an
 * end that all long ones share (",seed=0") goes first.
 */
export function shortenAll(texts, width, size = 12) {
  const long = texts.filter((text) => textWidth(text, size) > width);
  const end = sharedEnd(long);
  const withoutEnd = (text, gone) => (gone && long.includes(text) ? `${text.slice(0, -gone.length)}…` : text);
  const candidates = ["", end].flatMap((gone) =>
    [0.6, 0.4, 0.8, 0.1].map((first) => texts.map((text) => shortened(withoutEnd(text, gone), width, size, first))),
  );
  return candidates.find((names) => new Set(names).size === new Set(texts).size) || candidates[0];
}

function sharedEnd(texts) {
  const nextEnd = (text) => (text.match(/[,·/].*$/) || [""])[0];
  let end = texts.length > 1 ? nextEnd(texts[0]) : "";
  while (end && !texts.every((text) => text.endsWith(end))) end = nextEnd(end.slice(1));
  return end;
}

/**
 * Return heights for labels that want to stand at `wanted`, at least `gap` apart and within [top, bottom]: overlapping
 * labels join a block that stands where its members on average want to.
 */
export function spreadHeights(wanted, gap, [top, bottom]) {
  const labels = wanted.map((at, number) => ({ at, number })).sort((a, b) => a.at - b.at || a.number - b.number);
  const halfOf = (block) => ((block.members.length - 1) * gap) / 2;
  const blocks = [];
  for (const label of labels) {
    let block = { members: [label], middle: label.at };
    for (;;) {
      const half = halfOf(block);
      block.middle = Math.min(Math.max(block.middle, top + half), Math.max(top + half, bottom - half));
      const before = blocks[blocks.length - 1];
      if (!before || before.middle + halfOf(before) + gap <= block.middle - half + 1e-6) break;
      blocks.pop();
      block = joined(before, block, gap);
    }
    blocks.push(block);
  }
  const heights = [];
  for (const { members, middle } of blocks) {
    members.forEach((label, place) => {
      heights[label.number] = middle + (place - (members.length - 1) / 2) * gap;
    });
  }
  return heights;
}

function joined(before, block, gap) {
  const members = [...before.members, ...block.members];
  const mean = members.reduce((sum, label, place) => sum + label.at - place * gap, 0) / members.length;
  return { members, middle: mean + ((members.length - 1) * gap) / 2 };
}

// Where a label may stand beside its dot: [right by, down by, text-anchor].
const SIDES = [
  [9, 0, "start"],
  [-9, 0, "end"],
  [7, -11, "start"],
  [7, 11, "start"],
  [-7, -11, "end"],
  [-7, 11, "end"],
  [0, -15, "middle"],
  [0, 15, "middle"],
];

/**
 * Return where the names of dots may stand so that they cover neither dots nor each other, nor the lines of intervals
 * if that can be had: beside, above or below; null where nothing is free (the tip and the table name that dot).
 */
export function placeLabels(dots, texts, [left, top, right, bottom], whiskers) {
  const boxes = dots.map((dot) => [dot.x - 6, dot.y - 6, dot.x + 6, dot.y + 6]);
  const order = dots.map((_, number) => number).sort((a, b) => dots[a].y - dots[b].y);
  const areApart = (a, b) => a[2] < b[0] || a[0] > b[2] || a[3] < b[1] || a[1] > b[3];
  const labels = dots.map(() => null);
  for (const strict of [true, false]) {
    for (const number of order) if (!labels[number]) labels[number] = place(number, strict);
  }
  return labels;

  function place(number, strict) {
    const { x, y } = dots[number];
    const width = textWidth(texts[number], 12);
    for (const [dx, dy, anchor] of SIDES) {
      const start = x + dx - (anchor === "end" ? width : anchor === "middle" ? width / 2 : 0);
      const box = [start, y + dy - 7, start + width, y + dy + 7];
      const isInside = box[0] >= left && box[2] <= right && box[1] >= top - 8 && box[3] <= bottom;
      const coversLine = strict && whiskers.some((line) => line && !areApart(box, line));
      if (!isInside || coversLine || !boxes.every((other) => areApart(box, other))) continue;
      boxes.push(box);
      return { x: x + dx, y: y + dy, anchor, text: texts[number] };
    }
    return null;
  }
}
