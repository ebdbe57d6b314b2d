// Marks by what answered (model, baseline, solver, algorithm, cheat): a shape and a colour for each role.
import { report } from "../data/store.js";
import { el, svgEl } from "../ui/dom.js";

// The areas of the shapes are about the same.
const CORNERS = {
  square: [
    [-0.86, -0.86],
    [0.86, -0.86],
    [0.86, 0.86],
    [-0.86, 0.86],
  ],
  diamond: [
    [0, -1.25],
    [1.25, 0],
    [0, 1.25],
    [-1.25, 0],
  ],
  triangle: [
    [0, -1.3],
    [1.25, 0.95],
    [-1.25, 0.95],
  ],
};

/** Return the mark of what answered (a model, a baseline, …) at a place. */
export function roleMark(role, x, y, size = 4.5) {
  const { shape, open } = report.marks[role];
  const mark = open ? "mark open" : "mark";
  if (shape === "disc") return svgEl("circle", { class: mark, cx: x, cy: y, r: size });
  const points = CORNERS[shape].map(([across, down]) => `${x + across * size},${y + down * size}`);
  return svgEl("polygon", { class: mark, points: points.join(" ") });
}

/** Return what the shapes mean, where a chart has more than one; with `onLine` each on a piece of a line. */
export function roleLegend(rows, onLine) {
  const roles = Object.keys(report.marks).filter((role) => rows.some((row) => row.role === role));
  if (roles.length < 2) return null;
  const entries = roles.map((role) => el("li", {}, legendMark(role, onLine), report.marks[role].title));
  return el("ul", { class: "legend", "aria-label": "Legend" }, entries);
}

function legendMark(role, onLine) {
  return svgEl(
    "svg",
    {
      width: onLine ? 30 : 14,
      height: 14,
      "aria-hidden": "true",
      class: `role-${role}${onLine ? " series" : ""}`,
    },
    onLine && svgEl("path", { class: "line", d: "M0 7h30" }),
    onLine ? roleMark(role, 15, 7, 3.5) : roleMark(role, 7, 7),
  );
}

/** Return colour and shape of each role as styles: the dots of tables take them too. */
export function markStyles() {
  const rules = Object.entries(report.marks).map(([role, { colour, shape, open }]) => {
    const inside = open ? "--page" : "--hue";
    return `.role-${role} { --hue: var(--${colour}); --shape: var(--${shape}); --inside: var(${inside}); }\n`;
  });
  return el("style", {}, rules);
}
