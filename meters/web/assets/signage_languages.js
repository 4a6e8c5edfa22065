/* The languages that a display shows one after another. The same page is read once in each of the other
   languages. So a change of language waits for nothing, and moves no amount. */

import { fetchText } from "./requests.js";
import { reducedMotion } from "./signage_odometer.js";
import { words } from "./signage_words.js";

const LIMIT_MS = 8000;
const RETRY_MS = 10000;
const FADE_MS = 300;

const page = document.documentElement;

/* An element with data-say says something: as its text, or in the attribute that data-say names. */
const saying = (root) => [...root.querySelectorAll("[data-say]")];
const said = (element) => (element.dataset.say ? element.getAttribute(element.dataset.say) : element.textContent);
const say = (element, text) => {
  if (said(element) === text) return;
  if (element.dataset.say) element.setAttribute(element.dataset.say, text);
  else element.textContent = text;
};

const read = (root) => ({
  lang: root.documentElement.lang,
  words: JSON.parse(root.body.dataset.words),
  texts: saying(root).map(said),
});

const elements = saying(document);
let languages = [read(document)];
let shown = languages[0];
const listeners = [];

const use = (language) => {
  page.lang = language.lang;
  Object.assign(words, language.words);
  elements.forEach((element, at) => say(element, language.texts[at]));
};

/* Call a function with false at each change of the language, and with true after the other languages
   have been read. */
export const whenSaid = (listener) => listeners.push(listener);

export const takesTurns = () => languages.length > 1;

/* What a function measures in each language. Nothing is drawn meanwhile. */
export const inEach = (measure) => {
  if (!takesTurns()) return [measure()];
  const found = languages.map((language) => {
    use(language);
    return measure();
  });
  use(shown);
  return found;
};

/* The elements whose text differs in the next language, and the elements that scripts write. The mark of
   a demonstration is never faded. */
const changing = (next) => new Set(elements
  .filter((_, at) => next.texts[at] !== shown.texts[at])
  .map((element) => (element.matches(".floor") ? document.querySelector("h1")
    : element.closest(".tag, .wins, .paytable, .stake, .message, .at, .head, .unavailable")))
  .concat(...document.querySelectorAll(".note, .fact, .won ol"))
  .filter(Boolean));

/* Show the next language; `turned` is called when it is there. */
export const turn = (turned = () => {}) => {
  const next = languages[(languages.indexOf(shown) + 1) % languages.length];
  const change = () => {
    shown = next;
    use(next);
    for (const listener of listeners) listener(false);
    turned();
  };
  if (reducedMotion.matches || "calm" in page.dataset) {
    change();
    return;
  }
  for (const each of changing(next)) {
    each.animate([{ opacity: 1 }, { opacity: 0 }, { opacity: 1 }], { duration: 2 * FADE_MS });
  }
  setTimeout(change, FADE_MS);
};

/* Read the page in its other languages. A page that was changed meanwhile is loaded again anyway. */
const load = async (names) => {
  const found = await Promise.all(names.map(async (name) => {
    const address = new URL(location.href);
    address.searchParams.set("lang", name);
    const { answer, text } = await fetchText(address, LIMIT_MS);
    const other = new DOMParser().parseFromString(text, "text/html");
    const isSame = answer.ok && other.documentElement.dataset.version === page.dataset.version;
    return isSame && saying(other).length === elements.length ? read(other) : null;
  })).catch(() => [null]);
  if (found.includes(null)) {
    setTimeout(load, RETRY_MS, names);
    return;
  }
  languages = [...languages, ...found];
  for (const listener of listeners) listener(true);
};

const [, ...others] = (page.dataset.languages ?? "").split(" ");
if (others.length) load(others);
