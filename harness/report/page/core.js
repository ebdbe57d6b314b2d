// One name for all files: Harness. Text from models reaches the page through el() and textContent only,
// so it can never be markup; nothing here writes HTML from a string.
"use strict";
const Harness = {
  data: null,
  views: Object.create(null), // name of the view → {title, show(main, route)}; the router calls the one in the address
  chunks: new Map(),
};

// An element: el("td", {class: "number", onclick: f, "aria-label": "…"}, "text", child, …). null and false are left out.
Harness.el = function el(name, attributes, ...children) {
  return Harness.fill(document.createElement(name), attributes, children);
};

Harness.svg = function svg(name, attributes, ...children) {
  return Harness.fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
};

Harness.fill = function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
};

// A packed value: base64 of gzip of JSON.
Harness.unpack = async function unpack(text) {
  if (!window.DecompressionStream) {
    throw new Error("This browser is too old for this page, as it has no DecompressionStream. Chrome or Edge 85, Firefox 113, Safari 16.4 and later ones can show it.");
  }
  const signs = atob(text.trim());
  const bytes = new Uint8Array(signs.length); // Uint8Array.from takes ten times as long: a second for 10 MB
  for (let at = 0; at < signs.length; at += 1) bytes[at] = signs.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
};

// A part of the data by name, unpacked once: from the page itself, or from the script beside it that data.beside names.
Harness.chunk = function chunk(name) {
  if (!Harness.chunks.has(name)) Harness.chunks.set(name, Harness.packedText(name).then(Harness.unpack));
  return Harness.chunks.get(name);
};

Harness.packedText = function packedText(name) {
  const block = [...document.querySelectorAll("script[data-chunk]")].find((one) => one.dataset.chunk === name);
  if (block) return Promise.resolve(block.textContent);
  const file = (Harness.data && Harness.data.beside || {})[name];
  if (!file) return Promise.reject(new Error(`this page has no ${name}`));
  return new Promise((resolve, reject) => {
    Harness.arrived.set(name, resolve);
    const script = Harness.el("script", { src: file });
    script.onerror = () => reject(new Error(`${file} is not there: keep the folder beside the page`));
    document.head.append(script);
  });
};

// Scripts beside the page call harnessChunk(name, text) when they are loaded.
Harness.arrived = new Map();
window.harnessChunk = (name, text) => Harness.arrived.get(name)(text);

// Numbers as the tables have them: shares in percent, a dash where one is undefined.
Harness.shown = function shown(metric, value) {
  if (value === null || value === undefined) return "–";
  const how = Harness.data.metrics[metric] || { percent: true, decimals: 2 };
  return Harness.rounded(how.percent ? 100 * value : value, how.decimals);
};

// As Python rounds, so that page and tables have one number: by the exact value, a half to the even digit (15.625 → 15.62).
// toLocaleString alone rounds halves up, and takes 1.005 for one, though it is a little less.
Harness.rounded = function rounded(value, decimals) {
  const unit = 10 ** decimals, lowest = Math.floor(value * unit);
  const half = Number.isInteger(value * 2 ** (decimals + 1)) && value * unit - lowest === 0.5; // no other number is exactly between two
  const found = half ? (lowest + (lowest % 2 ? 1 : 0)) / unit : Number(value.toFixed(decimals));
  return found.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
};

Harness.count = (number) => number.toLocaleString("en-US");

// Tells screen readers what has changed.
Harness.announce = function announce(sentence) {
  document.getElementById("announce").textContent = sentence;
};
