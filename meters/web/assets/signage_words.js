/* The words that patrons read, in the language of the page. Scripts have none of their own. */

export const words = JSON.parse(document.body.dataset.words);

/* A text with its places in braces filled: say("table", { table: "TCP-01" }). */
export const say = (name, values = {}) => words[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
