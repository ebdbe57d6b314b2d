// Details of a mark, on hover and on keyboard focus alike; Escape hides them. The arrow keys move among the marks of a
// chart, so that the whole chart is one stop of the tab key.
import { el } from "./dom.js";

const LEAVE_AFTER = 120; // ms, so that the pointer can move onto the tip
let tip = null; // the element, made when it is first shown
let mark = null; // what it stands at
let timer = 0;

/** Show a title and lines [[name, value], …] at a mark. */
function showTip(target, title, lines) {
  clearTimeout(timer);
  tip ||= makeTip();
  const rows = lines.map(([name, value]) => el("div", {}, el("span", {}, name), " ", value));
  tip.replaceChildren(el("strong", {}, title), ...rows);
  mark = target;
  placeTip();
}

// At its mark, as long as that is in sight.
function placeTip() {
  const at = mark.getBoundingClientRect();
  tip.hidden = at.bottom < 0 || at.top > innerHeight;
  const size = tip.getBoundingClientRect();
  const middle = at.left + Math.min(at.width, innerWidth) / 2 - size.width / 2;
  tip.style.left = `${Math.max(8, Math.min(middle, document.documentElement.clientWidth - size.width - 8))}px`;
  tip.style.top = `${at.top - size.height - 8 > 0 ? at.top - size.height - 8 : at.bottom + 8}px`;
}

/** Hide the tip. */
export function hideTip() {
  clearTimeout(timer);
  mark = null;
  if (tip) tip.hidden = true;
}

// The focus scrolls its mark into sight, and the tip goes with it; that of the pointer's mark would stand beside
// another.
function onscroll() {
  if (mark && mark.closest("a") === document.activeElement) placeTip();
  else hideTip();
}

function hideSoon() {
  clearTimeout(timer);
  timer = setTimeout(hideTip, LEAVE_AFTER);
}

function makeTip() {
  const onpointerenter = () => clearTimeout(timer);
  const element = el("div", { class: "tip", role: "tooltip", hidden: true, onpointerenter, onpointerleave: hideSoon });
  document.body.append(element);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTip();
  });
  addEventListener("scroll", onscroll, { passive: true, capture: true });
  addEventListener("hashchange", hideTip);
  return element;
}

/** Give a link a tip and a name with the same details; `target` is where the tip stands (default: the link itself). */
export function withTip(link, title, lines, target) {
  link.setAttribute("aria-label", `${title}: ${lines.map((line) => line.join(" ")).join("; ")}`);
  const show = () => showTip(target || link, title, lines);
  link.addEventListener("pointerenter", show);
  link.addEventListener("focus", show);
  link.addEventListener("pointerleave", hideSoon);
  link.addEventListener("blur", hideTip);
  return link;
}

/** Make one tab stop of many links; `across` is how many stand in a row (1: all arrow keys go to the next or last). */
export function rovingFocus(links, across = 1) {
  links.forEach((link, number) => {
    const last = links.length - 1;
    const steps = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: across,
      ArrowUp: -across,
      Home: -number,
      End: last - number,
    };
    link.setAttribute("tabindex", number ? "-1" : "0");
    link.addEventListener("keydown", (event) => {
      if (!(event.key in steps)) return;
      event.preventDefault();
      const next = links[number + steps[event.key]];
      if (next) next.focus();
    });
    link.addEventListener("focus", () => {
      for (const other of links) other.setAttribute("tabindex", other === link ? "0" : "-1");
    });
  });
}
