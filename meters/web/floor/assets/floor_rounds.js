/* The waiting wins of each round, in the order in which they are shown, and the search in them. */

import * as claims from "./floor_claims.js";
import { money } from "./money.js";

/* What is to be paid for a claim, with its Envy Bonuses. */
const due = (claim) => claim.amount + (claim.envy_state === "rejected" ? 0 : claim.envy_amount);
const most = (wins) => Math.max(...wins.map(due));
const groupBy = (rows, key) => {
  const groups = new Map();
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return [...groups.values()];
};

/* The rounds of claims, those with the largest win first. In a round, the wins of a hand follow
   each other, in the order of the ledger. */
export const roundsOf = (waiting) =>
  groupBy(waiting, (claim) => `${claim.table} ${claim.round}`)
    .sort((one, other) => most(other) - most(one))
    .map((wins) => ({
      id: `${wins[0].table} ${wins[0].round}`,
      table: wins[0].table,
      round: wins[0].round,
      sum: wins.reduce((sum, claim) => sum + due(claim), 0),
      wins: groupBy(wins, (claim) => claim.hand_record || claim.position).flat(),
    }));

/* Check if a claim is in a state, and has all words of a search. Without a state, every state
   matches. */
export const matches = (claim, state, words) => {
  if (state && claims.stateText(claim) !== state) return false;
  const text = [
    claims.place(claim), `round ${claim.round}`, claims.handName(claim), claims.itemName(claim),
    claim.patron, money(claims.sum(claim)), claim.claim,
  ].join(" ").toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
};
