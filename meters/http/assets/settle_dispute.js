/* The round of a dispute, as the ledger has it. */

import { money } from "./money.js";
import { say, sayList } from "./say.js";
import { dollars, emptyPosition, emptyRound, offered, withPositions } from "./settle_round.js";

/* What is known of each position: its progressive wagers, what it did, and its cards. */
const positionsOf = ({ hands }) => Object.fromEntries(hands.map(({ position, patron, wagers, cards, folded, no_win: noWin }) => [
  position,
  {
    cards,
    position: {
      ...emptyPosition(),
      player: patron ?? "",
      state: folded ? "folded" : noWin ? "no_win" : "played",
      wagers,
    },
  },
]));

/* A dispute about a round of the ledger: what is `known` of its positions, and the `round` to begin
   with. It has the disputed position alone, the common cards, and the meters as its settlement found
   them. Fields that the ledger does not have are empty. */
export const disputeOf = (view, table, position) => {
  const known = positionsOf(view);
  const { draw } = view;
  const numbers = Object.keys(known);
  const settled = view.meters.filter(({ meter, at_result: cents }) => cents !== null && meter in table.kinds);
  const round = {
    ...emptyRound(table),
    isPast: true,
    irregularity: view.row.state === "void" ? "void" : "",
    cards: { dealer: view.dealer, community: view.community, "draw.magic_card": draw?.magic_card ? [draw.magic_card] : [] },
    lucky: String(draw?.lucky_position ?? ""),
    balances: Object.fromEntries(settled.map(({ meter, at_result: cents }) => [table.kinds[meter], dollars(cents)])),
  };
  const first = position in known ? [position] : numbers.length === 1 ? numbers : [];
  return { view, known, round: withPositions(round, first, known) };
};

const missing = ({ known }, round) => Object.keys(known).filter((position) => !(position in round.positions));

/* The positions that can be added to the disputed one. */
export const othersOf = (dispute, round) => (Object.keys(round.positions).length ? missing(dispute, round) : []);

/* The names of the round and of the claims of its positions, for the paper. */
export const nameOf = ({ view: { row, wins } }, round) => [
  ...wins.filter(({ position }) => position in round.positions).map(({ claim }) => `claim ${claim}`), `round ${row.round}`,
].join(", ");

/* The different amounts of a progressive wager at lock-out, in cents. */
const amountsOf = ({ hands }, wager) =>
  [...new Set(hands.map(({ wagers }) => wagers[wager]).filter((cents) => cents !== undefined))];

/* Return the sentences that say what to do next, and what the ledger does not have. */
export const notKnown = (dispute, round, game) => {
  const { view, known } = dispute;
  const others = missing(dispute, round);
  if (others.length === Object.keys(known).length) {
    return [say("Touch the disputed position: {positions}.", { positions: sayList(others) })];
  }
  const free = game.wagers.filter((each) => each.amount === undefined).map((each) => each.words);
  const unseen = Object.entries(round.positions)
    .filter(([number, { state }]) => state === "played" && !round.cards[`${number}.cards`]?.length)
    .map(([number]) => number);
  const shares = [...new Set(view.lines.filter(({ percent }) => percent !== null).map(({ position }) => String(position)))]
    .filter((position) => others.includes(position));
  return [
    say("Not known here: {wagers}. Enter them for each position.", { wagers: sayList(free) }),
    unseen.length ? say("Also enter the cards of position {positions}, or mark the fold.", { positions: sayList(unseen) }) : "",
    ...game.wagers.flatMap((each) => amountsOf(view, each.wager)
      .filter((cents) => cents !== offered(each, cents))
      .map((cents) => say("{wager} was {before} in this round and is {now} now. This page settles with the present amount.",
        { wager: each.words, before: money(cents), now: money(each.amount) }))),
    view.dealer.length || !game.dealer ? "" : say("Also enter the dealer's hand."),
    shares.length ? say("Position {positions} also won from a meter in this round: add that position.", { positions: sayList(shares) }) : "",
    others.length
      ? say("Only the disputed position is here. Other positions can change what it gets: by Envy Bonuses, and by wins of the same meter that are paid first. Positions without a progressive wager are not known.")
      : say("Positions without a progressive wager are not known."),
  ].filter(Boolean);
};
