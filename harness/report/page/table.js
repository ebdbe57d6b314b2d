// A table that sorts: header buttons, aria-sort, stable, what is undefined last in either direction.
"use strict";

// columns: [{name, title, kind: "text"|"metric"|"count", best: "high"|"low"|null, wide, head, value(row), show(row)}]
// value(row): a number, a string or null; show(row): what stands in the cell (default: the value).
// Gives {node, sort({by, order}), filter(keep)}: sort moves rows, filter hides them, neither builds them anew.
Harness.table = function table({ label, columns, rows, sort, onsort, mark }) {
  const lines = rows.map((row, number) => ({ row, number, node: line(row) }));
  const heads = columns.map(head);
  const body = Harness.el("tbody", {}, lines.map((one) => one.node));
  const node = Harness.el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label },
    Harness.el("table", { class: "data" }, Harness.el("caption", { class: "unseen" }, label),
      Harness.el("thead", {}, Harness.el("tr", {}, heads)), body));
  if (sort) order(sort);
  return { node, sort: order, filter, has: (name) => columns.some((column) => column.name === name) };

  function head(column) {
    const attributes = { scope: "col", class: classes(column) };
    if (!onsort) return Harness.el("th", attributes, column.title, column.head);
    const arrow = Harness.el("span", { class: "arrow", "aria-hidden": "true" });
    const button = Harness.el("button", { type: "button", onclick: () => onsort(next(column)) }, column.title, arrow);
    return Harness.el("th", attributes, button, column.head);
  }

  function line(row) {
    const cells = columns.map((column, number) => {
      const shown = column.show ? column.show(row) : column.value(row);
      const inside = shown === null || shown === undefined ? "–" : shown;
      return number ? Harness.el("td", { class: classes(column) }, inside)
        : Harness.el("th", { scope: "row", class: classes(column) }, inside);
    });
    return Harness.el("tr", { class: mark && mark(row) }, cells);
  }

  // The good end first; the other one when it is chosen again.
  function next(column) {
    const current = heads[columns.indexOf(column)].getAttribute("aria-sort");
    const first = column.kind === "text" || column.best === "low" ? "ascending" : "descending";
    const other = first === "ascending" ? "descending" : "ascending";
    return { by: column.name, order: (current === first ? other : first).replace("ending", "") };
  }

  function order({ by, order: way }) {
    const column = columns.find((one) => one.name === by);
    columns.forEach((one, number) => {
      if (one === column) heads[number].setAttribute("aria-sort", way === "asc" ? "ascending" : "descending");
      else heads[number].removeAttribute("aria-sort");
    });
    body.replaceChildren(...(column ? Harness.sorted(lines, (one) => column.value(one.row), way) : lines).map((one) => one.node));
  }

  function filter(keep) {
    let left = 0;
    for (const one of lines) {
      one.node.hidden = !keep(one.row);
      left += one.node.hidden ? 0 : 1;
    }
    return left;
  }

  function classes(column) {
    return [column.kind === "text" ? "text" : "number", column.wide && "wide"].filter(Boolean).join(" ");
  }
};

// Sorted copies: by number or, for text, as people sort (run2 before run10); ties keep their order, null stands last.
Harness.sorted = function sorted(list, value, way) {
  const sign = way === "asc" ? 1 : -1;
  const keyed = list.map((one, number) => ({ one, number, key: value(one) }));
  const missing = (key) => key === null || key === undefined || Number.isNaN(key);
  keyed.sort((a, b) => {
    if (missing(a.key) || missing(b.key)) return missing(a.key) - missing(b.key) || a.number - b.number;
    const less = typeof a.key === "number" && typeof b.key === "number" ? a.key - b.key : Harness.collator.compare(a.key, b.key);
    return sign * less || a.number - b.number;
  });
  return keyed.map((each) => each.one);
};
Harness.collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

// Which of the texts shown in a column are best (0) and second (1); ties share a place, as in the Markdown tables.
Harness.places = function places(cells, best) {
  const values = new Map(cells.filter((cell) => cell && cell.value !== null && cell.value !== undefined).map((cell) => [number(cell), cell.value]));
  if (!best || values.size < 2) return new Map();
  const ranked = [...values.keys()].sort((a, b) => (best === "high" ? values.get(b) - values.get(a) : values.get(a) - values.get(b)));
  return new Map(ranked.slice(0, 2).map((text, place) => [text, place]));

  function number(cell) { return cell.text.split(" ")[0]; }
};

// An interval as tables show it: one decimal less than the value, as the resamples tell no more.
Harness.interval = function interval(metric, ends) {
  if (!ends) return "";
  const how = Harness.data.metrics[metric] || { percent: true, decimals: 2 };
  const digits = Math.max(1, how.decimals - 1);
  const shown = ends.map((end) => Harness.rounded(how.percent ? 100 * end : end, digits));
  return `[${shown.join(", ")}]`;
};

// A dot in its interval on a track from 0 to `most`; the same numbers stand beside it, so screen readers skip it.
Harness.bar = function bar(value, ends, most) {
  const at = (number) => `${(100 * Math.min(1, Math.max(0, number / (most || 1)))).toFixed(2)}%`;
  return Harness.el("span", { class: "bar", "aria-hidden": "true" },
    ends && Harness.el("span", { class: "whisker", style: `left:${at(ends[0])};right:calc(100% - ${at(ends[1])})` }),
    value !== null && value !== undefined && Harness.el("span", { class: "dot", style: `left:${at(value)}` }));
};

// Above a column of bars: room for the intervals' text, and the ends of the scale.
Harness.barHead = function barHead(percent) {
  return [" ", Harness.el("span", { class: "range" }), Harness.el("span", { class: "axis", "aria-hidden": "true" },
    ["0", "50", "100"].map((end) => Harness.el("span", {}, percent ? end : "")))];
};

// What a metric is called; parts of names that Python gives no title stand with spaces.
Harness.called = (name) => (Harness.data.metrics[name] || {}).title || name.replace(/_/g, " ");

// A name that may break after its signs, not within its words.
Harness.breakable = (text) => text.split(/(?<=[_/=-]|,(?! |\d{3}(?!\d)))/).flatMap((part, number) => (number ? [Harness.el("wbr"), part] : [part]));

Harness.runOf = function runOf(id) {
  if (!Harness.runsById) Harness.runsById = new Map(Harness.data.runs.map((run) => [run.id, run]));
  return Harness.runsById.get(id);
};

// The same for an address that has to name one.
Harness.theRun = function theRun(id) {
  const run = Harness.runOf(id);
  if (!run) throw new Error(id ? `There is no run ${id} in this page.` : "The address names no run.");
  return run;
};
