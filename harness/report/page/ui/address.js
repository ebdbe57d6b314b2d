// Every view has an address: #/name/part/part?key=value. Parts and values are escaped as in any URL.

/** Return the route {view, parts, query} of an address. */
export function parseAddress(hash) {
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

/** Return the address of a view; empty values are left out. */
export function addressOf(view, parts, query) {
  const path = [view, ...(parts || [])].map(encodeURIComponent).join("/");
  const isSet = ([, value]) => value !== "" && value !== null && value !== undefined && value !== false;
  const settings = new URLSearchParams(Object.entries(query || {}).filter(isSet));
  return `#/${path}${[...settings].length ? `?${settings}` : ""}`;
}

// Browsers refuse an address that changes too often (Safari throws after about 100 changes in 30 s), so the view is
// ahead of it while somebody types: {address, replaces: the browser's address} until it is written.
const WRITE_EVERY = 400; // ms
let ahead = null;
let timer = 0;

/** Return the route of the view in sight. */
export function currentRoute() {
  return parseAddress(ahead && ahead.replaces === location.href ? ahead.address : location.hash);
}

/**
 * Change settings of the view in sight without leaving it: the address follows, and the back button does not count
 * keystrokes.
 */
export function setQuery(changes) {
  const route = currentRoute();
  replaceAddress(addressOf(route.view, route.parts, { ...Object.fromEntries(route.query), ...changes }));
}

/** Give the view in sight another address: the first at once, then the last of those that come within WRITE_EVERY. */
export function replaceAddress(address) {
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
    if (ahead.replaces === location.href) history.replaceState(null, "", ahead.address); // else that view is left
    ahead = null;
  } catch {
    // Refused: the view does not need it, and the next try is in WRITE_EVERY.
  }
}

/** Go to another view. What is ahead is written before, as the back button leads to it. */
export function visit(address) {
  write();
  location.hash = address;
}

function writeBeforeLink(event) {
  if (event.target.closest("a")) write();
}

addEventListener("click", writeBeforeLink, { capture: true });
addEventListener("blur", write); // to the address bar, to copy from it
