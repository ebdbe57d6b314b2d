// A person's marks: kept in the browser with each press, and saved as a file for harness reread marks=.
const { run, drawn } = document.body.dataset;
const cards = [...document.querySelectorAll("article")];
const buttons = document.querySelectorAll("article button");
let marks = {};
try {
  marks = JSON.parse(localStorage.getItem(`harness marks ${run}`)) ?? {};
} catch {
  // A browser that keeps nothing: what is marked can still be saved.
}

function show() {
  for (const button of buttons) {
    button.ariaPressed = String(button.value === marks[button.parentElement.dataset.reply]);
  }
  const count = cards.filter(({ dataset }) => marks[dataset.reply]).length;
  document.getElementById("marked").textContent = `${count} of ${cards.length} marked.`;
}

document.getElementById("save").onclick = () => {
  const lines = cards.map(({ dataset: { item, sample, reply } }) => {
    return { item, sample: Number(sample), reply, mark: marks[reply] };
  });
  const text = JSON.stringify({ drawn: Number(drawn), marks: lines.filter(({ mark }) => mark) }, null, 1);
  const href = URL.createObjectURL(new Blob([text]));
  Object.assign(document.createElement("a"), { href, download: "marks.json" }).click();
};
for (const button of buttons) {
  button.onclick = () => {
    marks[button.parentElement.dataset.reply] = button.value;
    show();
    localStorage.setItem(`harness marks ${run}`, JSON.stringify(marks));
  };
}
for (const text of document.querySelectorAll("pre")) text.scrollTop = text.scrollHeight; // question and verdict end it
show();
