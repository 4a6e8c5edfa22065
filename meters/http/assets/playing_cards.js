/* Playing cards as components. */

import { html } from "./preact.js";

const RANKS = {
  T: "ten", J: "jack", Q: "queen", K: "king", A: "ace",
  2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine",
};
const SUITS = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };

export const cardWords = (name) => `${RANKS[name[0]]} of ${SUITS[name[1]]}`;

const MARKS = { in: ", in the winning hand", out: ", not in it" };

/* A playing card; "Td" is the ten of diamonds. Of a win, `mark` says if it is "in" the hand. */
export const Card = ({ name, mark = null }) => html`
  <span class="card" role="img" aria-label=${cardWords(name) + (MARKS[mark] ?? "")} data-mark=${mark}
    data-rank=${name[0] === "T" ? "10" : name[0]} data-suit=${name[1]} />`;

export const Cards = ({ names }) => html`
  <span class="cards">${names.map((name) => html`<${Card} key=${name} name=${name} />`)}</span>`;
