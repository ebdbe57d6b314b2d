// Made by `make page` from the files in the folders beside this one: edit those.
"use strict";
(() => {
  // harness/report/page/data/store.js
  var report = null;
  var chunks = /* @__PURE__ */ new Map();
  var arrivals = /* @__PURE__ */ new Map();
  async function loadReport() {
    report = await unpack(await packedText("data"));
  }
  function loadChunk(name2) {
    if (!chunks.has(name2)) chunks.set(name2, packedText(name2).then(unpack));
    return chunks.get(name2);
  }
  async function unpack(text) {
    if (!window.DecompressionStream) {
      throw new Error(
        "This browser is too old for this page, as it has no DecompressionStream. Chrome or Edge 85, Firefox 113, Safari 16.4 and later ones can show it."
      );
    }
    const binary = atob(text.trim());
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }
  function packedText(name2) {
    const block = [...document.querySelectorAll("script[data-chunk]")].find((script) => script.dataset.chunk === name2);
    if (block) return Promise.resolve(block.textContent);
    const file = (report && report.beside || {})[name2];
    if (!file) return Promise.reject(new Error(`this page has no ${name2}`));
    return new Promise((resolve, reject) => {
      arrivals.set(name2, resolve);
      const script = document.createElement("script");
      script.src = file;
      script.onerror = () => reject(new Error(`${file} is not there: keep the folder beside the page`));
      document.head.append(script);
    });
  }
  window.harnessChunk = (name2, text) => arrivals.get(name2)(text);

  // harness/report/page/ui/dom.js
  function el(name2, attributes, ...children) {
    return fill(document.createElement(name2), attributes, children);
  }
  function svgEl(name2, attributes, ...children) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", name2), attributes, children);
  }
  function fill(element, attributes, children) {
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
  var isNothing = (value) => value === null || value === void 0 || value === false;
  function breakable(text) {
    const parts = text.split(/(?<=[_/=-]|,(?! |\d{3}(?!\d)))/);
    return parts.flatMap((part, number) => number ? [el("wbr"), part] : [part]);
  }
  function titledSection(title, ...children) {
    return el("section", {}, el("h2", {}, title), children);
  }
  function announce(sentence) {
    document.getElementById("announce").textContent = sentence;
  }

  // harness/report/page/charts/marks.js
  var CORNERS = {
    square: [
      [-0.86, -0.86],
      [0.86, -0.86],
      [0.86, 0.86],
      [-0.86, 0.86]
    ],
    diamond: [
      [0, -1.25],
      [1.25, 0],
      [0, 1.25],
      [-1.25, 0]
    ],
    triangle: [
      [0, -1.3],
      [1.25, 0.95],
      [-1.25, 0.95]
    ]
  };
  function roleMark(role, x, y, size = 4.5) {
    const { shape, open } = report.marks[role];
    const mark2 = open ? "mark open" : "mark";
    if (shape === "disc") return svgEl("circle", { class: mark2, cx: x, cy: y, r: size });
    const points = CORNERS[shape].map(([across, down]) => `${x + across * size},${y + down * size}`);
    return svgEl("polygon", { class: mark2, points: points.join(" ") });
  }
  function roleLegend(rows, onLine) {
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
        class: `role-${role}${onLine ? " series" : ""}`
      },
      onLine && svgEl("path", { class: "line", d: "M0 7h30" }),
      onLine ? roleMark(role, 15, 7, 3.5) : roleMark(role, 7, 7)
    );
  }
  function markStyles() {
    const rules = Object.entries(report.marks).map(([role, { colour, shape, open }]) => {
      const inside = open ? "--page" : "--hue";
      return `.role-${role} { --hue: var(--${colour}); --shape: var(--${shape}); --inside: var(${inside}); }
`;
    });
    return el("style", {}, rules);
  }

  // harness/report/page/ui/address.js
  function parseAddress(hash) {
    const [path, ...rest] = hash.replace(/^#\/?/, "").split("?");
    const parts = path.split("/").filter(Boolean).map(decode);
    return { view: parts[0] || "board", parts: parts.slice(1), query: new URLSearchParams(rest.join("?")) };
  }
  function decode(part) {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  }
  function addressOf(view, parts, query) {
    const path = [view, ...parts || []].map(encodeURIComponent).join("/");
    const isSet = ([, value]) => value !== "" && value !== null && value !== void 0 && value !== false;
    const settings = new URLSearchParams(Object.entries(query || {}).filter(isSet));
    return `#/${path}${[...settings].length ? `?${settings}` : ""}`;
  }
  var WRITE_EVERY = 400;
  var ahead = null;
  var timer = 0;
  function currentRoute() {
    return parseAddress(ahead && ahead.replaces === location.href ? ahead.address : location.hash);
  }
  function setQuery(changes) {
    const route = currentRoute();
    replaceAddress(addressOf(route.view, route.parts, { ...Object.fromEntries(route.query), ...changes }));
  }
  function replaceAddress(address) {
    ahead = { address, replaces: location.href };
    if (!timer) write();
  }
  function write() {
    if (!ahead) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = 0;
      write();
    }, WRITE_EVERY);
    try {
      if (ahead.replaces === location.href) history.replaceState(null, "", ahead.address);
      ahead = null;
    } catch {
    }
  }
  function visit(address) {
    write();
    location.hash = address;
  }
  function writeBeforeLink(event) {
    if (event.target.closest("a")) write();
  }
  addEventListener("click", writeBeforeLink, { capture: true });
  addEventListener("blur", write);

  // harness/report/page/ui/router.js
  var lastView;
  async function showView(views) {
    const main = document.getElementById("main");
    const route = currentRoute();
    const view = views[route.view];
    markLinks(route.view);
    const place = el("div", { class: "view" });
    const focused = lastView === route.view && main.contains(document.activeElement) ? document.activeElement.name : "";
    const top = window.scrollY;
    main.replaceChildren(place);
    main.setAttribute("aria-busy", "true");
    setTitle(view ? view.title : "Not found");
    try {
      if (!view) throw new Error(`This page has no view ${route.view}.`);
      await view.show(place, route);
    } catch (error) {
      showError(place, error);
    }
    if (!place.isConnected) return;
    main.removeAttribute("aria-busy");
    const control = focused && [...place.querySelectorAll("select, input")].find((field) => field.name === focused);
    if (lastView) (control || main).focus({ preventScroll: true });
    if (lastView) window.scrollTo(0, control ? top : 0);
    lastView = route.view;
  }
  function markLinks(view) {
    for (const link of document.querySelectorAll("#nav a")) {
      if (parseAddress(link.hash).view === view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }
  function setTitle(...parts) {
    document.title = [...parts, report.title].join(" · ");
  }
  function showError(place, error) {
    place.replaceChildren(el("h1", {}, "This cannot be shown"), el("p", {}, String(error.message || error)));
  }

  // harness/report/page/data/answers.js
  var OUTCOMES = ["right", "wrong", "unreadable", "failed"];
  var answersById = /* @__PURE__ */ new Map();
  function loadAnswers(run) {
    if (!run.answers) {
      return Promise.reject(new Error(run.no_answers || "This run's answers are not in this page."));
    }
    if (!answersById.has(run.id)) answersById.set(run.id, prepare(run));
    return answersById.get(run.id);
  }
  async function prepare(run) {
    const [items, columns2] = await Promise.all([loadChunk(run.answers.items), loadChunk(run.answers.answers)]);
    const count = columns2.item.length;
    const empty = (value) => new Array(count).fill(value);
    const answers = { reply: empty(""), read: empty(null), right: empty(null), ...columns2 };
    const status = new Uint8Array(count);
    const gold = new Int8Array(count);
    const text = new Array(count);
    const first = /* @__PURE__ */ new Map();
    const labels = items.labels[run.result.headline] || [];
    for (let row = 0; row < count; row++) {
      const item = answers.item[row];
      const failure = answers.failure && answers.failure[row];
      status[row] = failure ? 3 : answers.read[row] === null ? 2 : answers.right[row] ? 0 : 1;
      gold[row] = labels[item] ?? -1;
      const reply = failure ? `${failure.kind} ${failure.detail}` : answers.reply[row];
      text[row] = `${items.ids[item]}
${items.words[item]}
${reply}`.toLowerCase();
      if (!first.has(items.ids[item])) first.set(items.ids[item], row);
    }
    return { run, items, answers, count, status, gold, text, first };
  }
  function matchRows(set, other) {
    const sampleOf = (side, row) => side.answers.sample ? side.answers.sample[row] : 0;
    const rows = new Int32Array(set.count);
    for (let row = 0; row < set.count; row++) {
      let match = other.first.get(set.items.ids[set.answers.item[row]]) ?? -1;
      if (match >= 0 && other.answers.sample) {
        const item = other.answers.item[match];
        const sample = sampleOf(set, row);
        while (other.answers.item[match] === item && sampleOf(other, match) < sample) match++;
        if (other.answers.item[match] !== item || sampleOf(other, match) !== sample) match = -1;
      }
      rows[row] = match;
    }
    return rows;
  }

  // harness/report/page/data/runs.js
  var runsById = null;
  function findRun(id) {
    runsById ||= new Map(report.runs.map((run) => [run.id, run]));
    return runsById.get(id);
  }
  function requireRun(id) {
    const run = findRun(id);
    if (!run) throw new Error(id ? `There is no run ${id} in this page.` : "The address names no run.");
    return run;
  }
  function secondRun(route) {
    const id = route.query.get("vs");
    const run = id ? requireRun(id) : null;
    return id === route.parts[0] ? null : run;
  }
  function comparableRuns(run, part) {
    return report.runs.filter((other) => other[part] && other.task === run.task && other !== run);
  }
  function runName(run) {
    const place = `//${[run.task, run.variant, run.prompt, run.model].join("/")}`;
    const folder = run.id.endsWith(place) ? run.id.slice(0, -place.length) : "";
    const variant = run.variant === "default" ? "" : run.variant;
    return [run.model, run.prompt, variant, run.task, folder].filter(Boolean).join(" · ");
  }
  function taskWithMostRuns(tasks) {
    const count = (task) => report.runs.filter((run) => run.task === task).length;
    return [...tasks].sort((a, b) => count(b) - count(a))[0];
  }
  function headlineScores(id) {
    const { result } = findRun(id) || { result: {} };
    return (result.scores || {})[result.headline] || {};
  }
  function metricsIn(rows) {
    return Object.keys(report.metrics).filter((name2) => rows.some((row) => name2 in row));
  }
  function breakdownsOf(tables) {
    const rowsByName = /* @__PURE__ */ new Map();
    for (const row of tables.flatMap((table) => table.rows)) {
      for (const [name2, groups] of Object.entries(headlineScores(row.run))) {
        if (name2 === "overall" || name2.includes("/")) continue;
        rowsByName.set(name2, [...rowsByName.get(name2) || [], ...Object.values(groups)]);
      }
    }
    return new Map([...rowsByName].map(([name2, rows]) => [name2, metricsIn(rows)]));
  }

  // harness/report/page/ui/controls.js
  function selectField({ label, value, options, onchange }) {
    const field = el(
      "select",
      { name: label, onchange: (event) => onchange(event.target.value) },
      options.map(([key, title]) => el("option", { value: key, selected: key === value }, title))
    );
    return el("label", { class: "field" }, el("span", {}, label), field);
  }
  function searchField({ label, value, placeholder, oninput }) {
    const field = el("input", {
      name: label,
      type: "search",
      value: value || "",
      placeholder,
      autocomplete: "off",
      spellcheck: "false",
      oninput: (event) => oninput(event.target.value)
    });
    return el("label", { class: "field" }, el("span", {}, label), field);
  }
  function switchField({ label, on, onchange }) {
    const field = el("input", {
      name: label,
      type: "checkbox",
      role: "switch",
      checked: on,
      onchange: (event) => onchange(event.target.checked)
    });
    const track = el("span", { class: "track", "aria-hidden": "true" });
    return el("label", { class: "switch" }, field, track, el("span", {}, label));
  }
  function checkboxList({ label, options, on, onchange }) {
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
        title
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
  function runChooser({ label, runs, chosen, none, onchange }) {
    const all = !chosen || runs.includes(chosen) ? runs : [chosen, ...runs];
    const options = all.map((run) => [run.id, runName(run)]);
    return selectField({
      label,
      value: chosen ? chosen.id : "",
      options: none ? [["", none], ...options] : options,
      onchange
    });
  }
  function distinctOptions(values, all) {
    return [["", all], ...[...new Set(values)].filter(Boolean).map((value) => [value, value])];
  }
  function controlForm(attributes, ...controls2) {
    return el("form", { ...attributes, onsubmit: (event) => event.preventDefault() }, controls2);
  }

  // harness/report/page/data/format.js
  var UNKNOWN_METRIC = { percent: true, decimals: 2 };
  var isPercent = (metric) => (report.metrics[metric] || UNKNOWN_METRIC).percent;
  var bestEnd = (metric) => (report.metrics[metric] || {}).best;
  var heatMetrics = () => Object.keys(report.metrics).filter((name2) => report.metrics[name2].in_heat_maps);
  var metricTitle = (name2) => (report.metrics[name2] || {}).title || name2.replace(/_/g, " ");
  var groupTitle = (name2) => name2.replace("num_nodes", "number of variables").replace(/_/g, " ").replace("/", " and ");
  var formatCount = (number) => number.toLocaleString("en-US");
  function formatMetric(metric, value) {
    if (value === null || value === void 0) return "–";
    const { percent, decimals } = report.metrics[metric] || UNKNOWN_METRIC;
    return formatNumber(percent ? 100 * value : value, decimals);
  }
  function formatNumber(value, decimals) {
    const unit = 10 ** decimals;
    const lowest = Math.floor(value * unit);
    const isHalf = Number.isInteger(value * 2 ** (decimals + 1)) && value * unit - lowest === 0.5;
    const rounded = isHalf ? (lowest + (lowest % 2 ? 1 : 0)) / unit : Number(value.toFixed(decimals));
    return rounded.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  }
  function formatInterval(metric, ends) {
    if (!ends) return "";
    const { percent, decimals } = report.metrics[metric] || UNKNOWN_METRIC;
    const texts = ends.map((end) => formatNumber(percent ? 100 * end : end, Math.max(1, decimals - 1)));
    return `[${texts.join(", ")}]`;
  }
  function formatTick(metric, value) {
    return (isPercent(metric) ? 100 * value : value).toLocaleString("en-US", { maximumFractionDigits: 2 });
  }
  function formatAmount(value, largest = value) {
    if (largest >= 1e4 && value >= 1e3)
      return value.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 });
    return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
  }
  var formatTime = (text) => text.replace("T", " ").replace(/\.\d+/, "").replace(/(\+00:00|Z)$/, " UTC");
  var answerNames = (items) => items.answers || ["No", "Yes"];
  function answerWord(label, items) {
    if (label === null || label === void 0 || label < 0) return "–";
    return answerNames(items)[label] ?? String(label);
  }

  // harness/report/page/data/filters.js
  var CONTRASTS = {
    differ: "answers differ",
    ab: "first right, second not",
    ba: "second right, first not"
  };
  var SORTS = {
    "": "order of the items",
    probability: "probability of Yes",
    length: "length of the reply",
    output: "tokens of the reply",
    usd: "cost"
  };
  var MOST_VALUES = 40;
  function facetsOf(set, other) {
    const facets = [
      { name: "right", title: "Outcome", values: OUTCOMES, of: (row) => set.status[row] },
      { name: "gold", title: "Gold", values: answerNames(set.items), of: (row) => set.gold[row] }
    ];
    const grades = [...new Set(set.answers.grade || [])].filter(Boolean).sort();
    if (grades.length > 1) {
      const of = (row) => grades.indexOf(set.answers.grade[row]);
      facets.push({ name: "grade", title: "How read", values: grades, of });
    }
    if (other) facets.push(contrastFacet(set, other));
    for (const [name2, group] of Object.entries(set.items.groups)) {
      if (group.names.length < 2 || group.names.length > MOST_VALUES) continue;
      const of = (row) => group.codes[set.answers.item[row]];
      facets.push({ name: name2, title: capitalized(groupTitle(name2)), values: group.names, of });
    }
    return facets;
  }
  function contrastFacet(set, other) {
    const matches = matchRows(set, other);
    const isRight = (side, row) => row >= 0 && side.answers.right[row] === true;
    return {
      name: "contrast",
      title: "The two",
      values: Object.keys(CONTRASTS),
      titles: Object.values(CONTRASTS),
      all: (row) => {
        const match = matches[row];
        const a = isRight(set, row);
        const b = isRight(other, match);
        const same = match >= 0 && set.answers.read[row] === other.answers.read[match] && (set.status[row] < 2 || set.status[row] === other.status[match]);
        return [...same ? [] : [0], ...a && !b ? [1] : [], ...b && !a ? [2] : []];
      }
    };
  }
  var capitalized = (text) => text[0].toUpperCase() + text.slice(1);
  function filterAnswers(set, facets, query) {
    const needle = (query.get("q") || "").trim().toLowerCase();
    const chosenValues = facets.map((facet) => facet.values.indexOf(query.get(facet.name) || ""));
    const counts = facets.map((facet) => new Uint32Array(facet.values.length));
    const rows = [];
    for (let row = 0; row < set.count; row++) {
      if (needle && !set.text[row].includes(needle)) continue;
      let failing = -1;
      for (let k = 0; k < facets.length && failing !== -2; k++) {
        if (chosenValues[k] < 0 || passes(facets[k], row, chosenValues[k])) continue;
        failing = failing === -1 ? k : -2;
      }
      if (failing === -2) continue;
      if (failing === -1) rows.push(row);
      for (let k = 0; k < facets.length; k++) {
        if (failing !== -1 && failing !== k) continue;
        if (facets[k].all) for (const value of facets[k].all(row)) counts[k][value]++;
        else if (facets[k].of(row) >= 0) counts[k][facets[k].of(row)]++;
      }
    }
    return { rows: sortRows(set, rows, query.get("sort") || "", query.get("order") === "desc"), counts };
  }
  function passes(facet, row, value) {
    return facet.all ? facet.all(row).includes(value) : facet.of(row) === value;
  }
  function sortsOf(set) {
    const { probability, output, usd } = set.answers;
    const columns2 = { probability, output, usd };
    return Object.entries(SORTS).filter(([name2]) => !(name2 in columns2) || columns2[name2]);
  }
  function sortRows(set, rows, by, descending) {
    const { answers } = set;
    const keys = {
      probability: (row) => answers.probability && answers.probability[row],
      length: (row) => answers.reply[row].length,
      output: (row) => answers.output && answers.output[row],
      usd: (row) => answers.usd && answers.usd[row]
    };
    const key = keys[by];
    if (key) rows.sort((a, b) => compare(key(a), key(b)) || a - b);
    return rows;
    function compare(a, b) {
      const isMissing = (value) => value === null || value === void 0;
      if (isMissing(a) || isMissing(b)) return isMissing(a) - isMissing(b);
      return (a - b) * (descending ? -1 : 1);
    }
  }

  // harness/report/page/ui/list.js
  var MARGIN = 8;
  var VirtualList = class {
    /** columns: [{title, class, cell(row) → node or text, plain(row) → what screen readers are told instead}, …]. */
    constructor({ label, columns: columns2, href, empty }) {
      this.columns = columns2;
      this.href = href;
      this.rows = [];
      this.active = 0;
      this.range = [-1, -1, 0];
      Object.assign(this, frame(label, columns2));
      this.none = el("p", { class: "quiet", hidden: true }, empty);
      this.node = el("div", {}, this.box, this.none);
      this.box.addEventListener("scroll", () => this.draw());
      this.box.addEventListener("keydown", (event) => this.onKey(event));
      new ResizeObserver(() => this.draw()).observe(this.box);
    }
    /** Return the height of a row in pixels, which the style sheet says: on a narrow screen rows have two lines. */
    get rowHeight() {
      return parseFloat(getComputedStyle(this.table).getPropertyValue("--row"));
    }
    /** Show these rows; `chosen` is the row that becomes active and is in sight, where it is among them. */
    show(rows, chosen) {
      const { box, table, none } = this;
      this.rows = rows;
      this.active = Math.max(0, chosen === void 0 ? Math.min(this.active, rows.length - 1) : rows.indexOf(chosen));
      table.setAttribute("aria-rowcount", rows.length + 1);
      box.hidden = !rows.length;
      none.hidden = !!rows.length;
      if (box.scrollTop > rows.length * this.rowHeight) box.scrollTop = 0;
      this.redraw();
      if (this.active && chosen !== void 0) this.reveal();
    }
    /** Scroll so far that the active row is in sight. */
    reveal() {
      const { box, table, active, rowHeight } = this;
      const head = table.tHead.offsetHeight;
      const top = active * rowHeight;
      if (top < box.scrollTop) box.scrollTop = top;
      if (top + rowHeight > box.scrollTop + box.clientHeight - head) {
        box.scrollTop = top + rowHeight - box.clientHeight + head;
      }
      this.redraw();
    }
    redraw() {
      this.range = [-1, -1, 0];
      this.draw();
    }
    /** Draw the rows in sight, if others are drawn. */
    draw() {
      const { box, body, above, below, rows, rowHeight } = this;
      const from = Math.max(0, Math.floor(box.scrollTop / rowHeight) - MARGIN);
      const bottom = box.scrollTop + (box.clientHeight || 600);
      const to = Math.min(rows.length, Math.ceil(bottom / rowHeight) + MARGIN);
      if (from === this.range[0] && to === this.range[1] && rowHeight === this.range[2]) return;
      this.range = [from, to, rowHeight];
      above.firstChild.style.height = `${from * rowHeight}px`;
      below.firstChild.style.height = `${(rows.length - to) * rowHeight}px`;
      body.replaceChildren(above, ...rows.slice(from, to).map((row, k) => this.line(row, from + k)), below);
      markActive(body, this.active);
    }
    line(row, place) {
      const cells = this.columns.map((column, k) => {
        const content = column.cell(row);
        return el("td", { class: column.class }, k ? content : el("a", { href: this.href(row), tabindex: -1 }, content));
      });
      const onclick = (event) => event.target.closest("a") || this.visitRow(place);
      return el("tr", { "aria-rowindex": place + 2, "data-place": place, onclick }, cells);
    }
    visitRow(place) {
      if (place < this.rows.length) visit(this.href(this.rows[place]));
    }
    onKey(event) {
      const { box, rows, active } = this;
      if (event.key === "Enter" && event.target === box) {
        this.visitRow(active);
        return;
      }
      const page = Math.max(1, Math.floor(box.clientHeight / this.rowHeight) - 2);
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length };
      const step = steps[event.key];
      if (step === void 0) return;
      event.preventDefault();
      this.active = Math.min(rows.length - 1, Math.max(0, active + step));
      this.reveal();
      const texts = this.columns.map((column) => columnText(column, rows[this.active]));
      announce(`${this.active + 1} of ${rows.length}: ${texts.join(", ")}`);
    }
  };
  function frame(label, columns2) {
    const gap = () => el("tr", { "aria-hidden": "true" }, el("td"));
    const [above, below] = [gap(), gap()];
    const body = el("tbody", {}, above, below);
    const heads = columns2.map((column) => el("th", { scope: "col", class: column.class }, column.title));
    const head = el("thead", {}, el("tr", { "aria-rowindex": 1 }, heads));
    const table = el("table", { class: "list", role: "grid", "aria-label": label }, head, body);
    const help = `${label}: arrow keys choose, Enter opens`;
    const box = el("div", { class: "list-box", tabindex: 0, role: "region", "aria-label": help }, table);
    return { box, table, body, above, below };
  }
  function markActive(body, active) {
    for (const line2 of body.querySelectorAll("tr[data-place]")) {
      const isActive = Number(line2.dataset.place) === active;
      line2.classList.toggle("active", isActive);
      line2.setAttribute("aria-selected", isActive);
    }
  }
  function columnText(column, row) {
    return `${column.title} ${column.plain ? column.plain(row) : textOf(column.cell(row))}`;
  }
  function textOf(content) {
    const parts = [content].flat();
    return parts.map((part) => part instanceof Node ? part.textContent : part).join(" ");
  }

  // harness/report/page/views/answers/csv.js
  var ANSWER_COLUMNS = ["sample", "read", "outcome", "reply"];
  function saveCsv(set, rows, second, matches) {
    const { answers, items } = set;
    const secondColumns = second ? ANSWER_COLUMNS.map((name2) => `second_${name2}`) : [];
    const head = ["item", "question", "gold", ...ANSWER_COLUMNS, ...secondColumns];
    const lines = rows.map((row) => {
      const item = answers.item[row];
      const secondCells = second ? answerCells(second, matches[row]) : [];
      return [
        items.ids[item],
        items.words[item],
        answerWord(set.gold[row], items),
        ...answerCells(set, row),
        ...secondCells
      ];
    });
    const text = [head, ...lines].map((line2) => line2.map(csvCell).join(",")).join("\r\n");
    const href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    el("a", { href, download: "answers.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1e3);
  }
  function answerCells({ answers, items, status }, row) {
    if (row < 0) return ["", "", "", ""];
    const sample = answers.sample ? answers.sample[row] : 0;
    return [sample, answerWord(answers.read[row], items), OUTCOMES[status[row]], answers.reply[row] ?? ""];
  }
  function csvCell(value) {
    const text = String(value ?? "").replace(/^([=+\-@\t\r\n＝＋－＠])/, "'$1");
    return `"${text.replaceAll('"', '""')}"`;
  }

  // harness/report/page/views/item/span.js
  var BETWEEN = "[^\\p{L}\\p{N}]+";
  function decidingSpan(text, span) {
    const words = span.split(/[^\p{L}\p{N}'’]+/u).filter(Boolean);
    const [start2, end] = words.length ? placeOf(text, words) : [-1, -1];
    return start2 < 0 && words.length > 1 ? placeOf(text, words.slice(-1)) : [start2, end];
  }
  function placeOf(text, plainWords) {
    const words = plainWords.map((word) => word.replaceAll(/['’]/g, "['’]"));
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])${words.join(BETWEEN)}(?![\\p{L}\\p{N}])`, "giu");
    const thoughtEnd = text.lastIndexOf("</think>");
    const start2 = thoughtEnd < 0 ? 0 : thoughtEnd + "</think>".length;
    pattern.lastIndex = start2;
    const matches = [];
    for (let match2; match2 = pattern.exec(text); ) matches.push(match2);
    if (!matches.length) return [-1, -1];
    const leads = words.length === 1 && !/[\p{L}\p{N}]/u.test(text.slice(start2, matches[0].index));
    const { index, 0: match } = leads ? matches[0] : matches[matches.length - 1];
    return [index, index + match.length];
  }

  // harness/report/page/views/answers/marks.js
  var SIGNS = { right: "✓", wrong: "✗", unreadable: "?", failed: "!" };
  function outcomeMark(set, row) {
    const outcome = OUTCOMES[set.status[row]];
    const isRead = set.status[row] < 2;
    return el(
      "span",
      { class: `outcome ${outcome}` },
      el("span", { "aria-hidden": "true" }, `${SIGNS[outcome]} `),
      isRead ? answerWord(set.answers.read[row], set.items) : outcome,
      isRead && el("span", { class: "unseen" }, `, ${outcome}`)
    );
  }
  function labelsWarning(run, other) {
    if (!other || run.result.headline === other.result.headline) return null;
    const text = ({ model, result }) => `${model} by the ${result.headline} labels`;
    return el("p", { class: "warning" }, `Right and wrong are not by the same labels: ${text(run)}, ${text(other)}.`);
  }

  // harness/report/page/views/answers/explorer.js
  var ANNOUNCE_AFTER = 500;
  var lastItem;
  function rememberItem(id) {
    lastItem = id;
  }
  function showExplorer(place, set, second) {
    const facets = facetsOf(set, second);
    const matches = second && matchRows(set, second);
    const count = el("p", { class: "answer-count" });
    const controls2 = filterControls(set, facets, change);
    const list = new VirtualList({
      label: "Answers",
      columns: listColumns(set, second, matches),
      href: (row) => {
        const item = set.items.ids[set.answers.item[row]];
        return addressOf("item", [set.run.id, item], Object.fromEntries(currentRoute().query));
      },
      empty: "No answer passes these filters."
    });
    const save = () => saveCsv(set, filtered().rows, second, matches);
    const form = controlForm(
      { class: "filters", role: "search", "aria-label": "Filter the answers" },
      controls2.fields,
      el("button", { class: "plain", type: "button", onclick: clear }, "Clear filters"),
      el("button", { class: "plain", type: "button", onclick: save }, "Save as CSV")
    );
    let announcement = 0;
    place.append(form, count, list.node);
    update(set.first.get(lastItem));
    function change(changes) {
      setQuery(changes);
      update();
    }
    function clear() {
      controls2.clear();
      const names = ["q", "sort", "order", ...facets.map((facet) => facet.name)];
      change(Object.fromEntries(names.map((name2) => [name2, ""])));
    }
    function filtered() {
      return filterAnswers(set, facets, currentRoute().query);
    }
    function update(chosen) {
      const { rows, counts } = filtered();
      controls2.update(counts);
      list.show(rows, chosen);
      count.textContent = `${formatCount(rows.length)} of ${formatCount(set.count)} answers.`;
      clearTimeout(announcement);
      announcement = setTimeout(() => announce(count.textContent), ANNOUNCE_AFTER);
    }
  }
  function filterControls(set, facets, change) {
    const search = searchField({
      label: "Search",
      value: currentRoute().query.get("q"),
      placeholder: "words of question, reply or item",
      oninput: (q) => change({ q })
    });
    const selects = facets.map(
      ({ title, name: name2 }) => selectField({ label: title, value: "", options: [], onchange: (value) => change({ [name2]: value }) })
    );
    const sort = sortField(set, change);
    return {
      fields: [search, selects, sort],
      clear() {
        search.querySelector("input").value = "";
      },
      update(counts) {
        const { query } = currentRoute();
        facets.forEach((facet, k) => {
          fillOptions(selects[k].querySelector("select"), facet, counts[k], query.get(facet.name) || "");
        });
        const descending = query.get("order") === "desc" ? " desc" : "";
        sort.querySelector("select").value = `${query.get("sort") || ""}${descending}`;
      }
    };
  }
  function sortField(set, change) {
    const both = (name2, title) => [
      [name2, `${title}, up`],
      [`${name2} desc`, `${title}, down`]
    ];
    const options = sortsOf(set).flatMap(([name2, title]) => name2 ? both(name2, title) : [[name2, title]]);
    const onchange = (value) => {
      const [by, order] = value.split(" ");
      change({ sort: by, order: order || "" });
    };
    return selectField({ label: "Order", value: "", options, onchange });
  }
  function fillOptions(select, facet, counts, chosen) {
    const titles = facet.titles || facet.values;
    const options = facet.values.map((value, k) => el("option", { value }, `${titles[k]} (${formatCount(counts[k])})`));
    select.replaceChildren(el("option", { value: "" }, "all"), ...options);
    select.value = facet.values.includes(chosen) ? chosen : "";
  }
  function listColumns(set, second, matches) {
    const { answers, items } = set;
    const itemText = (row) => items.ids[answers.item[row]] + (answers.sample ? ` · ${answers.sample[row] + 1}` : "");
    const columns2 = [
      { title: "Item", class: "id", cell: itemText },
      { title: "Question", class: "words", cell: (row) => items.words[answers.item[row]] },
      { title: "Gold", class: "short", cell: (row) => answerWord(set.gold[row], set.items) },
      {
        title: second ? "Read, first" : "Read",
        class: "read",
        cell: (row) => outcomeMark(set, row),
        plain: (row) => OUTCOMES[set.status[row]]
      }
    ];
    if (second) {
      const cell = (row) => matches[row] < 0 ? "not asked" : outcomeMark(second, matches[row]);
      columns2.push({ title: "Read, second", class: "read", cell });
    }
    columns2.push({ title: "Reply", class: "reply", cell: (row) => el("bdi", {}, replySummary(set, row)) });
    return columns2;
  }
  var AROUND = 28;
  function replySummary(set, row) {
    const failure = set.answers.failure && set.answers.failure[row];
    const text = failure ? `${failure.kind}: ${failure.detail}` : set.answers.reply[row] || "";
    const span = !failure && set.answers.span ? set.answers.span[row] : "";
    const [start2, end] = span ? decidingSpan(text, span) : [-1, -1];
    const onOneLine = (part) => part.replace(/\s+/g, " ");
    if (start2 < 0) return onOneLine(text.slice(0, 220)).trim();
    const before = onOneLine(text.slice(Math.max(0, start2 - 4 * AROUND), start2));
    const isCut = before.length > AROUND || start2 > 4 * AROUND;
    const lead = isCut ? `… ${before.slice(-AROUND).replace(/^\S*\s/, "")}` : before.trimStart();
    const after = onOneLine(text.slice(end, end + 160));
    return [lead, el("mark", {}, onOneLine(text.slice(start2, end))), after];
  }

  // harness/report/page/views/answers/view.js
  var answersView = {
    title: "Answers",
    listed: () => report.runs.some((run) => run.answers),
    async show(place, route) {
      const runs = report.runs.filter((run2) => run2.answers);
      const named = route.parts.length ? route : firstRoute(runs);
      const run = requireRun(named.parts[0]);
      const other = secondRun(named);
      setTitle("Answers", run.model);
      place.append(el("h1", {}, "Answers"), choosers(runs, run, other), labelsWarning(run, other) || "");
      if (!run.answers) {
        place.append(el("p", {}, run.no_answers));
        return;
      }
      const waiting = el("p", { class: "quiet" }, "Reading the answers…");
      place.append(waiting);
      const [set, second] = await Promise.all([loadAnswers(run), other ? loadAnswers(other) : null]);
      waiting.remove();
      showExplorer(place, set, second);
    }
  };
  function firstRoute(runs) {
    const isModel = (run2) => run2.role === "model";
    const run = runs.find(isModel) || runs.find(({ role }) => role !== "baseline") || runs[0];
    if (!run) throw new Error("No run in this page has its answers here; the page of a run says why.");
    replaceAddress(addressOf("answers", [run.id], filters()));
    return currentRoute();
  }
  function choosers(runs, run, other) {
    return el(
      "div",
      { class: "choosers" },
      runChooser({
        label: "Run",
        runs,
        chosen: run,
        onchange: (id) => visit(addressOf("answers", [id], filters()))
      }),
      runChooser({
        label: "Beside",
        none: "no other run",
        runs: comparableRuns(run, "answers"),
        chosen: other,
        onchange: (vs) => visit(addressOf("answers", [run.id], { ...filters(), contrast: "", vs }))
      }),
      el("p", { class: "quiet" }, el("a", { href: addressOf("run", [run.id]) }, "Scores of this run"))
    );
  }
  function filters() {
    return Object.fromEntries(currentRoute().query);
  }

  // harness/report/page/ui/score_cells.js
  function intervalBar(value, ends, most) {
    const at = (number) => `${(100 * Math.min(1, Math.max(0, number / (most || 1)))).toFixed(2)}%`;
    return el(
      "span",
      { class: "bar", "aria-hidden": "true" },
      ends && el("span", { class: "whisker", style: `left:${at(ends[0])};right:calc(100% - ${at(ends[1])})` }),
      value !== null && value !== void 0 && el("span", { class: "dot", style: `left:${at(value)}` })
    );
  }
  function intervalBarHead(percent) {
    const ends = ["0", "50", "100"].map((end) => el("span", {}, percent ? end : ""));
    return [" ", rangeText(), el("span", { class: "axis", "aria-hidden": "true" }, ends)];
  }
  function rangeText(text) {
    return el("span", { class: "range" }, text);
  }
  function bestPlaces(cells, best) {
    const defined = cells.filter((cell) => cell && cell.value !== null && cell.value !== void 0);
    const values = new Map(defined.map((cell) => [cell.text.split(" ")[0], cell.value]));
    if (!best || values.size < 2) return /* @__PURE__ */ new Map();
    const sign = best === "high" ? -1 : 1;
    const ranked = [...values.keys()].sort((a, b) => sign * (values.get(a) - values.get(b)));
    return new Map(ranked.slice(0, 2).map((text, place) => [text, place]));
  }
  function emphasized(text, places) {
    const name2 = ["strong", "u"][places.get(text)];
    return name2 ? el(name2, {}, text) : text;
  }

  // harness/report/page/views/board/columns.js
  function tableColumns(table, chosen) {
    const isChosen = (column) => chosen ? chosen.includes(column.name) : isUsual(table, column.name);
    const isWanted = (column) => column.kind === "text" || isChosen(column);
    return table.columns.filter(isWanted).map((column) => {
      if (column.kind === "metric") return metricColumn(table, column);
      const value = (row) => row[column.name];
      if (column.kind === "count") return { ...column, value, show: (row) => countText(value(row)) };
      return { ...column, value, show: column.name === "model" ? modelCell : null };
    });
  }
  function isUsual(table, name2) {
    const column = table.columns.find((own) => own.name === name2);
    if (!column || column.in_caption) return false;
    const compared = table.rows.filter(isCompared);
    return !compared.length || compared.some((row) => hasValue(row[name2]));
  }
  var hasValue = (cell) => cell && typeof cell === "object" ? cell.value !== null : cell !== null;
  var countText = (value) => typeof value === "number" ? formatCount(value) : value;
  function metricColumn(table, column) {
    const cells = table.rows.map((row) => row[column.name]);
    const places = bestPlaces(comparedCells(table.rows, cells), column.best);
    const hasRange = cells.some((cell) => cell && cell.text.includes(" "));
    const percent = isPercent(column.name.split("/")[0]);
    const most = percent ? 1 : Math.max(...cells.map(upperEnd));
    return {
      ...column,
      wide: hasRange,
      head: hasRange && intervalBarHead(percent),
      value: (row) => row[column.name] ? row[column.name].value : null,
      show: (row) => row[column.name] ? scoreCell(row[column.name], { places: placesOf(row, places), hasRange, most }) : null
    };
  }
  var isCompared = (row) => (findRun(row.run) || {}).ranked;
  var comparedCells = (rows, cells) => cells.filter((_, number) => isCompared(rows[number]));
  var placesOf = (row, places) => isCompared(row) ? places : /* @__PURE__ */ new Map();
  function upperEnd(cell) {
    if (!cell) return 0;
    return (cell.interval ? cell.interval[1] : cell.value) || 0;
  }
  function scoreCell(cell, { places, hasRange, most }) {
    const [value, ...range] = cell.text.split(" ");
    const number = emphasized(value, places);
    if (!hasRange) return number;
    return [number, " ", rangeText(range.join(" ")), intervalBar(cell.value, range.length ? cell.interval : null, most)];
  }
  function modelCell(row) {
    const run = findRun(row.run);
    if (!run) return breakable(row.model);
    const hasRole = run.role !== "model" && run.role !== row.model;
    const link = el("a", { href: addressOf("run", [run.id]) }, breakable(row.model));
    return [link, hasRole && el("span", { class: "role" }, ` ${run.role}`)];
  }
  function groupColumns(table, breakdown, metric) {
    const groupsOf = (row) => headlineScores(row.run)[breakdown] || {};
    const groups = [...new Set(table.rows.flatMap((row) => Object.keys(groupsOf(row))))];
    const columns2 = groups.map((group) => groupColumn(table, group, metric, (row) => groupsOf(row)[group] || {}));
    return [...tableColumns(table, []), ...columns2];
  }
  function groupColumn(table, group, metric, scoresOf) {
    const best = bestEnd(metric);
    const value = (row) => scoresOf(row)[metric] ?? null;
    const cells = table.rows.map((row) => ({ value: value(row), text: formatMetric(metric, value(row)) }));
    const places = bestPlaces(comparedCells(table.rows, cells), best);
    const interval = (row) => formatInterval(metric, (scoresOf(row).intervals || {})[metric]);
    return {
      name: group,
      title: group.replace(/_/g, " "),
      kind: "metric",
      wide: true,
      head: [" ", rangeText()],
      best,
      value,
      show: (row) => [emphasized(formatMetric(metric, value(row)), placesOf(row, places)), " ", rangeText(interval(row))]
    };
  }

  // harness/report/page/views/board/controls.js
  function boardControls(board, update) {
    const { state, published } = board;
    return controlForm(
      { class: "controls", role: "search", "aria-label": "Choose rows and columns" },
      taskField(board),
      searchField({
        label: "Filter",
        value: state.q,
        placeholder: "model, prompt, variant",
        oninput: (q) => board.change({ q }, update.filter)
      }),
      runField("Role", "role", board, update),
      breakdownFields(board, update),
      columnsField(board, update),
      published.length > 0 && switchField({
        label: "Published numbers",
        on: state.published === "1",
        onchange: (on) => board.change({ published: on ? "1" : "" }, update.draw)
      }),
      el("button", { class: "plain to-published", type: "button", onclick: toPublished }, "Go to them")
    );
  }
  function taskField({ state, tasks }) {
    return selectField({
      label: "Task",
      value: state.task,
      options: tasks.map((task) => [task, task]),
      onchange: (task) => visit(addressOf("board", [], { task, published: state.published }))
    });
  }
  function runField(label, part, { measured, state, change }, update) {
    const runs = measured.flatMap((table) => table.rows.map((row) => findRun(row.run) || {}));
    const values = runs.map((run) => run[part]);
    const options = distinctOptions(values, "all");
    if (options.length <= 2) return null;
    const onchange = (value) => change({ [part]: value }, update.filter);
    return selectField({ label, value: state[part] || "", options, onchange });
  }
  function breakdownFields(board, update) {
    const { breakdowns: breakdowns2, change } = board;
    if (!breakdowns2.size) return null;
    const breakdown = board.breakdown();
    const titles = [...breakdowns2.keys()].map((name2) => [name2, groupTitle(name2)]);
    return [
      selectField({
        label: "Broken down by",
        value: breakdown || "",
        options: [["", "nothing"], ...titles],
        onchange: (by) => change({ by, score: "", sort: "", order: "" }, update.drawControls)
      }),
      breakdown && selectField({
        label: "Score",
        value: board.score(),
        options: breakdowns2.get(breakdown).map((name2) => [name2, metricTitle(name2)]),
        onchange: (score) => change({ score }, update.draw)
      })
    ];
  }
  function columnsField(board, update) {
    const { metrics } = board;
    if (board.breakdown() || metrics.length < 2) return null;
    const usual = board.usualColumns.join(",");
    const namesText = (names) => names.join(",") === usual ? "" : names.join(",") || "none";
    return checkboxList({
      label: "Columns",
      options: metrics.map((column) => [column.name, column.title]),
      on: board.chosenColumns() || board.usualColumns,
      onchange: (names) => board.change({ columns: namesText(names) }, update.draw)
    });
  }
  function toPublished() {
    const heading2 = document.getElementById("published");
    heading2.scrollIntoView();
    heading2.focus({ preventScroll: true });
  }

  // harness/report/page/ui/table.js
  var collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  function sortableTable({ label, columns: columns2, rows, sort: initial, onsort, mark: mark2 }) {
    const lines = rows.map((row, number) => ({ row, number, node: tableRow(columns2, row, mark2) }));
    const heads = columns2.map(head);
    const body = el(
      "tbody",
      {},
      lines.map((line2) => line2.node)
    );
    const node = scrollTable(label, { class: "data" }, label, [el("thead", {}, el("tr", {}, heads)), body]);
    if (initial) sort(initial);
    return { node, sort, filter, has: (name2) => columns2.some((column) => column.name === name2) };
    function head(column) {
      const attributes = { scope: "col", class: cellClass(column) };
      if (!onsort) return el("th", attributes, column.title, column.head);
      const arrow = el("span", { class: "arrow", "aria-hidden": "true" });
      const button = el("button", { type: "button", onclick: () => onsort(nextOrder(column)) }, column.title, arrow);
      return el("th", attributes, button, column.head);
    }
    function nextOrder(column) {
      const current = heads[columns2.indexOf(column)].getAttribute("aria-sort");
      const first = column.kind === "text" || column.best === "low" ? "ascending" : "descending";
      const other = first === "ascending" ? "descending" : "ascending";
      return { by: column.name, order: (current === first ? other : first).replace("ending", "") };
    }
    function sort({ by, order }) {
      const sortColumn = columns2.find((column) => column.name === by);
      columns2.forEach((column, number) => {
        if (column !== sortColumn) heads[number].removeAttribute("aria-sort");
        else heads[number].setAttribute("aria-sort", order === "asc" ? "ascending" : "descending");
      });
      const sorted = sortColumn ? sortedBy(lines, (line2) => sortColumn.value(line2.row), order) : lines;
      body.replaceChildren(...sorted.map((line2) => line2.node));
    }
    function filter(keep) {
      let visible = 0;
      for (const { row, node: line2 } of lines) {
        line2.hidden = !keep(row);
        visible += line2.hidden ? 0 : 1;
      }
      return visible;
    }
  }
  function scrollTable(label, attributes, caption, ...parts) {
    return el(
      "div",
      { class: "scroll", role: "region", tabindex: "0", "aria-label": label },
      el("table", attributes, el("caption", { class: "unseen" }, caption), parts)
    );
  }
  function tableRow(columns2, row, mark2) {
    const cells = columns2.map((column, number) => {
      const content = (column.show ? column.show(row) : column.value(row)) ?? "–";
      return number ? el("td", { class: cellClass(column) }, content) : el("th", { scope: "row", class: cellClass(column) }, content);
    });
    return el("tr", { class: mark2 && mark2(row) }, cells);
  }
  function cellClass(column) {
    return [column.kind === "text" ? "text" : "number", column.wide && "wide"].filter(Boolean).join(" ");
  }
  function sortedBy(list, value, order) {
    const sign = order === "asc" ? 1 : -1;
    const keyed = list.map((entry, number) => ({ entry, number, key: value(entry) }));
    const isMissing = (key) => key === null || key === void 0 || Number.isNaN(key);
    keyed.sort((a, b) => {
      if (isMissing(a.key) || isMissing(b.key)) return isMissing(a.key) - isMissing(b.key) || a.number - b.number;
      const areNumbers = typeof a.key === "number" && typeof b.key === "number";
      const difference = areNumbers ? a.key - b.key : collator.compare(a.key, b.key);
      return sign * difference || a.number - b.number;
    });
    return keyed.map(({ entry }) => entry);
  }

  // harness/report/page/views/board/tables.js
  var GROUP_NOTE = "In brackets: 95% intervals, each over the clusters that have items of the group; within one network of CausalBench over its pairs of variables. A run's page tells how many they are.";
  function measuredSection(board, tableSet, table, number) {
    const heading2 = table.heading || table.task;
    const id = `table-${number + 1}`;
    const rowsLeft = el("span", { class: "count" });
    const anchor = { class: "anchor", "aria-label": `Address of the table ${heading2}` };
    const link = board.measured.length > 1 && tableLink(board, number, anchor, "#");
    const breakdown = breakdownOf(board, table);
    const [columns2, summary2] = breakdown ? [groupColumns(table, breakdown, board.score()), `${metricTitle(board.score())} by ${groupTitle(breakdown)}. `] : [tableColumns(table, board.chosenColumns()), null];
    return el(
      "section",
      { "aria-labelledby": id },
      el("h2", { id }, breakable(heading2), " ", link),
      el("p", { class: "above" }, table.above, " ", summary2, rowsLeft),
      table.settings && el("p", { class: "settings" }, breakable(table.settings)),
      table.rows.length > 0 && tableSet.add(table, columns2, rowsLeft, heading2),
      tableNotes(board, table)
    );
  }
  var breakdownOf = (board, table) => table.published || !table.label_set ? null : board.breakdown();
  function tableContents(board) {
    const { measured } = board;
    if (measured.length < 2) return null;
    const entries = measured.map((table, number) => {
      const link = tableLink(board, number, {}, breakable(table.heading || table.task));
      return el("li", {}, link, `, ${rowsText(table.rows.length)}`);
    });
    return el(
      "details",
      { class: "contents" },
      el("summary", {}, `${measured.length} tables: runs on other items or labels are not comparable`),
      el("nav", { "aria-label": "Tables of this task" }, el("ol", {}, entries))
    );
  }
  function tableLink(board, number, attributes, ...children) {
    const onclick = (event) => {
      event.preventDefault();
      board.change({ at: number + 1 });
      document.getElementById(`table-${number + 1}`).scrollIntoView();
    };
    const href = addressOf("board", [], { task: board.state.task, at: number + 1 });
    return el("a", { ...attributes, href, onclick }, children);
  }
  function tableNotes(board, table) {
    const incomplete = table.not_complete || [];
    const names = incomplete.map((run) => `${run.variant}/${run.prompt}/${run.model}`);
    const sentence = "Not complete, so not ranked: ";
    const runs = report.runs.filter((run) => !run.complete && run.task === table.task);
    const ownNotes = () => table.notes.filter((note) => !note.startsWith(sentence) || !runs.length);
    const groupNotes = () => hasGroupIntervals(board, table) ? [GROUP_NOTE] : [];
    const notes = breakdownOf(board, table) ? groupNotes() : ownNotes();
    const links = runs.map((run, number) => {
      const name2 = [run.variant, run.prompt, run.model].join("/");
      return [number ? ", " : "", el("a", { href: addressOf("run", [run.id]) }, name2)];
    });
    const isLinked = names.length > 0 && runs.length > 0;
    return el(
      "div",
      { class: "notes" },
      notes.map((note) => el("p", {}, note)),
      isLinked && el("p", { class: "warning" }, sentence, links, ".")
    );
  }
  function hasGroupIntervals(board, table) {
    return table.rows.some((row) => {
      const groups = Object.values(headlineScores(row.run)[board.breakdown()] || {});
      return groups.some((group) => (group.intervals || {})[board.score()]);
    });
  }
  var rowsText = (number) => `${formatCount(number)} row${number === 1 ? "" : "s"}`;
  var TableSet = class {
    constructor(board) {
      this.board = board;
      this.tables = [];
    }
    clear() {
      this.tables = [];
    }
    /** Return the node of one more table; `rowsLeft` is where the number of its rows stands. */
    add(table, columns2, rowsLeft, label) {
      const { state, change } = this.board;
      const sortable = sortableTable({
        label,
        columns: columns2,
        rows: table.rows,
        mark: (row) => `role-${(findRun(row.run) || {}).role || "published"}`,
        sort: state.sort ? { by: state.sort, order: state.order } : null,
        onsort: ({ by, order }) => {
          change({ sort: by, order }, () => this.sort());
          announce(`Sorted by ${metricTitle(by)}, ${order}ending.`);
        }
      });
      this.tables.push({ sortable, rowsLeft, rows: table.rows });
      return sortable.node;
    }
    sort() {
      const { sort, order } = this.board.state;
      for (const { sortable } of this.tables) if (sortable.has(sort)) sortable.sort({ by: sort, order });
    }
    filter() {
      const { q, role } = this.board.state;
      const words = (q || "").toLowerCase().split(/\s+/).filter(Boolean);
      let total = 0;
      for (const { sortable, rowsLeft, rows } of this.tables) {
        const visible = sortable.filter((row) => this.passes(row, words));
        total += visible;
        const all = rowsText(rows.length);
        rowsLeft.textContent = visible === rows.length ? `${all}.` : `${formatCount(visible)} of ${all}.`;
      }
      if (words.length || role) announce(`${rowsText(total)} left.`);
    }
    passes(row, words) {
      const { role } = this.board.state;
      const run = findRun(row.run);
      if (run && role && run.role !== role) return false;
      const text = [row.model, row.prompt, row.variant, row.folder].filter(Boolean).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    }
  };

  // harness/report/page/views/board/published.js
  var LONG = 20;
  function publishedSection(board, tableSet) {
    const { published } = board;
    const about = "Printed in a paper, not measured here; on other items than the tables above unless their data version says otherwise.";
    return el(
      "section",
      { class: "published", "aria-labelledby": "published" },
      el("h2", { id: "published", tabindex: -1 }, "Published numbers"),
      el("p", { class: "above" }, about),
      published.map((table) => {
        const isOpen = published.length < 3 || table.rows.length <= LONG;
        return publishedTable(board, tableSet, table, isOpen);
      })
    );
  }
  function publishedTable(board, tableSet, table, isOpen) {
    const inside = el("div", {});
    const rowsLeft = el("span", { class: "count" });
    const label = table.heading.replace("PUBLISHED, not measured here: ", "");
    const build = () => {
      if (inside.firstChild) return;
      inside.append(
        el("p", { class: "above" }, table.above, " ", rowsLeft),
        tableSet.add(table, tableColumns(table), rowsLeft, label),
        tableNotes(board, table)
      );
    };
    const ontoggle = () => {
      build();
      tableSet.filter();
    };
    if (isOpen) build();
    const tag = el("span", { class: "tag" }, "published");
    return el("details", { open: isOpen, ontoggle }, el("summary", {}, tag, " ", label), inside);
  }

  // harness/report/page/views/board/view.js
  var boardView = {
    title: "Leaderboard",
    listed: () => true,
    show: (place, route) => showBoard(place, Object.fromEntries(route.query))
  };
  function showBoard(place, query) {
    const board = boardOf(query);
    place.append(el("h1", {}, "Leaderboard"));
    if (!board.tasks.length) {
      place.append(el("p", {}, "There is no run to show."));
      return;
    }
    const tableSet = new TableSet(board);
    const sections = el("div", {});
    const update = { filter: () => tableSet.filter(), draw: draw6, drawControls };
    let form = boardControls(board, update);
    fill(place, {}, [form, tableContents(board), sections]);
    draw6();
    const section2 = document.getElementById(`table-${board.state.at}`);
    if (section2) requestAnimationFrame(() => section2.scrollIntoView());
    function draw6() {
      const showsPublished = board.state.published === "1";
      tableSet.clear();
      sections.replaceChildren(...board.measured.map((table, number) => measuredSection(board, tableSet, table, number)));
      if (showsPublished) sections.append(publishedSection(board, tableSet));
      form.querySelector(".to-published").hidden = !showsPublished;
      tableSet.filter();
    }
    function drawControls() {
      const before = form;
      form = boardControls(board, update);
      before.replaceWith(form);
      form.elements["Broken down by"].focus();
      draw6();
    }
  }
  function boardOf(query) {
    const tables = [...report.tables, ...report.published];
    const tasks = [...new Set(tables.map((table) => table.task))];
    const state = { ...query, task: tasks.includes(query.task) ? query.task : taskWithMostRuns(tasks) };
    const ofTask = (list) => list.filter((table) => table.task === state.task);
    const measured = ofTask(report.tables);
    const metrics = distinctColumns(measured).filter((column) => column.kind !== "text");
    const breakdowns2 = breakdownsOf(measured.filter((table) => table.label_set));
    const breakdown = () => breakdowns2.has(state.by) ? state.by : null;
    const score = () => {
      const scores = breakdowns2.get(breakdown());
      return scores.includes(state.score) ? state.score : scores[0];
    };
    const usualColumns = metrics.filter(({ name: name2 }) => measured.some((table) => isUsual(table, name2))).map((column) => column.name);
    const chosenColumns = () => state.columns ? state.columns.split(",") : null;
    const change = (changes, then) => {
      Object.assign(state, changes);
      setQuery(changes);
      if (then) then();
    };
    const published = ofTask(report.published);
    return {
      tasks,
      state,
      measured,
      published,
      metrics,
      breakdowns: breakdowns2,
      breakdown,
      score,
      usualColumns,
      chosenColumns,
      change
    };
  }
  function distinctColumns(tables) {
    const columns2 = /* @__PURE__ */ new Map();
    for (const column of tables.flatMap((table) => table.columns)) {
      if (!columns2.has(column.name)) columns2.set(column.name, column);
    }
    return [...columns2.values()];
  }

  // harness/report/page/ui/tip.js
  var LEAVE_AFTER = 120;
  var tip = null;
  var mark = null;
  var timer2 = 0;
  function showTip(target, title, lines) {
    clearTimeout(timer2);
    tip ||= makeTip();
    const rows = lines.map(([name2, value]) => el("div", {}, el("span", {}, name2), " ", value));
    tip.replaceChildren(el("strong", {}, title), ...rows);
    mark = target;
    placeTip();
  }
  function placeTip() {
    const at = mark.getBoundingClientRect();
    tip.hidden = at.bottom < 0 || at.top > innerHeight;
    const size = tip.getBoundingClientRect();
    const middle = at.left + Math.min(at.width, innerWidth) / 2 - size.width / 2;
    tip.style.left = `${Math.max(8, Math.min(middle, document.documentElement.clientWidth - size.width - 8))}px`;
    tip.style.top = `${at.top - size.height - 8 > 0 ? at.top - size.height - 8 : at.bottom + 8}px`;
  }
  function hideTip() {
    clearTimeout(timer2);
    mark = null;
    if (tip) tip.hidden = true;
  }
  function onscroll() {
    if (mark && mark.closest("a") === document.activeElement) placeTip();
    else hideTip();
  }
  function hideSoon() {
    clearTimeout(timer2);
    timer2 = setTimeout(hideTip, LEAVE_AFTER);
  }
  function makeTip() {
    const onpointerenter = () => clearTimeout(timer2);
    const element = el("div", { class: "tip", role: "tooltip", hidden: true, onpointerenter, onpointerleave: hideSoon });
    document.body.append(element);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hideTip();
    });
    addEventListener("scroll", onscroll, { passive: true, capture: true });
    addEventListener("hashchange", hideTip);
    return element;
  }
  function withTip(link, title, lines, target) {
    link.setAttribute("aria-label", `${title}: ${lines.map((line2) => line2.join(" ")).join("; ")}`);
    const show = () => showTip(target || link, title, lines);
    link.addEventListener("pointerenter", show);
    link.addEventListener("focus", show);
    link.addEventListener("pointerleave", hideSoon);
    link.addEventListener("blur", hideTip);
    return link;
  }
  function rovingFocus(links, across = 1) {
    links.forEach((link, number) => {
      const last = links.length - 1;
      const steps = {
        ArrowRight: 1,
        ArrowLeft: -1,
        ArrowDown: across,
        ArrowUp: -across,
        Home: -number,
        End: last - number
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

  // harness/report/page/charts/figure.js
  function chartFigure(chart, parts) {
    const name2 = `chart-${chart.id.replace(/[^\w]+/g, "-")}`;
    const place = el("div", { class: "drawing" });
    let width = 0;
    const draw6 = () => {
      const drawing = parts.draw(width, name2);
      place.replaceChildren(drawing);
      rovingFocus([...drawing.querySelectorAll("a")], parts.across);
    };
    new ResizeObserver(([entry]) => {
      const now = Math.floor(entry.contentRect.width);
      if (!now || now === width) return;
      width = now;
      draw6();
    }).observe(place);
    const title = el("h3", { id: `${name2}-title` }, chart.title);
    const node = el(
      "figure",
      { class: `chart chart-${chart.kind}`, id: name2, "aria-labelledby": `${name2}-title` },
      el("figcaption", {}, title),
      parts.legend,
      place,
      parts.note,
      chart.notes.map((note) => el("p", { class: "note" }, note)),
      numbersFold(chart, parts.numbers)
    );
    return { node, draw: draw6 };
  }
  function numbersFold(chart, numbers) {
    const inside = el("div", {});
    const fillTable = () => {
      const { columns: columns2, rows } = numbers();
      const onsort = (order) => table.sort(order);
      const table = sortableTable({ label: `The numbers: ${chart.title}`, columns: columns2, rows, onsort });
      inside.replaceChildren(table.node);
    };
    const ontoggle = (event) => {
      if (event.target.open) fillTable();
    };
    return el("details", { class: "numbers", ontoggle }, el("summary", {}, "The numbers"), inside);
  }
  function chartSvg(chart, name2, width, height, ...children) {
    const labels = `${name2}-name ${name2}-desc`;
    const help = "Arrow keys move from mark to mark, Enter opens the run; the same numbers stand below as a table.";
    return svgEl(
      "svg",
      { role: "group", "aria-labelledby": labels, width, height, viewBox: `0 0 ${width} ${height}` },
      svgEl("title", { id: `${name2}-name` }, `${chart.title}${chart.heading ? ` (${chart.heading})` : ""}`),
      svgEl("desc", { id: `${name2}-desc` }, help),
      children
    );
  }
  function runLink(run, attributes, ...children) {
    return svgEl("a", { href: addressOf("run", [run]), ...attributes }, children);
  }
  var NAME_COLUMN = {
    name: "label",
    title: "run",
    kind: "text",
    value: (row) => row.label,
    show: (row) => el("a", { href: addressOf("run", [row.run]) }, row.label)
  };
  function metricColumn2(metric, name2, title, value, ends) {
    const show = (row) => `${formatMetric(metric, value(row))} ${formatInterval(metric, ends && ends(row))}`.trim();
    return { name: name2, title, kind: "metric", best: bestEnd(metric), value, show };
  }
  function scoreLines(metric, value, ends) {
    const interval = ends ? [["95% interval", formatInterval(metric, ends)]] : [];
    return [[metricTitle(metric), formatMetric(metric, value)], ...interval];
  }

  // harness/report/page/charts/labels.js
  var pen = null;
  function textWidth(text, size = 12) {
    pen ||= document.createElement("canvas").getContext("2d");
    pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(text).width;
  }
  function wrapped(text, width, size = 12) {
    const lines = [""];
    for (const part of text.split(/(?<=[_/=,\s-])/)) {
      if (lines.at(-1) && textWidth(lines.at(-1) + part.trimEnd(), size) > width) lines.push("");
      for (const letter of part) {
        if (lines.at(-1) && textWidth(lines.at(-1) + letter.trim(), size) > width) lines.push("");
        lines[lines.length - 1] += letter;
      }
    }
    return lines;
  }
  function shortened(text, width, size, first) {
    if (textWidth(text, size) <= width) return text;
    let keep = text.length - 1;
    const cut = () => {
      const end = text.slice(text.length - Math.floor(keep * (1 - first)));
      return `${text.slice(0, Math.ceil(keep * first))}…${end}`;
    };
    while (keep > 1 && textWidth(cut(), size) > width) keep -= 1;
    return cut();
  }
  function shortenAll(texts, width, size = 12) {
    const long = texts.filter((text) => textWidth(text, size) > width);
    const end = sharedEnd(long);
    const withoutEnd = (text, gone) => gone && long.includes(text) ? `${text.slice(0, -gone.length)}…` : text;
    const candidates = ["", end].flatMap(
      (gone) => [0.6, 0.4, 0.8, 0.1].map((first) => texts.map((text) => shortened(withoutEnd(text, gone), width, size, first)))
    );
    return candidates.find((names) => new Set(names).size === new Set(texts).size) || candidates[0];
  }
  function sharedEnd(texts) {
    const nextEnd = (text) => (text.match(/[,·/].*$/) || [""])[0];
    let end = texts.length > 1 ? nextEnd(texts[0]) : "";
    while (end && !texts.every((text) => text.endsWith(end))) end = nextEnd(end.slice(1));
    return end;
  }
  function spreadHeights(wanted, gap, [top, bottom]) {
    const labels = wanted.map((at, number) => ({ at, number })).sort((a, b) => a.at - b.at || a.number - b.number);
    const halfOf = (block) => (block.members.length - 1) * gap / 2;
    const blocks = [];
    for (const label of labels) {
      let block = { members: [label], middle: label.at };
      for (; ; ) {
        const half = halfOf(block);
        block.middle = Math.min(Math.max(block.middle, top + half), Math.max(top + half, bottom - half));
        const before = blocks[blocks.length - 1];
        if (!before || before.middle + halfOf(before) + gap <= block.middle - half + 1e-6) break;
        blocks.pop();
        block = joined(before, block, gap);
      }
      blocks.push(block);
    }
    const heights = [];
    for (const { members: members2, middle } of blocks) {
      members2.forEach((label, place) => {
        heights[label.number] = middle + (place - (members2.length - 1) / 2) * gap;
      });
    }
    return heights;
  }
  function joined(before, block, gap) {
    const members2 = [...before.members, ...block.members];
    const mean = members2.reduce((sum, label, place) => sum + label.at - place * gap, 0) / members2.length;
    return { members: members2, middle: mean + (members2.length - 1) * gap / 2 };
  }
  var SIDES = [
    [9, 0, "start"],
    [-9, 0, "end"],
    [7, -11, "start"],
    [7, 11, "start"],
    [-7, -11, "end"],
    [-7, 11, "end"],
    [0, -15, "middle"],
    [0, 15, "middle"]
  ];
  function placeLabels(dots, texts, [left, top, right, bottom], whiskers) {
    const boxes = dots.map((dot) => [dot.x - 6, dot.y - 6, dot.x + 6, dot.y + 6]);
    const order = dots.map((_, number) => number).sort((a, b) => dots[a].y - dots[b].y);
    const areApart = (a, b) => a[2] < b[0] || a[0] > b[2] || a[3] < b[1] || a[1] > b[3];
    const labels = dots.map(() => null);
    for (const strict of [true, false]) {
      for (const number of order) if (!labels[number]) labels[number] = place(number, strict);
    }
    return labels;
    function place(number, strict) {
      const { x, y } = dots[number];
      const width = textWidth(texts[number], 12);
      for (const [dx, dy, anchor] of SIDES) {
        const start2 = x + dx - (anchor === "end" ? width : anchor === "middle" ? width / 2 : 0);
        const box = [start2, y + dy - 7, start2 + width, y + dy + 7];
        const isInside = box[0] >= left && box[2] <= right && box[1] >= top - 8 && box[3] <= bottom;
        const coversLine = strict && whiskers.some((line2) => line2 && !areApart(box, line2));
        if (!isInside || coversLine || !boxes.every((other) => areApart(box, other))) continue;
        boxes.push(box);
        return { x: x + dx, y: y + dy, anchor, text: texts[number] };
      }
      return null;
    }
  }

  // harness/report/page/charts/scales.js
  function linearScale([low, high], [from, to]) {
    return (value) => from + (value - low) / (high - low || 1) * (to - from);
  }
  function roundTicks(low, high, wanted) {
    const rough = (high - low) / Math.max(1, wanted) || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough * 0.999);
    const ticks = [];
    for (let number = Math.ceil(low / step - 1e-9); number * step <= high + step * 1e-9; number += 1) {
      ticks.push(Number((number * step).toPrecision(12)));
    }
    return ticks;
  }
  function metricRange(metric, values) {
    const most = Math.max(0, ...values.filter((value) => value !== null && value !== void 0));
    if (isPercent(metric)) return [0, Math.min(1, Math.max(0.1, Math.ceil(most * 10 - 1e-9) / 10))];
    const steps = roundTicks(0, most || 1, 5);
    const last = steps[steps.length - 1];
    return [0, last + (last < most ? steps[1] : 0)];
  }
  function amountTicks([low, high], log, wanted) {
    if (!log) return roundTicks(low, high, wanted);
    for (const factors of [[1, 2, 5], [1, 3], [1]]) {
      const ticks = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
        const values = factors.map((factor) => Number((factor * 10 ** power).toPrecision(3)));
        ticks.push(...values.filter((value) => value >= low && value <= high));
      }
      if (ticks.length <= wanted || factors.length === 1) return ticks;
    }
    return [];
  }
  function verticalGrid(metric, x, [low, high], top, bottom, wanted) {
    const tick = (value, y) => svgEl("text", { class: "tick", x: x(value), y, "text-anchor": "middle" }, formatTick(metric, value));
    return roundTicks(low, high, wanted).map((value) => [
      gridLine(value === low, { x1: x(value), x2: x(value), y1: top, y2: bottom }),
      tick(value, top - 6),
      bottom - top > 500 && tick(value, bottom + 14)
    ]);
  }
  function horizontalGrid(metric, y, [low, high], left, right) {
    return roundTicks(low, high, 5).map((value) => [
      gridLine(value === low, { x1: left, x2: right, y1: y(value), y2: y(value) }),
      svgEl("text", { class: "tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, formatTick(metric, value))
    ]);
  }
  function gridLine(isAxis, ends) {
    return svgEl("line", { class: isAxis ? "axis-line" : "grid-line", ...ends });
  }

  // harness/report/page/charts/confusion.js
  var PARTS = [
    ["right", "right"],
    ["wrong", "wrong"],
    ["unreadable", "unreadable"],
    ["failed", "failed call"]
  ];
  var SIDES2 = [
    {
      title: "Gold label yes",
      keys: ["tp", "fn", "unreadable_positive", "failed_positive"],
      titles: ["true positives", "false negatives"]
    },
    {
      title: "Gold label no",
      keys: ["tn", "fp", "unreadable_negative", "failed_negative"],
      titles: ["true negatives", "false positives"]
    }
  ];
  var COLUMN_TITLES = {
    tp: "TP",
    fn: "FN",
    tn: "TN",
    fp: "FP",
    unreadable_positive: "unreadable, gold yes",
    failed_positive: "failed, gold yes",
    unreadable_negative: "unreadable, gold no",
    failed_negative: "failed, gold no"
  };
  function confusionChart(chart) {
    const { rows } = chart;
    const countColumn3 = (key) => ({
      name: key,
      title: COLUMN_TITLES[key],
      kind: "count",
      value: (row) => row.counts[key],
      show: (row) => formatCount(row.counts[key])
    });
    return chartFigure(chart, {
      legend: legend(chart),
      draw: (width, name2) => draw(chart, width, name2),
      across: 1,
      numbers: () => ({ rows, columns: [NAME_COLUMN, ...SIDES2.flatMap((side) => side.keys).map(countColumn3)] })
    });
  }
  function legend(chart) {
    const name2 = `legend-${chart.id.replace(/\W+/g, "-")}`;
    const occurs = (_, place) => chart.rows.some((row) => SIDES2.some((side) => row.counts[side.keys[place]]));
    const entries = PARTS.filter(occurs).map(([part, title]) => {
      const fill2 = `url(#${name2}-${part})`;
      const rect = svgEl("rect", { class: `part ${part}`, width: 22, height: 12, fill: fill2 });
      return el("li", {}, svgEl("svg", { width: 22, height: 12, "aria-hidden": "true" }, patterns(name2), rect), title);
    });
    return el("ul", { class: "legend", "aria-label": "Legend" }, entries);
  }
  function draw(chart, width, name2) {
    const { rows } = chart;
    const narrow = width < 620;
    const longest = Math.max(...rows.map((row) => textWidth(row.label, 13)));
    const left = narrow ? 0 : Math.min(longest + 16, width * 0.32);
    const layout = {
      name: name2,
      width,
      narrow,
      left,
      barWidth: narrow ? width : (width - left - 16) / 2,
      rowHeight: narrow ? 62 : 24,
      top: narrow ? 4 : 22
    };
    const texts = rows.map((row) => row.label);
    const labels = shortenAll(texts, narrow ? width : left - 12, 13);
    const sideTitle = (side, number) => svgEl("text", { class: "tick", x: left + number * (layout.barWidth + 16), y: 12 }, side.title);
    return chartSvg(
      chart,
      name2,
      width,
      layout.top + rows.length * layout.rowHeight,
      patterns(name2),
      !narrow && SIDES2.map(sideTitle),
      rows.map((row, number) => confusionRow(row, labels[number], layout.top + number * layout.rowHeight, layout))
    );
  }
  function confusionRow(row, label, y, layout) {
    const { narrow, left, barWidth, width, rowHeight } = layout;
    const link = runLink(row.run, { class: "row" }, svgEl("rect", { class: "hit", x: 0, y, width, height: rowHeight }));
    const bars = SIDES2.map((side, place) => {
      const x = narrow ? 0 : left + place * (barWidth + 16);
      return sideBar(row, side, x, narrow ? y + 20 + place * 19 : y + 4, layout);
    });
    return [
      withTip(
        link,
        row.label,
        SIDES2.flatMap((side) => tipLines(row, side))
      ),
      svgEl("text", { class: "name", x: 0, y: y + (narrow ? 15 : 16.5) }, label),
      svgEl("g", { class: "bars" }, bars)
    ];
  }
  function tipLines(row, side) {
    const counts = side.keys.map((key, place) => [side.titles[place] || PARTS[place][1], row.counts[key]]);
    const occurring = counts.filter(([, count], place) => count || place < 2);
    const heading2 = ["", `${side.title}: ${formatCount(sideTotal(row, side))}`];
    return [heading2, ...occurring.map(([title, count]) => [title, formatCount(count)])];
  }
  function sideBar(row, side, from, y, { name: name2, barWidth }) {
    const x = linearScale([0, sideTotal(row, side)], [from, from + barWidth]);
    let total = 0;
    return side.keys.map((key, place) => {
      const count = row.counts[key];
      if (!count) return null;
      const start2 = x(total);
      total += count;
      const width = x(total) - start2;
      const part = PARTS[place][0];
      const number = formatCount(count);
      const hasRoom = (text2) => width > textWidth(text2, 12) + 12;
      const full = place < 2 ? `${COLUMN_TITLES[key]} ${number}` : number;
      const text = hasRoom(full) ? full : number;
      const plate = { class: "plate", x: start2 + 3, y: y + 2, width: textWidth(text, 12) + 4, height: 12 };
      const fill2 = `url(#${name2}-${part})`;
      return [
        svgEl("rect", { class: `part ${part}`, x: start2, y, width: Math.max(1, width - 1), height: 16, fill: fill2 }),
        hasRoom(number) && part !== "right" && svgEl("rect", plate),
        hasRoom(number) && svgEl("text", { class: `inside ${part}`, x: start2 + 5, y: y + 12.3 }, text)
      ];
    });
  }
  function sideTotal(row, side) {
    return side.keys.reduce((sum, key) => sum + row.counts[key], 0);
  }
  function patterns(name2) {
    const pattern = (part, size, ...children) => svgEl(
      "pattern",
      { id: `${name2}-${part}`, width: size, height: size, patternUnits: "userSpaceOnUse" },
      svgEl("rect", { class: `ground ${part}`, width: size, height: size }),
      children
    );
    return svgEl(
      "defs",
      {},
      pattern("right", 8),
      pattern("wrong", 6, svgEl("path", { class: "ink wrong", d: "M-1 1l2-2M0 6l6-6M5 7l2-2" })),
      pattern("unreadable", 5, svgEl("circle", { class: "ink unreadable", cx: 2.5, cy: 2.5, r: 1 })),
      pattern("failed", 6, svgEl("path", { class: "ink failed", d: "M0 0l6 6M6 0l-6 6" }))
    );
  }

  // harness/report/page/charts/cost.js
  var LEFT = 34;
  var TOP = 12;
  var ASIDE = "Marks of nearly one cost stand side by side, each a little off its own.";
  function costChart(chart) {
    const { metric, rows, unit } = chart;
    const costColumn = {
      name: "x",
      title: `${unit} per 1,000 items`,
      kind: "metric",
      best: "low",
      value: (row) => row.x,
      show: (row) => amountText(unit, row.x)
    };
    const scoreColumn2 = metricColumn2(
      metric,
      "value",
      metricTitle(metric),
      (row) => row.value,
      (row) => row.interval
    );
    const aside = el("p", { class: "note", hidden: true }, ASIDE);
    return chartFigure(chart, {
      legend: roleLegend(rows),
      draw: (width, name2) => draw2(chart, width, name2, aside),
      note: aside,
      numbers: () => ({ rows, columns: [NAME_COLUMN, costColumn, scoreColumn2] })
    });
  }
  var withUnit = (unit, text) => unit === "USD" ? `$${text}` : text;
  var amountText = (unit, value) => withUnit(unit, formatAmount(value));
  function draw2(chart, width, name2, aside) {
    const { metric, rows, unit } = chart;
    const right = width - 14;
    const height = Math.max(300, Math.min(460, width * 0.5));
    const bottom = height - 44;
    const values = rows.flatMap((row) => [row.value, ...row.interval || []]);
    const range = metricRange(metric, values);
    const y = linearScale(range, [bottom, TOP]);
    const { log, span, x } = costScale(rows, right);
    const own = rows.map((row) => x(row.x));
    const places = sideBySide(own, rows);
    aside.hidden = places.every((place, number) => place === own[number]);
    const dots = rows.map((row, number) => ({ x: places[number], y: y(row.value) }));
    const labels = dotLabels(rows, dots, y, width, bottom);
    const ticks = amountTicks(span, log, (right - LEFT) / 60);
    const tickText = (value) => withUnit(unit, formatAmount(value, Math.max(...ticks)));
    const verticals = ticks.map((value) => [
      svgEl("line", { class: "grid-line", x1: x(value), x2: x(value), y1: TOP, y2: bottom }),
      svgEl("text", { class: "tick", x: x(value), y: bottom + 17, "text-anchor": "middle" }, tickText(value))
    ]);
    const title = `${unit} per 1,000 items${log ? ", logarithmic" : ""}`;
    return chartSvg(
      chart,
      name2,
      width,
      height,
      horizontalGrid(metric, y, range, LEFT, right),
      verticals,
      svgEl("text", { class: "axis-title", x: right, y: height - 6, "text-anchor": "end" }, title),
      rows.map((row, number) => whisker(row, dots[number], y)),
      // below all marks, so that none hides one
      rows.map((row, number) => costMark(chart, row, dots[number], labels[number]))
    );
  }
  function costScale(rows, right) {
    const costs = rows.map((row) => row.x);
    const [least, most] = [Math.min(...costs), Math.max(...costs)];
    const log = least > 0 && most > 10 * least;
    const span = log ? [least / 1.4, most * 1.4] : [0, most * 1.08 || 1];
    const scale = linearScale(log ? span.map(Math.log10) : span, [LEFT, right]);
    return { log, span, x: (value) => scale(log ? Math.log10(value) : value) };
  }
  var SPREAD = 8;
  function sideBySide(places, rows) {
    const order = [...places.keys()].sort((a, b) => places[a] - places[b]);
    const groups = [];
    for (const number of order) {
      const group = groups.at(-1);
      if (group && places[number] - places[group[0]] < SPREAD / 2) group.push(number);
      else groups.push([number]);
    }
    const moved = [...places];
    for (const group of groups.filter((members2) => members2.length > 1)) {
      const middle = group.reduce((sum, number) => sum + places[number], 0) / group.length;
      const half = Math.ceil(group.length / 2);
      group.sort((a, b) => rows[b].value - rows[a].value || a - b).forEach((number, rank) => {
        const slot = rank % 2 * half + Math.floor(rank / 2);
        moved[number] = middle + (slot / (group.length - 1) - 0.5) * SPREAD;
      });
    }
    return moved;
  }
  function whisker(row, at, y) {
    if (!row.interval) return null;
    const [low, high] = row.interval;
    const line2 = svgEl("line", { class: "whisker", x1: at.x, x2: at.x, y1: y(low), y2: y(high) });
    return svgEl("g", { class: `role-${row.role}` }, line2);
  }
  function dotLabels(rows, dots, y, width, bottom) {
    const texts = rows.map((row) => row.label);
    const names = shortenAll(texts, Math.max(200, width - LEFT - 20));
    const whiskers = rows.map(({ interval }, number) => {
      const { x } = dots[number];
      return interval && [x - 1, y(interval[1]), x + 1, y(interval[0])];
    });
    return placeLabels(dots, names, [LEFT, TOP, width, bottom], whiskers);
  }
  function costMark({ metric, unit }, row, at, label) {
    const ends = row.interval;
    const link = runLink(
      row.run,
      { class: "point" },
      svgEl("circle", { class: "hit", cx: at.x, cy: at.y, r: 11 }),
      roleMark(row.role, at.x, at.y)
    );
    const lines = [[`${unit} per 1,000 items`, amountText(unit, row.x)], ...scoreLines(metric, row.value, ends)];
    return svgEl(
      "g",
      { class: `role-${row.role}` },
      withTip(link, row.label, lines, link.querySelector(".mark")),
      label && svgEl("text", { class: "beside", x: label.x, y: label.y + 4, "text-anchor": label.anchor }, label.text)
    );
  }

  // harness/report/page/charts/heat.js
  function heatChart(chart, { metric: wanted }) {
    const metric = chart.metrics.includes(wanted) ? wanted : chart.metrics[0];
    return chartFigure(chart, {
      across: chart.columns.length,
      legend: heatLegend(),
      draw: () => heatTable(chart, metric),
      numbers: () => ({ rows: chart.rows, columns: [NAME_COLUMN, ...numberColumns(chart, metric)] })
    });
  }
  function numberColumns(chart, metric) {
    return chart.columns.map((column, number) => {
      const value = (row) => row.cells[number] ? row.cells[number].values[metric] : null;
      const ends = (row) => row.cells[number] ? row.cells[number].intervals[metric] : null;
      return metricColumn2(metric, column.group, column.title, value, ends);
    });
  }
  function heatTable(chart, metric) {
    const title = metricTitle(metric);
    const heads = chart.columns.map((column) => {
      const count = el("span", { class: "count" }, formatCount(column.items), el("span", { class: "unseen" }, " items"));
      return el("th", { scope: "col" }, column.title, count);
    });
    const rows = chart.rows.map((row) => {
      const cells = row.cells.map((cell, number) => heatCell(metric, row, cell, chart.columns[number]));
      return el("tr", {}, el("th", { scope: "row" }, breakable(row.label)), cells);
    });
    const corner = el("th", { scope: "col" }, "run", el("span", { class: "count" }, "items"));
    return scrollTable(
      `${chart.title}, ${title}`,
      { class: "heat" },
      `${chart.title}: ${title}`,
      el("thead", {}, el("tr", {}, corner, heads)),
      el("tbody", {}, rows)
    );
  }
  function heatCell(metric, row, cell, column) {
    const value = cell ? cell.values[metric] : null;
    const link = el("a", { href: addressOf("run", [row.run]) }, formatMetric(metric, value));
    const lines = cell ? [
      ...scoreLines(metric, value, cell.intervals[metric]),
      ["items", formatCount(cell.items)],
      ["positives", formatCount(cell.positives)]
    ] : [[metricTitle(metric), "no such items"]];
    return el("td", { class: heatClass(value) }, withTip(link, `${row.label}, ${column.title}`, lines));
  }
  function heatClass(value) {
    return value === null || value === void 0 ? "none" : `h${Math.min(8, Math.floor(value * 9))}`;
  }
  function heatLegend() {
    const colours = [...Array(9).keys()].map((step) => el("span", { class: `h${step}` }));
    return el("p", { class: "legend heat-legend", "aria-hidden": "true" }, "0 ", colours, " 100");
  }

  // harness/report/page/charts/lines.js
  var COLOURS = ["blue", "orange", "green", "pink", "yellow", "sky", "black"];
  var LEFT2 = 32;
  var TOP2 = 12;
  var LINE = 13;
  function robustnessChart(chart) {
    const rows = chart.rows.map((row) => ({
      ...row,
      values: row.points.map((point) => point ? point.value : null),
      intervals: row.points.map((point) => point ? point.interval : null),
      runs: row.points.map((point) => point ? point.run : row.run)
    }));
    return lineChart(
      chart,
      rows,
      chart.steps.map((title) => ({ title, fullTitle: title }))
    );
  }
  function scaleChart(chart) {
    const rows = chart.rows.map((row) => ({ ...row, runs: row.values.map(() => row.run) }));
    const steps = chart.networks.map(({ name: name2, nodes, edges, scale }) => ({
      title: name2,
      below: nodes,
      fullTitle: `${name2} (${nodes} variables, ${edges} edges, ${scale})`
    }));
    return lineChart(chart, rows, steps);
  }
  function lineChart(chart, rows, steps) {
    const classes = lineClasses(rows);
    const stepColumn = (step, number) => metricColumn2(
      chart.metric,
      step.title,
      step.title,
      (row) => row.values[number],
      (row) => row.intervals[number]
    );
    return chartFigure(chart, {
      legend: roleLegend(rows, true),
      draw: (width, name2) => draw3(chart, lineLayout(chart.metric, rows, steps, width), classes, name2),
      across: steps.length,
      numbers: () => ({ rows, columns: [NAME_COLUMN, ...steps.map(stepColumn)] })
    });
  }
  function lineClasses(rows) {
    const coloured = rows.filter((row) => row.role !== "baseline");
    const firsts = coloured.filter((row) => row === coloured.find((other) => other.role === row.role));
    const others = coloured.filter((row) => !firsts.includes(row));
    const free = COLOURS.filter((name2) => !firsts.some((row) => report.marks[row.role].colour === name2));
    return rows.map((row) => {
      const ownColour = others.includes(row) && coloured.length <= 7;
      return `role-${row.role} ${ownColour ? `line-${free[others.indexOf(row)]}` : ""}`;
    });
  }
  function lineLayout(metric, rows, steps, width) {
    const crowded = rows.length > 8;
    const aisle = crowded ? 40 : 24;
    const longest = Math.max(...rows.map((row) => textWidth(row.label, 12)));
    const right = Math.min(longest + 10 + aisle, width * 0.42);
    const names = rows.map((row) => wrapped(row.label, right - aisle - 2));
    const nameHeight = LINE * Math.max(...names.map((lines) => lines.length)) + 2;
    const gap = (width - LEFT2 - right) / Math.max(1, steps.length - 1);
    const tight = crowded || gap < rows.length * 2.5 + 16;
    const turned = steps.length > 1 && gap < Math.max(...steps.map((step) => textWidth(step.title, 12))) + 8;
    const bottom = TOP2 + Math.max(width < 520 ? 260 : 320, rows.length * (nameHeight + 3));
    const values = rows.flatMap((row) => [...row.values, ...crowded ? [] : row.intervals.flat()]);
    const range = metricRange(metric, values);
    const last = steps.length - 1;
    return {
      ...{ metric, rows, steps, width, right, aisle, gap, crowded, tight, turned, bottom, range, names, nameHeight },
      foot: footHeight(steps, turned),
      y: linearScale(range, [bottom, TOP2]),
      x: (number) => LEFT2 + 6 + (last > 0 ? number * (width - LEFT2 - right - 6) / last : 0)
    };
  }
  function footHeight(steps, turned) {
    if (turned) return Math.max(...steps.map((step) => textWidth(turnedTitle(step), 12))) + 14;
    return steps.some((step) => step.below) ? 38 : 24;
  }
  var turnedTitle = (step) => step.below ? `${step.title} ${step.below}` : step.title;
  function draw3(chart, layout, classes, name2) {
    const { metric, rows, steps, width, bottom, foot, range, nameHeight, x, y } = layout;
    const ends = rows.map((row) => row.values.reduce((end, value, step) => value === null ? end : step, -1));
    const numbers = [...rows.keys()].filter((number) => ends[number] >= 0);
    const endHeights = numbers.map((number) => y(rows[number].values[ends[number]]));
    const heights = spreadHeights(endHeights, nameHeight, [TOP2, bottom]);
    return chartSvg(
      chart,
      name2,
      width,
      bottom + foot,
      [horizontalGrid(metric, y, range, LEFT2, x(steps.length - 1)), stepTitles(layout)],
      numbers.map((number, k) => line(number, ends[number], heights[k], layout, classes[number]))
    );
  }
  function stepTitles({ steps, gap, turned, bottom, x }) {
    return steps.map((step, number) => {
      if (turned) {
        const transform = `translate(${x(number) + 4} ${bottom + 8}) rotate(-90)`;
        const attributes = { class: gap < 14 ? "tick tiny" : "tick", transform, "text-anchor": "end" };
        return svgEl("text", attributes, turnedTitle(step));
      }
      const text = (y, anchor, title) => svgEl("text", { class: "tick", x: x(number), y, "text-anchor": anchor }, title);
      return [
        text(bottom + 17, number || gap > 70 ? "middle" : "start", step.title),
        step.below && text(bottom + 32, "middle", step.below)
      ];
    });
  }
  function line(number, end, height, layout, lineClass) {
    const { rows, names, width, right, aisle, crowded, tight, x, y } = layout;
    const row = rows[number];
    const aside = tight ? 0 : (number - (rows.length - 1) / 2) * 2.5;
    const start2 = x(end) + 6;
    const nameX = width - right + aisle;
    const endY = y(row.values[end]);
    const leader = `M${start2} ${endY}L${Math.max(start2, nameX - aisle + 6)} ${endY}L${nameX - 4} ${height}`;
    const whisker3 = (ends, step) => {
      if (!ends || row.values[step] === null) return null;
      const at = x(step) + aside;
      return svgEl("line", { class: "whisker", x1: at, x2: at, y1: y(ends[0]), y2: y(ends[1]) });
    };
    return svgEl(
      "g",
      { class: `series ${lineClass}${crowded ? " crowded" : ""}${tight ? " tight" : ""}` },
      row.intervals.map(whisker3),
      svgEl("path", { class: "line", d: linePath(row.values, x, y) }),
      svgEl("path", { class: "leader", d: leader }),
      row.values.map((value, step) => value !== null && stepMark(row, step, layout)),
      endName(names[number], nameX, height)
    );
  }
  function endName(lines, x, middle) {
    const top = middle + 4 - (lines.length - 1) * LINE / 2;
    const tspans = lines.map((text, number) => svgEl("tspan", { x, y: top + number * LINE }, text));
    return svgEl("text", { class: "end" }, tspans);
  }
  function linePath(values, x, y) {
    const parts = values.map((value, step) => {
      if (value === null) return "";
      return `${step && values[step - 1] !== null ? "L" : "M"}${x(step)} ${y(value)}`;
    });
    return parts.join("");
  }
  function stepMark(row, step, { metric, steps, x, y }) {
    const value = row.values[step];
    const link = runLink(
      row.runs[step],
      {},
      svgEl("circle", { class: "hit", cx: x(step), cy: y(value), r: 9 }),
      roleMark(row.role, x(step), y(value), 3.5)
    );
    return withTip(link, `${row.label}, ${steps[step].fullTitle}`, scoreLines(metric, value, row.intervals[step]));
  }

  // harness/report/page/charts/reliability.js
  var SHARE = "observed";
  var WIDEST = 250;
  var LEFT3 = 34;
  var TOP3 = 76;
  var BELOW = 26;
  function reliabilityChart(chart) {
    return chartFigure(chart, {
      legend: roleLegend(chart.rows),
      draw: (width, name2) => draw4(chart, width, name2),
      across: Math.max(...chart.rows.map((row) => row.bins.length)),
      numbers: () => ({ rows: chart.rows.flatMap(binRows), columns: columns() })
    });
  }
  var binRows = (row) => row.bins.map((bin) => ({ ...bin, label: row.label, run: row.run }));
  function columns() {
    const share = (name2, ends) => metricColumn2(SHARE, name2, name2, (row) => row[name2], ends);
    const count = (name2) => ({
      name: name2,
      title: name2,
      kind: "count",
      value: (row) => row[name2],
      show: (row) => formatCount(row[name2])
    });
    return [NAME_COLUMN, share("predicted"), share("observed", (row) => row.interval), count("items"), count("clusters")];
  }
  function draw4(chart, width, name2) {
    const across = Math.max(1, Math.min(chart.rows.length, Math.floor(width / 200)));
    const panel2 = Math.min(width / across, WIDEST + LEFT3);
    const height = TOP3 + panel2 - LEFT3 - 14 + BELOW;
    const names = shortenAll(
      chart.rows.map((row) => row.label),
      panel2 - 14,
      13
    );
    const frames = chart.rows.map(
      (row, number) => frame2(row, names[number], number % across * panel2, Math.floor(number / across) * height, panel2)
    );
    return chartSvg(chart, name2, width, Math.ceil(chart.rows.length / across) * height, frames);
  }
  function frame2(row, name2, left, top, panel2) {
    const [from, to] = [LEFT3, panel2 - 14];
    const [low, high] = [TOP3 + to - from, TOP3];
    const x = linearScale([0, 1], [from, to]);
    const y = linearScale([0, 1], [low, high]);
    return svgEl(
      "g",
      { class: `series role-${row.role}`, transform: `translate(${left} ${top})` },
      svgEl("text", { class: "name", x: 0, y: 14 }, name2),
      numberLines(row).map((line2, number) => svgEl("text", { class: "tick", x: 0, y: 29 + 14 * number }, line2)),
      verticalGrid(SHARE, x, [0, 1], high, low, 4),
      horizontalGrid(SHARE, y, [0, 1], from, to),
      svgEl("line", { class: "diagonal", x1: from, y1: low, x2: to, y2: high }),
      row.bins.map((bin) => whisker2(bin, x, y)),
      row.bins.map((bin) => binMark(row, bin, x, y))
    );
  }
  function numberLines({ error, error_interval: ends, ece, brier }) {
    const root = error === null ? [] : [`error ${formatMetric("error", error)} ${formatInterval("error", ends)}`];
    return [...root, `ECE ${formatMetric("ece", ece)}, Brier ${formatMetric("brier", brier)}`];
  }
  function whisker2({ predicted, interval }, x, y) {
    if (!interval) return null;
    const at = x(predicted);
    return svgEl("line", { class: "whisker", x1: at, x2: at, y1: y(interval[0]), y2: y(interval[1]) });
  }
  function binMark(row, bin, x, y) {
    const { predicted, observed, interval, items, clusters } = bin;
    const link = runLink(
      row.run,
      {},
      svgEl("circle", { class: "hit", cx: x(predicted), cy: y(observed), r: 7 }),
      roleMark(row.role, x(predicted), y(observed), 3.5)
    );
    const lines = [
      ["predicted", formatMetric(SHARE, predicted)],
      ["observed", formatMetric(SHARE, observed)],
      ...interval ? [["95% interval", formatInterval(SHARE, interval)]] : [],
      ["items", formatCount(items)],
      ["clusters", formatCount(clusters)]
    ];
    return withTip(link, `${row.label}, ${formatCount(items)} items`, lines);
  }

  // harness/report/page/charts/scores.js
  function scoresChart(chart) {
    const { metric, rows } = chart;
    return chartFigure(chart, {
      legend: roleLegend(rows),
      draw: (width, name2) => draw5(chart, width, name2),
      numbers: () => ({
        rows,
        columns: [
          NAME_COLUMN,
          metricColumn2(
            metric,
            "value",
            metricTitle(metric),
            (row) => row.value,
            (row) => row.interval
          ),
          ...["items", "clusters"].map(countColumn)
        ]
      })
    });
  }
  function countColumn(name2) {
    return { name: name2, title: name2, kind: "count", value: (row) => row[name2], show: (row) => formatCount(row[name2]) };
  }
  function draw5(chart, width, name2) {
    const { metric, rows } = chart;
    const narrow = width < 520;
    const longest = Math.max(...rows.map((row) => textWidth(row.label, 13)));
    const left = narrow ? 6 : Math.min(longest + 16, width * 0.4);
    const right = 52;
    const rowHeight = narrow ? 38 : 24;
    const top = 24;
    const bottom = top + rows.length * rowHeight;
    const values = rows.flatMap((row) => [row.value, ...row.interval || []]);
    const range = metricRange(metric, values);
    const x = linearScale(range, [left, width - right - 6]);
    const labels = rows.map((row) => row.label);
    const layout = { metric, width, narrow, rowHeight, top, x };
    layout.names = shortenAll(labels, narrow ? width - 12 : left - 12, 13);
    return chartSvg(
      chart,
      name2,
      width,
      bottom + (rows.length * rowHeight > 500 ? 22 : 4),
      verticalGrid(metric, x, range, top, bottom, Math.min(6, (width - left) / 70)),
      rows.map((row, number) => scoreRow(row, number, layout))
    );
  }
  function scoreRow(row, number, { metric, width, narrow, rowHeight, top, x, names }) {
    const middle = top + (number + 0.5) * rowHeight + (narrow ? 8 : 0);
    const ends = row.interval;
    const link = runLink(
      row.run,
      { class: "row" },
      svgEl("rect", { class: "hit", x: 0, y: top + number * rowHeight, width, height: rowHeight }),
      ends && svgEl("line", { class: "whisker", x1: x(ends[0]), x2: x(ends[1]), y1: middle, y2: middle }),
      row.value !== null && roleMark(row.role, x(row.value), middle)
    );
    const lines = [
      ...scoreLines(metric, row.value, ends),
      ["items", formatCount(row.items)],
      ["clusters", formatCount(row.clusters)],
      ["role", row.role]
    ];
    return svgEl(
      "g",
      { class: `role-${row.role}` },
      withTip(link, row.label, lines),
      svgEl("text", { class: "name", x: narrow ? 6 : 0, y: narrow ? middle - 14 : middle + 4.5 }, names[number]),
      svgEl(
        "text",
        { class: "number", x: width, y: middle + 4.5, "text-anchor": "end" },
        formatMetric(metric, row.value)
      )
    );
  }

  // harness/report/page/charts/kinds.js
  var CHART_KINDS = {
    scores: scoresChart,
    heat: heatChart,
    confusion: confusionChart,
    reliability: reliabilityChart,
    robustness: robustnessChart,
    names: robustnessChart,
    directness: robustnessChart,
    scale: scaleChart,
    cost: costChart
  };

  // harness/report/page/views/charts.js
  var chartsView = {
    title: "Charts",
    listed: () => (report.charts || []).length > 0,
    show: (place, route) => showCharts(place, Object.fromEntries(route.query))
  };
  var STEPS = { robustness: "Robustness", names: "Names", directness: "Direct and indirect" };
  var hasSteps = (chart) => chart.kind in STEPS;
  function showsMetric(chart, metric) {
    if (chart.metric) return chart.metric === metric;
    return !chart.metrics || chart.metrics.includes(metric);
  }
  function showCharts(place, query) {
    const all = report.charts || [];
    const tasks = [...new Set(all.map((chart) => chart.task))];
    const state = { ...query, task: tasks.includes(query.task) ? query.task : taskWithMostRuns(tasks) };
    const charts = all.filter((chart) => chart.task === state.task && CHART_KINDS[chart.kind]);
    const sets = [...new Set(charts.filter((chart) => !hasSteps(chart)).map((chart) => chart.heading))];
    const metrics = [...new Set(charts.flatMap((chart) => chart.metric || chart.metrics || []))];
    const sections = el("div", { class: "charts" });
    place.append(el("h1", {}, "Charts"));
    if (!tasks.length) {
      place.append(el("p", {}, "There is no complete run to draw."));
      return;
    }
    const choice = {
      ...{ tasks, sets, metrics, state },
      set: () => chosenSet(charts, sets, state),
      metric: () => metrics.includes(state.metric) ? state.metric : metrics[0],
      change(changes) {
        Object.assign(state, changes);
        setQuery(changes);
        draw6();
      }
    };
    place.append(controls(choice), sections);
    draw6();
    function draw6() {
      hideTip();
      const metric = choice.metric();
      const heading2 = sets[Number(choice.set()) - 1];
      const ofMetric = charts.filter((chart) => showsMetric(chart, metric));
      const ofSet = ofMetric.filter((chart) => !hasSteps(chart) && chart.heading === heading2);
      const ofSteps = Object.entries(STEPS).map(
        ([kind, title]) => section(
          title,
          ofMetric.filter((chart) => chart.kind === kind),
          choice
        )
      );
      const parts = [section(heading2, ofSet, choice), ...ofSteps];
      sections.replaceChildren(...parts.filter(Boolean));
    }
  }
  function controls({ tasks, sets, metrics, state, set, metric, change }) {
    return controlForm(
      { class: "controls", "aria-label": "Choose charts" },
      selectField({
        label: "Task",
        value: state.task,
        options: tasks.map((task) => [task, task]),
        onchange: (task) => visit(addressOf("charts", [], { task }))
      }),
      sets.length > 1 && selectField({
        label: "Runs",
        value: set(),
        options: sets.map((heading2, number) => [String(number + 1), heading2 || state.task]),
        onchange: (number) => change({ set: number })
      }),
      metrics.length > 1 && selectField({
        label: "Metric",
        value: metric(),
        options: metrics.map((name2) => [name2, metricTitle(name2)]),
        onchange: (name2) => change({ metric: name2 })
      })
    );
  }
  function chosenSet(charts, sets, state) {
    if (sets[Number(state.set) - 1] !== void 0) return state.set;
    const sizes = sets.map((heading2) => {
      const ofSet = charts.filter((chart) => chart.heading === heading2);
      return Math.max(...ofSet.map((chart) => chart.rows.length));
    });
    return String(sizes.indexOf(Math.max(...sizes)) + 1);
  }
  function section(heading2, charts, { state, metric }) {
    if (!charts.length) return null;
    const parts = charts.map((chart) => [
      hasSteps(chart) && chart.heading && el("p", { class: "above" }, breakable(chart.heading)),
      CHART_KINDS[chart.kind](chart, { metric: metric() }).node
    ]);
    return el("section", {}, el("h2", {}, breakable(heading2 || state.task)), parts);
  }

  // harness/report/page/views/differences.js
  var ABOUT = "Runs on the same items, compared item by item. An interval that does not reach zero, the line in the middle, and a small p speak for a difference that chance does not make; of several in one table one is soon found by chance. A star (*) marks those that stay below 0.05 when all p of their table are corrected together (Holm): go by the star.";
  var differencesView = {
    title: "Differences",
    listed: () => report.differences.length > 0,
    show(place, route) {
      const tasks = [...new Set(report.differences.map((table) => table.task))];
      const asked = route.query.get("task");
      const task = tasks.includes(asked) ? asked : taskWithMostRuns(tasks);
      place.classList.add("differences");
      place.append(el("h1", {}, "Differences"));
      if (!tasks.length) {
        place.append(el("p", {}, "No two runs of this page have the same items and their answers here."));
        return;
      }
      if (tasks.length > 1) place.append(el("div", { class: "controls" }, taskField2(tasks, task)));
      place.append(el("p", { class: "above" }, ABOUT));
      const tables = report.differences.filter((table) => table.task === task);
      place.append(...tables.map((table, k) => tableSection(table, lastNotes(table, tables.slice(k + 1)))));
    }
  };
  function taskField2(tasks, value) {
    const onchange = (task) => visit(addressOf("differences", [], { task }));
    return selectField({ label: "Task", value, options: tasks.map((task) => [task, task]), onchange });
  }
  var lastNotes = (table, later) => table.notes.filter((note) => !later.some(({ notes }) => notes.includes(note)));
  function tableSection(table, notes) {
    const columns2 = table.columns.filter((column) => !column.in_caption).map((column) => shownColumn(table, column));
    const sortable = sortableTable({
      label: table.heading,
      columns: columns2,
      rows: table.rows,
      mark: (row) => `role-${(findRun(row.run) || {}).role || "model"}`,
      onsort: (order) => sortable.sort(order)
    });
    return titledSection(
      breakable(table.heading),
      el("p", { class: "above" }, table.above),
      table.settings && el("p", { class: "settings" }, breakable(table.settings)),
      sortable.node,
      el(
        "div",
        { class: "notes" },
        notes.map((note) => el("p", {}, note))
      )
    );
  }
  function shownColumn(table, column) {
    if (column.kind === "text") return { ...column, value: (row) => row[column.name], show: (row) => name(row, column) };
    const value = (row) => row[column.name].value;
    const cells = table.rows.map((row) => row[column.name]);
    const isDifference = column.name.endsWith("/difference");
    const most = isDifference && Math.max(...cells.flatMap((cell) => [cell.value, ...cell.interval || []]).map(Math.abs));
    const wide = cells.some(({ interval }) => interval);
    return { ...column, wide, value, show: (row) => scoreCell2(row[column.name], wide, most) };
  }
  function name(row, column) {
    const run = column.name === "model" && findRun(row.run);
    const text = breakable(row[column.name] || "–");
    return run ? el("a", { href: addressOf("run", [run.id]) }, text) : text;
  }
  function scoreCell2({ value, interval, text }, wide, most) {
    if (!wide || value === null) return text;
    const [number, ...range] = text.split(" ");
    const shifted = interval && interval.map((end) => end + most);
    if (most === false) return [number, " ", el("span", { class: "own-range" }, rangeText(range.join(" ")))];
    return [number, " ", rangeText(range.join(" ")), intervalBar(value + most, shifted, 2 * most)];
  }

  // harness/report/page/graphs/edges.js
  var EDGE_KINDS = {
    agree: "in both",
    reversed: "the other way round",
    missing: "missing",
    extra: "extra",
    lost: "no answer read"
  };
  var LOST_REASONS = { unreadable: "unreadable", failed: "failed call", "not asked": "not asked" };
  var MOST_EXTRA = 600;
  function compareEdges({ directed, yes, lost, true: truth }) {
    const name2 = (a, b) => directed || a < b ? `${a} ${b}` : `${b} ${a}`;
    const nodesOf = (edge) => edge.split(" ").map(Number);
    const real = new Set(truth.map(([a, b]) => name2(a, b)));
    const answered = new Set(yes.map(([a, b]) => name2(a, b)));
    const unread = new Map(lost.map(([a, b, reason]) => [name2(a, b), LOST_REASONS[reason]]));
    const edges = [];
    for (const edge of answered) {
      const [a, b] = nodesOf(edge);
      const back = `${b} ${a}`;
      const isReversed = directed && !real.has(edge) && real.has(back) && !answered.has(back);
      edges.push({ a, b, kind: real.has(edge) ? "agree" : isReversed ? "reversed" : "extra" });
    }
    for (const edge of real) {
      const [a, b] = nodesOf(edge);
      if (answered.has(edge) || directed && answered.has(`${b} ${a}`)) continue;
      edges.push({ a, b, kind: unread.has(edge) ? "lost" : "missing", reason: unread.get(edge) });
    }
    return edges;
  }
  function limitExtra(edges) {
    const extra = edges.filter(({ kind }) => kind === "extra");
    if (extra.length <= MOST_EXTRA) return edges;
    return [...edges.filter(({ kind }) => kind !== "extra"), ...extra.slice(0, MOST_EXTRA)];
  }
  function edgeText(network, { a, b }, directed) {
    return `${network.nodes[a]} ${directed ? "→" : "–"} ${network.nodes[b]}`;
  }
  function edgeKindText({ kind, reason }) {
    return `${EDGE_KINDS[kind]}${reason ? ` (${reason})` : ""}`;
  }
  function pictureEdge(network, edge, directed) {
    const kind = edge.kind === "true" ? "" : `: ${edgeKindText(edge)}`;
    return { ...edge, arrow: directed, title: `${edgeText(network, edge, directed)}${kind}` };
  }

  // harness/report/page/graphs/layout.js
  var LAYER_HEIGHT = 64;
  var NODE_GAP = 14;
  function circleLayout(count, radius) {
    const angle = (k) => (count === 2 ? -Math.PI : -Math.PI / 2) + 2 * Math.PI * k / count;
    const numbers = [...Array(count).keys()];
    return {
      x: numbers.map((k) => radius * Math.cos(angle(k))),
      y: numbers.map((k) => radius * Math.sin(angle(k))),
      paths: /* @__PURE__ */ new Map()
    };
  }
  function layeredLayout(widths, edges) {
    const acyclic = withoutCycles(widths.length, edges);
    const layer = layersOf(widths.length, acyclic);
    const { chains, nodes, links } = withDummies(widths, acyclic, layer);
    const rows = [];
    nodes.forEach((node, k) => (rows[node.layer] ||= []).push(k));
    const before = nodes.map(() => []);
    const after = nodes.map(() => []);
    for (const [a, b] of links) {
      after[a].push(b);
      before[b].push(a);
    }
    lessenCrossings(rows, before, after);
    const x = horizontalPlaces(rows, nodes, before, after);
    const placeOf2 = (k) => [x[k], nodes[k].layer * LAYER_HEIGHT];
    const paths = new Map(chains.map(([a, b, through]) => [`${a} ${b}`, through.map(placeOf2)]));
    return { x: x.slice(0, widths.length), y: layer.map((number) => number * LAYER_HEIGHT), paths };
  }
  function withoutCycles(count, edges) {
    const after = Array.from({ length: count }, () => []);
    for (const [a, b] of edges) if (a !== b) after[a].push(b);
    const [ON_PATH, DONE] = [1, 2];
    const state = new Uint8Array(count);
    const turned = [];
    for (let start2 = 0; start2 < count; start2++) {
      if (state[start2]) continue;
      const path = [[start2, 0]];
      state[start2] = ON_PATH;
      while (path.length) {
        const step = path[path.length - 1];
        const [node, k] = step;
        if (k === after[node].length) {
          state[node] = DONE;
          path.pop();
          continue;
        }
        step[1]++;
        const next = after[node][k];
        turned.push(state[next] === ON_PATH ? [next, node] : [node, next]);
        if (state[next]) continue;
        state[next] = ON_PATH;
        path.push([next, 0]);
      }
    }
    return [...new Map(turned.map((edge) => [edge.join(" "), edge])).values()];
  }
  function layersOf(count, edges) {
    const layer = new Array(count).fill(0);
    const waiting = new Array(count).fill(0);
    const after = Array.from({ length: count }, () => []);
    for (const [a, b] of edges) {
      after[a].push(b);
      waiting[b]++;
    }
    const isSource = waiting.map((number) => number === 0);
    const ready = [...waiting.keys()].filter((k) => isSource[k]);
    for (let k = 0; k < ready.length; k++) {
      for (const next of after[ready[k]]) {
        layer[next] = Math.max(layer[next], layer[ready[k]] + 1);
        if (--waiting[next] === 0) ready.push(next);
      }
    }
    return layer.map((own, k) => {
      if (!isSource[k] || !after[k].length) return own;
      return Math.min(...after[k].map((child) => layer[child])) - 1;
    });
  }
  function withDummies(widths, edges, layer) {
    const nodes = widths.map((width, k) => ({ width, layer: layer[k] }));
    const links = [];
    const chains = [];
    for (const [a, b] of edges) {
      const through = [];
      let last = a;
      for (let number = layer[a] + 1; number < layer[b]; number++) {
        nodes.push({ width: 6, layer: number });
        through.push(nodes.length - 1);
        links.push([last, nodes.length - 1]);
        last = nodes.length - 1;
      }
      links.push([last, b]);
      if (through.length) chains.push([a, b, through]);
    }
    return { chains, nodes, links };
  }
  function lessenCrossings(rows, before, after) {
    const at = [];
    for (const row of rows) numberPlaces(row, at);
    let best = rows.map((row) => [...row]);
    let fewest = crossings(rows, after, at);
    for (let sweep = 0; sweep < 24 && fewest; sweep++) {
      const down = sweep % 2 === 0;
      for (const row of down ? rows : [...rows].reverse()) {
        const key = new Map(row.map((node) => [node, meanPlace(node, down ? before : after, at)]));
        row.sort((a, b) => key.get(a) - key.get(b) || at[a] - at[b]);
        numberPlaces(row, at);
      }
      const number = crossings(rows, after, at);
      if (number < fewest) [fewest, best] = [number, rows.map((row) => [...row])];
    }
    best.forEach((row, k) => rows[k].splice(0, row.length, ...row));
  }
  function numberPlaces(row, at) {
    row.forEach((node, k) => {
      at[node] = k;
    });
  }
  function meanPlace(node, neighbours2, at) {
    const near = neighbours2[node];
    return near.length ? near.reduce((sum, other) => sum + at[other], 0) / near.length : at[node];
  }
  function crossings(rows, after, at) {
    let number = 0;
    for (const row of rows) {
      const ends = row.flatMap((node) => after[node].map((child) => at[child]).sort((a, b) => a - b));
      const sorted = [];
      for (const end of ends) {
        const place = insertionPlace(sorted, end);
        number += sorted.length - place;
        sorted.splice(place, 0, end);
      }
    }
    return number;
  }
  function insertionPlace(sorted, value) {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = low + high >> 1;
      if (sorted[middle] <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  function horizontalPlaces(rows, nodes, before, after) {
    const x = [];
    for (const row of rows) {
      let offset = 0;
      for (const node of row) {
        x[node] = offset + nodes[node].width / 2;
        offset += nodes[node].width + NODE_GAP;
      }
    }
    for (let turn = 0; turn < 30; turn++) {
      for (const row of turn % 2 ? [...rows].reverse() : rows) placeRow(row, x, nodes, before, after);
    }
    return x;
  }
  function placeRow(row, x, nodes, before, after) {
    const offset = [0];
    for (let k2 = 1; k2 < row.length; k2++) {
      offset.push(offset[k2 - 1] + (nodes[row[k2 - 1]].width + nodes[row[k2]].width) / 2 + NODE_GAP);
    }
    const pools = [];
    row.forEach((node, k2) => {
      const near = [...before[node], ...after[node]];
      const wish = near.length ? near.reduce((sum, other) => sum + x[other], 0) / near.length : x[node];
      pools.push({ sum: wish - offset[k2], count: 1 });
      while (pools.length > 1) {
        const last = pools[pools.length - 1];
        const other = pools[pools.length - 2];
        if (other.sum / other.count <= last.sum / last.count) break;
        other.sum += last.sum;
        other.count += last.count;
        pools.pop();
      }
    });
    let k = 0;
    for (const pool of pools) {
      for (let member = 0; member < pool.count; member++, k++) x[row[k]] = pool.sum / pool.count + offset[k];
    }
  }

  // harness/report/page/graphs/picture.js
  var labelWidth = (label) => Math.max(24, 7 * [...label].length + 12);
  function graphPicture({ nodes, at, edges, round, label }) {
    const half = nodes.map((name2) => round ? [14, 14] : [labelWidth(name2) / 2, 11]);
    const lines = edges.map((edge) => edgePicture(edge, edges, at, half, round));
    const marks = nodes.map((name2, k) => nodePicture(name2, k, at, half[k], round));
    const viewBox = viewBoxOf(at, half);
    return svgEl(
      "svg",
      { class: "graph", role: "img", "aria-label": label, viewBox, preserveAspectRatio: "xMidYMid meet" },
      svgEl("g", {}, lines),
      svgEl("g", {}, marks)
    );
  }
  function viewBoxOf(at, half) {
    const bends = [...at.paths.values()].flat().map(([x]) => x);
    const left = Math.min(...bends, ...at.x.map((x, k) => x - half[k][0])) - 12;
    const right = Math.max(...bends, ...at.x.map((x, k) => x + half[k][0])) + 12;
    const top = Math.min(...at.y) - 26;
    const bottom = Math.max(...at.y) + 26;
    return [left, top, right - left, bottom - top].map((number) => number.toFixed(1)).join(" ");
  }
  function edgePicture(edge, edges, at, half, round) {
    const points = edgePoints(at, half, edge, edges);
    const most = points.length > 2 ? 0.98 : 0.49;
    const ends = [
      borderPoint(at, half, edge.a, points[1], round, most),
      ...points.slice(1, -1),
      borderPoint(at, half, edge.b, points[points.length - 2], round, most)
    ];
    const attributes = { class: `edge ${edge.kind || ""}`, "data-a": edge.a, "data-b": edge.b };
    return svgEl(
      "g",
      attributes,
      edge.title && svgEl("title", {}, edge.title),
      svgEl("path", { d: smoothPath(ends), fill: "none" }),
      edge.arrow !== false && arrowHead(ends[ends.length - 2], ends[ends.length - 1])
    );
  }
  function nodePicture(name2, k, at, [width, height], round) {
    const transform = `translate(${at.x[k].toFixed(1)} ${at.y[k].toFixed(1)})`;
    return svgEl(
      "g",
      { class: "node", "data-node": k, transform },
      round ? svgEl("circle", { r: 14 }) : svgEl("rect", { x: -width, y: -height, width: 2 * width, height: 2 * height, rx: 4 }),
      svgEl("text", { "text-anchor": "middle", dy: "0.35em" }, name2)
    );
  }
  function edgePoints(at, half, edge, edges) {
    const from = [at.x[edge.a], at.y[edge.a]];
    const to = [at.x[edge.b], at.y[edge.b]];
    const there = at.paths.get(`${edge.a} ${edge.b}`);
    const back = at.paths.get(`${edge.b} ${edge.a}`);
    const hasTwin = edges.some((other) => other.a === edge.b && other.b === edge.a);
    if (there || back) {
      const through = there || [...back].reverse();
      const aside2 = hasTwin ? there ? 6 : -6 : 0;
      return [from, ...through.map(([x, y]) => [x + aside2, y]), to];
    }
    const isLevel = Math.abs(from[1] - to[1]) < 1;
    const alongLayer = isLevel && at.paths.size > 0;
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const bend = hasTwin ? 12 : edge.kind === "extra" || alongLayer ? Math.min(40, length / 6) : 0;
    if (!bend) return [from, to];
    const aside = isLevel ? Math.sign(to[0] - from[0]) * (half[edge.a][0] - half[edge.b][0]) / 2 : 0;
    const middle = [
      (from[0] + to[0]) / 2 + aside + bend * (to[1] - from[1]) / length,
      (from[1] + to[1]) / 2 - bend * (to[0] - from[0]) / length
    ];
    return [from, middle, to];
  }
  function borderPoint(at, half, node, towards, round, most) {
    const x = at.x[node];
    const y = at.y[node];
    const dx = towards[0] - x;
    const dy = towards[1] - y;
    const distance = Math.hypot(dx, dy) || 1;
    const [width, height] = half[node];
    const share = round ? 15 / distance : Math.min((width + 1) / Math.abs(dx || 1e-9), (height + 1) / Math.abs(dy || 1e-9));
    return [x + dx * Math.min(share, most), y + dy * Math.min(share, most)];
  }
  function smoothPath(points) {
    const text = ([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
    if (points.length === 2) return `M${text(points[0])} L${text(points[1])}`;
    if (points.length === 3) return `M${text(points[0])} Q${text(points[1])} ${text(points[2])}`;
    let path = `M${text(points[0])}`;
    for (let k = 1; k < points.length - 1; k++) {
      const [point, next] = [points[k], points[k + 1]];
      const end = k === points.length - 2 ? next : [(point[0] + next[0]) / 2, (point[1] + next[1]) / 2];
      path += ` Q${text(point)} ${text(end)}`;
    }
    return path;
  }
  function arrowHead(from, to) {
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
    const size = 8;
    const text = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
    const corner = (turn) => text(to[0] - size * Math.cos(angle + turn), to[1] - size * Math.sin(angle + turn));
    return svgEl("path", { class: "head", d: `M${text(...to)} L${corner(0.42)} L${corner(-0.42)} Z` });
  }

  // harness/report/page/graphs/zoom.js
  function zoomable(pictures, chosenNode) {
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
      ArrowDown: () => view.move(0, 0.1)
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
      pictures
    );
    for (const svg of svgs) addPointer(svg, view, box, chosenNode);
    return el("div", {}, buttons(view), box);
  }
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
      }
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
    const button = (title, sign, onclick) => el("button", { class: "plain", type: "button", "aria-label": title, title, onclick }, sign);
    return el(
      "div",
      { class: "zoom", role: "group", "aria-label": "Size" },
      button("Enlarge", "+", () => zoom(0.8)),
      button("Reduce", "−", () => zoom(1.25)),
      button("Fit", "fit", fit)
    );
  }
  function highlightNode(place, node) {
    for (const svg of place.querySelectorAll(".panel svg")) {
      svg.classList.toggle("chosen", node >= 0);
      for (const edge of svg.querySelectorAll(".edge")) {
        edge.classList.toggle("of", Number(edge.dataset.a) === node || Number(edge.dataset.b) === node);
      }
      for (const mark2 of svg.querySelectorAll(".node")) mark2.classList.toggle("of", Number(mark2.dataset.node) === node);
    }
  }

  // harness/report/page/views/graphs.js
  var MOST_DIFFERENCES = 2e3;
  var graphsView = {
    title: "Graphs",
    listed: () => report.runs.some((run) => run.graphs),
    async show(place, route) {
      const runs = report.runs.filter((run2) => run2.graphs);
      const choice = chooseGraph(runs, route);
      const { run, name: name2, other } = choice;
      const network = (await loadChunk(run.graphs.chunk)).networks[name2];
      const second = other && other.graphs && (await loadChunk(other.graphs.chunk)).networks[name2];
      const templates = Object.keys(network.templates);
      const templateName = route.query.get("template");
      const template = templates.includes(templateName) ? templateName : templates[0];
      const chosenNode = () => network.nodes.indexOf(currentRoute().query.get("node"));
      const onNode = () => highlightNode(place, chosenNode());
      setTitle(`Graphs of ${name2}`, run.model);
      place.append(
        el("h1", {}, `${name2}: true and answered graph`),
        choosers2({ ...choice, runs, route, network, template, onNode })
      );
      if (other && !(second && second.templates[template])) {
        place.append(el("p", { class: "quiet" }, `${other.model} was not asked this about ${name2}.`));
      }
      const sides = [{ run, graph: network.templates[template] }];
      if (second && second.templates[template]) sides.push({ run: other, graph: second.templates[template] });
      place.append(
        legend2(),
        zoomable(panels(network, name2, sides, route), chosenNode),
        ...sides.map((side) => differences(network, side))
      );
      onNode();
    }
  };
  function chooseGraph(runs, route) {
    if (!runs.length) throw new Error("No run in this page has graphs: those of CausalBench have.");
    const byRole = (role) => runs.find((run2) => run2.role === role);
    const run = route.parts[0] ? requireRun(route.parts[0]) : byRole("model") || byRole("algorithm") || runs[0];
    if (!run.graphs) throw new Error(`The run ${run.id} has no graphs in this page.`);
    const { networks } = run.graphs;
    const name2 = route.parts[1] || networks[0];
    if (!networks.includes(name2)) {
      throw new Error(`The run ${run.id} was not asked about ${name2}: ${networks.join(", ")}.`);
    }
    return { run, name: name2, other: secondRun(route) };
  }
  function choosers2({ runs, run, name: name2, other, route, network, template, onNode }) {
    const query = Object.fromEntries(route.query);
    const go = (changes, parts) => visit(addressOf("graphs", parts || [run.id, name2], { ...query, template, ...changes }));
    const templates = Object.entries(network.templates);
    const others = comparableRuns(run, "graphs").filter((candidate) => candidate.graphs.networks.includes(name2));
    return el(
      "div",
      { class: "choosers" },
      runChooser({ label: "Run", runs, chosen: run, onchange: (id) => go({}, [id, name2]) }),
      selectField({
        label: "Network",
        value: name2,
        options: run.graphs.networks.map((title) => [title, title]),
        onchange: (title) => go({ node: "" }, [run.id, title])
      }),
      selectField({
        label: "Question",
        value: template,
        options: templates.map(([key, { title }]) => [key, `${key}: ${title}`]),
        onchange: (key) => go({ template: key })
      }),
      runChooser({ label: "Beside", none: "no other run", runs: others, chosen: other, onchange: (vs) => go({ vs }) }),
      selectField({
        label: "Variable",
        value: route.query.get("node") || "",
        options: [["", "all"], ...network.nodes.map((node) => [node, node])],
        onchange: (node) => {
          setQuery({ node });
          onNode();
        }
      }),
      switchField({
        label: "Only what differs",
        on: route.query.get("only") === "1",
        onchange: (on) => go({ only: on ? "1" : "" })
      })
    );
  }
  function panels(network, name2, sides, route) {
    const at = layeredLayout(network.nodes.map(labelWidth), network.edges);
    const picture = (edges, label) => graphPicture({ nodes: network.nodes, at, edges, round: false, label });
    const truth = sides[0].graph;
    const trueEdges = truth.true.map(([a, b]) => pictureEdge(network, { a, b, kind: "true" }, truth.directed));
    const shows = el("span", { class: "quiet" }, ` ${truth.shows}`);
    const differing = route.query.get("only") === "1";
    return [
      panel("True graph", shows, picture(trueEdges, `True graph of ${name2}`)),
      ...sides.map(({ run, graph }) => {
        const edges = compareEdges(graph);
        const chosenEdges = differing ? edges.filter(({ kind }) => kind !== "agree") : edges;
        const limited = limitExtra(chosenEdges);
        const pictured = limited.map((edge) => pictureEdge(network, edge, graph.directed));
        const image = picture(pictured, `Graph of ${run.model} on ${name2}`);
        return panel(run.model, summary(graph, edges), image, chosenEdges.length > limited.length);
      })
    ];
  }
  function panel(title, text, picture, isLimited) {
    const note = "Only the first 600 extra edges are drawn: below, What differs lists more.";
    return el(
      "figure",
      { class: "panel" },
      el("figcaption", {}, el("strong", {}, title), text),
      picture,
      isLimited && el("p", { class: "quiet" }, note)
    );
  }
  function summary(graph, edges) {
    const scores = ["f1", "shd"].filter((name2) => graph[name2] !== null && graph[name2] !== void 0).map((name2) => {
      const value = name2 === "shd" ? formatCount(graph.shd) : formatMetric(name2, graph[name2]);
      return `${report.metrics[name2].title} ${value}`;
    });
    const counts = Object.entries(EDGE_KINDS).map(([kind, title]) => [title, edges.filter((edge) => edge.kind === kind).length]).filter(([, count]) => count).map(([title, count]) => `${formatCount(count)} ${title}`);
    return el("span", { class: "quiet" }, " ", [...scores, ...counts].join(" · "));
  }
  function legend2() {
    const line2 = (kind) => svgEl(
      "svg",
      { class: "graph key", viewBox: "0 0 44 12", width: 44, height: 12, "aria-hidden": "true" },
      svgEl("g", { class: `edge ${kind}` }, svgEl("path", { d: "M2 6 L42 6", fill: "none" }))
    );
    const entries = Object.entries(EDGE_KINDS).map(([kind, title]) => el("li", {}, line2(kind), " ", title));
    return el("ul", { class: "legend", "aria-label": "Lines" }, entries);
  }
  function differences(network, { run, graph }) {
    const order = Object.keys(EDGE_KINDS);
    const edges = compareEdges(graph).filter(({ kind }) => kind !== "agree");
    edges.sort((e, f) => order.indexOf(e.kind) - order.indexOf(f.kind) || e.a - f.a || e.b - f.b);
    const rows = edges.slice(0, MOST_DIFFERENCES).map(
      (edge) => el("tr", {}, el("td", {}, edgeText(network, edge, graph.directed)), el("td", {}, edgeKindText(edge)))
    );
    const heads = ["Edge as answered", "What it is"].map((title) => el("th", { scope: "col" }, title));
    const table = el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows));
    const count = `${formatCount(edges.length)} edge${edges.length === 1 ? "" : "s"}`;
    return el(
      "details",
      { class: "differences" },
      el("summary", {}, `What differs: ${run.model}, ${count}`),
      edges.length > MOST_DIFFERENCES && el("p", { class: "quiet" }, "The first 2,000 of them."),
      el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Differences of ${run.model}` }, table)
    );
  }

  // harness/report/page/views/item/answer.js
  var RULES = {
    "in the form": "an answer in the form that the prompt asks for",
    announced: "an answer that is announced as one",
    opening: "the first word of the reply",
    closing: "a last sentence that is the verdict",
    said: "a sentence that says it in other words",
    corrected: "a correction of what was said before",
    judge: "another model, as the rules found nothing (these are its words)"
  };
  var LONG2 = 3e3;
  async function answerSection(set, row) {
    const { answers, run } = set;
    const item = answers.item[row];
    const rows = [];
    for (let k = 0; k < set.count; k++) if (answers.item[k] === item) rows.push(k);
    const several = rows.length > 1;
    const prompts = run.answers.prompts ? await loadChunk(run.answers.prompts) : null;
    const messages = prompts && prompts.messages[item];
    const settings = el("span", { class: "quiet" }, ` ${run.prompt} · ${run.variant}`);
    return el(
      "section",
      { class: "side", "aria-label": run.id },
      el("h2", {}, el("a", { href: addressOf("run", [run.id]) }, run.model), settings),
      several && el("p", { class: "quiet" }, "Asked several times: the majority of these replies is scored."),
      rows.map((reply, k) => replyBox(set, reply, several && `Reply ${k + 1} of ${rows.length}`)),
      el("h3", {}, "Prompt"),
      messages ? messages.map(([role, text]) => messageBox(role, prompts.texts[text])) : el("p", { class: "quiet" }, "Nothing was sent to a model for this item.")
    );
  }
  function replyBox(set, row, sampleTitle) {
    const { answers } = set;
    const failure = answers.failure && answers.failure[row];
    const span = spanText(answers, row);
    const facts = replyFacts(set, row, sampleTitle).filter(([, value]) => (value ?? "") !== "");
    return el(
      "div",
      { class: "reply" },
      el("h3", {}, `${sampleTitle || "Reply"} `, outcomeMark(set, row)),
      reasoningFold(answers, row),
      failure ? messageBox(`failed: ${failure.kind}`, failure.detail) : messageBox("model", answers.reply[row] || "", span),
      el(
        "dl",
        { class: "of-reply" },
        facts.map(([name2, value]) => [el("dt", {}, name2), el("dd", {}, el("bdi", {}, value))])
      )
    );
  }
  function reasoningFold(answers, row) {
    const text = answers.reasoning && answers.reasoning[row] || "";
    if (!text) return "";
    const length = el("span", { class: "quiet" }, ` ${formatCount(text.length)} characters, not read as the answer`);
    const fold = el("details", { class: "thoughts", ontoggle: build }, el("summary", {}, "Thoughts", length));
    return fold;
    function build() {
      if (fold.children.length < 2) fold.append(messageBox("model, thinking", text));
    }
  }
  var spanText = (answers, row) => answers.span && answers.span[row] || "";
  function replyFacts(set, row, sampleTitle) {
    const { answers } = set;
    const failure = answers.failure && answers.failure[row];
    const span = spanText(answers, row);
    const number = (name2) => answers[name2] ? answers[name2][row] : null;
    const [probability, input, output, usd] = ["probability", "input", "output", "usd"].map(number);
    const seconds = number("seconds");
    return [
      ["read", failure ? "nothing: the call failed" : readText(set, row, sampleTitle)],
      ["read from", failure || !span ? null : `“${span}”`],
      ["read by", failure || !span || !answers.rule ? null : RULES[answers.rule[row]] || answers.rule[row]],
      ["grade", failure || !answers.grade ? null : answers.grade[row]],
      ["probability of Yes", probability === null ? null : probability.toFixed(4)],
      ["finish reason", answers.finish && answers.finish.names[answers.finish.codes[row]]],
      ["tokens", input === null && output === null ? null : `${input ?? "?"} in, ${output ?? "?"} out`],
      ["cost", usd === null ? null : `$${usd.toPrecision(3)}`],
      ["seconds", seconds ? seconds.toFixed(2) : null],
      ...Object.entries(answers.more || {}).map(([name2, column]) => [
        name2,
        column[row] === null ? null : `${column[row]}`
      ])
    ];
  }
  function readText({ answers, items, run }, row, sampleTitle) {
    if (answers.read[row] !== null) return answerWord(answers.read[row], items);
    const asNo = ((run.manifest.configuration || {}).task || {}).unreadable === "no";
    return `nothing that answers the question${sampleTitle ? "" : `: scored as ${asNo ? "No" : "wrong"}`}`;
  }
  function messageBox(role, text, span) {
    const body = el("pre", { dir: "auto", tabindex: 0, "aria-label": `${role}, text` });
    const [start2, end] = span ? decidingSpan(text, span) : [-1, -1];
    const isCut = text.length > LONG2 && !(start2 > LONG2 - 200);
    fill2(isCut ? text.slice(0, LONG2) : text);
    const onclick = () => {
      fill2(text);
      more.remove();
    };
    const title = `Show all ${formatCount(text.length)} characters`;
    const more = isCut && el("button", { class: "plain", type: "button", onclick }, title);
    return el("div", { class: "message" }, el("p", { class: "role" }, role), body, more);
    function fill2(part) {
      if (start2 < 0 || start2 >= part.length) body.replaceChildren(part);
      else body.replaceChildren(part.slice(0, start2), el("mark", {}, part.slice(start2, end)), part.slice(end));
    }
  }

  // harness/report/page/views/item/why.js
  var MOST_AT_ONCE = 9;
  async function whySection(set, item) {
    if (!set.items.classes) return null;
    const data = await loadChunk(set.items.classes);
    const number = data.of[item];
    if (number < 0) return null;
    const graphClass = data.classes[number];
    const reason = data.why[item];
    const missing = graphClass.total - graphClass.members.length;
    const count = graphClass.caption ? graphClass.caption : graphClass.total === 1 ? "One graph fits the premise." : `${formatCount(graphClass.total)} graphs fit the premise: the same pairs are connected in all of them, and the same independences hold.`;
    return el(
      "section",
      { class: "why", "aria-labelledby": "why" },
      el("h2", { id: "why" }, "Why"),
      reason && el("p", { class: "explanation" }, reason.said),
      reason && reason.lines && el("pre", { class: "steps-to-it" }, reason.lines.join("\n")),
      el("p", { class: "quiet" }, count),
      members(graphClass, data.names.table[data.names.codes[item]], reason),
      missing > 0 && el("p", { class: "quiet" }, `${formatCount(missing)} more are not in this page.`)
    );
  }
  function members(graphClass, names, reason) {
    const first = reason && reason.member !== null ? reason.member : 0;
    const order = [first, ...graphClass.members.keys()].filter((k, at) => at === 0 || k !== first);
    const list = el("ul", { class: "members" });
    const add = (numbers) => {
      list.append(...numbers.map((k) => el("li", {}, memberPicture(graphClass, names, k, k === first ? reason : null))));
    };
    add(order.slice(0, MOST_AT_ONCE));
    if (order.length <= MOST_AT_ONCE) return list;
    const onclick = () => {
      add(order.slice(MOST_AT_ONCE));
      more.remove();
    };
    const title = `Show the other ${order.length - MOST_AT_ONCE}`;
    const more = el("button", { class: "plain", type: "button", onclick }, title);
    return [list, more];
  }
  function memberPicture(graphClass, names, k, reason) {
    const marked = new Set((reason ? reason.marked : []).map((edge) => edge.join(" ")));
    const edges = graphClass.members[k].map(([a, b]) => ({ a, b, kind: marked.has(`${a} ${b}`) ? "marked" : "" }));
    const title = graphClass.total === 1 ? "The graph" : `Graph ${k + 1} of ${formatCount(graphClass.total)}`;
    const round = names.every((name2) => [...name2].length <= 3);
    const arrows = edges.map(({ a, b }) => `${names[a]} → ${names[b]}`).join(", ") || "no edge";
    const at = circleLayout(names.length, round ? 62 : 92);
    const picture = graphPicture({ nodes: names, at, edges, round, label: `${title}: ${arrows}` });
    picture.classList.add("small");
    if (reason) picture.classList.add("first");
    const role = reason && !graphClass.caption ? el("strong", {}, reason.holds ? " shows it" : " decides") : "";
    return el("figure", {}, picture, el("figcaption", {}, title, role));
  }

  // harness/report/page/views/item/view.js
  var itemView = {
    title: "Answer",
    listed: () => false,
    async show(place, route) {
      const [runId, itemId] = route.parts;
      const run = requireRun(runId);
      const other = secondRun(route);
      rememberItem(itemId);
      setTitle(itemId, run.model);
      const set = await loadAnswers(run);
      const second = other && await loadAnswers(other);
      const row = set.first.get(itemId);
      if (row === void 0) {
        throw new Error(itemId ? `The run ${run.id} has no answer to ${itemId}.` : "The address names no item.");
      }
      const item = set.answers.item[row];
      place.append(
        neighbours(set, second, row, route),
        el("h1", { class: "words" }, set.items.words[item]),
        el("p", { class: "quiet" }, itemId, ...itemFacts(set.items, item)),
        goldLabels(set.items, item, run.result.headline),
        chooser(run, itemId, other, route)
      );
      place.append(labelsWarning(run, other) || "");
      const sides = [await answerSection(set, row)];
      if (second) sides.push(await secondSection(second, itemId));
      place.append(el("div", { class: "sides" }, sides));
      const why = await whySection(set, item);
      if (why) place.append(why);
    }
  };
  function chooser(run, itemId, other, route) {
    const query = Object.fromEntries(route.query);
    const field = runChooser({
      label: "Beside",
      none: "no other run",
      runs: comparableRuns(run, "answers"),
      chosen: other,
      onchange: (vs) => visit(addressOf("item", [run.id, itemId], { ...query, vs }))
    });
    return el("div", { class: "choosers" }, field);
  }
  async function secondSection(second, itemId) {
    const row = second.first.get(itemId);
    if (row !== void 0) return answerSection(second, row);
    return titledSection(runName(second.run), el("p", {}, "This run was not asked this item."));
  }
  function neighbours(set, second, row, route) {
    const { rows } = filterAnswers(set, facetsOf(set, second), route.query);
    const items = [...new Set(rows.map((place) => set.answers.item[place]))];
    const at = items.indexOf(set.answers.item[row]);
    const query = Object.fromEntries(route.query);
    const step = (k, title, rel, key) => {
      if (k < 0 || k >= items.length) return el("span", { class: "quiet" }, title);
      const href = addressOf("item", [set.run.id, set.items.ids[items[k]]], query);
      return el("a", { href, rel, "aria-keyshortcuts": key }, title);
    };
    const steps = () => [
      step(at - 1, "‹ previous (k)", "prev", "k"),
      step(at + 1, "next (j) ›", "next", "j"),
      el("span", { class: "quiet" }, `${formatCount(at + 1)} of ${formatCount(items.length)}`)
    ];
    const back = el("a", { href: addressOf("answers", [set.run.id], query) }, "All answers");
    return el("nav", { class: "steps", "aria-label": "Neighbours" }, back, at >= 0 && steps());
  }
  function stepByKey(event) {
    const isModified = event.ctrlKey || event.metaKey || event.altKey;
    if (isModified || event.target.closest("input, select, textarea, [role=grid]")) return;
    const rel = { j: "next", k: "prev" }[event.key];
    const link = rel && document.querySelector(`.steps a[rel=${rel}]`);
    if (link) link.click();
  }
  addEventListener("keydown", stepByKey);
  function itemFacts(items, item) {
    const groups = Object.entries(items.groups).filter(([, group]) => group.codes[item] >= 0);
    const texts = groups.map(([name2, group]) => ` · ${groupTitle(name2)} ${group.names[group.codes[item]]}`);
    return [` · cluster ${items.clusters[item]}`, ...texts];
  }
  function goldLabels(items, item, headline) {
    const sets = Object.entries(items.labels);
    const known = sets.map(([, labels]) => labels[item]).filter((label) => label !== null && label !== void 0);
    const differ = new Set(known).size > 1;
    const texts = sets.map(([name2, labels], k) => [
      k ? ", " : "",
      el("strong", {}, answerWord(labels[item], items)),
      sets.length > 1 ? ` (${name2}${name2 === headline ? ", scored here" : ""})` : ""
    ]);
    const note = differ && el("span", { class: "note" }, " The label sets do not agree on this item.");
    return el("p", { class: "gold" }, "Gold: ", texts, note);
  }

  // harness/report/page/views/run/breakdowns.js
  var COUNTS = ["items", "positives", "clusters", "unreadable", "failed"];
  var MOST_COLOURED = 20;
  function breakdownFolds(run, breakdowns2) {
    const titles = /* @__PURE__ */ new Map();
    return breakdowns2.map(([name2, groups]) => {
      const scores = JSON.stringify(
        Object.values(groups).map((row) => JSON.stringify(row)).sort()
      );
      const first = titles.get(scores);
      if (!first) titles.set(scores, groupTitle(name2));
      const most = Math.max(...Object.values(groups).map((row) => row.items));
      const isSmall = most <= report.few_items;
      const reason = first ? `, the same as by ${first}` : isSmall ? `, of ${formatCount(most)} item${most === 1 ? "" : "s"} at most` : "";
      return breakdownFold(run, name2, groups, reason);
    });
  }
  function breakdownFold(run, name2, groups, reason) {
    const title = groupTitle(name2);
    const rows = Object.entries(groups).map(([group, row]) => ({ group, ...row }));
    const metrics = metricsIn(rows);
    const main = run.main.find((metric) => metrics.includes(metric));
    const summary2 = el("summary", {}, el("h3", {}, `By ${title}`), ` ${rows.length} groups${reason}`);
    const isOpen = !reason && !name2.includes("/");
    const fold = el("details", { class: "breakdown", open: isOpen, ontoggle: build }, summary2);
    if (fold.open) build();
    return fold;
    function build() {
      if (fold.children.length > 1) return;
      const label = `${run.model} by ${title}`;
      const columns2 = [
        { name: "group", title, kind: "text", value: (row) => groupText(row.group) },
        ...metrics.map((metric) => metricColumn3(metric, run.main)),
        ...COUNTS.map(countColumn2),
        ...rows.some((row) => row.cut_off) ? [{ ...countColumn2("cut_off"), title: "cut off in thought" }] : []
      ];
      const table = sortableTable({ label, rows, columns: columns2, onsort: (order) => table.sort(order) });
      if (main && rows.length <= MOST_COLOURED) fold.append(colourStrip(rows, main, title));
      fold.append(table.node);
    }
  }
  var groupText = (group) => group.replace(/_/g, " ");
  function colourStrip(rows, metric, title) {
    const entries = rows.map((row) => {
      const square = el("span", { class: `square ${heatClass(row[metric])}` }, formatMetric(metric, row[metric]));
      return el("li", {}, el("span", { class: "group" }, groupText(row.group)), square);
    });
    return el("ul", { class: "strip", "aria-label": `${metricTitle(metric)} by ${title}` }, entries);
  }
  function metricColumn3(metric, main) {
    const hasBar = isPercent(metric) && main.includes(metric);
    const show = (row) => {
      const text = formatMetric(metric, row[metric]);
      if (!hasBar) return text;
      const ends = (row.intervals || {})[metric];
      return [text, " ", rangeText(formatInterval(metric, ends)), intervalBar(row[metric], ends, 1)];
    };
    return {
      name: metric,
      title: metricTitle(metric),
      kind: "metric",
      head: hasBar && intervalBarHead(true),
      best: bestEnd(metric),
      value: (row) => row[metric],
      show
    };
  }
  function countColumn2(name2) {
    const show = (row) => name2 in row ? formatCount(row[name2]) : "–";
    return { name: name2, title: name2, kind: "count", value: (row) => row[name2], show };
  }

  // harness/report/page/views/run/facts.js
  function answersSection({ result }) {
    const row = result.scores[result.headline].overall.all;
    const counts = row.confusion;
    const facts = factList([
      !counts && ["Unreadable replies", formatCount(row.unreadable)],
      !counts && ["Failed calls", formatCount(row.failed)],
      countsFact("Answers by grade", result.grades),
      firmFact(row.firm),
      countsFact("Failures by kind", result.failures),
      countsFact("How replies ended", result.finish_reasons),
      row.cut_off > 0 && ["Cut off while the model was thinking", formatCount(row.cut_off)],
      countsFact("Models that the server named", result.served_models),
      countsFact("Providers behind the server", result.providers),
      countsFact("Configurations of the server (fingerprints)", result.system_fingerprints)
    ]);
    return titledSection("Answers", counts && confusionTable(counts, result.headline), facts);
  }
  function firmFact(firm) {
    const bounds = Object.entries(firm || {});
    const range = (name2, ends) => `${metricTitle(name2)} ${ends.map((end) => formatMetric(name2, end)).join(" to ")}`;
    const title = "If all others than form and announced had been wrong, or right";
    return bounds.length > 0 && [title, bounds.map(([name2, ends]) => range(name2, ends)).join(", ")];
  }
  function countsFact(title, counts) {
    const entries = Object.entries(counts || {});
    return entries.length > 0 && [title, entries.map(([name2, count]) => `${name2} ${formatCount(count)}`).join(", ")];
  }
  function confusionTable(counts, headline) {
    const heads = ["said yes", "said no", "unreadable", "failed call"].map(
      (title) => el("th", { scope: "col", class: "number" }, title)
    );
    const cell = (name2) => el("td", { class: "number" }, formatCount(counts[name2] || 0));
    const rows = [
      ["yes", "tp", "fn", "unreadable_positive", "failed_positive"],
      ["no", "fp", "tn", "unreadable_negative", "failed_negative"]
    ].map(([gold, ...names]) => el("tr", {}, el("th", { scope: "row" }, gold), names.map(cell)));
    return scrollTable(
      "Answers by gold label",
      { class: "data" },
      `Answers by gold label (${headline})`,
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, `gold (${headline})`), heads)),
      el("tbody", {}, rows)
    );
  }
  function factSections({ id, result, manifest }) {
    const notes = (result.notes || []).map((note) => el("p", { class: "prose" }, note));
    return [
      notes.length > 0 && titledSection("Notes", notes),
      factSection("Several answers an item", Object.entries(result.samples || {}).map(sampleFact)),
      factSection("Usage and cost", costFacts(result, manifest)),
      factSection("Settings", flatSettings(manifest.configuration)),
      factSection("How it came about", provenanceFacts(id, result, manifest))
    ].filter(Boolean);
  }
  function sampleFact([name2, value]) {
    const isShare = name2 !== "number" && typeof value === "number";
    return [name2.replace(/_/g, " "), isShare ? `${formatNumber(100 * value, 2)}%` : String(value ?? "–")];
  }
  function costFacts(result, { price }) {
    const cost = result.cost || {};
    const usage = Object.entries(result.usage || {});
    return [
      ...usage.map(([name2, count]) => [`${name2.replace(/_/g, " ")} tokens`, formatCount(count)]),
      "usd" in cost && ["cost", dollarText(cost.usd)],
      cost.answers && ["answers paid for", formatCount(cost.answers)],
      cost.answers_without_cost && ["answers without a count of tokens", formatCount(cost.answers_without_cost)],
      cost.price && ["price", cost.price],
      ...flatSettings(price).map(([name2, value]) => [`price: ${name2}`, value])
    ];
  }
  function dollarText(usd) {
    if (usd === null) return "unknown, as the model's price is";
    return `$${usd.toLocaleString("en-US", { maximumSignificantDigits: 4 })}`;
  }
  function provenanceFacts(id, { interval }, manifest) {
    const { harness, versions, machine, items, started, ended, python } = manifest;
    const joined2 = (pairs) => pairs.map(([name2, value]) => `${name2} ${value}`).join(", ");
    return [
      ["run", id],
      harness && ["harness", versionText(harness)],
      started && ["started", formatTime(started)],
      ended && ["ended", formatTime(ended)],
      items && ["items", `${items.count === void 0 ? "" : formatCount(items.count)}, SHA-256 ${items.sha256}`],
      interval && ["intervals", `${100 * interval.level}%, ${interval.method}, seed ${interval.seed}`],
      python && ["Python", python],
      machine && ["machine", joined2(flatSettings(machine))],
      versions && ["packages", joined2(Object.entries(versions))]
    ];
  }
  function versionText({ version, commit, dirty }) {
    const changes = dirty ? ", with changes that are not committed" : "";
    return `${version || ""}${commit ? `, commit ${commit}` : ""}${changes}`;
  }
  function factSection(title, pairs) {
    const list = factList(pairs);
    return list && titledSection(title, list);
  }
  function factList(pairs) {
    const facts = pairs.filter(Boolean);
    if (!facts.length) return null;
    const rows = facts.map(([name2, value]) => el("div", {}, el("dt", {}, name2), el("dd", {}, value)));
    return el("dl", { class: "about" }, rows);
  }
  function flatSettings(value, name2 = "") {
    if (value === null || value === void 0) return name2 ? [[name2, "none"]] : [];
    if (typeof value !== "object") return [[name2, String(value)]];
    if (Array.isArray(value)) return [[name2, value.map(entryText).join(", ") || "none"]];
    return Object.entries(value).flatMap(([key, inside]) => flatSettings(inside, name2 ? `${name2}.${key}` : key));
  }
  var entryText = (entry) => entry && typeof entry === "object" ? JSON.stringify(entry) : String(entry);

  // harness/report/page/views/run/links.js
  function runLinks(run, query) {
    const { answers, graphs } = run;
    const isOnSameItems = (other) => other.answers && answers && other.answers.items === answers.items;
    const others = report.runs.filter((other) => other !== run && isOnSameItems(other));
    const link = (title, ...address) => el("a", { class: "action", href: addressOf(...address) }, title);
    return el(
      "div",
      { class: "links" },
      answers && link(`Answers (${formatCount(answers.count)})`, "answers", [run.id]),
      graphs && link("Graphs, true and predicted", "graphs", [run.id, graphs.networks[0]]),
      !answers && run.no_answers && el("span", { class: "quiet" }, run.no_answers),
      others.length > 0 && compareLink(run, others, query),
      link("Charts of this task", "charts", [], { task: run.task })
    );
  }
  function compareLink(run, others, query) {
    const link = el("a", { class: "action" }, "Compare the answers");
    const setTarget = (vs) => link.setAttribute("href", addressOf("answers", [run.id], { vs }));
    const first = others.some((other) => other.id === query.vs) ? query.vs : others[0].id;
    setTarget(first);
    const chooser2 = selectField({
      label: "Beside run",
      value: first,
      options: others.map((other) => [other.id, runName(other)]),
      onchange: setTarget
    });
    return el("span", { class: "beside-run" }, chooser2, link);
  }

  // harness/report/page/views/run/view.js
  var MOST_LARGE = 4;
  var runView = {
    title: "Run",
    listed: () => false,
    show: (place, route) => showRun(place, route.parts[0], Object.fromEntries(route.query))
  };
  function showRun(place, id, query) {
    const run = findRun(id);
    if (!run) {
      const link = el("a", { href: addressOf("board") }, "All runs");
      const sentence = `This page has no run ${id || "without a name"}. `;
      place.append(el("h1", {}, "No such run"), el("p", {}, sentence, link));
      return;
    }
    const sets = labelSets(run);
    setTitle(run.model);
    place.classList.add("run", `role-${run.role}`);
    place.append(...heading(run, query));
    if (!sets.length) place.append(el("p", {}, "There are no scores in its result.json."));
    else place.append(mainScores(run), allScores(run, sets), answersSection(run), breakdowns(run, sets, query));
    place.append(...factSections(run));
  }
  function labelSets({ result }) {
    const scores = result.scores || {};
    const others = Object.keys(scores).filter((name2) => name2 !== result.headline);
    return [result.headline, ...others].filter((name2) => scores[name2]);
  }
  function heading(run, query) {
    const { result } = run;
    const parts = [
      run.prompt && `prompt ${run.prompt}`,
      run.variant && `variant ${run.variant}`,
      run.role,
      result.headline && `${result.headline} labels`
    ];
    const warning = "This run is not complete: its scores are those of the answers so far, and it is in no leaderboard and no chart.";
    const nodes = [
      el("p", { class: "crumbs" }, el("a", { href: addressOf("board", [], { task: run.task }) }, run.task)),
      el("h1", {}, breakable(run.model)),
      el("p", { class: "above" }, breakable(parts.filter(Boolean).join(" · "))),
      !run.complete && el("p", { class: "banner", role: "note" }, warning),
      runLinks(run, query)
    ];
    return nodes.filter(Boolean);
  }
  function mainScores({ result, main }) {
    const row = ((result.scores[result.headline] || {}).overall || {}).all || {};
    const names = [.../* @__PURE__ */ new Set([...main, ...heatMetrics()])].filter((name2) => name2 in row).slice(0, MOST_LARGE);
    const figures = names.map((name2) => {
      const ends = (row.intervals || {})[name2];
      const number = el("span", { class: "big" }, formatMetric(name2, row[name2]));
      const bar = isPercent(name2) && intervalBar(row[name2], ends, 1);
      const interval = rangeText(formatInterval(name2, ends));
      return el("div", {}, el("dt", {}, metricTitle(name2)), el("dd", {}, number, " ", interval, bar));
    });
    return el("dl", { class: "figures", "aria-label": "Main scores" }, figures);
  }
  function allScores({ result }, sets) {
    const columns2 = sets.flatMap(
      (set) => Object.entries(result.scores[set].overall || {}).map(([group, row]) => {
        const title = `${set}${group === "all" ? "" : `, ${group}`}`;
        return { title, row };
      })
    );
    const names = metricsIn(columns2.map((column) => column.row));
    const hasBounds = columns2.some(({ row }) => Object.keys(row.bounds || {}).length);
    const hasFirm = columns2.some(({ row }) => row.firm);
    const about = "Below a value: what it would be if all unreadable replies and failed calls had been wrong, and if all had been right.";
    const table = sortableTable({
      label: "All scores, by label set",
      rows: [...names, ...COUNTS],
      columns: [{ name: "metric", title: "metric", kind: "text", value: metricTitle }, ...columns2.map(scoreColumn)]
    });
    return titledSection(
      "Scores",
      table.node,
      hasBounds && el("p", { class: "notes" }, about),
      hasFirm && el("p", { class: "notes" }, "Firm: the same if only answers in the form or announced counted."),
      columns2.flatMap(missingIntervals)
    );
  }
  function scoreColumn({ title, row }) {
    return {
      name: title,
      title: `${title} labels`.replace(", mean of networks labels", " labels, mean of networks"),
      kind: "metric",
      wide: true,
      value: (name2) => row[name2],
      show: (name2) => scoreCell3(row, name2)
    };
  }
  function scoreCell3(row, name2) {
    if (!(name2 in row)) return ["– ", rangeText()];
    if (COUNTS.includes(name2)) return [formatCount(row[name2]), " ", rangeText()];
    const range = (ends) => ends && ends.map((end) => formatMetric(name2, end)).join(" to ");
    const below = range((row.bounds || {})[name2]);
    const firm = range((row.firm || {})[name2]);
    const interval = formatInterval(name2, (row.intervals || {})[name2]);
    return [
      formatMetric(name2, row[name2]),
      " ",
      rangeText(interval),
      below && el("span", { class: "below" }, below),
      firm && el("span", { class: "below" }, `firm: ${firm}`)
    ];
  }
  function missingIntervals({ title, row }) {
    return Object.entries(row.no_interval || {}).map(([reason, names]) => {
      const metrics = metricsIn([Object.fromEntries(names.map((name2) => [name2, true]))]);
      if (!metrics.length) return null;
      const titles = metrics.map(metricTitle).join(", ");
      return el("p", { class: "notes" }, `No interval, ${title} labels: ${reason} (${titles}).`);
    });
  }
  function breakdowns(run, sets, query) {
    const set = sets.includes(query.labels) ? query.labels : sets[0];
    const inside = el("div", {});
    const fill2 = (name2) => {
      const parts = Object.entries(run.result.scores[name2]).filter(([part]) => part !== "overall");
      inside.replaceChildren(...breakdownFolds(run, parts));
    };
    fill2(set);
    const chooser2 = selectField({
      label: "Label set",
      value: set,
      options: sets.map((name2) => [name2, name2]),
      onchange: (labels) => {
        setQuery({ labels });
        fill2(labels);
      }
    });
    return titledSection("Breakdowns", sets.length > 1 && el("div", { class: "controls" }, chooser2), inside);
  }

  // harness/report/page/main.js
  var VIEWS = {
    __proto__: null,
    // an address may name anything, such as #/constructor
    board: boardView,
    differences: differencesView,
    charts: chartsView,
    answers: answersView,
    graphs: graphsView,
    run: runView,
    item: itemView
  };
  async function start() {
    await loadReport();
    document.head.prepend(markStyles());
    const listedViews = Object.entries(VIEWS).filter(([, view]) => view.listed());
    const links = listedViews.map(([name2, view]) => el("li", {}, el("a", { href: addressOf(name2) }, view.title)));
    document.getElementById("nav").append(...links);
    document.getElementById("footer").append(el("p", {}, report.footer));
    document.querySelector(".skip").addEventListener("click", skipToContent);
    addEventListener("hashchange", () => showView(VIEWS));
    await showView(VIEWS);
  }
  function skipToContent(event) {
    event.preventDefault();
    document.getElementById("main").focus();
  }
  start().catch((error) => showError(document.getElementById("main"), error));
})();
