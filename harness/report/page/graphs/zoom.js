// Pictures that are enlarged and moved together: by buttons, by keys, by dragging; by the wheel with Ctrl, so that the
// page scrolls.
import { el } from "../ui/dom.js";

/** Return the pictures side by side below their buttons; chosenNode() is the variable that is highlighted, or -1. */
export function zoomable(pictures, chosenNode) {
  const svgs = pictures.map((picture) => picture.querySelector("svg"));
  const view = sharedView(svgs);
  const keys = {
    "+": () => view.zoom(0.8),
    "=": () => view.zoom(0.8),
    "-": () => view.zoom(1.25),
    0: view.fit,
    ArrowLeft: () => view.move(-0.1, 0),
    ArrowRight: () => view.move(0.1, 0),
    ArrowUp: () => view.move(0, -0.1),
    ArrowDown: () => view.move(0, 0.1),
  };
  const onkeydown = (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    action();
  };
  const help = "Graphs: arrow keys move, plus and minus enlarge, 0 fits";
  const box = el(
    "div",
    { class: `panels of-${pictures.length}`, tabindex: 0, role: "group", "aria-label": help, onkeydown },
    pictures,
  );
  for (const svg of svgs) addPointer(svg, view, box, chosenNode);
  return el("div", {}, buttons(view), box);
}

// One view box for all pictures: that of the first.
function sharedView(svgs) {
  const fullBox = svgs[0].getAttribute("viewBox").split(" ").map(Number);
  let [x, y, width, height] = fullBox;
  const update = () => {
    for (const svg of svgs) svg.setAttribute("viewBox", [x, y, width, height].join(" "));
  };
  update();
  return {
    // By a factor, around a point given as shares of width and height.
    zoom(factor, px = 0.5, py = 0.5) {
      x += width * (1 - factor) * px;
      y += height * (1 - factor) * py;
      width *= factor;
      height *= factor;
      update();
    },
    move(dx, dy) {
      x += dx * width;
      y += dy * height;
      update();
    },
    fit() {
      [x, y, width, height] = fullBox;
      update();
    },
  };
}

function addPointer(svg, view, box, chosenNode) {
  const onwheel = (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const at = svg.getBoundingClientRect();
    const factor = event.deltaY > 0 ? 1.15 : 0.87;
    view.zoom(factor, (event.clientX - at.left) / at.width, (event.clientY - at.top) / at.height);
  };
  svg.addEventListener("wheel", onwheel, { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse") svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!svg.hasPointerCapture(event.pointerId)) return;
    const at = svg.getBoundingClientRect();
    view.move(-event.movementX / at.width, -event.movementY / at.height);
  });
  svg.addEventListener("pointerover", (event) => {
    const node = event.target.closest(".node");
    if (node) highlightNode(box, Number(node.dataset.node));
  });
  svg.addEventListener("pointerout", (event) => {
    if (event.target.closest(".node")) highlightNode(box, chosenNode());
  });
}

function buttons({ zoom, fit }) {
  const button = (title, sign, onclick) =>
    el("button", { class: "plain", type: "button", "aria-label": title, title, onclick }, sign);
  return el(
    "div",
    { class: "zoom", role: "group", "aria-label": "Size" },
    button("Enlarge", "+", () => zoom(0.8)),
    button("Reduce", "−", () => zoom(1.25)),
    button("Fit", "fit", fit),
  );
}

/** Highlight the edges of one variable; -1 for all alike. */
export function highlightNode(place, node) {
  for (const svg of place.querySelectorAll(".panel svg")) {
    svg.classList.toggle("chosen", node >= 0);
    for (const edge of svg.querySelectorAll(".edge")) {
      edge.classList.toggle("of", Number(edge.dataset.a) === node || Number(edge.dataset.b) === node);
    }
    for (const mark of svg.querySelectorAll(".node")) mark.classList.toggle("of", Number(mark.dataset.node) === node);
  }
}
