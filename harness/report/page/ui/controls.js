// Controls with a name each: a label around its field, so that tests and screen readers find them by it. Fields have it
// as their `name` too, by which a view that is shown anew finds the one that had the focus.
import { runName } from "../data/runs.js";
import { el } from "./dom.js";

/** Return a select; options: [[value, title], …]. */
export function selectField({ label, value, options, onchange }) {
  const field = el(
    "select",
    { name: label, onchange: (event) => onchange(event.target.value) },
    options.map(([key, title]) => el("option", { value: key, selected: key === value }, title)),
  );
  return el("label", { class: "field" }, el("span", {}, label), field);
}

/** Return a field to search in, with its label. */
export function searchField({ label, value, placeholder, oninput }) {
  const field = el("input", {
    name: label,
    type: "search",
    value: value || "",
    placeholder,
    autocomplete: "off",
    spellcheck: "false",
    oninput: (event) => oninput(event.target.value),
  });
  return el("label", { class: "field" }, el("span", {}, label), field);
}

/** Return a checkbox with its label. */
export function switchField({ label, on, onchange }) {
  const field = el("input", {
    name: label,
    type: "checkbox",
    role: "switch",
    checked: on,
    onchange: (event) => onchange(event.target.checked),
  });
  const track = el("span", { class: "track", "aria-hidden": "true" });
  return el("label", { class: "switch" }, field, track, el("span", {}, label));
}

/** Return a fold-out list of boxes to tick: options [[value, title], …], on: the values that are ticked. */
export function checkboxList({ label, options, on, onchange }) {
  const ticked = new Set(on);
  const list = el("fieldset", {}, el("legend", { class: "unseen" }, label), options.map(checkbox));
  const fold = el("details", { class: "boxes", onkeydown, onfocusout }, el("summary", {}, label), list);
  return fold;

  function checkbox([key, title]) {
    const onchangeBox = (event) => {
      if (event.target.checked) ticked.add(key);
      else ticked.delete(key);
      onchange(options.map(([value]) => value).filter((value) => ticked.has(value)));
    };
    return el(
      "label",
      {},
      el("input", { type: "checkbox", checked: ticked.has(key), onchange: onchangeBox }),
      " ",
      title,
    );
  }

  function onkeydown(event) {
    if (event.key !== "Escape" || !fold.open) return;
    fold.open = false;
    fold.querySelector("summary").focus();
  }

  function onfocusout(event) {
    if (event.relatedTarget && !fold.contains(event.relatedTarget)) fold.open = false;
  }
}

/** Return a select of runs; a chosen run that is not among them, as an address may name any, stands before them. */
export function runChooser({ label, runs, chosen, none, onchange }) {
  const all = !chosen || runs.includes(chosen) ? runs : [chosen, ...runs];
  const options = all.map((run) => [run.id, runName(run)]);
  return selectField({
    label,
    value: chosen ? chosen.id : "",
    options: none ? [["", none], ...options] : options,
    onchange,
  });
}

/** Return the distinct values as options, with one that stands for all of them before. */
export function distinctOptions(values, all) {
  return [["", all], ...[...new Set(values)].filter(Boolean).map((value) => [value, value])];
}

/** Return a row of controls; Enter in one of them leads nowhere. */
export function controlForm(attributes, ...controls) {
  return el("form", { ...attributes, onsubmit: (event) => event.preventDefault() }, controls);
}
