// A page that follows runs under way is written anew every few seconds: it reloads itself, and is where it was.
import { report } from "../data/store.js";
import { el } from "./dom.js";

/** Say what is under way, and reload as often as the page is written; not while somebody types, chooses or selects. */
export function followRuns() {
  const { follow } = report;
  if (!follow) return;
  const sentence = el("p", { class: "following" }, `${follow.sentence} This page reloads itself.`);
  document.querySelector("header").after(sentence);
  const { top } = history.state || {};
  if (top) requestAnimationFrame(() => requestAnimationFrame(() => window.scrollTo(0, top))); // charts need a frame
  const timer = setInterval(() => {
    if (Date.now() > follow.until) {
      clearInterval(timer);
      sentence.textContent = `${follow.sentence} Nothing writes this page anew any more.`;
    } else if (!isBusy()) {
      history.replaceState({ top: window.scrollY }, "");
      location.reload();
    }
  }, 1000 * follow.every);
}

function isBusy() {
  return document.hidden || document.activeElement.matches("input, select") || !getSelection().isCollapsed;
}
