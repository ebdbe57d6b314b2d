// The page's data: what is needed at once, and the chunks that are unpacked when somebody looks at them.

/** Runs, tables, charts, metrics and marks, as docs/report.md describes them; null until loadReport is done. */
export let report = null;

const chunks = new Map(); // name → promise of the unpacked value
const arrivals = new Map(); // name → the function that takes the text of a chunk beside the page

/** Fill `report` from the page. */
export async function loadReport() {
  report = await unpack(await packedText("data"));
}

/** Return a chunk by name, unpacked once: from the page itself, or from the script that report.beside names. */
export function loadChunk(name) {
  if (!chunks.has(name)) chunks.set(name, packedText(name).then(unpack));
  return chunks.get(name);
}

/** Return the value of a packed text: base64 of gzip of JSON. */
async function unpack(text) {
  if (!window.DecompressionStream) {
    throw new Error(
      "This browser is too old for this page, as it has no DecompressionStream. " +
        "Chrome or Edge 85, Firefox 113, Safari 16.4 and later ones can show it.",
    );
  }
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length); // Uint8Array.from takes ten times as long: a second for 10 MB
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function packedText(name) {
  const block = [...document.querySelectorAll("script[data-chunk]")].find((script) => script.dataset.chunk === name);
  if (block) return Promise.resolve(block.textContent);
  const file = ((report && report.beside) || {})[name];
  if (!file) return Promise.reject(new Error(`this page has no ${name}`));
  return new Promise((resolve, reject) => {
    arrivals.set(name, resolve);
    const script = document.createElement("script");
    script.src = file;
    script.onerror = () => reject(new Error(`${file} is not there: keep the folder beside the page`));
    document.head.append(script);
  });
}

// The page's one global name: chunks beside the page are classic scripts, as neither fetch nor modules work from disk.
window.harnessChunk = (name, text) => arrivals.get(name)(text);
