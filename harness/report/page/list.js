// A table of any length of which only the rows in sight are drawn: keyboard and screen readers know the others.
"use strict";

// Harness.list({label, columns: [{title, class, cell(row) → node or text}], href(row), empty}) → {node, show(rows, chosen)}; chosen: the row that is
// active and in sight, where it is among them
Harness.list = function list({ label, columns, href, empty }) {
  const HEIGHT = 34, MARGIN = 8;
  let rows = [], active = 0, drawnFrom = -1, drawnTo = -1;
  const above = Harness.el("tr", { "aria-hidden": "true" }, Harness.el("td")); // one cell: to span columns that a phone hides would leave them their place
  const below = above.cloneNode(true);
  const body = Harness.el("tbody", {}, above, below);
  const heads = columns.map((column) => Harness.el("th", { scope: "col", class: column.class }, column.title));
  const table = Harness.el("table", { class: "list", role: "grid", "aria-label": label }, Harness.el("thead", {}, Harness.el("tr", { "aria-rowindex": 1 }, heads)), body);
  const box = Harness.el("div", { class: "list-box", tabindex: 0, role: "region", "aria-label": `${label}: arrow keys choose, Enter opens`, onscroll: draw, onkeydown: key }, table);
  const none = Harness.el("p", { class: "quiet", hidden: true }, empty);
  new ResizeObserver(draw).observe(box);
  return { node: Harness.el("div", {}, box, none), show };

  function show(found, chosen) {
    rows = found;
    active = Math.max(0, chosen === undefined ? Math.min(active, rows.length - 1) : rows.indexOf(chosen));
    drawnFrom = -1;
    table.setAttribute("aria-rowcount", rows.length + 1);
    box.hidden = !rows.length;
    none.hidden = !!rows.length;
    if (box.scrollTop > rows.length * HEIGHT) box.scrollTop = 0;
    draw();
    if (active && chosen !== undefined) reveal();
  }

  function reveal() {
    const head = table.tHead.offsetHeight, top = active * HEIGHT;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + HEIGHT > box.scrollTop + box.clientHeight - head) box.scrollTop = top + HEIGHT - box.clientHeight + head;
    drawnFrom = -1;
    draw();
  }

  function draw() {
    const from = Math.max(0, Math.floor(box.scrollTop / HEIGHT) - MARGIN);
    const to = Math.min(rows.length, Math.ceil((box.scrollTop + (box.clientHeight || 600)) / HEIGHT) + MARGIN);
    if (from === drawnFrom && to === drawnTo) return;
    [drawnFrom, drawnTo] = [from, to];
    above.firstChild.style.height = `${from * HEIGHT}px`;
    below.firstChild.style.height = `${(rows.length - to) * HEIGHT}px`;
    body.replaceChildren(above, ...rows.slice(from, to).map((row, place) => line(row, from + place)), below);
    mark();
  }

  function line(row, place) {
    const cells = columns.map((column, k) => {
      const content = column.cell(row);
      return Harness.el("td", { class: column.class }, k ? content : Harness.el("a", { href: href(row), tabindex: -1 }, content));
    });
    return Harness.el("tr", { "aria-rowindex": place + 2, "data-place": place, onclick: (event) => event.target.closest("a") || open(place) }, cells);
  }

  function mark() {
    for (const one of body.querySelectorAll("tr[data-place]")) {
      const here = Number(one.dataset.place) === active;
      one.classList.toggle("active", here);
      one.setAttribute("aria-selected", here);
    }
  }

  function open(place) {
    if (place < rows.length) Harness.visit(href(rows[place]));
  }

  function key(event) {
    const page = Math.max(1, Math.floor(box.clientHeight / HEIGHT) - 2);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length }[event.key];
    if (event.key === "Enter" && event.target === box) return open(active);
    if (step === undefined) return;
    event.preventDefault();
    active = Math.min(rows.length - 1, Math.max(0, active + step));
    reveal();
    const row = rows[active];
    Harness.announce(`${active + 1} of ${rows.length}: ${columns.map((column) => `${column.title} ${column.plain ? column.plain(row) : textOf(column.cell(row))}`).join(", ")}`);
  }

  function textOf(content) {
    return content instanceof Node ? content.textContent : [content].flat().map((one) => (one instanceof Node ? one.textContent : one)).join(" ");
  }
};
