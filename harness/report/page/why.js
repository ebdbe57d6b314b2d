// Corr2Cause: the graphs that fit an item's premise, and the one that decides about the hypothesis.
"use strict";

// A section, or null where nothing is known of the item's class.
Harness.why = async function why(set, item) {
  if (!set.items.classes) return null;
  const data = await Harness.chunk(set.items.classes);
  const number = data.of[item];
  if (number < 0) return null;
  const found = data.classes[number], names = data.names.table[data.names.codes[item]], reason = data.why[item];
  const first = reason && reason.member !== null ? reason.member : 0;
  const order = [first, ...found.members.keys()].filter((k, at) => at === 0 || k !== first);
  const shown = Harness.el("ul", { class: "members" });
  const SOME = 9;
  const add = (places) => shown.append(...places.map((k) => Harness.el("li", {}, member(found, names, k, k === first ? reason : null))));
  add(order.slice(0, SOME));
  const more = order.length > SOME && Harness.el("button", { class: "plain", type: "button", onclick: () => { add(order.slice(SOME)); more.remove(); } }, `Show the other ${order.length - SOME}`);
  const left = found.total - found.members.length;
  return Harness.el("section", { class: "why", "aria-labelledby": "why" },
    Harness.el("h2", { id: "why" }, "Why"),
    reason && Harness.el("p", { class: "said" }, reason.said),
    Harness.el("p", { class: "quiet" }, found.total === 1 ? "One graph fits the premise." : `${Harness.count(found.total)} graphs fit the premise: the same pairs are connected in all of them, and the same independences hold.`),
    shown, more, left > 0 && Harness.el("p", { class: "quiet" }, `${Harness.count(left)} more are not in this page.`));
};

function member(found, names, k, reason) {
  const marked = new Set((reason ? reason.marked : []).map((edge) => edge.join(" ")));
  const edges = found.members[k].map(([a, b]) => ({ a, b, kind: marked.has(`${a} ${b}`) ? "marked" : "" }));
  const said = `Graph ${k + 1} of ${Harness.count(found.total)}`;
  const round = names.every((name) => [...name].length <= 3);
  const told = edges.map(({ a, b }) => `${names[a]} → ${names[b]}`).join(", ") || "no edge";
  const picture = Harness.drawGraph({ nodes: names, at: Harness.circle(names.length, round ? 62 : 92), edges, round, label: `${said}: ${told}` });
  picture.classList.add("small");
  if (reason) picture.classList.add("first");
  return Harness.el("figure", {}, picture, Harness.el("figcaption", {}, said, reason ? Harness.el("strong", {}, reason.holds ? " shows it" : " decides") : ""));
}
