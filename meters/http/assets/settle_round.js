/* A round as it is entered, and the same round in the format of `pitlink settle`. */

import { money } from "./money.js";
import { say, sayCount } from "./say.js";

const AMOUNT = /^\$?(\d{1,3}(?:,\d{3})+|\d{1,9})(?:\.(\d{0,2}))?$/;
const ASK_AMOUNT = say("Enter an amount such as 5 or 12.50.");

/* The cents of an amount that a person typed; null if the text is not an amount. */
export const typedCents = (text) => {
  const found = AMOUNT.exec(text.trim());
  if (!found) return null;
  return Number(found[1].replaceAll(",", "")) * 100 + Number((found[2] ?? "").padEnd(2, "0"));
};

export const dollars = (cents) => money(cents).slice(1);

export const emptyRound = (table) => ({
  table: table.table,
  irregularity: "",
  oneFourthCard: false, // one Pair Bonus card for all players, not a fourth card for each
  positions: {},
  cards: {},
  balances: Object.fromEntries(Object.entries(table.meters).map(([kind, cents]) =>
    [kind, cents === null ? "" : dollars(cents)])),
  lucky: "",
});

/* The amount of a progressive wager: what was placed, if the table offers it, or else the usual one. */
export const offered = ({ amount, smaller = [] }, cents) => smaller.includes(cents) ? cents : amount;

export const emptyPosition = () => ({ player: "", state: "played", wagers: {} });

/* A round with more positions, and with what is `known` of each. */
export const withPositions = (round, numbers, known = {}) => ({
  ...round,
  positions: { ...round.positions, ...Object.fromEntries(numbers.map((number) => [number, known[number]?.position ?? emptyPosition()])) },
  cards: { ...round.cards, ...Object.fromEntries(numbers.map((number) => [`${number}.cards`, known[number]?.cards ?? []])) },
});

/* The numbers of the positions that were played. */
export const played = (round) => Object.keys(round.positions).map(Number).sort((a, b) => a - b);

/* A wager is its cents, or the text that a person typed, or false. */
export const isPlaced = (wager) => typeof wager === "number" || Boolean(wager && wager.trim());

/* Check if any position has a wager for which `has` is true. */
export const anyPlaced = (round, game, has) => Object.values(round.positions).some((position) =>
  game.wagers.some((each) => has(each) && isPlaced(position.wagers[each.wager])));

const handsOfPosition = (round, game, number) => {
  const { state, wagers } = round.positions[number];
  const placed = (has) => game.wagers.some((each) => has(each) && isPlaced(wagers[each.wager]));
  const fourth = !round.oneFourthCard && placed((each) => each.fourth_card);
  const title = game.results.length ? say("Result of position {position}", { position: number })
    : say("Hand of position {position}", { position: number });
  return [
    state !== "no_win" && game.hand > 0 && {
      id: `${number}.cards`, title, size: game.hand, result: game.results.length > 0,
      due: state === "played" || placed((each) => each.survives), position: number,
    },
    fourth && {
      id: `${number}.fourth_card`, title: say("Fourth card of position {position}", { position: number }), size: 1,
      due: true, position: number,
    },
  ];
};

/* The hands and cards that can be entered, in order. `due`: the pad asks for them by itself.
   `drawn`: the card is not from the deck of the table. */
export const hands = (round, game) => {
  const offers = (has) => game.wagers.some(has);
  const placed = (has) => anyPlaced(round, game, has);
  return [
    ...played(round).flatMap((number) => handsOfPosition(round, game, number)),
    game.dealer > 0 && {
      id: "dealer", title: game.results.length ? say("Result of the table") : say("Dealer's hand"), size: game.dealer, due: true,
      result: game.results.length > 0,
    },
    offers((each) => each.community) && {
      id: "community", size: game.community,
      firsts: game.first_community_cards,
      title: game.first_community_cards.length ? say("Community cards in the order of the deal") : say("Community cards"),
      due: placed((each) => each.community),
    },
    round.oneFourthCard && {
      id: "pair_bonus_community_card", title: say("Pair Bonus card for all"), size: 1,
      due: placed((each) => each.fourth_card),
    },
    offers((each) => each.all_six) && {
      id: "all_six_card", title: say("All-Six Bonus card"), size: 1, due: placed((each) => each.all_six),
    },
    offers((each) => each.draws) && {
      id: "draw.magic_card", title: say("Magic Card"), size: 1, due: false, drawn: true,
    },
  ].filter(Boolean);
};

/* The cards of a hand; with `null` for an empty place before a card. */
export const placesOf = (round, id) => round.cards[id] ?? [];

export const cardsOf = (round, id) => placesOf(round, id).filter(Boolean);

/* The cards of the deck that were entered for other hands. */
export const usedElsewhere = (round, game, id) => hands(round, game)
  .filter((hand) => hand.id !== id && !hand.drawn)
  .flatMap((hand) => cardsOf(round, hand.id));

/* The next hand after `id` that the pad asks for, or null. Without `id`, the first such hand. */
export const nextHand = (round, game, id) => {
  const all = hands(round, game);
  const at = all.findIndex((hand) => hand.id === id);
  return [...all.slice(at + 1), ...all.slice(0, at + 1)].find((hand) =>
    hand.due && cardsOf(round, hand.id).length < hand.size)?.id ?? null;
};

/* Collect the parts of a round, with an error for each field that cannot be sent. */
class Collector {
  constructor(round, game) {
    Object.assign(this, { round, game, errors: {} });
    this.hands = Object.fromEntries(hands(round, game).map((hand) => [hand.id, hand]));
  }

  /* A void round is settled without cards. */
  cards(id) {
    const names = cardsOf(this.round, id);
    if (!(id in this.hands) || !names.length || this.round.irregularity === "void") {
      return undefined;
    }
    const { size } = this.hands[id];
    if (names.length === size) return names;
    this.errors[id] = sayCount("Enter {count} card: there are {found}.", "Enter {count} cards: there are {found}.", size,
      { found: names.length });
    return undefined;
  }

  card(id) {
    return this.cards(id)?.[0];
  }

  cents(key, text) {
    const cents = typedCents(text);
    if (cents === null) this.errors[key] = ASK_AMOUNT;
    return cents ?? 0;
  }

  wagers(number) {
    const { wagers } = this.round.positions[number];
    return Object.fromEntries(this.game.wagers
      .filter((each) => isPlaced(wagers[each.wager]))
      .map((each) => [each.wager, each.amount === undefined
        ? this.cents(`${number}.wagers.${each.wager}`, wagers[each.wager]) : offered(each, wagers[each.wager])]));
  }

  position(number) {
    const { player, state } = this.round.positions[number];
    return {
      position: number,
      patron: player.trim() || undefined,
      cards: this.cards(`${number}.cards`),
      fourth_card: this.card(`${number}.fourth_card`),
      folded: state === "folded" || undefined,
      no_win: state === "no_win" || undefined,
      wagers: this.wagers(number),
    };
  }

  meters() {
    const kinds = new Map(this.game.wagers.filter((each) =>
      each.meters && anyPlaced(this.round, this.game, ({ wager }) => wager === each.wager))
      .flatMap((each) => each.meters.map((meter) => [meter, each])));
    return Object.fromEntries([...kinds].map(([kind, { amount: wager, smaller }]) => {
      const amount = this.cents(`meters.${kind}`, this.round.balances[kind] ?? "");
      return [kind, { wager, amount, smaller_wagers: smaller }];
    }));
  }

  draw() {
    const { lucky } = this.round;
    const magic = this.card("draw.magic_card");
    if (!magic && !lucky) return undefined;
    return {
      magic_card: magic, lucky_position: lucky === "" || lucky === "dealer" ? lucky || undefined
        : Number(lucky),
    };
  }

  whole() {
    const { round, game } = this;
    const meters = this.meters();
    return {
      game: game.game,
      paytables: game.paytables,
      positions: played(round).map((number) => this.position(number)),
      dealer: this.cards("dealer"),
      community: this.cards("community"),
      pair_bonus_community_card: this.card("pair_bonus_community_card"),
      all_six_card: this.card("all_six_card"),
      draw: game.wagers.some((each) => each.draws) ? this.draw() : undefined,
      meters: Object.keys(meters).length ? meters : undefined,
      irregularity: round.irregularity || undefined,
    };
  }
}

/* Return the round for the server, and an error for each field that cannot be sent. */
export const written = (round, game) => {
  const collector = new Collector(round, game);
  return { body: collector.whole(), errors: collector.errors };
};

/* Add the errors of the server to those of the page. The server checks wagers against each other, so
   an amount that nobody can read makes other errors at the wagers of its position meaningless. */
export const together = (own, servers) => {
  const unread = new Set(Object.keys(own).filter((key) => /^\d+\.wagers\./.test(key))
    .map((key) => key.split(".")[0]));
  const others = Object.entries(servers).filter(([key]) =>
    !(/^\d+\.wagers\./.test(key) && unread.has(key.split(".")[0])));
  return { ...Object.fromEntries(others), ...own };
};

const PARTS = { folded: "state", no_win: "state", position: "state", patron: "player" };

/* Return the field of the page that a field such as positions[2].cards means; "" for the round. */
export const fieldKey = (round, field) => {
  const found = /^positions\[(\d+)\]\.(.+)$/.exec(field ?? "");
  if (!found) return field ?? "";
  return `${played(round)[Number(found[1])]}.${PARTS[found[2]] ?? found[2]}`;
};

/* The message of a check, with amounts in dollars and the names of wagers for people. */
export const inWords = (message, game) => {
  let text = message.replace(/\b(\d+) cents\b/g, (_, cents) => money(Number(cents)));
  for (const [item, words] of Object.entries(game.items).sort((a, b) => b[0].length - a[0].length)) {
    text = text.replaceAll(new RegExp(`'${item}'|(?<![\\w-])${item}(?![\\w-])`, "g"), words);
  }
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? "" : ".");
};
