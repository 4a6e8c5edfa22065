/* The words that patrons read, in the language of the page. Scripts have none of their own. */

const page = document.documentElement;
const WIDE_FROM = "\u2e80";
const WIDE = 2.6; // a Chinese sign is as wide as this many letters

/* When the page changes its language, signage_languages.js replaces these words. */
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

/* The name of a hand, which the service sends in English. */
export const handText = (name) => words.hands[name] ?? name;

export const percentText = (percent) => `${new Intl.NumberFormat(page.lang).format(percent)}%`;

/* The length of a text in letters. */
export const lengthOf = (text) => [...text].reduce((sum, sign) => sum + (sign >= WIDE_FROM ? WIDE : 1), 0);
