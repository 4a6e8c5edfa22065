/* The pad of 52 cards and a joker, or of the results of a game without cards. Touched cards are sent
   when the hand is complete; cards can also be typed. With one deck, a second touch takes a card back; with
   several decks, it enters an equal card. */

import { press, toast } from "./panel_connection.js";
import { button } from "./panel_elements.js";
import { current, update } from "./panel_state.js";
import { Card, cardWords, gapAfter, JOKER, rankText, withCard, withoutCard } from "./playing_cards.js";
import { html } from "./preact.js";
import { say } from "./say.js";

const RANKS = [..."AKQJT98765432"];
const SUITS = [..."shdc"];
const TYPED = /jk|(10|[2-9tjqka])([cdhs])/gi;

export const choose = (chosen) => {
  update({ chosen });
  document.getElementById("pad-title")?.scrollIntoView({ block: "nearest" });
};

const sizeOf = (view, target) => {
  if (target === null) return 0;
  if (target === "dealer") return view.dealer_cards;
  return target === "community" ? view.community_dealt : view.hand_cards;
};

/* The numbers of first cards of a hand that wagers are on. If there are any, their order counts. */
const firstsOf = (view, target) => (target === "community" ? view.first_community_cards : []);

const resultTitle = (target) => {
  if (target === null) return say("All results entered");
  return target === "dealer" ? say("Result of the table") : say("Result of position {position}", { position: target });
};

const titleOf = ({ view, target }) => {
  if (view.results.length) return resultTitle(target);
  if (target === null) return say("All hands entered");
  if (target === "dealer") return say("Dealer's hand");
  if (target !== "community") return say("Hand of position {position}", { position: target });
  return view.first_community_cards.length ? say("Community cards in the order of the deal") : say("Community cards");
};

const eventOf = (target, cards) => {
  if (target === "dealer" || target === "community") return { event: target, cards };
  return { event: "hand", position: Number(target), cards };
};

const send = async (target, names) => {
  const answer = await press(eventOf(target, names));
  if (answer.again || current().target !== target) return;
  update(answer.ok ? { picks: [], typed: "", chosen: null } : { picks: [] });
};

// A game deals at most seven cards to a hand.
const example = (size) => ["As", "Kd", "Qh", "Jc", "Ts", "9d", "8h"].slice(0, size).join(" ");

const pick = (name) => {
  const { view, target, picks } = current();
  const names = view.decks === 1 && picks.includes(name)
    ? withoutCard(picks, picks.indexOf(name), firstsOf(view, target).length)
    : withCard(picks, name);
  update({ picks: names });
  if (names.filter(Boolean).length === sizeOf(view, target)) send(target, names);
};

const type = (event) => {
  event.preventDefault();
  const { view, target, typed } = current();
  const names = [...typed.matchAll(TYPED)].map(([, rank, suit]) =>
    (rank ? (rank === "10" ? "T" : rank.toUpperCase()) + suit.toLowerCase() : JOKER));
  const size = sizeOf(view, target);
  if (names.length === size) send(target, names);
  else toast(say("You typed {count} cards, but {size} are dealt. Example: {example}",
    { count: names.length, size, example: example(size) }));
};

const isUsedUp = (name, { seen, decks }, picks) =>
  [...seen, ...(decks === 1 ? [] : picks)].filter((each) => each === name).length >= decks;

const key = (name, { view, target, picks }) => button(`card-${name}`,
  html`<span aria-hidden="true">${rankText(name)}</span><i aria-hidden="true"></i>`,
  () => pick(name), {
    class: "key",
    "aria-label": cardWords(name),
    "aria-pressed": picks.includes(name),
    disabled: target === null || isUsedUp(name, view, picks),
    "data-suit": name[1],
  });

/* Each hand has buttons of its own, so a second touch of the last button does not enter the next one. */
const Results = (state) => html`<section class="pad of-results" aria-labelledby="pad-title">
  <h2 id="pad-title">${titleOf(state)}</h2>
  <div class="keys results" role="group" aria-label=${say("Results")}>${state.view.results.map((name) =>
    button(`result-${state.target}-${name}`, cardWords(name), () => pick(name), { class: "big", disabled: state.target === null }))}</div>
</section>`;

export const Pad = (state) => (state.view.results.length ? html`<${Results} ...${state} />` : html`<${CardPad} ...${state} />`);

const CardPad = (state) => html`<section class="pad" aria-labelledby="pad-title">
  <div class="whose">
    <h2 id="pad-title">${titleOf(state)}</h2>
    <span class="slots" data-size=${sizeOf(state.view, state.target)} aria-hidden="true">${Array.from({ length: sizeOf(state.view, state.target) }, (_, at) =>
      [state.picks[at] ? html`<${Card} name=${state.picks[at]} />` : html`<span class="slot"></span>`,
        gapAfter(at, firstsOf(state.view, state.target))])}</span>
    ${button("pad-clear", say("Clear"), () => update({ picks: [], typed: "" }),
      { class: "small", disabled: !state.picks.length })}
  </div>
  <div class="keys" data-joker=${state.view.joker} role="group" aria-label=${say("Cards")}>${SUITS.map((suit, row) => html`<div class="suit" key=${suit}>
    ${RANKS.map((rank) => key(rank + suit, state))}${row === 0 && state.view.joker && key(JOKER, state)}</div>`)}</div>
  ${state.target && html`<form class="typed" onsubmit=${type}>
    <label for="typed">${say("Or type the cards")}</label>
    <input id="typed" type="text" autocomplete="off" autocapitalize="none" spellcheck="false"
      placeholder=${example(sizeOf(state.view, state.target))} value=${state.typed} oninput=${({ target }) => update({ typed: target.value })} />
    <button id="typed-enter" type="submit">${say("Enter")}</button>
  </form>`}
</section>`;
