// All charts of a task: those of one comparable set of runs at a time, then robustness, which runs through several.
"use strict";

Harness.views.charts = {
  title: "Charts",
  listed: () => (Harness.data.charts || []).length > 0,
  show: (place, route) => Harness.chartsView(place, Object.fromEntries(route.query)),
};

Harness.chartsView = function chartsView(place, query) {
  const all = Harness.data.charts || [];
  const tasks = [...new Set(all.map((chart) => chart.task))];
  const state = { ...query, task: tasks.includes(query.task) ? query.task : Harness.mostRuns(tasks) };
  const ofTask = all.filter((chart) => chart.task === state.task && Harness.charts[chart.kind]);
  const sets = [...new Set(ofTask.filter((chart) => chart.kind !== "robustness").map((chart) => chart.heading))];
  const metrics = [...new Set(ofTask.map((chart) => chart.metric).filter(Boolean))];
  const drawn = Harness.el("div", { class: "charts" });
  place.append(Harness.el("h1", {}, "Charts"));
  if (!tasks.length) {
    place.append(Harness.el("p", {}, "There is no complete run to draw."));
    return;
  }
  place.append(controls(), drawn);
  draw();

  function controls() {
    return Harness.el("form", { class: "controls", "aria-label": "Choose charts", onsubmit: (event) => event.preventDefault() },
      Harness.select({ label: "Task", value: state.task, options: tasks.map((task) => [task, task]), onchange: (task) => { Harness.visit(Harness.address("charts", [], { task })); } }),
      sets.length > 1 && Harness.select({ label: "Runs", value: chosen(), options: sets.map((heading, number) => [String(number + 1), heading || state.task]), onchange: (set) => change({ set }) }),
      metrics.length > 1 && Harness.select({ label: "Metric", value: metric(), options: metrics.map((name) => [name, Harness.called(name)]), onchange: (name) => change({ metric: name, heat: "" }) }));
  }

  function change(changes) {
    Object.assign(state, changes);
    Harness.setQuery(changes);
    draw();
  }

  // Without a word from the address the set with the most runs.
  function chosen() {
    if (sets[Number(state.set) - 1] !== undefined) return state.set;
    const runs = sets.map((heading) => Math.max(...ofTask.filter((chart) => chart.heading === heading).map((chart) => chart.rows.length)));
    return String(runs.indexOf(Math.max(...runs)) + 1);
  }
  function metric() { return metrics.includes(state.metric) ? state.metric : metrics[0]; }

  function draw() {
    Harness.tip.hide();
    const heading = sets[Number(chosen()) - 1];
    const fits = (chart) => !chart.metric || chart.metric === metric();
    const side = ofTask.filter((chart) => chart.kind !== "robustness" && chart.heading === heading && fits(chart));
    const steps = ofTask.filter((chart) => chart.kind === "robustness" && fits(chart));
    drawn.replaceChildren(...[section(heading, side), section("Robustness", steps)].filter(Boolean));
  }

  function section(heading, charts) {
    if (!charts.length) return null;
    // The heat maps of a page show one metric, as its address has room for one.
    const onheat = (heat) => {
      state.heat = heat;
      Harness.setQuery({ heat });
      for (const one of made) if (one.choose) one.choose(heat);
    };
    const made = charts.map((chart) => Harness.charts[chart.kind](chart, { heat: state.heat || metric(), onheat }));
    return Harness.el("section", {}, Harness.el("h2", {}, Harness.breakable(heading || state.task)), charts.map((chart, number) => [
      chart.kind === "robustness" && chart.heading && Harness.el("p", { class: "above" }, Harness.breakable(chart.heading)), made[number].node,
    ]));
  }
};
