// A table that sorts: header buttons, aria-sort, stable, what is undefined last in either direction.
import { el } from "./dom.js";

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/**
 * Return {node, sort({by, order}), filter(keep), has(name)}: sort moves rows, filter hides them and returns how many
 * are left, neither builds them anew.
 *
 * columns: [{name, title, kind: "text"|"metric"|"count", best: "high"|"low"|null, wide, head, value(row), show(row)}],
 * in which value(row) is a number, a string or null and show(row) what stands in the cell (default: the value).
 */
export function sortableTable({ label, columns, rows, sort: initial, onsort, mark }) {
  const lines = rows.map((row, number) => ({ row, number, node: tableRow(columns, row, mark) }));
  const heads = columns.map(head);
  const body = el(
    "tbody",
    {},
    lines.map((line) => line.node),
  );
  const node = scrollTable(label, { class: "data" }, label, [el("thead", {}, el("tr", {}, heads)), body]);
  if (initial) sort(initial);
  return { node, sort, filter, has: (name) => columns.some((column) => column.name === name) };

  function head(column) {
    const attributes = { scope: "col", class: cellClass(column) };
    if (!onsort) return el("th", attributes, column.title, column.head);
    const arrow = el("span", { class: "arrow", "aria-hidden": "true" });
    const button = el("button", { type: "button", onclick: () => onsort(nextOrder(column)) }, column.title, arrow);
    return el("th", attributes, button, column.head);
  }

  // The good end first; the other one when it is chosen again.
  function nextOrder(column) {
    const current = heads[columns.indexOf(column)].getAttribute("aria-sort");
    const first = column.kind === "text" || column.best === "low" ? "ascending" : "descending";
    const other = first === "ascending" ? "descending" : "ascending";
    return { by: column.name, order: (current === first ? other : first).replace("ending", "") };
  }

  function sort({ by, order }) {
    const sortColumn = columns.find((column) => column.name === by);
    columns.forEach((column, number) => {
      if (column !== sortColumn) heads[number].removeAttribute("aria-sort");
      else heads[number].setAttribute("aria-sort", order === "asc" ? "ascending" : "descending");
    });
    const sorted = sortColumn ? sortedBy(lines, (line) => sortColumn.value(line.row), order) : lines;
    body.replaceChildren(...sorted.map((line) => line.node));
  }

  function filter(keep) {
    let visible = 0;
    for (const { row, node: line } of lines) {
      line.hidden = !keep(row);
      visible += line.hidden ? 0 : 1;
    }
    return visible;
  }
}

/** Return a table that scrolls sideways where it is too wide, which keyboards can do only where it takes the focus. */
export function scrollTable(label, attributes, caption, ...parts) {
  return el(
    "div",
    { class: "scroll", role: "region", tabindex: "0", "aria-label": label },
    el("table", attributes, el("caption", { class: "unseen" }, caption), parts),
  );
}

function tableRow(columns, row, mark) {
  const cells = columns.map((column, number) => {
    const content = (column.show ? column.show(row) : column.value(row)) ?? "–";
    return number
      ? el("td", { class: cellClass(column) }, content)
      : el("th", { scope: "row", class: cellClass(column) }, content);
  });
  return el("tr", { class: mark && mark(row) }, cells);
}

function cellClass(column) {
  return [column.kind === "text" ? "text" : "number", column.wide && "wide"].filter(Boolean).join(" ");
}

/** Return a copy sorted by number or, for text, as people sort (run2 before run10); ties keep their order. */
function sortedBy(list, value, order) {
  const sign = order === "asc" ? 1 : -1;
  const keyed = list.map((entry, number) => ({ entry, number, key: value(entry) }));
  const isMissing = (key) => key === null || key === undefined || Number.isNaN(key);
  keyed.sort((a, b) => {
    if (isMissing(a.key) || isMissing(b.key)) return isMissing(a.key) - isMissing(b.key) || a.number - b.number;
    const areNumbers = typeof a.key === "number" && typeof b.key === "number";
    const difference = areNumbers ? a.key - b.key : collator.compare(a.key, b.key);
    return sign * difference || a.number - b.number;
  });
  return keyed.map(({ entry }) => entry);
}
