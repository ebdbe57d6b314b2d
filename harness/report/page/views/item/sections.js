// What plug-ins say of a reply: its lines with their verdicts, and small graphs.
import { circleLayout } from "../../graphs/layout.js";
import { graphPicture } from "../../graphs/picture.js";
import { el } from "../../ui/dom.js";

const SIGNS = { true: "✓", false: "✗", null: "·" };
const CLASSES = { true: "right", false: "wrong", null: "neither" };

/** Return the sections that stand below a reply. */
export function replySections(sections) {
  return sections.map((section) =>
    el(
      "div",
      { class: "said" },
      el("h3", {}, section.title),
      section.note && el("p", {}, section.note),
      section.lines.length > 0 && el("ol", { class: "judged" }, section.lines.map(judgedLine)),
      section.pictures.length > 0 && pictureList(section.pictures),
    ),
  );
}

function judgedLine({ text, verdicts, why, pictures }) {
  return el(
    "li",
    {},
    el("p", { class: "claim" }, el("bdi", {}, text), verdicts.map(verdictMark)),
    why.length > 0 && el("p", { class: "quiet" }, why.join(" ")),
    pictures.length > 0 && pictureFold(pictures),
  );
}

function verdictMark({ word, good }) {
  const sign = el("span", { "aria-hidden": "true" }, `${SIGNS[good]} `);
  return el("span", { class: `verdict ${CLASSES[good]}` }, sign, word);
}

// Drawn when somebody asks: a chain may have hundreds of lines.
function pictureFold(pictures) {
  const title = pictures.length > 1 ? `${pictures.length} graphs that show it` : "A graph that shows it";
  const fold = el("details", { ontoggle: build }, el("summary", {}, title));
  return fold;

  function build() {
    if (fold.children.length < 2) fold.append(pictureList(pictures));
  }
}

const pictureList = (pictures) =>
  el(
    "ul",
    { class: "members" },
    pictures.map((one) => el("li", {}, figure(one))),
  );

function figure({ caption, nodes, arrows, lines, marked }) {
  const isMarked = new Set(marked.map((edge) => edge.join(" ")));
  const edgeOf = (arrow) => (ends) => {
    const [a, b] = ends;
    return { a, b, arrow, kind: isMarked.has(ends.join(" ")) ? "marked" : "" };
  };
  const edges = [...arrows.map(edgeOf(true)), ...lines.map(edgeOf(false))];
  const words = edges.map(({ a, b, arrow }) => `${nodes[a]} ${arrow ? "→" : "–"} ${nodes[b]}`).join(", ") || "no edge";
  const round = nodes.every((name) => [...name].length <= 3);
  const at = circleLayout(nodes.length, round ? 62 : 92);
  const picture = graphPicture({ nodes, at, edges, round, label: `${caption}: ${words}` });
  picture.classList.add("small");
  return el("figure", {}, picture, el("figcaption", {}, caption));
}
