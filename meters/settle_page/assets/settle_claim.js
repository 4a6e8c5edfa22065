/* The round of a claim, as far as the claim has it. */

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

/* Return the round of a claim; fields that the claim does not have are empty. */
export const roundOfClaim = (claim, table, game) => {
  const round = emptyRound(table);
  const kind = game.wagers.find((each) => each.wager === claim.item)?.meter;
  const before = balanceBefore(claim);
  return {
    ...round,
    positions: positionsOf(claim),
    cards: {
      [`${claim.position}.cards`]: [...claim.cards],
      dealer: [...claim.dealer],
      community: [...claim.community],
    },
    balances: kind ? { ...round.balances, [kind]: before === null ? "" : dollars(before) }
      : round.balances,
  };
};

const list = (words) => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

/* Return the sentences that say what the claim does not have. */
export const notKnown = (claim, round, game) => {
  const free = game.wagers.filter((each) => each.amount === undefined).map((each) => each.words);
  const unseen = Object.entries(round.positions)
    .filter(([number, { state }]) => state === "played" && !round.cards[`${number}.cards`]?.length)
    .map(([number]) => number);
  return [
    `Not known here: ${list(free)}. Enter them for each position.`,
    unseen.length ? `Also enter the cards of position ${list(unseen)}, or mark the fold.` : "",
    claim.dealer.length ? "" : "Also enter the dealer's hand.",
    "Positions without a progressive wager are not known either.",
  ].filter(Boolean);
};
