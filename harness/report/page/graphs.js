// CausalBench: the true graph of a network beside those that one or two runs answered.
"use strict";

Harness.EDGES = {
  agree: "in both", reversed: "the other way round", missing: "missing", extra: "extra", lost: "no answer read",
};
Harness.LOST = { unreadable: "unreadable", failed: "failed call", "not asked": "not asked" };

Harness.views.graphs = {
  title: "Graphs",
  listed: () => Harness.data.runs.some((run) => run.graphs),

  async show(place, route) {
    const able = Harness.data.runs.filter((run) => run.graphs);
    if (!able.length) throw new Error("No run in this page has graphs: those of CausalBench have.");
    const run = route.parts[0] ? Harness.theRun(route.parts[0]) : able.find(({ role }) => role === "model") || able.find(({ role }) => role === "algorithm") || able[0];
    if (!run.graphs) throw new Error(`The run ${run.id} has no graphs in this page.`);
    const network = route.parts[1] || run.graphs.networks[0];
    if (!run.graphs.networks.includes(network)) throw new Error(`The run ${run.id} was not asked about ${network}: ${run.graphs.networks.join(", ")}.`);
    const other = Harness.secondOf(route);
    const found = (await Harness.chunk(run.graphs.chunk)).networks[network];
    const second = other && other.graphs && (await Harness.chunk(other.graphs.chunk)).networks[network];
    const names = Object.keys(found.templates);
    const template = names.includes(route.query.get("template")) ? route.query.get("template") : names[0];
    const query = Object.fromEntries(route.query);
    const to = (changes, where) => { Harness.visit(Harness.address("graphs", where || [run.id, network], { ...query, template, ...changes })); };
    const only = route.query.get("only") === "1";
    const at = Harness.layers(found.nodes.map(Harness.labelWidth), found.edges);
    const node = () => found.nodes.indexOf(Harness.here().query.get("node"));
    Harness.titled(`Graphs of ${network}`, run.model);
    place.append(
      Harness.el("h1", {}, `${network}: true and answered graph`),
      Harness.el("div", { class: "choosers" },
        Harness.runChooser({ label: "Run", runs: able, chosen: run, onchange: (id) => to({}, [id, network]) }),
        Harness.select({ label: "Network", value: network, options: run.graphs.networks.map((name) => [name, name]), onchange: (name) => to({ node: "" }, [run.id, name]) }),
        Harness.select({ label: "Question", value: template, options: names.map((name) => [name, `${name}: ${found.templates[name].title}`]), onchange: (name) => to({ template: name }) }),
        Harness.runChooser({ label: "Beside", none: "no other run", runs: Harness.besides(run, "graphs").filter((one) => one.graphs.networks.includes(network)), chosen: other, onchange: (vs) => to({ vs }) }),
        Harness.select({
          label: "Variable", value: route.query.get("node") || "", options: [["", "all"], ...found.nodes.map((name) => [name, name])],
          onchange: (name) => { Harness.setQuery({ node: name }); highlight(place, node()); },
        }),
        Harness.switch({ label: "Only what differs", on: only, onchange: (on) => to({ only: on ? "1" : "" }) })));
    if (other && !(second && second.templates[template])) place.append(Harness.el("p", { class: "quiet" }, `${other.model} was not asked this about ${network}.`));
    const sides = [[run, found], ...(second ? [[other, second]] : [])].map(([one, graph]) => ({ run: one, graph: graph.templates[template] })).filter(({ graph }) => graph);
    const truth = sides[0].graph;
    const pictures = [
      panel("True graph", Harness.el("span", { class: "quiet" }, ` ${truth.shows}`), drawn(found, at, truth.true.map(([a, b]) => edge(found, { a, b, kind: "true" }, truth.directed)), `True graph of ${network}`)),
      ...sides.map(({ run: one, graph }) => {
        const edges = compared(graph);
        const shown = only ? edges.filter(({ kind }) => kind !== "agree") : edges;
        return panel(one.model, summary(one, graph, edges), drawn(found, at, limited(shown).map((one) => edge(found, one, graph.directed)), `Graph of ${one.model} on ${network}`), shown.length > limited(shown).length);
      }),
    ];
    place.append(legend(), zoomed(pictures, node), ...sides.map((one) => differences(found, one)));
    highlight(place, node());
  },
};

// What became of each edge: [{a, b, kind, why}] in the direction that was answered, or in the true one where none was.
function compared({ directed, yes, lost, true: truth }) {
  const name = (a, b) => (directed || a < b ? `${a} ${b}` : `${b} ${a}`);
  const real = new Set(truth.map(([a, b]) => name(a, b))), said = new Set(yes.map(([a, b]) => name(a, b)));
  const unread = new Map(lost.map(([a, b, why]) => [name(a, b), Harness.LOST[why]]));
  const edges = [];
  for (const one of said) {
    const [a, b] = one.split(" ").map(Number);
    const turned = directed && !real.has(one) && real.has(`${b} ${a}`) && !said.has(`${b} ${a}`);
    edges.push({ a, b, kind: real.has(one) ? "agree" : turned ? "reversed" : "extra" });
  }
  for (const one of real) {
    const [a, b] = one.split(" ").map(Number);
    if (!said.has(one) && !(directed && said.has(`${b} ${a}`))) edges.push({ a, b, kind: unread.has(one) ? "lost" : "missing", why: unread.get(one) });
  }
  return edges;
}

// The many edges of a model that always says Yes would hide everything and take seconds to draw.
function limited(edges) {
  const MOST = 600;
  const extra = edges.filter(({ kind }) => kind === "extra");
  return extra.length <= MOST ? edges : [...edges.filter(({ kind }) => kind !== "extra"), ...extra.slice(0, MOST)];
}

function edge(found, one, directed) {
  const told = one.kind === "true" ? "" : `: ${said(one)}`;
  return { ...one, arrow: directed, title: `${between(found, one, directed)}${told}` };
}

function between(found, { a, b }, directed) {
  return `${found.nodes[a]} ${directed ? "→" : "–"} ${found.nodes[b]}`;
}

function said({ kind, why }) {
  return `${Harness.EDGES[kind]}${why ? ` (${why})` : ""}`;
}

function drawn(found, at, edges, label) {
  return Harness.drawGraph({ nodes: found.nodes, at, edges, round: false, label });
}

function panel(title, below, picture, cut) {
  return Harness.el("figure", { class: "panel" }, Harness.el("figcaption", {}, Harness.el("strong", {}, title), below), picture, cut && Harness.el("p", { class: "quiet" }, "Only the first 600 extra edges are drawn: below, What differs lists more."));
}

function summary(run, graph, edges) {
  const counts = Object.keys(Harness.EDGES).map((kind) => [kind, edges.filter((one) => one.kind === kind).length]);
  const scores = ["f1", "shd"].filter((name) => graph[name] !== null && graph[name] !== undefined).map((name) => `${Harness.data.metrics[name].title} ${name === "shd" ? Harness.count(graph.shd) : Harness.shown(name, graph[name])}`);
  return Harness.el("span", { class: "quiet" }, " ", [...scores, ...counts.filter(([, count]) => count).map(([kind, count]) => `${Harness.count(count)} ${Harness.EDGES[kind]}`)].join(" · "));
}

function legend() {
  const line = (kind) => Harness.svg("svg", { class: "graph key", viewBox: "0 0 44 12", width: 44, height: 12, "aria-hidden": "true" }, Harness.svg("g", { class: `edge ${kind}` }, Harness.svg("path", { d: "M2 6 L42 6", fill: "none" })));
  return Harness.el("ul", { class: "legend", "aria-label": "Lines" }, Object.entries(Harness.EDGES).map(([kind, title]) => Harness.el("li", {}, line(kind), " ", title)));
}

// All pictures are enlarged and moved together: by buttons, by keys, by dragging; by the wheel with Ctrl, so that the page scrolls.
// `node` tells which variable is chosen.
function zoomed(pictures, node) {
  const views = pictures.map((one) => one.querySelector("svg")).map((svg) => ({ svg, whole: svg.getAttribute("viewBox").split(" ").map(Number) }));
  const whole = views[0].whole;
  for (const { svg } of views) svg.setAttribute("viewBox", whole.join(" "));
  let [x, y, w, h] = whole;
  const set = () => views.forEach(({ svg }) => svg.setAttribute("viewBox", [x, y, w, h].join(" ")));
  const zoom = (share, px = 0.5, py = 0.5) => { [x, y, w, h] = [x + w * (1 - share) * px, y + h * (1 - share) * py, w * share, h * share]; set(); };
  const move = (dx, dy) => { x += dx * w; y += dy * h; set(); };
  const fit = () => { [x, y, w, h] = whole; set(); };
  const keys = { "+": () => zoom(0.8), "=": () => zoom(0.8), "-": () => zoom(1.25), 0: fit, ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0), ArrowUp: () => move(0, -0.1), ArrowDown: () => move(0, 0.1) };
  const box = Harness.el("div", { class: `panels of-${pictures.length}`, tabindex: 0, role: "group", "aria-label": "Graphs: arrow keys move, plus and minus enlarge, 0 fits" , onkeydown: (event) => { const job = keys[event.key]; if (job && !event.ctrlKey && !event.metaKey) { event.preventDefault(); job(); } } }, pictures);
  for (const { svg } of views) {
    svg.addEventListener("wheel", (event) => { if (!event.ctrlKey) return; event.preventDefault(); const at = svg.getBoundingClientRect(); zoom(event.deltaY > 0 ? 1.15 : 0.87, (event.clientX - at.left) / at.width, (event.clientY - at.top) / at.height); }, { passive: false });
    svg.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse") svg.setPointerCapture(event.pointerId); });
    svg.addEventListener("pointermove", (event) => { if (svg.hasPointerCapture(event.pointerId)) { const at = svg.getBoundingClientRect(); move(-event.movementX / at.width, -event.movementY / at.height); } });
    svg.addEventListener("pointerover", (event) => { const under = event.target.closest(".node"); if (under) highlight(box, Number(under.dataset.node)); });
    svg.addEventListener("pointerout", (event) => { if (event.target.closest(".node")) highlight(box, node()); });
  }
  const button = (title, sign, job) => Harness.el("button", { class: "plain", type: "button", "aria-label": title, title, onclick: job }, sign);
  return Harness.el("div", {}, Harness.el("div", { class: "zoom", role: "group", "aria-label": "Size" }, button("Enlarge", "+", () => zoom(0.8)), button("Reduce", "−", () => zoom(1.25)), button("Fit", "fit", fit)), box);
}

// The edges of one variable; -1 for all.
function highlight(place, node) {
  for (const svg of place.querySelectorAll(".panel svg")) {
    svg.classList.toggle("chosen", node >= 0);
    for (const one of svg.querySelectorAll(".edge")) one.classList.toggle("of", Number(one.dataset.a) === node || Number(one.dataset.b) === node);
    for (const one of svg.querySelectorAll(".node")) one.classList.toggle("of", Number(one.dataset.node) === node);
  }
}

function differences(found, { run, graph }) {
  const edges = compared(graph).filter(({ kind }) => kind !== "agree");
  const order = Object.keys(Harness.EDGES);
  edges.sort((one, two) => order.indexOf(one.kind) - order.indexOf(two.kind) || one.a - two.a || one.b - two.b);
  const rows = edges.slice(0, 2000).map((one) => Harness.el("tr", {}, Harness.el("td", {}, between(found, one, graph.directed)), Harness.el("td", {}, said(one))));
  return Harness.el("details", { class: "differences" }, Harness.el("summary", {}, `What differs: ${run.model}, ${Harness.count(edges.length)} edge${edges.length === 1 ? "" : "s"}`),
    edges.length > 2000 && Harness.el("p", { class: "quiet" }, "The first 2,000 of them."),
    Harness.el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Differences of ${run.model}` }, Harness.el("table", {}, Harness.el("thead", {}, Harness.el("tr", {}, Harness.el("th", { scope: "col" }, "Edge as answered"), Harness.el("th", { scope: "col" }, "What it is"))), Harness.el("tbody", {}, rows))));
}
