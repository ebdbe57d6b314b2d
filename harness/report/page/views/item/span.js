// Where the words that decided stand in a reply.

// Between the words of a span: what the parser takes for one space.
const BETWEEN = "[\\s*_`#>\"“”„«»'‘’]+";

/**
 * Return [start, end] of the words that decided, or [-1, -1]. The parser gives them in lower case, without emphasis,
 * quotation marks, more than one space, or what stands in <think>; a single word counts where it begins the reply, all
 * others where they come last.
 */
export function decidingSpan(text, span) {
  const words = span.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("'", "['’]"));
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
