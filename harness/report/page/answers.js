// The answers of a run, searched and filtered, alone or beside those of a second run.
"use strict";

Harness.views.answers = {
  title: "Answers",
  listed: () => Harness.data.runs.some((run) => run.answers),

  async show(place, route) {
    const withAnswers = Harness.data.runs.filter((run) => run.answers);
    const best = withAnswers.find((run) => run.role === "model") || withAnswers.find((run) => run.role !== "baseline") || withAnswers[0];
    if (!best && !route.parts.length) throw new Error("No run in this page has its answers here; the page of a run says why.");
    if (!route.parts.length) {
      Harness.replace(Harness.address("answers", [best.id], query()));
      route = Harness.here();
    }
    const run = Harness.theRun(route.parts[0]);
    const other = Harness.secondOf(route);
    Harness.titled("Answers", run.model);
    place.append(
      Harness.el("h1", {}, "Answers"),
      Harness.el("div", { class: "choosers" },
        Harness.runChooser({ label: "Run", runs: withAnswers, chosen: run, onchange: (id) => { Harness.visit(Harness.address("answers", [id], query())); } }),
        Harness.runChooser({
          label: "Beside", none: "no other run", runs: Harness.besides(run, "answers"), chosen: other,
          onchange: (vs) => { Harness.visit(Harness.address("answers", [run.id], { ...query(), contrast: "", vs })); },
        }),
        Harness.el("p", { class: "quiet" }, Harness.el("a", { href: Harness.address("run", [run.id]) }, "Scores of this run"))));
    place.append(Harness.otherLabels(run, other) || "");
    if (!run.answers) return void place.append(Harness.el("p", {}, run.no_answers));
    const waiting = Harness.el("p", { class: "quiet" }, "Reading the answers…");
    place.append(waiting);
    const [set, second] = await Promise.all([Harness.answersOf(run), other ? Harness.answersOf(other) : null]);
    waiting.remove();
    explorer(place, set, second);

    // The filters as they are now: they change without the view being shown anew.
    function query() {
      return Object.fromEntries(Harness.here().query);
    }
  },
};

// Runs that may stand beside a run, as they were asked the same things: those of its task that have `what` (answers, graphs).
Harness.besides = function besides(run, what) {
  return Harness.data.runs.filter((one) => one[what] && one.task === run.task && one !== run);
};

function explorer(place, set, second) {
  const facets = Harness.facets(set, second);
  const matching = second && Harness.matching(set, second);
  const told = Harness.el("p", { class: "told" });
  const search = Harness.search({ label: "Search", value: Harness.here().query.get("q"), placeholder: "words of question, reply or item", oninput: (q) => change({ q }) });
  const selects = facets.map((facet) => Harness.select({ label: facet.title, value: "", options: [], onchange: (value) => change({ [facet.name]: value }) }));
  const sorts = Harness.sortsOf(set).flatMap(([name, title]) => (name ? [[name, `${title}, up`], [`${name} desc`, `${title}, down`]] : [[name, title]]));
  const sort = Harness.select({ label: "Order", value: "", options: sorts, onchange: (value) => { const [by, order] = value.split(" "); change({ sort: by, order: order || "" }); } });
  const list = Harness.list({
    label: "Answers",
    columns: columns(set, second, matching),
    href: (row) => Harness.address("item", [set.run.id, set.items.ids[set.answers.item[row]]], Object.fromEntries(Harness.here().query)),
    empty: "No answer passes these filters.",
  });
  place.append(
    Harness.el("form", { class: "filters", role: "search", "aria-label": "Filter the answers", onsubmit: (event) => event.preventDefault() },
      search, selects, sort,
      Harness.el("button", { class: "plain", type: "button", onclick: clear }, "Clear filters"),
      Harness.el("button", { class: "plain", type: "button", onclick: () => Harness.saveCsv(set, now(), matching, second) }, "Save as CSV")),
    told, list.node);
  update(set.first.get(Harness.lastItem)); // back from an answer, its row is in sight

  function change(changes) {
    Harness.setQuery(changes);
    update();
  }

  function clear() {
    search.querySelector("input").value = "";
    change(Object.fromEntries(["q", "sort", "order", ...facets.map((facet) => facet.name)].map((name) => [name, ""])));
  }

  function now() {
    return Harness.filtered(set, facets, Harness.here().query);
  }

  function update(chosen) {
    const query = Harness.here().query;
    const { rows, counts } = now();
    facets.forEach((facet, k) => options(selects[k].querySelector("select"), facet, counts[k], query.get(facet.name) || ""));
    sort.querySelector("select").value = `${query.get("sort") || ""}${query.get("order") === "desc" ? " desc" : ""}`;
    list.show(rows, chosen);
    told.textContent = `${Harness.count(rows.length)} of ${Harness.count(set.count)} answers.`;
    clearTimeout(update.later);
    update.later = setTimeout(() => Harness.announce(told.textContent), 500); // not with every key
  }
}

// A select with how many answers each value would leave.
function options(select, facet, counts, chosen) {
  const made = facet.values.map((value, k) => Harness.el("option", { value }, `${(facet.titles || facet.values)[k]} (${Harness.count(counts[k])})`));
  select.replaceChildren(Harness.el("option", { value: "" }, "all"), ...made);
  select.value = facet.values.includes(chosen) ? chosen : ""; // what no answer of this run has is no filter
}

function columns(set, second, matching) {
  const { answers, items } = set;
  const found = [
    { title: "Item", class: "id", cell: (row) => items.ids[answers.item[row]] + (answers.sample ? ` · ${answers.sample[row] + 1}` : "") },
    { title: "Question", class: "words", cell: (row) => items.words[answers.item[row]] },
    { title: "Gold", class: "short", cell: (row) => Harness.label(set.gold[row]) },
    { title: second ? "Read, first" : "Read", class: "read", cell: (row) => Harness.outcome(set, row), plain: (row) => Harness.STATUS[set.status[row]] },
  ];
  if (second) found.push({ title: "Read, second", class: "read", cell: (row) => (matching[row] < 0 ? "not asked" : Harness.outcome(second, matching[row])) });
  found.push({ title: "Reply", class: "reply", cell: (row) => Harness.el("bdi", {}, Harness.brief(set, row)) });
  return found;
}

// ✓ Yes, ✗ No, ? unreadable, ! failed: the sign, and words for those who do not see it.
Harness.outcome = function outcome(set, row) {
  const status = Harness.STATUS[set.status[row]];
  const sign = { right: "✓", wrong: "✗", unreadable: "?", failed: "!" }[status];
  const said = set.status[row] < 2 ? Harness.label(set.answers.read[row]) : status;
  return Harness.el("span", { class: `outcome ${status}` }, Harness.el("span", { "aria-hidden": "true" }, `${sign} `), said, set.status[row] < 2 && Harness.el("span", { class: "unseen" }, `, ${status}`));
};

// The beginning of a reply on one line; the end of a long one tells more, since answers stand there.
Harness.brief = function brief(set, row) {
  const failure = set.answers.failure && set.answers.failure[row];
  const text = failure ? `${failure.kind}: ${failure.detail}` : set.answers.reply[row] || "";
  const line = text.slice(0, 4000).replace(/\s+/g, " ").trim();
  return text.length <= 220 ? line : `${line.slice(0, 100)} … ${text.slice(-110).replace(/\s+/g, " ").trim()}`;
};

Harness.saveCsv = function saveCsv(set, { rows }, matching, second) {
  const { answers, items } = set;
  // What a spreadsheet would take for a formula gets a ' before it.
  const cell = (value) => `"${String(value ?? "").replace(/^([=+\-@\t\r\n＝＋－＠])/, "'$1").replaceAll('"', '""')}"`;
  const each = ["sample", "read", "outcome", "reply"]; // the draw's number is called and counted as in harness.export
  const head = ["item", "question", "gold", ...each, ...(second ? each.map((name) => `second_${name}`) : [])];
  const told = (side, row) => (row < 0 ? ["", "", "", ""] : [side.answers.sample ? side.answers.sample[row] : 0, Harness.label(side.answers.read[row]), Harness.STATUS[side.status[row]], side.answers.reply[row] ?? ""]);
  const lines = rows.map((row) => {
    const item = answers.item[row];
    return [items.ids[item], items.words[item], Harness.label(set.gold[row]), ...told(set, row), ...(second ? told(second, matching[row]) : [])];
  });
  const text = [head, ...lines].map((line) => line.map(cell).join(",")).join("\r\n");
  const link = Harness.el("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: "answers.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
