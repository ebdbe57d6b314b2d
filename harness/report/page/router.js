// Every view has an address: #/name/part/part?key=value. Parts and values are escaped as in any URL.
"use strict";

// What an address says: {view, parts, query}.
Harness.parse = function parse(hash) {
  const [path, ...rest] = hash.replace(/^#\/?/, "").split("?");
  const query = rest.join("?");
  const parts = path.split("/").filter(Boolean).map(decode);
  return { view: parts[0] || "board", parts: parts.slice(1), query: new URLSearchParams(query) };

  function decode(part) {
    try { return decodeURIComponent(part); } catch { return part; }
  }
};

// The address of a view; empty values are left out.
Harness.address = function address(view, parts, query) {
  const path = [view, ...(parts || [])].map(encodeURIComponent).join("/");
  const told = new URLSearchParams(Object.entries(query || {}).filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false));
  return `#/${path}${[...told].length ? `?${told}` : ""}`;
};

// Browsers refuse an address that changes too often (Safari throws after about 100 changes in 30 s), so the view is ahead of it
// while somebody types: {address, of: the browser's address that it replaces} until it is written.
const EVERY = 400; // ms
let ahead = null;
let timer = 0;

// The address of the view in sight, as parse() has it.
Harness.here = () => Harness.parse(ahead && ahead.of === location.href ? ahead.address : location.hash);

// Changes settings of the view in sight without leaving it: the address follows, and the back button does not count keystrokes.
Harness.setQuery = function setQuery(changes) {
  const route = Harness.here();
  Harness.replace(Harness.address(route.view, route.parts, { ...Object.fromEntries(route.query), ...changes }));
};

// Another address for the view in sight: the first at once, then the last of those that come within EVERY.
Harness.replace = function replace(address) {
  ahead = { address, of: location.href };
  if (!timer) write();
};

function write() {
  if (!ahead) return;
  clearTimeout(timer);
  timer = setTimeout(() => { timer = 0; write(); }, EVERY);
  try {
    if (ahead.of === location.href) history.replaceState(null, "", ahead.address); // else that view is left
    ahead = null;
  } catch {
    // Refused: the view does not need it, and the next try is in EVERY.
  }
}

// To another view. What is ahead is written before, as the back button leads to it.
Harness.visit = function visit(address) {
  write();
  location.hash = address;
};
addEventListener("click", (event) => { if (event.target.closest("a")) write(); }, { capture: true });
addEventListener("blur", write); // to the address bar, to copy from it

// Shows what the address says. A view that throws leaves a sentence, never an empty page.
Harness.go = async function go() {
  const main = document.getElementById("main");
  const route = Harness.here();
  const view = Harness.views[route.view];
  for (const link of document.querySelectorAll("#nav a")) {
    const here = Harness.parse(link.hash).view === route.view;
    if (here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  const place = Harness.el("div", { class: "view" });
  // A control that shows its own view anew, such as the next network, keeps the focus and the place on the screen.
  const held = Harness.visited === route.view && main.contains(document.activeElement) ? document.activeElement.name : "";
  const top = window.scrollY;
  main.replaceChildren(place);
  main.setAttribute("aria-busy", "true");
  Harness.titled(view ? view.title : "Not found");
  try {
    if (!view) throw new Error(`This page has no view ${route.view}.`);
    await view.show(place, route);
  } catch (error) {
    Harness.sayWhy(place, error);
  }
  if (!place.isConnected) return; // somebody has gone on to another view
  main.removeAttribute("aria-busy");
  const again = held && [...place.querySelectorAll("select, input")].find((one) => one.name === held);
  if (Harness.visited) (again || main).focus({ preventScroll: true });
  if (Harness.visited) window.scrollTo(0, again ? top : 0);
  Harness.visited = route.view;
};

// What the browser calls the page: the view, then the page.
Harness.titled = function titled(...parts) {
  document.title = [...parts, Harness.data.title].join(" · ");
};

Harness.sayWhy = function sayWhy(place, error) {
  place.replaceChildren(Harness.el("h1", {}, "This cannot be shown"), Harness.el("p", {}, String(error.message || error)));
};
