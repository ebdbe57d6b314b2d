// Where the words that decided stand in a reply.

// Between the words of a span: tags, LaTeX, emphasis and whatever else the parser takes off.
const BETWEEN = "[^\\p{L}\\p{N}]+";

/**
 * Return [start, end] of the words that decided, or [-1, -1]. The parser gives them in lower case and without their
 * decoration, and with words of its own for a box or a tag: where the whole is not found, its last word is. A single
 * word counts where it begins the reply, all others where they come last.
 */
export function decidingSpan(text, span) {
  const words = span.split(/[^\p{L}\p{N}'’]+/u).filter(Boolean);
  const [start, end] = words.length ? placeOf(text, words) : [-1, -1];
  return start < 0 && words.length > 1 ? placeOf(text, words.slice(-1)) : [start, end];
}

function placeOf(text, plainWords) {
  const words = plainWords.map((word) => word.replaceAll(/['’]/g, "['’]"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])${words.join(BETWEEN)}(?![\\p{L}\\p{N}])`, "giu");
  const thoughtEnd = text.lastIndexOf("</think>");
  const start = thoughtEnd < 0 ? 0 : thoughtEnd + "</think>".length;
  pattern.lastIndex = start;
  const matches = [];
  for (let match; (match = pattern.exec(text));) matches.push(match);
  if (!matches.length) return [-1, -1];
  const leads = words.length === 1 && !/[\p{L}\p{N}]/u.test(text.slice(start, matches[0].index));
  const { index, 0: match } = leads ? matches[0] : matches[matches.length - 1];
  return [index, index + match.length];
}
