/* The form of a round: the positions with their wagers and hands, the common cards, the meters. */

import { money } from "./money.js";
import { withoutCard } from "./playing_cards.js";
import { html } from "./preact.js";
import { say } from "./say.js";
import { Slots } from "./settle_pad.js";
import {
  anyPlaced, isPlaced, offered, dollars, hands, placesOf, played, typedCents, withPositions,
} from "./settle_round.js";

const IRREGULARITIES = [
  ["", say("None")],
  ["void", say("Void round: all wagers are returned")],
  ["dealer_exposed", say("A dealer's card was exposed")],
];
const STATES = [["played", say("Played")], ["folded", say("Folded")], ["no_win", say("No win")]];

const errorId = (key) => `error-${key}`;

/* The error of one field. */
export const Problem = ({ of, errors }) => errors[of]
  ? html`<p class="problem" id=${errorId(of)} data-field=${of}>${errors[of]}</p>` : null;

const Amount = ({ field, words, value, errors, enter, disabled = false, wide = false, children }) => html`
  <div class=${wide ? "field wide" : "field"}>
    <label for=${field}>${words}</label>
    <div class="dollars">
      <span aria-hidden="true">$</span>
      <input id=${field} type="text" inputmode="decimal" autocomplete="off" value=${value}
        disabled=${disabled} aria-invalid=${field in errors ? "true" : undefined}
        aria-describedby=${field in errors ? errorId(field) : undefined}
        onInput=${(event) => enter(event.currentTarget.value)} />
      ${children}
    </div>
    <${Problem} of=${field} errors=${errors} />
  </div>`;

const Choice = ({ pressed, press, children, ...rest }) => html`
  <button type="button" aria-pressed=${String(pressed)} onClick=${press} ...${rest}>
    ${children}</button>`;

/* A hand in the form. A tap on its button, or on an empty place, shows it on the pad. */
export const HandField = ({ hand, round, target, choose, enter, errors }) => {
  const names = placesOf(round, hand.id);
  return html`
    <div class="hand" data-hand=${hand.id} role="group" aria-label=${hand.title}>
      <${Slots} names=${names} size=${hand.size} firsts=${hand.firsts} takeOut=${(place) => {
        enter(hand.id, withoutCard(names, place, hand.firsts?.length));
        choose(hand.id);
      }} />
      <${Choice} class="choose" pressed=${target === hand.id} press=${() => choose(hand.id)}
        aria-label=${say("Enter cards: {hand}", { hand: hand.title })}>${hand.result ? say("Result") : say("Cards")}<//>
      <${Problem} of=${hand.id} errors=${errors} />
    </div>`;
};

/* A touch places the amount of a progressive wager, each next touch a smaller one, and the last none. */
const Light = ({ of, field, placed, position, put }) => {
  const { wager, words, amount, smaller = [] } = of;
  const shown = isPlaced(placed) ? offered(of, placed) : amount;
  const amounts = [amount, ...smaller, false];
  return html`<${Choice} class="light" id=${field} pressed=${isPlaced(placed)}
    press=${() => put(wager, isPlaced(placed) ? amounts[amounts.indexOf(shown) + 1] : amount)}
    aria-label=${say("{wager} {amount}, position {position}", { wager: words, amount: money(shown), position })}>
    <span class="lamp" aria-hidden="true" /><span>${money(shown)}</span><//>`;
};

const Wagers = ({ number, position, game, errors, change, children }) => {
  const key = (wager) => `${number}.wagers.${wager}`;
  const put = (wager, value) => change(key(wager), (before) => ({
    ...before, wagers: { ...before.wagers, [wager]: value },
  }));
  const stake = typedCents(position.wagers[game.stake] ?? "");
  const multiple = (times) => html`
    <button key=${times} type="button" class="times" disabled=${stake === null || position.state === "folded"}
      aria-label=${say("{times} times the Ante, position {position}", { times, position: number })}
      onClick=${() => put(game.follow, dollars(stake * times))}>
      ${game.times.length === 1 ? say("= Ante") : `${times}×`}</button>`;
  return html`
    <div class="wagers">
      ${game.wagers.map((each) => [each, each.wager, each.words]).map(([each, wager, words]) => each.amount === undefined ? html`
        <${Amount} key=${wager} field=${key(wager)} words=${words} errors=${errors}
          value=${position.wagers[wager] ?? ""} enter=${(text) => put(wager, text)}
          disabled=${wager === game.follow && position.state === "folded"}
          wide=${wager === game.follow && game.times.length > 1}>
          ${wager === game.follow && game.times.map(multiple)}<//>` : html`
        <div key=${wager} class="field">
          <span class="label" aria-hidden="true">${words}</span>
          <${Light} of=${each} field=${key(wager)} placed=${position.wagers[wager]} position=${number} put=${put} />
          <${Problem} of=${key(wager)} errors=${errors} />
        </div>`)}
      ${children}
    </div>`;
};

const Position = ({ number, round, game, errors, change, ...pad }) => {
  const position = round.positions[number];
  const put = (key, next) => change(key, (before) => ({
    ...before,
    positions: { ...before.positions, [number]: next(before.positions[number]) },
  }));
  const become = (state) => put(`${number}.state`, (before) => ({
    ...before, state,
    wagers: state === "folded" ? { ...before.wagers, [game.follow]: "" } : before.wagers,
  }));
  return html`
    <section class="position" aria-labelledby=${`position-${number}`} data-position=${number}>
      <div class="top">
        <h2 id=${`position-${number}`}>${say("Position {position}", { position: number })}</h2>
        <div class="states" role="group" aria-label=${say("Position {position}", { position: number })}>
          ${STATES.filter(([state]) => state !== "folded" || !game.results.length).map(([state, words]) => html`
            <${Choice} key=${state} pressed=${position.state === state}
              press=${() => become(state)}>${words}<//>`)}
        </div>
        <${Problem} of=${`${number}.state`} errors=${errors} />
      </div>
      ${hands(round, game).filter((hand) => hand.position === number).map((hand) => html`
        <div key=${hand.id} class="named">
          ${hand.id.endsWith("fourth_card") && html`<span class="label">${say("Fourth card")}</span>`}
          <${HandField} hand=${hand} round=${round} errors=${errors} ...${pad} />
        </div>`)}
      <${Wagers} number=${number} position=${position} game=${game} errors=${errors} change=${put}>
        <div class="field">
          <label for=${`${number}.player`}>${say("Player, if at several positions")}</label>
          <input id=${`${number}.player`} type="text" autocomplete="off" maxlength="80"
            value=${position.player}
            onInput=${({ currentTarget }) => put(`${number}.player`, (before) =>
              ({ ...before, player: currentTarget.value }))} />
          <${Problem} of=${`${number}.player`} errors=${errors} />
        </div>
      <//>
    </section>`;
};

const Seats = ({ round, table, known, change }) => {
  const toggle = (number) => {
    const leaves = number in round.positions;
    change("", (before) => {
      const { [number]: gone, ...rest } = before.positions;
      const { [`${number}.cards`]: hand, [`${number}.fourth_card`]: fourth, ...cards } = before.cards;
      return leaves ? { ...before, positions: rest, cards }
        : withPositions(before, [number], known);
    });
  };
  return html`
    <section class="seats" aria-labelledby="seats-title">
      <h2 id="seats-title">${say("Positions in this round")}</h2>
      <div class="row">
        ${Array.from({ length: table.positions }, (_, at) => at + 1).map((number) => html`
          <${Choice} key=${number} class="seat" pressed=${number in round.positions}
            aria-label=${say("Position {position}", { position: number })} press=${() => toggle(number)}>${number}<//>`)}
      </div>
    </section>`;
};

const Lucky = ({ round, table, errors, change }) => html`
  <div class="field">
    <label for="draw.lucky_position">${say("Lucky position")}</label>
    <select id="draw.lucky_position" onChange=${({ currentTarget }) =>
      change("draw.lucky_position", (before) => ({ ...before, lucky: currentTarget.value }))}>
      ${["", ...Array.from({ length: table.positions }, (_, at) => String(at + 1)), "dealer"].map((value) =>
        html`<option key=${value} value=${value} selected=${round.lucky === value}>
          ${{ "": say("None"), dealer: say("The dealer") }[value] ?? say("Position {position}", { position: value })}</option>`)}
    </select>
    <${Problem} of="draw.lucky_position" errors=${errors} />
  </div>`;

/* The house deals a fourth card to each Pair Bonus, or one card for all (679a.8(c) and (h)). */
const FourthCard = ({ round, change }) => html`
  <div class="named">
    <span class="label">${say("Pair Bonus card")}</span>
    <div class="states" role="group" aria-label=${say("Pair Bonus card")}>
      ${[[false, say("For each player")], [true, say("One for all")]].map(([one, words]) => html`
        <${Choice} key=${words} pressed=${round.oneFourthCard === one} press=${() =>
          change("", (before) => ({ ...before, oneFourthCard: one }))}>${words}<//>`)}
    </div>
  </div>`;

/* A game in which each position has a result of its own has nothing in common. */
const CommonCards = ({ round, game, table, errors, change, ...pad }) => !(game.results.length && game.hand) && html`
  <section class="common" aria-labelledby="common-title">
    <h2 id="common-title">${game.results.length ? say("Result") : say("Dealer and common cards")}</h2>
    <div class="hands">
      ${hands(round, game).filter((hand) => !hand.position).map((hand) => html`
        <div key=${hand.id} class="named">
          ${!game.results.length && html`<span class="label">${hand.title}</span>`}
          <${HandField} hand=${hand} round=${round} errors=${errors} ...${pad} />
        </div>`)}
      ${game.wagers.some((each) => each.draws) && html`
        <${Lucky} round=${round} table=${table} errors=${errors} change=${change} />`}
      ${game.wagers.some((each) => each.fourth_card) && html`
        <${FourthCard} round=${round} change=${change} />`}
    </div>
  </section>`;

/* The balances of the meters on which the round has a wager. */
const Meters = ({ round, game, errors, change }) => {
  const kinds = [...new Set(game.wagers.filter((each) => each.meters
    && anyPlaced(round, game, ({ wager }) => wager === each.wager)).flatMap((each) => each.meters))];
  if (!kinds.length) return null;
  return html`
    <section class="balances" aria-labelledby="balances-title">
      <h2 id="balances-title">${say("Meters before settlement")}</h2>
      <p class="hint">${round.isPast
        ? say("Each amount is that of the settlement, and includes the wagers of this round.")
        : say("Each amount includes the wagers of this round. A filled-in amount can be the present one: correct it if the meter has changed since the round.")}</p>
      <div class="wagers">
        ${kinds.map((kind) => html`
          <${Amount} key=${kind} field=${`meters.${kind}`} words=${game.items[kind]} errors=${errors}
            value=${round.balances[kind] ?? ""} enter=${(text) => change(`meters.${kind}`, (before) =>
              ({ ...before, balances: { ...before.balances, [kind]: text } }))} />`)}
      </div>
    </section>`;
};

const Irregularity = ({ round, change }) => html`
  <section class="field irregular">
    <label for="irregularity">${say("Irregularity")}</label>
    <select id="irregularity" onChange=${({ currentTarget }) =>
      change("irregularity", (before) => ({ ...before, irregularity: currentTarget.value }))}>
      ${IRREGULARITIES.map(([value, words]) => html`
        <option key=${value} value=${value} selected=${round.irregularity === value}>${words}</option>`)}
    </select>
  </section>`;

export const Form = (parts) => html`
  <div class="form">
    <${Seats} ...${parts} />
    ${played(parts.round).map((number) => html`<${Position} key=${number} number=${number} ...${parts} />`)}
    <${CommonCards} ...${parts} />
    <${Meters} ...${parts} />
    <${Irregularity} ...${parts} />
  </div>`;
