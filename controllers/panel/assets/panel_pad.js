/* The pad of 52 cards. Touched cards are sent when the hand is complete; cards can also be typed. */

import { card, cardWords, make } from "./elements.js";
import { draw, press, toast } from "./panel_connection.js";
import { button, byId } from "./panel_drawing.js";

const RANKS = [..."AKQJT98765432"];
const SUITS = [..."shdc"];
const TYPED = /(10|[2-9tjqka])([cdhs])/gi;
let chosen = null;
let picks = [];
let typed = "";
let whose = null;

const entered = (view, target) => {
  if (target === "dealer") return view.dealer !== null;
  if (target === "community") return view.community !== null;
  const place = view.positions[Number(target) - 1];
  return !place.can.includes("hand");
};

const clear = () => {
  picks = [];
  typed = "";
};

/* Return the hand that the dealer enters now: the chosen hand, or the next hand that is turned up.
   If this hand changes, the picked and typed cards are cleared. So these cards cannot be sent for
   another hand. */
export const targetOf = (view) => {
  if (view.phase !== "dealt" || (chosen !== null && entered(view, chosen))) chosen = null;
  const target = view.phase === "dealt" ? chosen ?? view.next : null;
  if (target !== whose) clear();
  whose = target;
  return target;
};

export const choose = (target) => {
  chosen = target;
  draw();
  byId("pad-title")?.scrollIntoView({ block: "nearest" });
};

const sizeOf = (view, target) => {
  if (target === "dealer") return view.dealer_cards;
  return target === "community" ? 2 : view.hand_cards;
};

const titleOf = (target) => {
  if (target === "dealer") return "Dealer's hand";
  return target === "community" ? "Community cards" : `Hand of position ${target}`;
};

const eventOf = (target, names) => {
  if (target === "dealer" || target === "community") return { event: target, cards: names };
  return { event: "hand", position: Number(target), cards: names };
};

const send = async (target, names) => {
  const answer = await press(eventOf(target, names));
  if (answer.again) return;
  if (whose === target) {
    picks = [];
    if (answer.ok) clear();
  }
  if (answer.ok && chosen === target) chosen = null;
  draw();
};

const pick = (view, target, name) => {
  picks = picks.includes(name) ? picks.filter((each) => each !== name) : [...picks, name];
  const whole = picks.length === sizeOf(view, target);
  const names = picks;
  draw();
  if (whole) send(target, names);
};

const type = (view, target, field) => {
  const names = [...field.value.matchAll(TYPED)].map(([, rank, suit]) =>
    (rank === "10" ? "T" : rank.toUpperCase()) + suit.toLowerCase());
  if (names.length !== sizeOf(view, target)) {
    toast(`You typed ${names.length} cards, but ${sizeOf(view, target)} are dealt. Example: As Kd Qh`);
    return;
  }
  send(target, names);
};

const key = (view, target, name) => button(`card-${name}`, ".key", [
  make("span", { "aria-hidden": "true" }, name[0] === "T" ? "10" : name[0]),
  make("i", { "aria-hidden": "true" }),
], () => pick(view, target, name), {
  "aria-label": cardWords(name),
  "aria-pressed": String(picks.includes(name)),
  disabled: view.seen.includes(name),
  "data-suit": name[1],
});

const slots = (view, target) => make("span.slots", { "aria-hidden": "true" },
  Array.from({ length: sizeOf(view, target) }, (_, at) =>
    picks[at] ? card(picks[at]) : make("span.slot")));

export const padState = () => [chosen, picks];

export const pad = (view) => {
  const target = targetOf(view);
  if (target === null) return null;
  const field = make("input", {
    id: "typed", type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false",
    placeholder: "As Kd Qh",
    oninput: () => { typed = field.value; },
  });
  field.value = typed;
  return make("section.pad", { "aria-labelledby": "pad-title" },
    make("div.whose", {},
      make("h2", { id: "pad-title" }, titleOf(target)), slots(view, target),
      button("pad-clear", ".small", "Clear", () => { clear(); draw(); }, { disabled: !picks.length })),
    make("div.keys", { role: "group", "aria-label": "Cards" }, SUITS.map((suit) =>
      make("div.suit", {}, RANKS.map((rank) => key(view, target, rank + suit))))),
    make("form.typed", {
      onsubmit: (event) => { event.preventDefault(); type(view, target, field); },
    }, make("label", { for: "typed" }, "Or type the cards"), field,
    make("button", { id: "typed-enter", type: "submit" }, "Enter")));
};
