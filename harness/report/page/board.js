// The leaderboard: the tables of one task, filtered and sorted together; all of that stands in the address.
"use strict";

Harness.views.board = {
  title: "Leaderboard",
  listed: () => true,
  show: (place, route) => Harness.board(place, Object.fromEntries(route.query)),
};

Harness.board = function board(place, query) {
  const tasks = [...new Set([...Harness.data.tables, ...Harness.data.published].map((table) => table.task))];
  const state = { ...query, task: tasks.includes(query.task) ? query.task : Harness.mostRuns(tasks) };
  const measured = Harness.data.tables.filter((table) => table.task === state.task);
  const published = Harness.data.published.filter((table) => table.task === state.task);
  const metrics = columnsOf(measured).filter((column) => column.kind !== "text");
  const breakdowns = Harness.breakdownsOf(measured);
  const drawn = Harness.el("div", {});
  let tables = [];

  place.append(Harness.el("h1", {}, "Leaderboard"));
  if (!tasks.length) {
    place.append(Harness.el("p", {}, "There is no run to show."));
    return;
  }
  let form = controls();
  Harness.fill(place, {}, [form, contents(), drawn]);
  draw();
  const wanted = document.getElementById(`table-${state.at}`);
  if (wanted) requestAnimationFrame(() => wanted.scrollIntoView());

  function controls() {
    const runs = measured.flatMap((table) => table.rows.map((row) => Harness.runOf(row.run) || {}));
    const [roles, families] = ["role", "family"].map((part) => Harness.among(runs.map((run) => run[part]), "all"));
    return Harness.el("form", { class: "controls", role: "search", "aria-label": "Choose rows and columns", onsubmit: (event) => event.preventDefault() },
      Harness.select({ label: "Task", value: state.task, options: tasks.map((task) => [task, task]), onchange: (task) => { Harness.visit(Harness.address("board", [], { task, published: state.published })); } }),
      Harness.search({ label: "Filter", value: state.q, placeholder: "model, prompt, variant", oninput: (q) => change({ q }, filter) }),
      roles.length > 2 && Harness.select({ label: "Role", value: state.role || "", options: roles, onchange: (role) => change({ role }, filter) }),
      families.length > 2 && Harness.select({ label: "Family", value: state.family || "", options: families, onchange: (family) => change({ family }, filter) }),
      breakdowns.size > 0 && Harness.select({
        label: "Broken down by", value: by() || "", options: [["", "nothing"], ...[...breakdowns.keys()].map((name) => [name, Harness.groupTitle(name)])],
        onchange: (name) => change({ by: name, score: "", sort: "", order: "" }, redo),
      }),
      by() && Harness.select({
        label: "Score", value: score(), options: breakdowns.get(by()).map((name) => [name, Harness.called(name)]), onchange: (name) => change({ score: name }, draw),
      }),
      !by() && metrics.length > 1 && Harness.boxes({
        label: "Columns", options: metrics.map((column) => [column.name, column.title]), on: chosen(),
        onchange: (names) => change({ columns: names.length === metrics.length ? "" : names.join(",") || "none" }, draw),
      }),
      published.length > 0 && Harness.switch({ label: "Published numbers", on: state.published === "1", onchange: (on) => change({ published: on ? "1" : "" }, draw) }),
      Harness.el("button", { class: "plain to-published", type: "button", onclick: toPublished }, "Go to them"));
  }

  function contents() {
    if (measured.length < 2) return null;
    return Harness.el("details", { class: "contents" },
      Harness.el("summary", {}, `${measured.length} tables, as runs on other items or labels are not comparable`),
      Harness.el("nav", { "aria-label": "Tables of this task" }, Harness.el("ol", {},
        measured.map((table, number) => Harness.el("li", {}, link(number, {}, Harness.breakable(table.heading || table.task)), `, ${rowsSaid(table.rows.length)}`)))));
  }

  // To a table of this view: rows and columns stay as they are chosen, in the address too.
  function link(number, attributes, ...children) {
    return Harness.el("a", {
      ...attributes, href: Harness.address("board", [], { task: state.task, at: number + 1 }),
      onclick: (event) => {
        event.preventDefault();
        change({ at: number + 1 });
        document.getElementById(`table-${number + 1}`).scrollIntoView();
      },
    }, children);
  }

  function change(changes, then) {
    Object.assign(state, changes);
    Harness.setQuery(changes);
    if (then) then();
  }

  // Other columns have other controls; the keyboard stays where it was.
  function redo() {
    const before = form;
    form = controls();
    before.replaceWith(form);
    form.elements["Broken down by"].focus();
    draw();
  }

  function by() { return breakdowns.has(state.by) ? state.by : null; }
  function score() { return breakdowns.get(by()).includes(state.score) ? state.score : breakdowns.get(by())[0]; }

  function chosen() {
    return state.columns ? state.columns.split(",") : metrics.map((column) => column.name);
  }

  function draw() {
    tables = [];
    drawn.replaceChildren(...measured.map(section));
    if (state.published === "1") drawn.append(printed());
    form.querySelector(".to-published").hidden = state.published !== "1";
    filter();
  }

  function section(table, number) {
    const heading = table.heading || table.task;
    const left = Harness.el("span", { class: "count" });
    const title = Harness.el("h2", { id: `table-${number + 1}` }, Harness.breakable(heading), " ", measured.length > 1 && link(number, { class: "anchor", "aria-label": `Address of the table ${heading}` }, "#"));
    const above = Harness.el("p", { class: "above" }, table.above, " ", by() && `${Harness.called(score())} by ${Harness.groupTitle(by())}. `, left);
    const columns = by() ? Harness.groupColumns(table, by(), score()) : Harness.boardColumns(table, chosen());
    return Harness.el("section", { "aria-labelledby": `table-${number + 1}` }, title, above,
      table.rows.length > 0 && build(table, columns, left, heading), notes(table));
  }

  function build(table, columns, left, label) {
    const made = Harness.table({
      label, columns, rows: table.rows, mark: (row) => `role-${(Harness.runOf(row.run) || {}).role || "published"}`,
      sort: state.sort ? { by: state.sort, order: state.order } : null,
      onsort: ({ by, order }) => { change({ sort: by, order }, sort); Harness.announce(`Sorted by ${Harness.called(by)}, ${order}ending.`); },
    });
    tables.push({ made, left, rows: table.rows });
    return made.node;
  }

  function sort() {
    for (const { made } of tables) if (made.has(state.sort)) made.sort({ by: state.sort, order: state.order });
  }

  function filter() {
    const words = (state.q || "").toLowerCase().split(/\s+/).filter(Boolean);
    let all = 0;
    for (const { made, left, rows } of tables) {
      const kept = made.filter((row) => keep(row, words));
      all += kept;
      left.textContent = kept === rows.length ? `${rowsSaid(rows.length)}.` : `${Harness.count(kept)} of ${rowsSaid(rows.length)}.`;
    }
    if (words.length || state.role || state.family) Harness.announce(`${rowsSaid(all)} left.`);
  }

  function keep(row, words) {
    const run = Harness.runOf(row.run);
    if (run && ((state.role && run.role !== state.role) || (state.family && run.family !== state.family))) return false;
    const text = [row.model, row.prompt, row.variant, row.folder].filter(Boolean).join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  }

  // They stand below all that was measured, which may be many screens.
  function toPublished() {
    const heading = document.getElementById("published");
    heading.scrollIntoView();
    heading.focus({ preventScroll: true });
  }

  // Printed numbers stand below the measured ones, in a frame of their own; long tables are built when they are opened.
  function printed() {
    return Harness.el("section", { class: "published", "aria-labelledby": "published" },
      Harness.el("h2", { id: "published", tabindex: -1 }, "Published numbers"),
      Harness.el("p", { class: "above" }, "Printed in a paper, not measured here; on other items than the tables above unless their data version says otherwise."),
      published.map((table) => {
        const inside = Harness.el("div", {});
        const left = Harness.el("span", { class: "count" });
        const label = table.heading.replace("PUBLISHED, not measured here: ", "");
        const fill = () => {
          if (inside.firstChild) return;
          inside.append(Harness.el("p", { class: "above" }, table.above, " ", left), build(table, Harness.boardColumns(table), left, label), notes(table));
        };
        const open = published.length < 3 || table.rows.length <= 20;
        if (open) fill();
        return Harness.el("details", { open, ontoggle: () => { fill(); filter(); } },
          Harness.el("summary", {}, Harness.el("span", { class: "tag" }, "published"), " ", label), inside);
      }));
  }

  function notes(table) {
    const names = table.not_complete || [];
    const said = `Not complete, so not ranked: ${names.map((one) => `${one.variant}/${one.prompt}/${one.model}`).join(", ")}.`;
    const links = Harness.data.runs.filter((run) => !run.complete && run.task === table.task);
    return Harness.el("div", { class: "notes" },
      (by() && !table.published ? [grouped(table) && Harness.groupNote].filter(Boolean) : table.notes.filter((note) => note !== said || !links.length)).map((note) => Harness.el("p", {}, note)),
      names.length > 0 && links.length > 0 && Harness.el("p", { class: "warning" }, "Not complete, so not ranked: ",
        links.map((run, number) => [number ? ", " : "", Harness.el("a", { href: Harness.address("run", [run.id]) }, [run.variant, run.prompt, run.model].join("/"))]), "."));
  }

  // Whether the numbers that stand in a table broken down have intervals.
  function grouped(table) {
    return table.rows.some((row) => Object.values(Harness.headlineScores(row.run)[by()] || {}).some((group) => (group.intervals || {})[score()]));
  }

  function columnsOf(list) {
    const found = new Map();
    for (const table of list) for (const column of table.columns) if (!found.has(column.name)) found.set(column.name, column);
    return [...found.values()];
  }

  function rowsSaid(number) {
    return `${Harness.count(number)} row${number === 1 ? "" : "s"}`;
  }
};
