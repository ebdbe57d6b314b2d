// Graphs as pictures: places for the nodes, and lines and arrows between them. Everything is the same at every call.
"use strict";

// Small graphs: nodes on a circle in their order, so that the graphs of one class differ in their arrows only. Two stand
// side by side: pictures have one width, and a column of two would be as high as a page.
// {x: [], y: [], paths: Map} in units of pixels around a middle of 0.
Harness.circle = function circle(count, radius) {
  const at = (k) => (count === 2 ? -Math.PI : -Math.PI / 2) + (2 * Math.PI * k) / count;
  const numbers = [...Array(count).keys()];
  return { x: numbers.map((k) => radius * Math.cos(at(k))), y: numbers.map((k) => radius * Math.sin(at(k))), paths: new Map() };
};

// Larger ones: layers along the edges (longest path), crossings lessened by barycentres, places by least squares.
// `widths` are those of the labels. {x: [], y: [], paths: Map "a b" → [[x, y], …] of edges that pass through layers}
Harness.layers = function layers(widths, edges) {
  const acyclic = withoutCycles(widths.length, edges);
  const layer = layersOf(widths.length, acyclic);
  const { chains, nodes, next } = withDummies(widths, acyclic, layer);
  const rows = [];
  nodes.forEach((node, k) => (rows[node.layer] ||= []).push(k));
  const before = nodes.map(() => []), after = nodes.map(() => []);
  for (const [a, b] of next) { after[a].push(b); before[b].push(a); }
  order(rows, before, after);
  const x = place(rows, nodes, before, after);
  const paths = new Map(chains.map(([a, b, through]) => [`${a} ${b}`, through.map((k) => [x[k], nodes[k].layer * Harness.LAYER])]));
  return { x: x.slice(0, widths.length), y: layer.map((l) => l * Harness.LAYER), paths };
};
Harness.LAYER = 64;

// The edges with some turned so that no cycle is left: those that lead back in a search from each node in turn.
function withoutCycles(count, edges) {
  const after = Array.from({ length: count }, () => []);
  for (const [a, b] of edges) if (a !== b) after[a].push(b);
  const state = new Uint8Array(count); // 1: on the way, 2: done
  const found = [];
  for (let start = 0; start < count; start++) {
    if (state[start]) continue;
    const way = [[start, 0]];
    state[start] = 1;
    while (way.length) {
      const step = way[way.length - 1];
      const [node, k] = step;
      if (k === after[node].length) { state[node] = 2; way.pop(); continue; }
      step[1]++;
      const to = after[node][k];
      if (state[to] === 1) found.push([to, node]);
      else {
        found.push([node, to]);
        if (!state[to]) { state[to] = 1; way.push([to, 0]); }
      }
    }
  }
  return [...new Map(found.map((edge) => [edge.join(" "), edge])).values()];
}

// Longest path from a source; a source then moves down to just above its children.
function layersOf(count, edges) {
  const layer = new Array(count).fill(0), waiting = new Array(count).fill(0), after = Array.from({ length: count }, () => []);
  for (const [a, b] of edges) { after[a].push(b); waiting[b]++; }
  const source = waiting.map((number) => number === 0);
  const ready = [...waiting.keys()].filter((k) => source[k]);
  for (let k = 0; k < ready.length; k++) {
    for (const to of after[ready[k]]) {
      layer[to] = Math.max(layer[to], layer[ready[k]] + 1);
      if (--waiting[to] === 0) ready.push(to);
    }
  }
  return layer.map((own, k) => (source[k] && after[k].length ? Math.min(...after[k].map((to) => layer[to])) - 1 : own));
}

// An edge over several layers becomes a chain of nodes without a label, one in each layer between.
function withDummies(widths, edges, layer) {
  const nodes = widths.map((width, k) => ({ width, layer: layer[k] }));
  const next = [], chains = [];
  for (const [a, b] of edges) {
    const through = [];
    let last = a;
    for (let l = layer[a] + 1; l < layer[b]; l++) {
      nodes.push({ width: 6, layer: l });
      through.push(nodes.length - 1);
      next.push([last, nodes.length - 1]);
      last = nodes.length - 1;
    }
    next.push([last, b]);
    if (through.length) chains.push([a, b, through]);
  }
  return { chains, nodes, next };
}

// Each row by the mean place of its neighbours in the row before, down and up in turn; the best order seen is kept.
function order(rows, before, after) {
  const at = [];
  const number = () => rows.forEach((row) => row.forEach((node, k) => { at[node] = k; }));
  number();
  let best = rows.map((row) => [...row]), fewest = crossings(rows, after, at);
  for (let sweep = 0; sweep < 24 && fewest; sweep++) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      const key = new Map(row.map((node) => {
        const near = (down ? before : after)[node];
        return [node, near.length ? near.reduce((sum, one) => sum + at[one], 0) / near.length : at[node]];
      }));
      row.sort((a, b) => key.get(a) - key.get(b) || at[a] - at[b]);
      row.forEach((node, k) => { at[node] = k; });
    }
    const now = crossings(rows, after, at);
    if (now < fewest) [fewest, best] = [now, rows.map((row) => [...row])];
  }
  best.forEach((row, k) => rows[k].splice(0, row.length, ...row));
}

function crossings(rows, after, at) {
  let found = 0;
  for (const row of rows) {
    const ends = row.flatMap((node) => after[node].map((to) => at[to]).sort((a, b) => a - b));
    // Pairs in the wrong order: insertion into a sorted list tells how many are larger.
    const sorted = [];
    for (const end of ends) {
      let low = 0, high = sorted.length;
      while (low < high) { const middle = (low + high) >> 1; if (sorted[middle] <= end) low = middle + 1; else high = middle; }
      found += sorted.length - low;
      sorted.splice(low, 0, end);
    }
  }
  return found;
}

// As near to the mean of the neighbours as the order and the widths of the labels allow (pooled adjacent violators).
function place(rows, nodes, before, after) {
  const GAP = 14, x = [];
  for (const row of rows) row.reduce((left, node) => { x[node] = left + nodes[node].width / 2; return left + nodes[node].width + GAP; }, 0);
  for (let turn = 0; turn < 30; turn++) {
    for (const row of turn % 2 ? [...rows].reverse() : rows) {
      const offset = [0];
      for (let k = 1; k < row.length; k++) offset.push(offset[k - 1] + (nodes[row[k - 1]].width + nodes[row[k]].width) / 2 + GAP);
      const pools = [];
      row.forEach((node, k) => {
        const near = [...before[node], ...after[node]];
        const wish = near.length ? near.reduce((sum, one) => sum + x[one], 0) / near.length : x[node];
        pools.push({ sum: wish - offset[k], count: 1 });
        while (pools.length > 1) {
          const last = pools[pools.length - 1], other = pools[pools.length - 2];
          if (other.sum / other.count <= last.sum / last.count) break;
          other.sum += last.sum;
          other.count += last.count;
          pools.pop();
        }
      });
      let k = 0;
      for (const pool of pools) for (let one = 0; one < pool.count; one++, k++) x[row[k]] = pool.sum / pool.count + offset[k];
    }
  }
  return x;
}

// About how wide a label is, in pixels, at a font size of 12.
Harness.labelWidth = (label) => Math.max(24, 7 * [...label].length + 12);

// A picture of a graph. nodes: labels; at: places; edges: [{a, b, kind, arrow, title}], kinds as in the style sheet.
// round: nodes as circles (short names), else as boxes. The arrow ends at the border of its node.
Harness.drawGraph = function drawGraph({ nodes, at, edges, round, label }) {
  const half = nodes.map((name) => (round ? [14, 14] : [Harness.labelWidth(name) / 2, 11]));
  const bends = [...at.paths.values()].flat().map(([x]) => x);
  const left = Math.min(...bends, ...at.x.map((x, k) => x - half[k][0])) - 12, right = Math.max(...bends, ...at.x.map((x, k) => x + half[k][0])) + 12;
  const top = Math.min(...at.y) - 26, bottom = Math.max(...at.y) + 26;
  const lines = edges.map((edge) => {
    const points = route(at, half, edge, edges);
    const most = points.length > 2 ? 0.98 : 0.49; // how far an end may go to the next point, which of a straight line has an end, too
    const ends = [border(at, half, edge.a, points[1], round, most), ...points.slice(1, -1), border(at, half, edge.b, points[points.length - 2], round, most)];
    const group = Harness.svg("g", { class: `edge ${edge.kind || ""}`, "data-a": edge.a, "data-b": edge.b }, Harness.svg("path", { d: smooth(ends), fill: "none" }));
    if (edge.title) group.prepend(Harness.svg("title", {}, edge.title));
    if (edge.arrow !== false) group.append(head(ends[ends.length - 2], ends[ends.length - 1]));
    return group;
  });
  const marks = nodes.map((name, k) => Harness.svg("g", { class: "node", "data-node": k, transform: `translate(${at.x[k].toFixed(1)} ${at.y[k].toFixed(1)})` },
    round ? Harness.svg("circle", { r: 14 }) : Harness.svg("rect", { x: -half[k][0], y: -half[k][1], width: 2 * half[k][0], height: 2 * half[k][1], rx: 4 }),
    Harness.svg("text", { "text-anchor": "middle", dy: "0.35em" }, name)));
  return Harness.svg("svg", { class: "graph", role: "img", "aria-label": label, viewBox: [left, top, right - left, bottom - top].map((one) => one.toFixed(1)).join(" "), preserveAspectRatio: "xMidYMid meet" }, Harness.svg("g", {}, lines), Harness.svg("g", {}, marks));
};

// Where an edge goes: through its places between the layers, bent where its counterpart runs the other way, else straight.
function route(at, half, edge, edges) {
  const from = [at.x[edge.a], at.y[edge.a]], to = [at.x[edge.b], at.y[edge.b]];
  const there = at.paths.get(`${edge.a} ${edge.b}`), back = at.paths.get(`${edge.b} ${edge.a}`);
  const twin = edges.some((other) => other.a === edge.b && other.b === edge.a);
  if (there || back) {
    const through = there || [...back].reverse();
    return [from, ...through.map(([x, y]) => [x + (twin ? (there ? 6 : -6) : 0), y]), to];
  }
  const level = Math.abs(from[1] - to[1]) < 1, flat = level && at.paths.size > 0; // along a layer, where other nodes stand
  const long = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const bend = twin ? 12 : edge.kind === "extra" || flat ? Math.min(40, long / 6) : 0;
  if (!bend) return [from, to];
  // Along a layer half-way between the borders, which may be near each other: the centre of neighbours is within the wider one.
  const aside = level ? (Math.sign(to[0] - from[0]) * (half[edge.a][0] - half[edge.b][0])) / 2 : 0;
  const middle = [(from[0] + to[0]) / 2 + aside + (bend * (to[1] - from[1])) / long, (from[1] + to[1]) / 2 - (bend * (to[0] - from[0])) / long];
  return [from, middle, to];
}

function border(at, half, node, towards, round, most) {
  const x = at.x[node], y = at.y[node];
  const dx = towards[0] - x, dy = towards[1] - y, far = Math.hypot(dx, dy) || 1;
  const [w, h] = half[node];
  const share = round ? 15 / far : Math.min((w + 1) / Math.abs(dx || 1e-9), (h + 1) / Math.abs(dy || 1e-9));
  return [x + dx * Math.min(share, most), y + dy * Math.min(share, most)];
}

// Through all points, rounded at those between the ends.
function smooth(points) {
  const told = ([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  if (points.length === 3) return `M${told(points[0])} Q${told(points[1])} ${told(points[2])}`;
  let path = `M${told(points[0])}`;
  for (let k = 1; k < points.length - 1; k++) {
    const end = k === points.length - 2 ? points[k + 1] : [(points[k][0] + points[k + 1][0]) / 2, (points[k][1] + points[k + 1][1]) / 2];
    path += ` Q${told(points[k])} ${told(end)}`;
  }
  return points.length === 2 ? `${path} L${told(points[1])}` : path;
}

function head(from, to) {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]), size = 8;
  const corner = (turn) => `${(to[0] - size * Math.cos(angle + turn)).toFixed(1)} ${(to[1] - size * Math.sin(angle + turn)).toFixed(1)}`;
  return Harness.svg("path", { class: "head", d: `M${to[0].toFixed(1)} ${to[1].toFixed(1)} L${corner(0.42)} L${corner(-0.42)} Z` });
}
