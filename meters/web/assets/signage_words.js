/* The words that patrons read, in the language of the page. Scripts have none of their own. */

export const words = JSON.parse(document.body.dataset.words);

/* A text with its places in braces filled: say("table", { table: "TCP-01" }). */
export const say = (name, values = {}) => plain(words[name], values);

/* A text with the values of its places; marked() has them in bold type, as nodes. */
export const plain = (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => values[key]);
export const marked = (text, values) => text.split(/(\{\w+\})/).filter(Boolean).map((piece) => {
  if (!piece.startsWith("{")) return piece;
  const bold = document.createElement("b");
  bold.textContent = values[piece.slice(1, -1)];
  return bold;
});
