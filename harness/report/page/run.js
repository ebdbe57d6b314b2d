// One run: its scores with intervals and bounds, every label set and breakdown. What it was and how it came about: facts.js.
"use strict";

Harness.views.run = {
  title: "Run",
  listed: () => false,
  show: (place, route) => Harness.runView(place, route.parts[0], Object.fromEntries(route.query)),
};

Harness.runView = function runView(place, id, query) {
  const run = Harness.runOf(id);
  if (!run) {
    place.append(Harness.el("h1", {}, "No such run"), Harness.el("p", {}, `This page has no run ${id || "without a name"}. `, Harness.el("a", { href: Harness.address("board") }, "All runs")));
    return;
  }
  const { result } = run;
  const scores = result.scores || {};
  const sets = [result.headline, ...Object.keys(scores).filter((name) => name !== result.headline)].filter((name) => scores[name]);
  Harness.titled(run.model);
  place.classList.add("run", `role-${run.role}`);
  place.append(...[
    Harness.el("p", { class: "crumbs" }, Harness.el("a", { href: Harness.address("board", [], { task: run.task }) }, run.task)),
    Harness.el("h1", {}, Harness.breakable(run.model)),
    Harness.el("p", { class: "above" }, Harness.breakable([run.prompt && `prompt ${run.prompt}`, run.variant && `variant ${run.variant}`, run.role, run.family, result.headline && `${result.headline} labels`].filter(Boolean).join(" · "))),
    !run.complete && Harness.el("p", { class: "banner", role: "note" }, "This run is not complete: its scores are those of the answers so far, and it is in no leaderboard and no chart."),
    Harness.runLinks(run, query),
  ].filter(Boolean));
  if (!sets.length) {
    place.append(Harness.el("p", {}, "There are no scores in its result.json."));
  } else {
    place.append(headline(), all(), Harness.runAnswers(run), breakdowns());
  }
  place.append(...Harness.runFacts(run));

  // The main numbers, large.
  function headline() {
    const row = overall(result.headline);
    const names = ["f1", "macro_f1", "accuracy", "cell_accuracy", "precision", "recall", "shd"].filter((name) => name in row).slice(0, 4);
    return Harness.el("dl", { class: "figures", "aria-label": "Main scores" }, names.map((name) => {
      const ends = (row.intervals || {})[name];
      const percent = (Harness.data.metrics[name] || { percent: true }).percent;
      return Harness.el("div", {}, Harness.el("dt", {}, Harness.called(name)),
        Harness.el("dd", {}, Harness.el("span", { class: "big" }, Harness.shown(name, row[name])), " ", Harness.el("span", { class: "range" }, Harness.interval(name, ends)),
          percent && Harness.bar(row[name], ends, 1)));
    }));
  }

  function overall(set) {
    return ((scores[set] || {}).overall || {}).all || {};
  }

  // Every metric of every label set: a column for each row of "overall".
  function all() {
    const columns = sets.flatMap((set) => Object.entries(scores[set].overall || {}).map(([group, row]) => ({ title: `${set}${group === "all" ? "" : `, ${group}`}`, row })));
    const names = Harness.metricsIn(columns.map((column) => column.row));
    const bounded = columns.some(({ row }) => Object.keys(row.bounds || {}).length);
    const without = columns.flatMap(({ title, row }) => Object.entries(row.no_interval || {}).map(([reason, those]) => [title, reason, Harness.metricsIn([Object.fromEntries(those.map((name) => [name, true]))])]))
      .filter(([, , those]) => those.length);
    const made = Harness.table({
      label: "All scores, by label set", rows: [...names, ...Harness.counts],
      columns: [{ name: "metric", title: "metric", kind: "text", value: (name) => Harness.called(name) },
        ...columns.map(({ title, row }) => ({ name: title, title: `${title} labels`.replace(", mean of networks labels", " labels, mean of networks"), kind: "metric", wide: true, value: (name) => row[name], show: (name) => number(row, name) }))],
    });
    return section("Scores", made.node,
      bounded && Harness.el("p", { class: "notes" }, "Below a value: what it would be if all unreadable replies and failed calls had been wrong, and if all had been right."),
      without.map(([title, reason, those]) => Harness.el("p", { class: "notes" }, `No interval, ${title} labels: ${reason} (${those.map(Harness.called).join(", ")}).`)));

    function number(row, name) {
      const empty = Harness.el("span", { class: "range" });
      if (!(name in row)) return ["– ", empty];
      if (Harness.counts.includes(name)) return [Harness.count(row[name]), " ", empty];
      const ends = (row.intervals || {})[name];
      const bounds = (row.bounds || {})[name];
      return [Harness.shown(name, row[name]), " ", Harness.el("span", { class: "range" }, ends ? Harness.interval(name, ends) : ""),
        bounds && Harness.el("span", { class: "below" }, bounds.map((end) => Harness.shown(name, end)).join(" to "))];
    }
  }

  // A heat row and a table for each breakdown; crossed ones (network/structure) are long and built when they are opened.
  function breakdowns() {
    const set = sets.includes(query.labels) ? query.labels : sets[0];
    const inside = Harness.el("div", {});
    const fill = (name) => inside.replaceChildren(...Object.entries(scores[name]).filter(([part]) => part !== "overall").map(([part, groups]) => Harness.breakdown(run, part, groups)));
    fill(set);
    return section("Breakdowns", sets.length > 1 && Harness.el("div", { class: "controls" }, Harness.select({
      label: "Label set", value: set, options: sets.map((name) => [name, name]), onchange: (labels) => { Harness.setQuery({ labels }); fill(labels); },
    })), inside);
  }

  function section(title, ...children) {
    return Harness.el("section", {}, Harness.el("h2", {}, title), children);
  }
};

Harness.counts = ["items", "positives", "clusters", "unreadable", "failed"];

// The metrics of some rows in the order of the tables; those without a title are left to result.json.
Harness.metricsIn = function metricsIn(rows) {
  return Object.keys(Harness.data.metrics).filter((name) => rows.some((row) => name in row));
};

Harness.breakdown = function breakdown(run, name, groups) {
  const title = Harness.groupTitle(name);
  const rows = Object.entries(groups).map(([group, row]) => ({ group, ...row }));
  const metrics = Harness.metricsIn(rows);
  const main = ["f1", "macro_f1", "accuracy"].find((metric) => metrics.includes(metric));
  const fold = Harness.el("details", { class: "breakdown", open: !name.includes("/"), ontoggle: fill }, Harness.el("summary", {}, Harness.el("h3", {}, `By ${title}`), ` ${rows.length} groups`));
  if (fold.open) fill();
  return fold;

  function fill() {
    if (fold.children.length > 1) return;
    let made = null;
    made = Harness.table({
      label: `${run.model} by ${title}`, rows, columns: columns(),
      onsort: (how) => made.sort(how),
    });
    fold.append(...(main && rows.length <= 20 ? [strip()] : []), made.node);
  }

  function strip() {
    return Harness.el("ul", { class: "strip", "aria-label": `${Harness.called(main)} by ${title}` }, rows.map((row) => Harness.el("li", {},
      Harness.el("span", { class: "group" }, row.group.replace(/_/g, " ")), Harness.el("span", { class: `square ${Harness.heatClass(main, row[main])}` }, Harness.shown(main, row[main])))));
  }

  function columns() {
    const metric = (one) => {
      const percent = (Harness.data.metrics[one] || { percent: true }).percent;
      const drawn = percent && (one === main || one === "accuracy");
      return {
        name: one, title: Harness.called(one), kind: "metric", head: drawn && Harness.barHead(true), best: (Harness.data.metrics[one] || {}).best, value: (row) => row[one],
        show: (row) => (drawn ? [Harness.shown(one, row[one]), " ", Harness.el("span", { class: "range" }, Harness.interval(one, (row.intervals || {})[one])), Harness.bar(row[one], (row.intervals || {})[one], 1)] : Harness.shown(one, row[one])),
      };
    };
    return [
      { name: "group", title, kind: "text", value: (row) => row.group.replace(/_/g, " ") },
      ...metrics.map(metric),
      ...Harness.counts.map((one) => ({ name: one, title: one, kind: "count", value: (row) => row[one], show: (row) => (one in row ? Harness.count(row[one]) : "–") })),
    ];
  }
};
