/* The pad of 52 cards and a joker, or of the results of a game without cards. A tap enters a card of
   the chosen hand. With one deck, a second tap takes it out; with several decks, it enters an equal card. */

import { Card, cardWords, gapAfter, JOKER, rankText, withCard, withoutCard } from "./playing_cards.js";
import { html } from "./preact.js";
import { say } from "./say.js";
import { cardsOf, hands, nextHand, placesOf, usedElsewhere } from "./settle_round.js";

const RANKS = [..."AKQJT98765432"];
const SUITS = [..."shdc"];

/* The places of a hand: its cards, each of which a tap takes out, and its empty places. */
export const Slots = ({ names, size, firsts = [], takeOut }) => html`
  <span class="slots">
    ${Array.from({ length: size }, (_, at) => [
      names[at] ? html`
        <button key=${`${names[at]}-${at}`} type="button" class="out" aria-label=${say("Take out {card}", { card: cardWords(names[at]) })}
          onClick=${() => takeOut(at)}><${Card} name=${names[at]} /></button>`
        : html`<span key=${at} class="slot" aria-hidden="true" />`,
      gapAfter(at, firsts),
    ])}
  </span>`;

const Key = ({ name, picked, disabled, pick }) => html`
  <button type="button" class="key" aria-label=${cardWords(name)} aria-pressed=${String(picked)}
    disabled=${disabled} data-suit=${name[1]} data-card=${name} onClick=${pick}>
    <span aria-hidden="true">${rankText(name)}</span><i aria-hidden="true" />
  </button>`;

const Result = ({ name, picked, disabled, pick }) => html`
  <button type="button" aria-pressed=${String(picked)} disabled=${disabled} data-card=${name} onClick=${pick}>
    ${cardWords(name)}</button>`;

export const Pad = ({ round, game, target, choose, enter, close }) => {
  const hand = hands(round, game).find((each) => each.id === target);
  if (!hand) {
    return html`<section class="pad" aria-label=${say("Cards")}><p>${say("Choose a position to enter its cards.")}</p></section>`;
  }
  const names = cardsOf(round, hand.id);
  const used = hand.drawn ? [] : usedElsewhere(round, game, hand.id);
  const takesOut = (name) => game.decks < 2 && names.includes(name);
  const isUsedUp = (name) => game.decks > 0
    && [...used, ...(game.decks > 1 ? names : [])].filter((each) => each === name).length >= game.decks;
  const full = names.length >= hand.size;
  const places = placesOf(round, hand.id);
  const pick = (name) => {
    const picked = takesOut(name) ? withoutCard(places, places.indexOf(name), hand.firsts?.length) : withCard(places, name);
    const next = enter(hand.id, picked);
    if (picked.filter(Boolean).length < hand.size) return;
    const following = nextHand(next, game, hand.id);
    choose(following ?? hand.id);
    if (!following) close();
  };
  const key = (name, Shown) => html`
    <${Shown} key=${name} name=${name} picked=${names.includes(name)}
      disabled=${isUsedUp(name) || (full && !takesOut(name))} pick=${() => pick(name)} />`;
  return html`
    <section class="pad" aria-labelledby="pad-title">
      <div class="whose">
        <h2 id="pad-title">${hand.title}</h2>
        <p class="left" role="status">${full ? say("Complete") : say("{count} of {size}", { count: names.length, size: hand.size })}</p>
        <button type="button" class="close" onClick=${close}>${say("Close")}</button>
      </div>
      ${game.results.length > 0
        ? html`<div class="keys results" role="group" aria-label=${say("Results")}>${game.results.map((name) => key(name, Result))}</div>`
        : html`<div class="keys" role="group" aria-label=${say("Cards")}>
          ${SUITS.map((suit, row) => html`
            <div key=${suit} class="suit">${RANKS.map((rank) => key(rank + suit, Key))}${row === 0 && game.joker && key(JOKER, Key)}</div>`)}
        </div>`}
    </section>`;
};
