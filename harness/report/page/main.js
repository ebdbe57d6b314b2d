// Starts the page: unpacks the data, lists the views, shows the one in the address.
import { markStyles } from "./charts/marks.js";
import { loadReport, report } from "./data/store.js";
import { addressOf } from "./ui/address.js";
import { el } from "./ui/dom.js";
import { showError, showView } from "./ui/router.js";
import { answersView } from "./views/answers/view.js";
import { boardView } from "./views/board/view.js";
import { chartsView } from "./views/charts.js";
import { differencesView } from "./views/differences.js";
import { graphsView } from "./views/graphs.js";
import { itemView } from "./views/item/view.js";
import { runView } from "./views/run/view.js";

/** By the name in the address, in the order of the navigation: {title, listed(), show(place, route)}. */
const VIEWS = {
  __proto__: null, // an address may name anything, such as #/constructor
  board: boardView,
  differences: differencesView,
  charts: chartsView,
  answers: answersView,
  graphs: graphsView,
  run: runView,
  item: itemView,
};

async function start() {
  await loadReport();
  document.head.prepend(markStyles()); // before the page's own styles, as a line's colour overrides its role's
  const listedViews = Object.entries(VIEWS).filter(([, view]) => view.listed()); // a run leads to the other views
  const links = listedViews.map(([name, view]) => el("li", {}, el("a", { href: addressOf(name) }, view.title)));
  document.getElementById("nav").append(...links);
  document.getElementById("footer").append(el("p", {}, report.footer));
  document.querySelector(".skip").addEventListener("click", skipToContent);
  addEventListener("hashchange", () => showView(VIEWS));
  await showView(VIEWS);
}

// The link itself would change the address, which is that of the view.
function skipToContent(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

start().catch((error) => showError(document.getElementById("main"), error));
