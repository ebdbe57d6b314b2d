// A table of any length of which only the rows in sight are drawn: keyboard and screen readers know the others.
import { visit } from "./address.js";
import { announce, el } from "./dom.js";

const MARGIN = 8; // rows that are drawn above and below those in sight

/** A list of rows; `show` fills it, `node` is what stands in the page. */
export class VirtualList {
  /** columns: [{title, class, cell(row) → node or text, plain(row) → what screen readers are told instead}, …]. */
  constructor({ label, columns, href, empty }) {
    this.columns = columns;
    this.href = href;
    this.rows = [];
    this.active = 0; // place of the active row
    this.range = [-1, -1, 0]; // places from and to which rows are drawn, and their height
    Object.assign(this, frame(label, columns)); // box, table, body, above, below
    this.none = el("p", { class: "quiet", hidden: true }, empty);
    this.node = el("div", {}, this.box, this.none);
    this.box.addEventListener("scroll", () => this.draw());
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  /** Return the height of a row in pixels, which the style sheet says: on a narrow screen rows have two lines. */
  get rowHeight() {
    return parseFloat(getComputedStyle(this.table).getPropertyValue("--row"));
  }

  /** Show these rows; `chosen` is the row that becomes active and is in sight, where it is among them. */
  show(rows, chosen) {
    const { box, table, none } = this;
    this.rows = rows;
    this.active = Math.max(0, chosen === undefined ? Math.min(this.active, rows.length - 1) : rows.indexOf(chosen));
    table.setAttribute("aria-rowcount", rows.length + 1);
    box.hidden = !rows.length;
    none.hidden = !!rows.length;
    if (box.scrollTop > rows.length * this.rowHeight) box.scrollTop = 0;
    this.redraw();
    if (this.active && chosen !== undefined) this.reveal();
  }

  /** Scroll so far that the active row is in sight. */
  reveal() {
    const { box, table, active, rowHeight } = this;
    const head = table.tHead.offsetHeight;
    const top = active * rowHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + rowHeight > box.scrollTop + box.clientHeight - head) {
      box.scrollTop = top + rowHeight - box.clientHeight + head;
    }
    this.redraw();
  }

  redraw() {
    this.range = [-1, -1, 0];
    this.draw();
  }

  /** Draw the rows in sight, if others are drawn. */
  draw() {
    const { box, body, above, below, rows, rowHeight } = this;
    const from = Math.max(0, Math.floor(box.scrollTop / rowHeight) - MARGIN);
    const bottom = box.scrollTop + (box.clientHeight || 600);
    const to = Math.min(rows.length, Math.ceil(bottom / rowHeight) + MARGIN);
    if (from === this.range[0] && to === this.range[1] && rowHeight === this.range[2]) return;
    this.range = [from, to, rowHeight];
    above.firstChild.style.height = `${from * rowHeight}px`;
    below.firstChild.style.height = `${(rows.length - to) * rowHeight}px`;
    body.replaceChildren(above, ...rows.slice(from, to).map((row, k) => this.line(row, from + k)), below);
    markActive(body, this.active);
  }

  line(row, place) {
    const cells = this.columns.map((column, k) => {
      const content = column.cell(row);
      return el("td", { class: column.class }, k ? content : el("a", { href: this.href(row), tabindex: -1 }, content));
    });
    const onclick = (event) => event.target.closest("a") || this.visitRow(place);
    return el("tr", { "aria-rowindex": place + 2, "data-place": place, onclick }, cells);
  }

  visitRow(place) {
    if (place < this.rows.length) visit(this.href(this.rows[place]));
  }

  onKey(event) {
    const { box, rows, active } = this;
    if (event.key === "Enter" && event.target === box) {
      this.visitRow(active);
      return;
    }
    const page = Math.max(1, Math.floor(box.clientHeight / this.rowHeight) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.active = Math.min(rows.length - 1, Math.max(0, active + step));
    this.reveal();
    const texts = this.columns.map((column) => columnText(column, rows[this.active]));
    announce(`${this.active + 1} of ${rows.length}: ${texts.join(", ")}`);
  }
}

function frame(label, columns) {
  const gap = () => el("tr", { "aria-hidden": "true" }, el("td")); // one cell: a phone hides columns, not their width
  const [above, below] = [gap(), gap()];
  const body = el("tbody", {}, above, below);
  const heads = columns.map((column) => el("th", { scope: "col", class: column.class }, column.title));
  const head = el("thead", {}, el("tr", { "aria-rowindex": 1 }, heads));
  const table = el("table", { class: "list", role: "grid", "aria-label": label }, head, body);
  const help = `${label}: arrow keys choose, Enter opens`;
  const box = el("div", { class: "list-box", tabindex: 0, role: "region", "aria-label": help }, table);
  return { box, table, body, above, below };
}

function markActive(body, active) {
  for (const line of body.querySelectorAll("tr[data-place]")) {
    const isActive = Number(line.dataset.place) === active;
    line.classList.toggle("active", isActive);
    line.setAttribute("aria-selected", isActive);
  }
}

function columnText(column, row) {
  return `${column.title} ${column.plain ? column.plain(row) : textOf(column.cell(row))}`;
}

function textOf(content) {
  const parts = [content].flat();
  return parts.map((part) => (part instanceof Node ? part.textContent : part)).join(" ");
}
