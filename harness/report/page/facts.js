// What a run was and how it came about: answers that could not be read, usage and cost, settings, provenance.
"use strict";

// Where to go from a run: its answers and graphs, and another run beside it.
Harness.runLinks = function runLinks(run, query) {
  const links = [
    run.answers && Harness.el("a", { class: "action", href: Harness.address("answers", [run.id]) }, `Answers (${Harness.count(run.answers.count)})`),
    run.graphs && Harness.el("a", { class: "action", href: Harness.address("graphs", [run.id, run.graphs.networks[0]]) }, "Graphs, true and predicted"),
  ].filter(Boolean);
  const others = Harness.data.runs.filter((one) => one !== run && one.answers && run.answers && one.answers.items === run.answers.items);
  return Harness.el("div", { class: "links" }, links, !run.answers && run.no_answers && Harness.el("span", { class: "quiet" }, run.no_answers), others.length > 0 && beside(), Harness.el("a", { class: "action", href: Harness.address("charts", [], { task: run.task }) }, "Charts of this task"));

  function beside() {
    const link = Harness.el("a", { class: "action" }, "Compare the answers");
    const point = (vs) => link.setAttribute("href", Harness.address("answers", [run.id], { vs }));
    const first = others.some((one) => one.id === query.vs) ? query.vs : others[0].id;
    point(first);
    return Harness.el("span", { class: "beside-run" }, Harness.select({
      label: "Beside run", value: first, options: others.map((one) => [one.id, Harness.runName(one)]), onchange: point,
    }), link);
  }
};

// What became of the items: right and wrong by gold label, unreadable, failed, and how the replies ended.
Harness.runAnswers = function runAnswers(run) {
  const { result } = run;
  const row = result.scores[result.headline].overall.all;
  const counts = row.confusion;
  const count = (name) => Harness.count((counts || {})[name] || 0);
  const head = (title) => Harness.el("th", { scope: "col", class: "number" }, title);
  const cell = (name) => Harness.el("td", { class: "number" }, count(name));
  return Harness.el("section", {}, Harness.el("h2", {}, "Answers"),
    counts && Harness.el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Answers by gold label" },
      Harness.el("table", { class: "data" }, Harness.el("caption", { class: "unseen" }, `Answers by gold label (${result.headline})`),
        Harness.el("thead", {}, Harness.el("tr", {}, Harness.el("th", { scope: "col" }, `gold (${result.headline})`), ["said yes", "said no", "unreadable", "failed call"].map(head))),
        Harness.el("tbody", {}, [["yes", "tp", "fn", "positive"], ["no", "fp", "tn", "negative"]].map(([gold, yes, no, side]) => Harness.el("tr", {},
          Harness.el("th", { scope: "row" }, gold), cell(yes), cell(no), cell(`unreadable_${side}`), cell(`failed_${side}`)))))),
    Harness.facts([
      !counts && ["Unreadable replies", Harness.count(row.unreadable)],
      !counts && ["Failed calls", Harness.count(row.failed)],
      listed("Failures by kind", result.failures),
      listed("How replies ended", result.finish_reasons),
      listed("Models that the server named", result.served_models),
    ]));

  function listed(title, found) {
    const all = Object.entries(found || {});
    return all.length > 0 && [title, all.map(([name, number]) => `${name} ${Harness.count(number)}`).join(", ")];
  }
};

Harness.runFacts = function runFacts(run) {
  const { result, manifest } = run;
  const { harness: made, versions, machine, items, configuration, prices } = manifest;
  const usage = Object.entries(result.usage || {}).map(([name, count]) => [`${name.replace(/_/g, " ")} tokens`, Harness.count(count)]);
  const cost = result.cost || {};
  const notes = result.notes || [];
  return [
    notes.length > 0 && Harness.el("section", {}, Harness.el("h2", {}, "Notes"), notes.map((note) => Harness.el("p", { class: "prose" }, note))),
    section("Several answers an item", Object.entries(result.samples || {}).map(([name, value]) => [name.replace(/_/g, " "), name === "number" || typeof value !== "number" ? String(value ?? "–") : `${Harness.rounded(100 * value, 2)}%`])),
    section("Usage and cost", [...usage,
      "usd" in cost && ["cost", cost.usd === null ? "unknown, as the model's price is" : `$${cost.usd.toLocaleString("en-US", { maximumSignificantDigits: 4 })}`],
      cost.answers && ["answers paid for", Harness.count(cost.answers)],
      cost.answers_without_cost && ["answers without a count of tokens", Harness.count(cost.answers_without_cost)],
      cost.price && ["price", cost.price],
      ...Harness.flat(prices).map(([name, value]) => [`price: ${name}`, value])]),
    section("Settings", Harness.flat(configuration)),
    section("How it came about", [
      ["run", run.id],
      made && ["harness", `${made.version || ""}${made.commit ? `, commit ${made.commit}` : ""}${made.dirty ? ", with changes that are not committed" : ""}`],
      manifest.started && ["started", Harness.moment(manifest.started)],
      manifest.ended && ["ended", Harness.moment(manifest.ended)],
      items && ["items", `${items.count === undefined ? "" : Harness.count(items.count)}, SHA-256 ${items.sha256}`],
      result.interval && ["intervals", `${100 * result.interval.level}%, ${result.interval.method}, seed ${result.interval.seed}`],
      manifest.python && ["Python", manifest.python],
      machine && ["machine", Harness.flat(machine).map(([name, value]) => `${name} ${value}`).join(", ")],
      versions && ["packages", Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(", ")],
    ]),
  ].filter(Boolean);

  function section(title, pairs) {
    const list = Harness.facts(pairs);
    return list && Harness.el("section", {}, Harness.el("h2", {}, title), list);
  }
};

// Names and what they are, one below the other; null where there is nothing.
Harness.facts = function facts(pairs) {
  const told = pairs.filter(Boolean);
  if (!told.length) return null;
  return Harness.el("dl", { class: "about" }, told.map(([name, value]) => Harness.el("div", {}, Harness.el("dt", {}, name), Harness.el("dd", {}, value))));
};

// Settings within settings as "model.temperature": "0".
Harness.flat = function flat(value, before = "") {
  if (value === null || value === undefined) return before ? [[before, "none"]] : [];
  if (typeof value !== "object") return [[before, String(value)]];
  if (Array.isArray(value)) return [[before, value.map((one) => (one && typeof one === "object" ? JSON.stringify(one) : String(one))).join(", ") || "none"]];
  return Object.entries(value).flatMap(([name, inside]) => Harness.flat(inside, before ? `${before}.${name}` : name));
};

// 2026-11-21T07:53:57+00:00 → 2026-11-21 07:53:57 UTC
Harness.moment = (text) => text.replace("T", " ").replace(/\.\d+/, "").replace(/(\+00:00|Z)$/, " UTC");
