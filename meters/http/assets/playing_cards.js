/* Playing cards as components. */

import { html } from "./preact.js";
import { say } from "./say.js";

const RANKS = {
  T: say("ten"), J: say("jack"), Q: say("queen"), K: say("king"), A: say("ace"), 2: say("two"), 3: say("three"),
  4: say("four"), 5: say("five"), 6: say("six"), 7: say("seven"), 8: say("eight"), 9: say("nine"),
};
const SUITS = { c: say("clubs"), d: say("diamonds"), h: say("hearts"), s: say("spades") };

export const cardWords = (name) => say("{rank} of {suit}", { rank: RANKS[name[0]], suit: SUITS[name[1]] });

const marked = (name, mark) => {
  const card = cardWords(name);
  if (mark === null) return card;
  return mark === "in" ? say("{card}, in the winning hand", { card }) : say("{card}, not in the winning hand", { card });
};

/* A playing card; "Td" is the ten of diamonds. If the card is shown for a win, `mark`
   says if it is "in" the hand. */
export const Card = ({ name, mark = null }) => html`
  <span class="card" role="img" aria-label=${marked(name, mark)} data-mark=${mark}
    data-rank=${name[0] === "T" ? "10" : name[0]} data-suit=${name[1]} />`;

export const Cards = ({ names }) => html`
  <span class="cards">${names.map((name) => html`<${Card} key=${name} name=${name} />`)}</span>`;
