"use strict";
/* What the pages that staff work with share: elements, money, cards. Money is whole cents. */
const house = (() => {
  const RANKS = {
    T: "ten", J: "jack", Q: "queen", K: "king", A: "ace",
    2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine",
  };
  const SUITS = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };

  /* An element: make("button.go", { type: "button" }, "Pay", …). Text is text, never markup; a
     property that begins with "on" is a listener; null and false leave an attribute out. */
  const make = (what, attributes = {}, ...content) => {
    const [tag, ...classes] = what.split(".");
    const element = document.createElement(tag);
    if (classes.length) element.className = classes.join(" ");
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== null && value !== undefined && value !== false) {
        element.setAttribute(name, value);
      }
    }
    element.append(...content.flat(Infinity).filter((each) => each !== null && each !== undefined));
    return element;
  };

  const money = (cents) => {
    const sign = cents < 0 ? "−" : "";
    const digits = String(Math.abs(cents)).padStart(3, "0");
    const dollars = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",");
    return `${sign}$${dollars}.${digits.slice(-2)}`;
  };

  const cardWords = (name) => `${RANKS[name[0]]} of ${SUITS[name[1]]}`;

  /* A card drawn as a card; "Td" is the ten of diamonds. */
  const card = (name) =>
    make("span.card", {
      role: "img",
      "aria-label": cardWords(name),
      "data-rank": name[0] === "T" ? "10" : name[0],
      "data-suit": name[1],
    });

  const cards = (names) => make("span.cards", {}, names.map(card));

  return { make, money, card, cards, cardWords };
})();
