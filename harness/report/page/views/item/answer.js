// What a run was asked about an item and what it replied, as it was: white space, line breaks and all.
import { formatCount, answerWord } from "../../data/format.js";
import { loadChunk } from "../../data/store.js";
import { addressOf } from "../../ui/address.js";
import { el } from "../../ui/dom.js";
import { outcomeMark } from "../answers/marks.js";
import { decidingSpan } from "./span.js";

// Which rule of harness.prompting.reading decided.
const RULES = {
  "in the form": "an answer in the form that the prompt asks for",
  announced: "an answer that is announced as one",
  opening: "the first word of the reply",
  closing: "a last sentence that is the verdict",
  said: "a sentence that says it in other words",
  corrected: "a correction of what was said before",
  judge: "another model, as the rules found nothing (these are its words)",
};

const LONG = 3000; // characters of a message that are shown at once

/** Return a section with all replies of a run to the item in this row, and its prompt. */
export async function answerSection(set, row) {
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
    messages
      ? messages.map(([role, text]) => messageBox(role, prompts.texts[text]))
      : el("p", { class: "quiet" }, "Nothing was sent to a model for this item."),
  );
}

// `sampleTitle` names one of several replies, of which none is scored for itself.
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
    failure
      ? messageBox(`failed: ${failure.kind}`, failure.detail)
      : messageBox("model", answers.reply[row] || "", span),
    el(
      "dl",
      { class: "of-reply" },
      facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, el("bdi", {}, value))]),
    ),
  );
}

// What the model thought, where its server tells it apart: no part of the reply, and nothing is read from it.
function reasoningFold(answers, row) {
  const text = (answers.reasoning && answers.reasoning[row]) || "";
  if (!text) return "";
  const length = el("span", { class: "quiet" }, ` ${formatCount(text.length)} characters, not read as the answer`);
  const fold = el("details", { class: "thoughts", ontoggle: build }, el("summary", {}, "Thoughts", length));
  return fold;

  function build() {
    if (fold.children.length < 2) fold.append(messageBox("model, thinking", text));
  }
}

const spanText = (answers, row) => (answers.span && answers.span[row]) || "";

function replyFacts(set, row, sampleTitle) {
  const { answers } = set;
  const failure = answers.failure && answers.failure[row];
  const span = spanText(answers, row);
  const number = (name) => (answers[name] ? answers[name][row] : null);
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
    ...Object.entries(answers.more || {}).map(([name, column]) => [
      name,
      column[row] === null ? null : `${column[row]}`,
    ]),
  ];
}

function readText({ answers, items, run }, row, sampleTitle) {
  if (answers.read[row] !== null) return answerWord(answers.read[row], items);
  const asNo = ((run.manifest.configuration || {}).task || {}).unreadable === "no";
  return `nothing that answers the question${sampleTitle ? "" : `: scored as ${asNo ? "No" : "wrong"}`}`;
}

// A message, cut where it is long until somebody asks for the rest, with the words that decided marked.
function messageBox(role, text, span) {
  const body = el("pre", { dir: "auto", tabindex: 0, "aria-label": `${role}, text` });
  const [start, end] = span ? decidingSpan(text, span) : [-1, -1];
  const isCut = text.length > LONG && !(start > LONG - 200);
  fill(isCut ? text.slice(0, LONG) : text);
  const onclick = () => {
    fill(text);
    more.remove();
  };
  const title = `Show all ${formatCount(text.length)} characters`;
  const more = isCut && el("button", { class: "plain", type: "button", onclick }, title);
  return el("div", { class: "message" }, el("p", { class: "role" }, role), body, more);

  function fill(part) {
    if (start < 0 || start >= part.length) body.replaceChildren(part);
    else body.replaceChildren(part.slice(0, start), el("mark", {}, part.slice(start, end)), part.slice(end));
  }
}
