/* Wins in groups by their round, the heads of these groups, and the search in wins. */

import * as claims from "./floor_claims.js";
import { money } from "./money.js";
import { html } from "./preact.js";
import { say, sayCount } from "./say.js";

const groupBy = (rows, key) => {
  const groups = new Map();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return [...groups.values()];
};

/* The rounds of claims, in the order of their first claims. In a round, the wins of a hand follow
   each other. */
export const roundsOf = (rows) =>
  groupBy(rows, (claim) => `${claim.link} ${claim.table} ${claim.round}`).map((wins) => ({
    id: `${wins[0].link} ${wins[0].table} ${wins[0].round}`,
    wins: groupBy(wins, (claim) => claim.hand_record || claim.position).flat(),
  }));

const countText = (wins) => {
  const all = Math.max(...wins.map(({ turns }) => turns));
  return wins.length < all ? say("{count} of {all} wins", { count: wins.length, all })
    : sayCount("{count} win", "{count} wins", wins.length);
};

/* The head of a round with several wins: their count and sum, without those that were rejected. */
export const RoundHead = ({ wins }) => {
  const won = wins.filter(({ state }) => state !== "rejected");
  const rejected = wins.length - won.length;
  const sum = won.reduce((cents, claim) => cents + claim.amount, 0);
  const envy = wins.reduce((cents, claim) => cents + claims.dueEnvy(claim), 0);
  return wins.length > 1 && html`
    <p class="round-head"><strong>${say("{table} · Round {round}", wins[0])}</strong>
      <span>${` ${[countText(wins), rejected && say("{count} rejected", { count: rejected })].filter(Boolean).join(", ")}: ${money(sum)}`}
        ${envy > 0 && html`<span class="envy-sum">${` + ${say("Envy {amount}", { amount: money(envy) })}`}</span>`}</span></p>`;
};

/* Check if a claim has all words of a search. */
export const matches = (claim, words) => {
  const text = [
    claims.place(claim), say("Round {round}", claim), claims.handName(claim), claims.itemName(claim),
    claim.patron, money(claims.sum(claim)), claim.claim,
  ].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
};
