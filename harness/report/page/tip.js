// Details of a mark, on hover and on keyboard focus alike; Escape hides them. The arrow keys move among the marks of a
// chart, so that the whole chart is one stop of the tab key.
"use strict";

Harness.tip = {
  node: null,
  mark: null, // what it stands at
  timer: 0,
  show(mark, title, lines) {
    clearTimeout(Harness.tip.timer);
    const node = (Harness.tip.node ||= Harness.tip.make());
    node.replaceChildren(Harness.el("strong", {}, title), ...lines.map(([name, value]) => Harness.el("div", {}, Harness.el("span", {}, name), " ", value)));
    Harness.tip.mark = mark;
    Harness.tip.place();
  },
  // At its mark, as long as that is in sight.
  place() {
    const { node, mark } = Harness.tip;
    const at = mark.getBoundingClientRect();
    node.hidden = at.bottom < 0 || at.top > innerHeight;
    const size = node.getBoundingClientRect();
    const middle = at.left + Math.min(at.width, innerWidth) / 2 - size.width / 2;
    node.style.left = `${Math.max(8, Math.min(middle, document.documentElement.clientWidth - size.width - 8))}px`;
    node.style.top = `${at.top - size.height - 8 > 0 ? at.top - size.height - 8 : at.bottom + 8}px`;
  },
  hide() {
    clearTimeout(Harness.tip.timer);
    Harness.tip.mark = null;
    if (Harness.tip.node) Harness.tip.node.hidden = true;
  },
  // The focus scrolls its mark into sight, and the tip goes with it; that of the pointer's mark would stand beside another.
  scrolled() {
    const { mark } = Harness.tip;
    if (mark && mark.closest("a") === document.activeElement) Harness.tip.place();
    else Harness.tip.hide();
  },
  // A moment later, so that the pointer can move onto the tip.
  leave() {
    clearTimeout(Harness.tip.timer);
    Harness.tip.timer = setTimeout(Harness.tip.hide, 120);
  },
  make() {
    const node = Harness.el("div", { class: "tip", role: "tooltip", hidden: true, onpointerenter: () => clearTimeout(Harness.tip.timer), onpointerleave: Harness.tip.leave });
    document.body.append(node);
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") Harness.tip.hide(); });
    addEventListener("scroll", Harness.tip.scrolled, { passive: true, capture: true });
    addEventListener("hashchange", Harness.tip.hide);
    return node;
  },
};

// A mark that tells its details and leads to its run; `target` is where the tip stands (default: the mark itself).
Harness.tell = function tell(link, title, lines, target) {
  link.setAttribute("aria-label", `${title}: ${lines.map((line) => line.join(" ")).join("; ")}`);
  const show = () => Harness.tip.show(target || link, title, lines);
  link.addEventListener("pointerenter", show);
  link.addEventListener("focus", show);
  link.addEventListener("pointerleave", Harness.tip.leave);
  link.addEventListener("blur", Harness.tip.hide);
  return link;
};

// One tab stop for many links; `across` is how many stand in a row (1: all arrow keys go to the next and the last one).
Harness.roving = function roving(links, across = 1) {
  links.forEach((link, number) => {
    link.setAttribute("tabindex", number ? "-1" : "0");
    link.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across, Home: -number, End: links.length - 1 - number };
      const to = links[number + steps[event.key]];
      if (!(event.key in steps)) return;
      event.preventDefault();
      if (to) to.focus();
    });
    link.addEventListener("focus", () => links.forEach((one) => one.setAttribute("tabindex", one === link ? "0" : "-1")));
  });
};
