// Places for the nodes of a graph, the same at every call: {x, y, paths} in pixels around a middle of 0, in which paths
// maps "a b" to the places [[x, y], …] that an edge passes through between its ends.

const LAYER_HEIGHT = 64;
const NODE_GAP = 14;

/**
 * Place a small graph on a circle in the order of its nodes, so that the graphs of one class differ in their arrows
 * only. Two stand side by side: pictures have one width, and a column of two would be as high as a page.
 */
export function circleLayout(count, radius) {
  const angle = (k) => (count === 2 ? -Math.PI : -Math.PI / 2) + (2 * Math.PI * k) / count;
  const numbers = [...Array(count).keys()];
  return {
    x: numbers.map((k) => radius * Math.cos(angle(k))),
    y: numbers.map((k) => radius * Math.sin(angle(k))),
    paths: new Map(),
  };
}

/**
 * Place a larger graph in layers along its edges (longest path), with fewer crossings by barycentres, and places by
 * least squares. `widths` are those of the labels.
 */
export function layeredLayout(widths, edges) {
  const acyclic = withoutCycles(widths.length, edges);
  const layer = layersOf(widths.length, acyclic);
  const { chains, nodes, links } = withDummies(widths, acyclic, layer);
  const rows = [];
  nodes.forEach((node, k) => (rows[node.layer] ||= []).push(k));
  const before = nodes.map(() => []);
  const after = nodes.map(() => []);
  for (const [a, b] of links) {
    after[a].push(b);
    before[b].push(a);
  }
  lessenCrossings(rows, before, after);
  const x = horizontalPlaces(rows, nodes, before, after);
  const placeOf = (k) => [x[k], nodes[k].layer * LAYER_HEIGHT];
  const paths = new Map(chains.map(([a, b, through]) => [`${a} ${b}`, through.map(placeOf)]));
  return { x: x.slice(0, widths.length), y: layer.map((number) => number * LAYER_HEIGHT), paths };
}

// The edges with some turned so that no cycle is left: those that lead back in a search from each node in turn.
function withoutCycles(count, edges) {
  const after = Array.from({ length: count }, () => []);
  for (const [a, b] of edges) if (a !== b) after[a].push(b);
  const [ON_PATH, DONE] = [1, 2];
  const state = new Uint8Array(count);
  const turned = [];
  for (let start = 0; start < count; start++) {
    if (state[start]) continue;
    const path = [[start, 0]];
    state[start] = ON_PATH;
    while (path.length) {
      const step = path[path.length - 1];
      const [node, k] = step;
      if (k === after[node].length) {
        state[node] = DONE;
        path.pop();
        continue;
      }
      step[1]++;
      const next = after[node][k];
      turned.push(state[next] === ON_PATH ? [next, node] : [node, next]);
      if (state[next]) continue;
      state[next] = ON_PATH;
      path.push([next, 0]);
    }
  }
  return [...new Map(turned.map((edge) => [edge.join(" "), edge])).values()];
}

// Longest path from a source; a source then moves down to just above its children.
function layersOf(count, edges) {
  const layer = new Array(count).fill(0);
  const waiting = new Array(count).fill(0);
  const after = Array.from({ length: count }, () => []);
  for (const [a, b] of edges) {
    after[a].push(b);
    waiting[b]++;
  }
  const isSource = waiting.map((number) => number === 0);
  const ready = [...waiting.keys()].filter((k) => isSource[k]);
  for (let k = 0; k < ready.length; k++) {
    for (const next of after[ready[k]]) {
      layer[next] = Math.max(layer[next], layer[ready[k]] + 1);
      if (--waiting[next] === 0) ready.push(next);
    }
  }
  return layer.map((own, k) => {
    if (!isSource[k] || !after[k].length) return own;
    return Math.min(...after[k].map((child) => layer[child])) - 1;
  });
}

// An edge over several layers becomes a chain of nodes without a label, one in each layer between.
function withDummies(widths, edges, layer) {
  const nodes = widths.map((width, k) => ({ width, layer: layer[k] }));
  const links = [];
  const chains = [];
  for (const [a, b] of edges) {
    const through = [];
    let last = a;
    for (let number = layer[a] + 1; number < layer[b]; number++) {
      nodes.push({ width: 6, layer: number });
      through.push(nodes.length - 1);
      links.push([last, nodes.length - 1]);
      last = nodes.length - 1;
    }
    links.push([last, b]);
    if (through.length) chains.push([a, b, through]);
  }
  return { chains, nodes, links };
}

// Sort each row by the mean place of its neighbours in the row before, down and up in turn; the best order is kept.
function lessenCrossings(rows, before, after) {
  const at = [];
  for (const row of rows) numberPlaces(row, at);
  let best = rows.map((row) => [...row]);
  let fewest = crossings(rows, after, at);
  for (let sweep = 0; sweep < 24 && fewest; sweep++) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) {
      const key = new Map(row.map((node) => [node, meanPlace(node, down ? before : after, at)]));
      row.sort((a, b) => key.get(a) - key.get(b) || at[a] - at[b]);
      numberPlaces(row, at);
    }
    const number = crossings(rows, after, at);
    if (number < fewest) [fewest, best] = [number, rows.map((row) => [...row])];
  }
  best.forEach((row, k) => rows[k].splice(0, row.length, ...row));
}

function numberPlaces(row, at) {
  row.forEach((node, k) => {
    at[node] = k;
  });
}

function meanPlace(node, neighbours, at) {
  const near = neighbours[node];
  return near.length ? near.reduce((sum, other) => sum + at[other], 0) / near.length : at[node];
}

function crossings(rows, after, at) {
  let number = 0;
  for (const row of rows) {
    const ends = row.flatMap((node) => after[node].map((child) => at[child]).sort((a, b) => a - b));
    // Pairs in the wrong order: insertion into a sorted list tells how many are larger.
    const sorted = [];
    for (const end of ends) {
      const place = insertionPlace(sorted, end);
      number += sorted.length - place;
      sorted.splice(place, 0, end);
    }
  }
  return number;
}

function insertionPlace(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// As near to the mean of the neighbours as the order and the widths of the labels allow.
function horizontalPlaces(rows, nodes, before, after) {
  const x = [];
  for (const row of rows) {
    let offset = 0;
    for (const node of row) {
      x[node] = offset + nodes[node].width / 2;
      offset += nodes[node].width + NODE_GAP;
    }
  }
  for (let turn = 0; turn < 30; turn++) {
    for (const row of turn % 2 ? [...rows].reverse() : rows) placeRow(row, x, nodes, before, after);
  }
  return x;
}

// Pooled adjacent violators: nodes that would overlap share a pool, which stands where its members on average want to.
function placeRow(row, x, nodes, before, after) {
  const offset = [0];
  for (let k = 1; k < row.length; k++) {
    offset.push(offset[k - 1] + (nodes[row[k - 1]].width + nodes[row[k]].width) / 2 + NODE_GAP);
  }
  const pools = [];
  row.forEach((node, k) => {
    const near = [...before[node], ...after[node]];
    const wish = near.length ? near.reduce((sum, other) => sum + x[other], 0) / near.length : x[node];
    pools.push({ sum: wish - offset[k], count: 1 });
    while (pools.length > 1) {
      const last = pools[pools.length - 1];
      const other = pools[pools.length - 2];
      if (other.sum / other.count <= last.sum / last.count) break;
      other.sum += last.sum;
      other.count += last.count;
      pools.pop();
    }
  });
  let k = 0;
  for (const pool of pools) {
    for (let member = 0; member < pool.count; member++, k++) x[row[k]] = pool.sum / pool.count + offset[k];
  }
}
