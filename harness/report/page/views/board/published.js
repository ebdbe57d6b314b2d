// Printed numbers stand below the measured ones, in a frame of their own; long tables are built when they are opened.
import { el } from "../../ui/dom.js";
import { tableColumns } from "./columns.js";
import { tableNotes } from "./tables.js";

const LONG = 20; // rows

/** Return the section with the numbers that papers print. */
export function publishedSection(board, tableSet) {
  const { published } = board;
  const about =
    "Printed in a paper, not measured here; on other items than the tables above unless their data version says " +
    "otherwise.";
  return el(
    "section",
    { class: "published", "aria-labelledby": "published" },
    el("h2", { id: "published", tabindex: -1 }, "Published numbers"),
    el("p", { class: "above" }, about),
    published.map((table) => {
      const isOpen = published.length < 3 || table.rows.length <= LONG;
      return publishedTable(board, tableSet, table, isOpen);
    }),
  );
}

function publishedTable(board, tableSet, table, isOpen) {
  const inside = el("div", {});
  const rowsLeft = el("span", { class: "count" });
  const label = table.heading.replace("PUBLISHED, not measured here: ", "");
  const build = () => {
    if (inside.firstChild) return;
    inside.append(
      el("p", { class: "above" }, table.above, " ", rowsLeft),
      tableSet.add(table, tableColumns(table), rowsLeft, label),
      tableNotes(board, table),
    );
  };
  const ontoggle = () => {
    build();
    tableSet.filter();
  };
  if (isOpen) build();
  const tag = el("span", { class: "tag" }, "published");
  return el("details", { open: isOpen, ontoggle }, el("summary", {}, tag, " ", label), inside);
}
