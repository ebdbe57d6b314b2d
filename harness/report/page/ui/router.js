// Shows the view that the address names.
import { report } from "../data/store.js";
import { currentRoute, parseAddress } from "./address.js";
import { el } from "./dom.js";

let lastView; // name of the view that was shown last

/** Show one of the views {name: {title, show(place, route)}}. One that throws leaves a sentence, no empty page. */
export async function showView(views) {
  const main = document.getElementById("main");
  const route = currentRoute();
  const view = views[route.view];
  markLinks(route.view);
  const place = el("div", { class: "view" });
  // A control that shows its own view anew, such as the next network, keeps the focus and the place on the screen.
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
  if (!place.isConnected) return; // somebody has gone on to another view
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

/** Set what the browser calls the page: the view, then the page. */
export function setTitle(...parts) {
  document.title = [...parts, report.title].join(" · ");
}

/** Replace what stands in `place` by the error, as a sentence. */
export function showError(place, error) {
  place.replaceChildren(el("h1", {}, "This cannot be shown"), el("p", {}, String(error.message || error)));
}
