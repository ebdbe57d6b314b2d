// Controls with a name each: a label around its field, so that tests and screen readers find them by it. Fields have it as
// their `name` too, by which a view that is shown anew finds the one that had the focus.
"use strict";

// The task that a view begins with where its address tells none: the one with the most runs.
Harness.mostRuns = function mostRuns(tasks) {
  const count = (task) => Harness.data.runs.filter((run) => run.task === task).length;
  return [...tasks].sort((a, b) => count(b) - count(a))[0];
};

// options: [[value, title], …]
Harness.select = function select({ label, value, options, onchange }) {
  const field = Harness.el("select", { name: label, onchange: (event) => onchange(event.target.value) },
    options.map(([key, title]) => Harness.el("option", { value: key, selected: key === value }, title)));
  return Harness.el("label", { class: "field" }, Harness.el("span", {}, label), field);
};

Harness.search = function search({ label, value, placeholder, oninput }) {
  const field = Harness.el("input", {
    name: label, type: "search", value: value || "", placeholder, autocomplete: "off", spellcheck: "false",
    oninput: (event) => oninput(event.target.value),
  });
  return Harness.el("label", { class: "field" }, Harness.el("span", {}, label), field);
};

Harness.switch = function toggle({ label, on, onchange }) {
  const field = Harness.el("input", { name: label, type: "checkbox", role: "switch", checked: on, onchange: (event) => onchange(event.target.checked) });
  return Harness.el("label", { class: "switch" }, field, Harness.el("span", { class: "track", "aria-hidden": "true" }), Harness.el("span", {}, label));
};

// A fold-out list of boxes to tick: options [[value, title], …], on: the values that are ticked.
Harness.boxes = function boxes({ label, options, on, onchange }) {
  const ticked = new Set(on);
  const box = ([key, title]) => Harness.el("label", {}, Harness.el("input", {
    type: "checkbox", checked: ticked.has(key),
    onchange: (event) => {
      if (event.target.checked) ticked.add(key); else ticked.delete(key);
      onchange(options.map(([one]) => one).filter((one) => ticked.has(one)));
    },
  }), " ", title);
  const list = Harness.el("fieldset", {}, Harness.el("legend", { class: "unseen" }, label), options.map(box));
  const fold = Harness.el("details", {
    class: "boxes",
    onkeydown: (event) => {
      if (event.key !== "Escape" || !fold.open) return;
      fold.open = false;
      fold.querySelector("summary").focus();
    },
    onfocusout: (event) => { if (event.relatedTarget && !fold.contains(event.relatedTarget)) fold.open = false; },
  }, Harness.el("summary", {}, label), list);
  return fold;
};

// A run of some; one of others that an address names stands before them.
Harness.runChooser = function runChooser({ label, runs, chosen, none, onchange }) {
  const every = !chosen || runs.includes(chosen) ? runs : [chosen, ...runs];
  const options = every.map((run) => [run.id, Harness.runName(run)]);
  return Harness.select({ label, value: chosen ? chosen.id : "", options: none ? [["", none], ...options] : options, onchange });
};

// A run by its model, then what tells it from the model's other runs: a select shows the beginning.
Harness.runName = function runName(run) {
  const place = `//${[run.task, run.variant, run.prompt, run.model].join("/")}`; // after the folder, where several runs have it
  const folder = run.id.endsWith(place) ? run.id.slice(0, -place.length) : "";
  return [run.model, run.prompt, run.variant === "default" ? "" : run.variant, run.task, folder].filter(Boolean).join(" · ");
};

// What differs among some values, as options, with one for all of them before.
Harness.among = function among(values, all) {
  return [["", all], ...[...new Set(values)].filter(Boolean).map((value) => [value, value])];
};
