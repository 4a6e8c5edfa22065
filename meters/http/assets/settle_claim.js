/* The round of a claim, as far as the claim has it. */

import { money } from "./money.js";
import { say, sayList } from "./say.js";
import { dollars, emptyPosition, emptyRound } from "./settle_round.js";

/* The balance of the meter before a claim. It is known for the first win of a round, and if the
   win was not divided between wagers on the dealer's hand. */
const balanceBefore = (claim) => {
  if (claim.turn !== 1 || claim.item === "five_card_hand_bonus_dealer" || claim.only_envy) {
    return null;
  }
  if (claim.percent === null) return claim.meter_after;
  return claim.percent === 100 ? claim.amount : claim.meter_after + claim.amount;
};

/* All positions with a progressive wager. */
const positionsOf = (claim) => {
  const positions = {};
  for (const { position, patron, wagers } of claim.wagers) {
    positions[position] = {
      ...emptyPosition(),
      player: patron ?? "",
      state: claim.no_win?.includes(position) ? "no_win" : "played",
      wagers: Object.fromEntries(Object.keys(wagers).map((wager) => [wager, true])),
    };
  }
  positions[claim.position] ??= { ...emptyPosition(), player: claim.patron ?? "" };
  return positions;
};

/* The positions that a round of a claim does not have yet, but the claim has. */
export const othersOf = (claim, round) => Object.fromEntries(
  Object.entries(positionsOf(claim)).filter(([position]) => !(position in round.positions)),
);

/* Return the round of a claim with the disputed position alone; fields that the claim does not have
   are empty. */
export const roundOfClaim = (claim, table, game) => {
  const round = emptyRound(table);
  const kind = game.wagers.find((each) => each.wager === claim.item)?.meters?.[0];
  const before = balanceBefore(claim);
  return {
    ...round,
    positions: { [claim.position]: positionsOf(claim)[claim.position] },
    cards: {
      [`${claim.position}.cards`]: [...claim.cards],
      dealer: [...claim.dealer],
      community: [...claim.community],
    },
    balances: kind ? { ...round.balances, [kind]: before === null ? "" : dollars(before) }
      : round.balances,
  };
};

/* The different amounts of a progressive wager at lock-out, in cents. */
const amountsOf = (claim, wager) =>
  [...new Set(claim.wagers.map(({ wagers }) => wagers[wager]).filter((cents) => cents !== undefined))];

/* Return the sentences that say what the claim does not have. */
export const notKnown = (claim, round, game) => {
  const free = game.wagers.filter((each) => each.amount === undefined).map((each) => each.words);
  const placed = (has) => game.wagers.some((each) => has(each) && amountsOf(claim, each.wager).length);
  const unseen = Object.entries(round.positions)
    .filter(([number, { state }]) => state === "played" && !round.cards[`${number}.cards`]?.length)
    .map(([number]) => number);
  return [
    say("Not known here: {wagers}. Enter them for each position.", { wagers: sayList(free) }),
    unseen.length ? say("Also enter the cards of position {positions}, or mark the fold.", { positions: sayList(unseen) }) : "",
    placed((each) => each.draws) ? say("Enter the Magic Card and the Lucky position if they were drawn.") : "",
    ...game.wagers.flatMap((each) => amountsOf(claim, each.wager)
      .filter((cents) => cents !== each.amount)
      .map((cents) => say("{wager} was {before} in this round and is {now} now. This page settles with the present amount.",
        { wager: each.words, before: money(cents), now: money(each.amount) }))),
    claim.dealer.length ? "" : say("Also enter the dealer's hand."),
    say("Only the disputed position is here. Others can change what it gets: Envy Bonuses, and wins of the same meter that are paid before. Positions without a progressive wager are not known."),
  ].filter(Boolean);
};
