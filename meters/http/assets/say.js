/* What the pages for staff say, in the language that a person chose on this device, or else in the
   browser's. The sentence in the code is English, and is the key of its translations. A word after #
   is not shown: it distinguishes sentences with the same words and different senses. Modules that
   import this one begin when the translations are there. */

const KEPT = "pitlink.language";
const LIMIT_MS = 5000;

/* The languages, each with its own name. */
export const LANGUAGES = [["en", "English"], ["es", "Español"], ["zh-Hans", "简体中文"], ["vi", "Tiếng Việt"]];

const recall = () => {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null; // the browser keeps nothing
  }
};

const chosen = () => {
  try {
    const { language, script } = new Intl.Locale(recall() ?? navigator.language).maximize();
    return LANGUAGES.find(([each]) => each === language || each === `${language}-${script}`)?.[0] ?? "en";
  } catch {
    return "en"; // the browser names no language
  }
};

/* Nobody can work with an empty page: without its translations, a page is in English. */
const read = async (language) => {
  if (language === "en") return null;
  const file = new URL(`./staff_${language}.json`, import.meta.url);
  return fetch(file, { signal: AbortSignal.timeout(LIMIT_MS) }).then((answer) => (answer.ok ? answer.json() : null));
};

const asked = chosen();
const found = await read(asked).catch(() => null);
const { sentences, hands } = found ?? { sentences: {}, hands: {} };

export const language = found ? asked : "en";
document.documentElement.lang = language;

/* The language, with the country that decides how the pages write dates. */
export const locale = { en: "en-US", es: "es-US" }[language] ?? language;

/* Say a sentence with the values of its places, such as {amount}. If a value is an element, the
   answer is a list of texts and elements. */
export const say = (sentence, values = {}) => {
  const parts = (sentences[sentence] ?? sentence.replace(/#\w+$/, "")).split(/\{(\w+)\}/)
    .map((part, at) => (at % 2 ? values[part] : part));
  return parts.some((part) => typeof part === "object") ? parts : parts.join("");
};

/* Numbers are written as amounts of money are, in every language. */
export const number = (count) => count.toLocaleString("en-US");

/* Say one of two sentences about a number, which replaces their {count}. */
export const sayCount = (one, many, count, values = {}) =>
  say(count === 1 ? one : many, { count: number(count), ...values });

/* Say a list: 1, 2 and 3. */
export const sayList = (texts) => new Intl.ListFormat(language === "en" ? "en-GB" : language).format(texts);

/* The name of a hand. A hand of a house's own game has only its English name. */
export const sayHand = (name) => hands[name] ?? name;

/* Speak another language from now on, on this device. */
export const speak = (next) => {
  try {
    localStorage.setItem(KEPT, next);
  } catch {
    return;
  }
  location.reload();
};
