// CausalBench: the true graph of a network beside those that one or two runs answered.
import { formatCount, formatMetric } from "../data/format.js";
import { comparableRuns, requireRun, secondRun } from "../data/runs.js";
import { loadChunk, report } from "../data/store.js";
import { compareEdges, pictureEdge, EDGE_KINDS, edgeKindText, edgeText, limitExtra } from "../graphs/edges.js";
import { layeredLayout } from "../graphs/layout.js";
import { graphPicture, labelWidth } from "../graphs/picture.js";
import { highlightNode, zoomable } from "../graphs/zoom.js";
import { addressOf, currentRoute, setQuery, visit } from "../ui/address.js";
import { runChooser, selectField, switchField } from "../ui/controls.js";
import { el, svgEl } from "../ui/dom.js";
import { setTitle } from "../ui/router.js";

const MOST_DIFFERENCES = 2000;

export const graphsView = {
  title: "Graphs",
  listed: () => report.runs.some((run) => run.graphs),

  async show(place, route) {
    const runs = report.runs.filter((run) => run.graphs);
    const choice = chooseGraph(runs, route);
    const { run, name, other } = choice;
    const network = (await loadChunk(run.graphs.chunk)).networks[name];
    const second = other && other.graphs && (await loadChunk(other.graphs.chunk)).networks[name];
    const templates = Object.keys(network.templates);
    const templateName = route.query.get("template");
    const template = templates.includes(templateName) ? templateName : templates[0];
    const chosenNode = () => network.nodes.indexOf(currentRoute().query.get("node"));
    const onNode = () => highlightNode(place, chosenNode());
    setTitle(`Graphs of ${name}`, run.model);
    place.append(
      el("h1", {}, `${name}: true and answered graph`),
      choosers({ ...choice, runs, route, network, template, onNode }),
    );
    if (other && !(second && second.templates[template])) {
      place.append(el("p", { class: "quiet" }, `${other.model} was not asked this about ${name}.`));
    }
    const sides = [{ run, graph: network.templates[template] }];
    if (second && second.templates[template]) sides.push({ run: other, graph: second.templates[template] });
    place.append(
      legend(),
      zoomable(panels(network, name, sides, route), chosenNode),
      ...sides.map((side) => differences(network, side)),
    );
    onNode();
  },
};

// The run and the network that an address names, or the first ones. Throws where it names what is not in the page.
function chooseGraph(runs, route) {
  if (!runs.length) throw new Error("No run in this page has graphs: those of CausalBench have.");
  const byRole = (role) => runs.find((run) => run.role === role);
  const run = route.parts[0] ? requireRun(route.parts[0]) : byRole("model") || byRole("algorithm") || runs[0];
  if (!run.graphs) throw new Error(`The run ${run.id} has no graphs in this page.`);
  const { networks } = run.graphs;
  const name = route.parts[1] || networks[0];
  if (!networks.includes(name)) {
    throw new Error(`The run ${run.id} was not asked about ${name}: ${networks.join(", ")}.`);
  }
  return { run, name, other: secondRun(route) };
}

function choosers({ runs, run, name, other, route, network, template, onNode }) {
  const query = Object.fromEntries(route.query);
  const go = (changes, parts) =>
    visit(addressOf("graphs", parts || [run.id, name], { ...query, template, ...changes }));
  const templates = Object.entries(network.templates);
  const others = comparableRuns(run, "graphs").filter((candidate) => candidate.graphs.networks.includes(name));
  return el(
    "div",
    { class: "choosers" },
    runChooser({ label: "Run", runs, chosen: run, onchange: (id) => go({}, [id, name]) }),
    selectField({
      label: "Network",
      value: name,
      options: run.graphs.networks.map((title) => [title, title]),
      onchange: (title) => go({ node: "" }, [run.id, title]),
    }),
    selectField({
      label: "Question",
      value: template,
      options: templates.map(([key, { title }]) => [key, `${key}: ${title}`]),
      onchange: (key) => go({ template: key }),
    }),
    runChooser({ label: "Beside", none: "no other run", runs: others, chosen: other, onchange: (vs) => go({ vs }) }),
    selectField({
      label: "Variable",
      value: route.query.get("node") || "",
      options: [["", "all"], ...network.nodes.map((node) => [node, node])],
      onchange: (node) => {
        setQuery({ node });
        onNode();
      },
    }),
    switchField({
      label: "Only what differs",
      on: route.query.get("only") === "1",
      onchange: (on) => go({ only: on ? "1" : "" }),
    }),
  );
}

// The true graph, then that of each side.
function panels(network, name, sides, route) {
  const at = layeredLayout(network.nodes.map(labelWidth), network.edges);
  const picture = (edges, label) => graphPicture({ nodes: network.nodes, at, edges, round: false, label });
  const truth = sides[0].graph;
  const trueEdges = truth.true.map(([a, b]) => pictureEdge(network, { a, b, kind: "true" }, truth.directed));
  const shows = el("span", { class: "quiet" }, ` ${truth.shows}`);
  const differing = route.query.get("only") === "1";
  return [
    panel("True graph", shows, picture(trueEdges, `True graph of ${name}`)),
    ...sides.map(({ run, graph }) => {
      const edges = compareEdges(graph);
      const chosenEdges = differing ? edges.filter(({ kind }) => kind !== "agree") : edges;
      const limited = limitExtra(chosenEdges);
      const pictured = limited.map((edge) => pictureEdge(network, edge, graph.directed));
      const image = picture(pictured, `Graph of ${run.model} on ${name}`);
      return panel(run.model, summary(graph, edges), image, chosenEdges.length > limited.length);
    }),
  ];
}

function panel(title, text, picture, isLimited) {
  const note = "Only the first 600 extra edges are drawn: below, What differs lists more.";
  return el(
    "figure",
    { class: "panel" },
    el("figcaption", {}, el("strong", {}, title), text),
    picture,
    isLimited && el("p", { class: "quiet" }, note),
  );
}

function summary(graph, edges) {
  const scores = ["f1", "shd"]
    .filter((name) => graph[name] !== null && graph[name] !== undefined)
    .map((name) => {
      const value = name === "shd" ? formatCount(graph.shd) : formatMetric(name, graph[name]);
      return `${report.metrics[name].title} ${value}`;
    });
  const counts = Object.entries(EDGE_KINDS)
    .map(([kind, title]) => [title, edges.filter((edge) => edge.kind === kind).length])
    .filter(([, count]) => count)
    .map(([title, count]) => `${formatCount(count)} ${title}`);
  return el("span", { class: "quiet" }, " ", [...scores, ...counts].join(" · "));
}

function legend() {
  const line = (kind) =>
    svgEl(
      "svg",
      { class: "graph key", viewBox: "0 0 44 12", width: 44, height: 12, "aria-hidden": "true" },
      svgEl("g", { class: `edge ${kind}` }, svgEl("path", { d: "M2 6 L42 6", fill: "none" })),
    );
  const entries = Object.entries(EDGE_KINDS).map(([kind, title]) => el("li", {}, line(kind), " ", title));
  return el("ul", { class: "legend", "aria-label": "Lines" }, entries);
}

function differences(network, { run, graph }) {
  const order = Object.keys(EDGE_KINDS);
  const edges = compareEdges(graph).filter(({ kind }) => kind !== "agree");
  edges.sort((e, f) => order.indexOf(e.kind) - order.indexOf(f.kind) || e.a - f.a || e.b - f.b);
  const rows = edges
    .slice(0, MOST_DIFFERENCES)
    .map((edge) =>
      el("tr", {}, el("td", {}, edgeText(network, edge, graph.directed)), el("td", {}, edgeKindText(edge))),
    );
  const heads = ["Edge as answered", "What it is"].map((title) => el("th", { scope: "col" }, title));
  const table = el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows));
  const count = `${formatCount(edges.length)} edge${edges.length === 1 ? "" : "s"}`;
  return el(
    "details",
    { class: "differences" },
    el("summary", {}, `What differs: ${run.model}, ${count}`),
    edges.length > MOST_DIFFERENCES && el("p", { class: "quiet" }, "The first 2,000 of them."),
    el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Differences of ${run.model}` }, table),
  );
}
