// Elements. Text from models reaches the page through el() and textContent only, so it can never be markup; nothing
// here writes HTML from a string.

/** Return an element: el("td", {class: "number", onclick: f, "aria-label": "…"}, "text", child, …). */
export function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Return an element of SVG, made like those of HTML. */
export function svgEl(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

/** Add attributes, listeners and children to an element; null, undefined and false are left out. */
export function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (isNothing(value)) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (!isNothing(child)) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

const isNothing = (value) => value === null || value === undefined || value === false;

/** Return a name in parts that may break after its signs, not within its words. */
export function breakable(text) {
  const parts = text.split(/(?<=[_/=-]|,(?! |\d{3}(?!\d)))/);
  return parts.flatMap((part, number) => (number ? [el("wbr"), part] : [part]));
}

/** Return a section with its heading. */
export function titledSection(title, ...children) {
  return el("section", {}, el("h2", {}, title), children);
}

/** Tell screen readers what has changed. */
export function announce(sentence) {
  document.getElementById("announce").textContent = sentence;
}
