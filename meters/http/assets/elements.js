/* Elements of the pages for staff, including playing cards. */

const RANKS = {
  T: "ten", J: "jack", Q: "queen", K: "king", A: "ace",
  2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine",
};
const ABSENT = [null, undefined, false];
const SUITS = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };

/* Make an element: make("button.go", { type: "button" }, "Pay", …). Text is inserted as text,
   never as markup. A property that begins with "on" is a listener. null and false omit an
   attribute or a child. */
export const make = (what, attributes = {}, ...content) => {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (!ABSENT.includes(value)) element.setAttribute(name, value);
  }
  element.append(...content.flat(Infinity).filter((each) => !ABSENT.includes(each)));
  return element;
};

/* Make a select; `options` are pairs of value and label. */
export const select = (attributes, options, chosen) =>
  make("select", attributes, options.map(([value, label]) =>
    make("option", { value, selected: value === chosen }, label)));

export const cardWords = (name) => `${RANKS[name[0]]} of ${SUITS[name[1]]}`;

/* Make a playing card; "Td" is the ten of diamonds. */
export const card = (name) =>
  make("span.card", {
    role: "img",
    "aria-label": cardWords(name),
    "data-rank": name[0] === "T" ? "10" : name[0],
    "data-suit": name[1],
  });

export const cards = (names) => make("span.cards", {}, names.map(card));
