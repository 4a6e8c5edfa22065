/* Playing cards as components, and results that are not cards. */

import { html } from "./preact.js";
import { say, sayHand } from "./say.js";

const RANKS = {
  T: say("ten"), J: say("jack"), Q: say("queen"), K: say("king"), A: say("ace"), 2: say("two"), 3: say("three"),
  4: say("four"), 5: say("five"), 6: say("six"), 7: say("seven"), 8: say("eight"), 9: say("nine"),
};
const SUITS = { c: say("clubs"), d: say("diamonds"), h: say("hearts"), s: say("spades") };

/* The joker has neither rank nor suit: it is drawn as a star, as if that were its suit. */
export const JOKER = "Jk";

export const isCard = (name) => name === JOKER || /^[2-9TJQKA][cdhs]$/.test(name);

/* The rank as it is printed on a card. */
export const rankText = (name) => {
  if (name === JOKER) return "";
  return name[0] === "T" ? "10" : name[0];
};

/* Whose cards these are, or that they are the one result of the table. */
export const dealerWords = (names) => (isCard(names[0]) ? say("Dealer") : say("Result of the table"));

/* The words of a result: "dragon_7" is "Dragon 7". */
const resultWords = (name) => sayHand(name[0].toUpperCase() + name.slice(1).replaceAll("_", " "));

export const cardWords = (name) => (isCard(name) ? inWords(name) : resultWords(name));

const inWords = (name) => (name === JOKER ? say("joker") : say("{rank} of {suit}", { rank: RANKS[name[0]], suit: SUITS[name[1]] }));

const marked = (name, mark) => {
  const card = cardWords(name);
  if (mark === null) return card;
  return mark === "in" ? say("{card}, in the winning hand", { card }) : say("{card}, not in the winning hand", { card });
};

/* A playing card; "Td" is the ten of diamonds. If the card is shown for a win, `mark`
   says if it is "in" the hand. */
export const Card = ({ name, mark = null }) => (isCard(name) ? html`
  <span class="card" role="img" aria-label=${marked(name, mark)} data-mark=${mark}
    data-rank=${rankText(name)} data-suit=${name[1]} />`
  : html`<b class="result-chip">${resultWords(name)}</b>`);

/* The names of a hand with one card more, in its first empty place. */
export const withCard = (names, name) => {
  const at = names.indexOf(null);
  return at < 0 ? [...names, name] : names.map((each, place) => (place === at ? name : each));
};

/* The names without the card at a place. If the order counts, the place stays empty. */
export const withoutCard = (names, at, ordered) => {
  if (!ordered) return names.filter((_, place) => place !== at);
  const kept = names.map((each, place) => (place === at ? null : each));
  while (kept.length && kept[kept.length - 1] === null) kept.pop();
  return kept;
};

/* The gap after the first cards of a hand, if a wager is on these alone. */
export const gapAfter = (at, firsts) => firsts.includes(at + 1) && html`<i class="gap" aria-hidden="true"></i>`;

export const Cards = ({ names }) => html`
  <span class="cards">${names.map((name) => html`<${Card} key=${name} name=${name} />`)}</span>`;
