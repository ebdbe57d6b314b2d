// Starts the page: unpacks the data, lists the views, shows the one in the address.
"use strict";

(async function start() {
  Harness.data = await Harness.unpack(await Harness.packedText("data"));
  document.head.prepend(Harness.markStyles()); // before the page's own styles, of which a line's colour overrides its role's
  const nav = document.getElementById("nav");
  for (const [name, view] of Object.entries(Harness.views)) {
    if (!view.listed || !view.listed()) continue; // views that need an item or a run are reached from others
    nav.append(Harness.el("li", {}, Harness.el("a", { href: Harness.address(name) }, view.title)));
  }
  document.getElementById("footer").append(Harness.el("p", {}, Harness.data.footer));
  // The link to the content would change the address, which is that of the view.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  });
  window.addEventListener("hashchange", () => Harness.go());
  await Harness.go();
})().catch((error) => Harness.sayWhy(document.getElementById("main"), error));
