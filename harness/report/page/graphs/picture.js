// Graphs as pictures: lines and arrows between nodes that have their places.
import { svgEl } from "../ui/dom.js";

/** Return about how wide a label is, in pixels, at a font size of 12. */
export const labelWidth = (label) => Math.max(24, 7 * [...label].length + 12);

/**
 * Return the picture of a graph. nodes: labels; at: a layout; edges: [{a, b, kind, arrow, title}], kinds as in the
 * style sheet; round: nodes as circles (short names), else as boxes. An arrow ends at the border of its node.
 */
export function graphPicture({ nodes, at, edges, round, label }) {
  const half = nodes.map((name) => (round ? [14, 14] : [labelWidth(name) / 2, 11]));
  const lines = edges.map((edge) => edgePicture(edge, edges, at, half, round));
  const marks = nodes.map((name, k) => nodePicture(name, k, at, half[k], round));
  const viewBox = viewBoxOf(at, half);
  return svgEl(
    "svg",
    { class: "graph", role: "img", "aria-label": label, viewBox, preserveAspectRatio: "xMidYMid meet" },
    svgEl("g", {}, lines),
    svgEl("g", {}, marks),
  );
}

function viewBoxOf(at, half) {
  const bends = [...at.paths.values()].flat().map(([x]) => x);
  const left = Math.min(...bends, ...at.x.map((x, k) => x - half[k][0])) - 12;
  const right = Math.max(...bends, ...at.x.map((x, k) => x + half[k][0])) + 12;
  const top = Math.min(...at.y) - 26;
  const bottom = Math.max(...at.y) + 26;
  return [left, top, right - left, bottom - top].map((number) => number.toFixed(1)).join(" ");
}

function edgePicture(edge, edges, at, half, round) {
  const points = edgePoints(at, half, edge, edges);
  const most = points.length > 2 ? 0.98 : 0.49; // how far an end may go to the next point; a straight line has two ends
  const ends = [
    borderPoint(at, half, edge.a, points[1], round, most),
    ...points.slice(1, -1),
    borderPoint(at, half, edge.b, points[points.length - 2], round, most),
  ];
  const attributes = { class: `edge ${edge.kind || ""}`, "data-a": edge.a, "data-b": edge.b };
  return svgEl(
    "g",
    attributes,
    edge.title && svgEl("title", {}, edge.title),
    svgEl("path", { d: smoothPath(ends), fill: "none" }),
    edge.arrow !== false && arrowHead(ends[ends.length - 2], ends[ends.length - 1]),
  );
}

function nodePicture(name, k, at, [width, height], round) {
  const transform = `translate(${at.x[k].toFixed(1)} ${at.y[k].toFixed(1)})`;
  return svgEl(
    "g",
    { class: "node", "data-node": k, transform },
    round
      ? svgEl("circle", { r: 14 })
      : svgEl("rect", { x: -width, y: -height, width: 2 * width, height: 2 * height, rx: 4 }),
    svgEl("text", { "text-anchor": "middle", dy: "0.35em" }, name),
  );
}

// An edge goes through its places between the layers, bent where its counterpart runs the other way, else straight.
function edgePoints(at, half, edge, edges) {
  const from = [at.x[edge.a], at.y[edge.a]];
  const to = [at.x[edge.b], at.y[edge.b]];
  const there = at.paths.get(`${edge.a} ${edge.b}`);
  const back = at.paths.get(`${edge.b} ${edge.a}`);
  const hasTwin = edges.some((other) => other.a === edge.b && other.b === edge.a);
  if (there || back) {
    const through = there || [...back].reverse();
    const aside = hasTwin ? (there ? 6 : -6) : 0;
    return [from, ...through.map(([x, y]) => [x + aside, y]), to];
  }
  const isLevel = Math.abs(from[1] - to[1]) < 1;
  const alongLayer = isLevel && at.paths.size > 0; // where other nodes stand
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const bend = hasTwin ? 12 : edge.kind === "extra" || alongLayer ? Math.min(40, length / 6) : 0;
  if (!bend) return [from, to];
  // Half-way between the borders, which may be near each other: the centre of neighbours is within the wider one.
  const aside = isLevel ? (Math.sign(to[0] - from[0]) * (half[edge.a][0] - half[edge.b][0])) / 2 : 0;
  const middle = [
    (from[0] + to[0]) / 2 + aside + (bend * (to[1] - from[1])) / length,
    (from[1] + to[1]) / 2 - (bend * (to[0] - from[0])) / length,
  ];
  return [from, middle, to];
}

function borderPoint(at, half, node, towards, round, most) {
  const x = at.x[node];
  const y = at.y[node];
  const dx = towards[0] - x;
  const dy = towards[1] - y;
  const distance = Math.hypot(dx, dy) || 1;
  const [width, height] = half[node];
  const share = round
    ? 15 / distance
    : Math.min((width + 1) / Math.abs(dx || 1e-9), (height + 1) / Math.abs(dy || 1e-9));
  return [x + dx * Math.min(share, most), y + dy * Math.min(share, most)];
}

// Through all points, rounded at those between the ends.
function smoothPath(points) {
  const text = ([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  if (points.length === 2) return `M${text(points[0])} L${text(points[1])}`;
  if (points.length === 3) return `M${text(points[0])} Q${text(points[1])} ${text(points[2])}`;
  let path = `M${text(points[0])}`;
  for (let k = 1; k < points.length - 1; k++) {
    const [point, next] = [points[k], points[k + 1]];
    const end = k === points.length - 2 ? next : [(point[0] + next[0]) / 2, (point[1] + next[1]) / 2];
    path += ` Q${text(point)} ${text(end)}`;
  }
  return path;
}

function arrowHead(from, to) {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  const size = 8;
  const text = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const corner = (turn) => text(to[0] - size * Math.cos(angle + turn), to[1] - size * Math.sin(angle + turn));
  return svgEl("path", { class: "head", d: `M${text(...to)} L${corner(0.42)} L${corner(-0.42)} Z` });
}
