// The columns of the leaderboard: names that lead to their run, numbers with their intervals, best and second marked.
"use strict";

// The columns of a table with what stands in their cells: names linked to their run, numbers with interval and bar.
Harness.boardColumns = function boardColumns(table, chosen) {
  const texts = table.columns.filter((column) => column.kind === "text");
  // In a table with a row for each model and network, the best of all networks says nothing.
  const comparable = !table.published || texts.length === 1;
  return table.columns.filter((column) => column.kind === "text" || !chosen || chosen.includes(column.name)).map((column) => {
    if (column.kind === "metric") return metric(column);
    const value = (row) => row[column.name];
    if (column.kind === "count") return { ...column, value, show: (row) => (typeof value(row) === "number" ? Harness.count(value(row)) : value(row)) };
    return { ...column, value, show: column.name === "model" ? Harness.modelCell : null };
  });

  function metric(column) {
    const cells = table.rows.map((row) => row[column.name]);
    const places = comparable ? Harness.places(cells, column.best) : new Map();
    const ranged = cells.some((cell) => cell && cell.text.includes(" "));
    const percent = (Harness.data.metrics[column.name] || { percent: true }).percent;
    const most = percent ? 1 : Math.max(...cells.map((cell) => (cell ? (cell.interval ? cell.interval[1] : cell.value) || 0 : 0)));
    return {
      ...column, wide: ranged,
      head: ranged && Harness.barHead(percent),
      value: (row) => (row[column.name] ? row[column.name].value : null),
      show: (row) => (row[column.name] ? cell(row[column.name]) : null),
    };

    function cell(found) {
      const [value, ...range] = found.text.split(" ");
      const number = Harness.placed(value, places);
      if (!ranged) return number;
      return [number, " ", Harness.el("span", { class: "range" }, range.join(" ")), Harness.bar(found.value, range.length ? found.interval : null, most)];
    }
  }
};

Harness.modelCell = function modelCell(row) {
  const run = Harness.runOf(row.run);
  if (!run) return Harness.breakable(row.model);
  return [Harness.el("a", { href: Harness.address("run", [run.id]) }, Harness.breakable(row.model)), run.role !== "model" && run.role !== row.model && Harness.el("span", { class: "role" }, ` ${run.role}`)];
};

// The best number bold, the second underlined.
Harness.placed = function placed(text, places) {
  const name = ["strong", "u"][places.get(text)];
  return name ? Harness.el(name, {}, text) : text;
};

// One metric by the groups of a breakdown, in the place of the overall numbers.
Harness.groupColumns = function groupColumns(table, by, metric) {
  const part = (row) => Harness.headlineScores(row.run)[by] || {};
  const groups = [...new Set(table.rows.flatMap((row) => Object.keys(part(row))))];
  const best = (Harness.data.metrics[metric] || {}).best;
  return [...Harness.boardColumns(table, []), ...groups.map((group) => {
    const found = (row) => part(row)[group] || {};
    const value = (row) => found(row)[metric] ?? null;
    const cells = table.rows.map((row) => ({ value: value(row), text: Harness.shown(metric, value(row)) }));
    const places = Harness.places(cells, best);
    const show = (row) => [Harness.placed(Harness.shown(metric, value(row)), places), " ", Harness.el("span", { class: "range" }, Harness.interval(metric, (found(row).intervals || {})[metric]))];
    return { name: group, title: group.replace(/_/g, " "), kind: "metric", wide: true, head: [" ", Harness.el("span", { class: "range" })], best, value, show };
  })];
};

// The notes of a table are about its overall numbers: where its groups have intervals, this one stands in their place.
Harness.groupNote = "In brackets: 95% intervals, each over the clusters that have items of the group; within one network of CausalBench over its pairs of variables. A run's page tells how many they are.";

// The breakdowns of some tables' runs with their metrics; crossed ones (network/structure) stand on the run's page.
Harness.breakdownsOf = function breakdownsOf(tables) {
  const found = new Map();
  for (const row of tables.flatMap((table) => table.rows)) {
    for (const [name, groups] of Object.entries(Harness.headlineScores(row.run))) {
      if (name === "overall" || name.includes("/")) continue;
      found.set(name, [...(found.get(name) || []), ...Object.values(groups)]);
    }
  }
  return new Map([...found].map(([name, rows]) => [name, Harness.metricsIn(rows)]));
};

Harness.headlineScores = function headlineScores(id) {
  const { result } = Harness.runOf(id) || { result: {} };
  return (result.scores || {})[result.headline] || {};
};

Harness.groupTitle = (name) => name.replace("num_nodes", "number of variables").replace(/_/g, " ").replace("/", " and ");
