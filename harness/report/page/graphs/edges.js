// What became of the edges of a network: those that a run answered beside the true ones.

/** The kinds of edges with their titles, in the order of the legend. */
export const EDGE_KINDS = {
  agree: "in both",
  reversed: "the other way round",
  missing: "missing",
  extra: "extra",
  lost: "no answer read",
};

const LOST_REASONS = { unreadable: "unreadable", failed: "failed call", "not asked": "not asked" };

/** How many extra edges are drawn: those of a model that always says Yes would hide everything and take seconds. */
const MOST_EXTRA = 600;

/** Return [{a, b, kind, reason}] in the direction that was answered, or in the true one where none was. */
export function compareEdges({ directed, yes, lost, true: truth }) {
  const name = (a, b) => (directed || a < b ? `${a} ${b}` : `${b} ${a}`);
  const nodesOf = (edge) => edge.split(" ").map(Number);
  const real = new Set(truth.map(([a, b]) => name(a, b)));
  const answered = new Set(yes.map(([a, b]) => name(a, b)));
  const unread = new Map(lost.map(([a, b, reason]) => [name(a, b), LOST_REASONS[reason]]));
  const edges = [];
  for (const edge of answered) {
    const [a, b] = nodesOf(edge);
    const back = `${b} ${a}`;
    const isReversed = directed && !real.has(edge) && real.has(back) && !answered.has(back);
    edges.push({ a, b, kind: real.has(edge) ? "agree" : isReversed ? "reversed" : "extra" });
  }
  for (const edge of real) {
    const [a, b] = nodesOf(edge);
    if (answered.has(edge) || (directed && answered.has(`${b} ${a}`))) continue;
    edges.push({ a, b, kind: unread.has(edge) ? "lost" : "missing", reason: unread.get(edge) });
  }
  return edges;
}

/** Return the edges that are drawn: all but the extra ones after the first MOST_EXTRA. */
export function limitExtra(edges) {
  const extra = edges.filter(({ kind }) => kind === "extra");
  if (extra.length <= MOST_EXTRA) return edges;
  return [...edges.filter(({ kind }) => kind !== "extra"), ...extra.slice(0, MOST_EXTRA)];
}

/** Return an edge in words: its two nodes, with an arrow where it has a direction. */
export function edgeText(network, { a, b }, directed) {
  return `${network.nodes[a]} ${directed ? "→" : "–"} ${network.nodes[b]}`;
}

/** Return the kind of an edge in words, for a lost one why it was lost. */
export function edgeKindText({ kind, reason }) {
  return `${EDGE_KINDS[kind]}${reason ? ` (${reason})` : ""}`;
}

/** Return an edge as graphPicture takes it. */
export function pictureEdge(network, edge, directed) {
  const kind = edge.kind === "true" ? "" : `: ${edgeKindText(edge)}`;
  return { ...edge, arrow: directed, title: `${edgeText(network, edge, directed)}${kind}` };
}
