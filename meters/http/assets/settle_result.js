/* The settlement of a round, on the page and on paper. It is a paper for the file of a dispute, so it
   is in English, like all papers. */

import { money } from "./money.js";
import { isCard, JOKER, rankText } from "./playing_cards.js";
import { html } from "./preact.js";
import { language, say } from "./say.js";
import { cardsOf, hands, played } from "./settle_round.js";

const SOURCES = {
  table_inventory: "from the table inventory",
  game_account: "to the player's game account",
  hand_pay: "as a hand pay",
};
const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
const IRREGULARITIES = {
  "": "None", void: "Void round: all wagers are returned", dealer_exposed: "A dealer's card was exposed",
};
const COMMON = {
  dealer: "Dealer's hand", community: "Community cards", pair_bonus_community_card: "Pair Bonus card for all",
  all_six_card: "All-Six Bonus card", "draw.magic_card": "Magic Card",
};
const OUTCOMES = { paid: "Paid", returned: "Returned", collected: "Collected" };

const handWords = (hand) => {
  const words = (hand ?? "").replace("mini_royal", "mini-royal").replace("seven_card_", "seven-card_")
    .replace("_spades", "_of_spades").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const cardText = (names) => names.map((name) => {
  if (name === JOKER) return "joker";
  return isCard(name) ? `${rankText(name)}${SUITS[name[1]]}` : handWords(name);
}).join(" ");

/* The amounts of a line in cents. A bonus has no wager of its own to collect. */
const amountsOf = ({ outcome, wagered, paid, returned }) => ({
  paid, returned, collected: outcome === "collected" ? wagered - returned : 0,
});

const totals = (lines) => {
  const sums = new Map();
  for (const line of lines) {
    const sum = sums.get(line.position) ?? { paid: 0, returned: 0, collected: 0 };
    for (const [name, cents] of Object.entries(amountsOf(line))) sum[name] += cents;
    sums.set(line.position, sum);
  }
  return [...sums].sort(([a], [b]) => b - a);
};

const wagerWords = (line, game) => {
  const words = game.items[line.item] ?? line.item;
  if (line.on && !game.results.length) return `${words}, ${line.on === "dealer" ? "dealer's hand" : "player's hand"}`;
  const holder = line.envy_of || line.hand_of;
  return holder ? `${words} for the hand of position ${holder}` : words;
};

const partOf = ({ item, percent }) => {
  const part = `${percent}% of the meter`;
  if (/_(community_share|bad_beat_table)$/.test(item)) return `an equal share of ${part}`;
  return /_bad_beat_(loser|winner)$/.test(item) ? `${part} (equal hands divide it)` : part;
};

const Line = ({ line, game }) => {
  const { paid, returned, collected } = amountsOf(line);
  return html`
    <tr class="line" data-outcome=${line.outcome}>
      <td class="who">${line.position}</td>
      <th scope="row">${wagerWords(line, game)} <small>${money(line.wagered)}</small></th>
      <td class="with">${handWords(line.hand)}</td>
      <td class="outcome">${OUTCOMES[line.outcome]}
        ${line.paid_from && html` <small>${SOURCES[line.paid_from]}</small>`}
        ${line.percent && html`<small>, ${partOf(line)}</small>`}</td>
      <td class="amount">${money(paid || collected || returned)}
        ${paid > 0 && returned > 0 && html`<small> and the wager, ${money(returned)}</small>`}</td>
      <td class="rule">${line.rule}</td>
    </tr>`;
};

const Lines = ({ lines, game }) => html`
  <table class="lines">
    <caption>In the order in which the dealer settles</caption>
    <thead><tr><th scope="col">Position</th><th scope="col">Wager</th><th scope="col">Hand</th>
      <th scope="col">Outcome</th><th scope="col">Amount</th><th scope="col">Law</th></tr></thead>
    <tbody>${lines.map((line, at) => html`<${Line} key=${at} line=${line} game=${game} />`)}</tbody>
  </table>`;

const Totals = ({ lines }) => html`
  <table class="totals">
    <caption>Totals</caption>
    <thead><tr><th scope="col">Position</th><th scope="col">Paid</th><th scope="col">Returned</th>
      <th scope="col">Player receives</th><th scope="col">Collected</th></tr></thead>
    <tbody>${totals(lines).map(([position, { paid, returned, collected }]) => html`
      <tr key=${position} data-position=${position}><th scope="row">${position}</th><td>${money(paid)}</td><td>${money(returned)}</td>
        <td class="sum">${money(paid + returned)}</td><td>${money(collected)}</td></tr>`)}</tbody>
  </table>`;

const wagersText = ({ wagers }, game) => Object.entries(wagers)
  .map(([wager, cents]) => `${game.items[wager]} ${money(cents)}`).join(", ");

const titleOf = ({ id, position }, { results }) => (results.length && (id === "dealer" ? "Result of the table" : `Result of position ${position}`))
  || (COMMON[id]
  ?? (id.endsWith("fourth_card") ? `Fourth card of position ${position}` : `Hand of position ${position}`));

const stateText = ({ folded, no_win: noWin }) => {
  if (folded) return "folded";
  return noWin ? "declared to win nothing" : "";
};

const nameOf = (name, game) => game.items[name] ?? name.replaceAll("_", " ");

/* A choice of the table: a paytable, the odds of each mini-royal, or the payout limit in cents. */
const choiceText = (name, choice, game) => {
  if (name === "payout_limit") return money(choice);
  if (typeof choice !== "object") return choice;
  return Object.entries(choice).map(([item, times]) => `${nameOf(item, game)} ${times} to 1`).join(" and ");
};

const choicesText = (game) => Object.entries(game.paytables)
  .map(([name, choice]) => `${nameOf(name, game)} ${choiceText(name, choice, game)}`).join(", ");

/* The round as it was entered, for the printed page. */
const Entered = ({ round, body, game }) => html`
  <section class="entered">
    <h3>The round as entered</h3>
    <ul>
      ${played(round).map((number, at) => html`
        <li key=${number}><b>Position ${number}</b>${[
          body.positions[at].patron && ` (${body.positions[at].patron})`,
          stateText(body.positions[at]) && `, ${stateText(body.positions[at])}`, ": ",
          wagersText(body.positions[at], game) || "wagers unknown",
        ]}</li>`)}
      ${hands(round, game).filter((hand) => cardsOf(round, hand.id).length).map((hand) => html`
        <li key=${hand.id}><b>${titleOf(hand, game)}</b>: ${cardText(cardsOf(round, hand.id))}</li>`)}
      ${round.lucky && html`<li><b>Lucky position</b>: ${round.lucky}</li>`}
      ${Object.entries(body.meters ?? {}).map(([kind, { amount }]) => html`
        <li key=${kind}><b>${game.items[kind]} before settlement</b>: ${money(amount)}</li>`)}
      <li><b>Irregularity</b>: ${IRREGULARITIES[round.irregularity]}</li>
      <li><b>Choices of the table</b>: ${choicesText(game) || "none"}</li>
    </ul>
  </section>`;

const SIGNERS = ["Floorperson", "Supervisor", "Player"];

const Signatures = () => html`
  <section class="signatures">
    ${SIGNERS.map((who) => html`<p key=${who}><span>${who}</span><span>Date and time</span></p>`)}
  </section>`;

const timeText = (at, zone) => new Intl.DateTimeFormat("en-US", {
  timeZone: zone, dateStyle: "medium", timeStyle: "long", hourCycle: "h23",
}).format(at);

/* The settlement that the server returned. `about`: the round and the claim of the dispute. */
export const Result = ({ settled, round, body, game, table, about, at, page }) => html`
  <section class="result" lang="en" aria-labelledby="result-title">
    <div class="top">
      <h2 id="result-title" tabindex="-1">Settlement</h2>
      <button type="button" class="print" lang=${language} onClick=${() => window.print()}>${say("Print")}</button>
    </div>
    <p class="of">${page.facility} · table ${table.table} (asset ${table.asset}) · ${game.title}, chapter ${game.chapter}</p>
    <p class="of">Settled by hand: ${timeText(at, page.timezone)}${about && ` · ${about}`}</p>
    <${Entered} round=${round} body=${body} game=${game} />
    <div class="scroll" tabindex="0" role="region" aria-label="Settlement lines"><${Lines} lines=${settled.lines} game=${game} /></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Totals"><${Totals} lines=${settled.lines} /></div>
    <p class="hint">Nothing was sent or recorded. This settlement is only for the round as it was entered.</p>
    <${Signatures} />
  </section>`;
