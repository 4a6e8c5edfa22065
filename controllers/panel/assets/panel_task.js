/* The dealer's next task: lock-out, the count, the hands, the settlement, or a void. */

import { money } from "./money.js";
import { press } from "./panel_connection.js";
import { button, byText } from "./panel_elements.js";
import { choose, Pad } from "./panel_pad.js";
import { askCorrection, askUndo, askVoid } from "./panel_reasons.js";
import { DrawMade, Held, Settlement } from "./panel_settled.js";
import { current, update } from "./panel_state.js";
import { Cards } from "./playing_cards.js";
import { html } from "./preact.js";

const WHOSE = { dealer: "the dealer's hand", community: "the community cards" };

const accepted = ({ positions, wagers }) => {
  const lit = positions.flatMap((place) => place.lit);
  const amounts = new Map(wagers.map((each) => [each.wager, each.amount]));
  const sum = lit.reduce((total, wager) => total + amounts.get(wager), 0);
  return `${lit.length} ${lit.length === 1 ? "wager" : "wagers"} accepted, ${money(sum)}`;
};

/* Button that shows or hides the settlement that was closed last. */
const lookBack = ({ view, looksBack }) => view.last && button("last-settlement", "Last settlement", () => {
  update({ looksBack: !looksBack });
  if (!looksBack) document.getElementById("settled-title")?.scrollIntoView({ block: "start" });
}, { class: "small", "aria-expanded": looksBack });

const voids = () => button("void-ask", "Void the round…", askVoid, { class: "stop" });

const corrects = (view) => view.can.includes("correct_wager")
  && button("correct-ask", "Correct a wager…", () => askCorrection(current().view), { class: "small" });

const tally = (text) => html`<p class="tally" key="tally">${text}</p>`;

const next = ({ round, seen }) => () => press({ event: "next", round, done: seen });

/* The actions of each stage, below everything else. */
const ACTIONS = {
  open: ({ view }) => [
    tally(accepted(view)),
    button("repeat", "Same as last round", () => press({ event: "repeat" }),
      { disabled: !view.can.includes("repeat") }),
    button("lockout", "Lock-out: no more bets", () => press({ event: "lockout" }),
      { class: "stop big", disabled: !view.can.includes("lockout"), "data-next": true }),
  ],
  locked: ({ view }) => [corrects(view), voids()],
  locked_out: voids,
  dealt: ({ view }) => [
    tally(view.missing.length ? `Missing: ${view.missing.join("; ")}`
      : ["All required cards are entered.", view.envy_unread
        && " Also enter hands without a progressive wager that may bring Envy Bonuses."]),
    view.chips > 0 && view.can.includes("retract chips") && button("undo-chips", "Count again",
      () => press({ event: "retract", what: "chips" }), { class: "undo" }),
    corrects(view),
    voids(),
    button("settle", "Settle the round", () => press({ event: "settle" }, { quiet: ["unconfirmed"] }),
      { class: "go big", disabled: !view.can.includes("settle"), "data-next": true }),
  ],
  settled: ({ view }) => view.phase === "open" && [
    tally([view.settled.told, view.positions.some((place) => place.lit.length)
      && ` For the next round: ${accepted(view)}.`]),
    button("next-round", "Next round", next(view.settled),
      { class: "go big", disabled: !view.can.includes("next"), "data-next": true }),
  ],
  asking: ({ view }) => button("withdraw-correction", "Withdraw the request", () => press({ event: "withdraw_correction" }),
    { disabled: !view.can.includes("withdraw") }),
};

const settled = ({ view }) => html`
  ${view.phase === "held" && html`<${Held} ...${view} />`}
  <${Settlement} settled=${view.settled} />`;

const count = async (event) => {
  event.preventDefault();
  const { counted } = current();
  if (!counted) return;
  update({ counted: "" });
  const { error } = await press({ event: "chips", count: Number(counted) }, { quiet: ["chips_differ"] });
  if (error?.code === "not_sent" && !current().counted) update({ counted });
};

const enter = (text) => update({ counted: text.replace(/\D/g, "").slice(0, 3) });

const type = (digit) => enter(digit === "⌫" ? current().counted.slice(0, -1) : current().counted + digit);

const wrongCount = (view) => html`<div class="notice bad differs" role="alert">
  <h2>You counted ${view.differs.counted}. ${view.chips} chip ${
    view.chips === 1 ? "wager was" : "wagers were"} accepted.</h2>
  <p>Compare the chips with the lights and count again. If a light is wrong, call a floorperson and touch
    “Correct a wager…”: the round goes on.</p>
  <ul>${byText(view.lit, ({ wagers }) => `${wagers.length} (${wagers.join(", ")})`)}</ul>
</div>`;

const hasElectronic = ({ positions, chips }) => positions.flatMap(({ lit }) => lit).length > chips;

/* The message about a wrong count is below the field, so it moves nothing that the dealer touches. */
const counting = (state) => html`
  <${DrawMade} draw=${state.view.draw} />
  <form class="count" onsubmit=${count}>
    <h2>${state.view.chips_returned ? "Count the returned chips" : "Count the value chips"}</h2>
    ${hasElectronic(state.view) && html`<p>Five Card Hand Bonus wagers are electronic and have no chips.</p>`}
    <div class="entry">
      <input id="count" type="text" inputmode="numeric" autocomplete="off" maxlength="3" pattern="[0-9]*"
        aria-label="Chips counted" value=${state.counted} oninput=${({ target }) => enter(target.value)} />
      <button class="go big" id="count-confirm" type="submit">Confirm count</button>
    </div>
    ${state.view.differs && wrongCount(state.view)}
    <div class="digits" role="group" aria-label="Digits">${[..."1234567890⌫"].map((digit) =>
      button(`digit-${digit}`, digit, () => type(digit),
        { "aria-label": digit === "⌫" ? "Delete a digit" : digit }))}</div>
  </form>`;

const pile = ({ view, target }, what, name, size) => html`<div class="pile" role="group" aria-label=${name}>
  <h2>${name}</h2>
  ${view[what] ? html`<${Cards} names=${view[what]} />`
    : button(`${what}-hand`, `Enter ${size} cards`, () => choose(what),
      { class: target === what ? "small chosen" : "small", "aria-label": `${name} enter` })}
  ${view.can.includes(`retract ${what}`) && button(`${what}-undo`, "Undo",
    () => askUndo({ event: "retract", what }, WHOSE[what]), { class: "small undo", "aria-label": `${name} undo` })}
</div>`;

/* A declaration that contradicts cards that the dealer entered before. */
const declaredWin = ({ position, cards, entered_at: at, wager, hand }) => html`<div class="notice bad declared" role="alert">
  <h2>Position ${position} is declared “No win”, but these cards would win its ${wager}: ${hand}</h2>
  <${Cards} names=${cards} />
  <p>They were entered for position ${at} and taken back. If position ${position} has them, touch its
    “Undo” and enter them. If not, a floorperson must confirm the result.</p>
</div>`;

const dealing = (state) => html`
  ${state.view.declared_wins.map(declaredWin)}
  <div class="piles">
    <div class="dealt">
      ${state.view.dealer_cards > 0 && pile(state, "dealer", "Dealer", state.view.dealer_cards)}
      ${state.view.needs_community && pile(state, "community", "Community", state.view.community_cards)}
      <${DrawMade} draw=${state.view.draw} />
      ${button("link-boxes", "Same player…", () => update({ links: !state.links }),
        { class: "small", "aria-expanded": state.links })}
    </div>
    ${state.view.can.includes("no_win") && button("no-win",
      state.view.positions.some((place) => place.lit.length && place.cards) ? "No other winners" : "No winners",
      () => press({ event: "no_win" }), { class: "go" })}
  </div>
  <${Pad} ...${state} />`;

const WAITING = {
  lockout: "The wagers were sent to the service. Deal no card until it answers.",
  settle: "The result was sent to the service. Leave the cards on the table until it answers.",
  void: "The void was sent to the service.",
  correct_wager: "The correction was sent to the service. Deal no card until it answers.",
};

const waiting = ({ view }) => html`<div class="notice wait waiting" role="status">
  <h2>Waiting for the service</h2>
  <p>${WAITING[view.unanswered]} It is repeated until the service answers, and it counts only once.</p>
</div>`;

const ASKED = {
  settle: "Hands were entered differently before. The result is settled after a floorperson confirms it.",
  void: "Cards were entered. The round is void after a floorperson confirms it.",
  correct_wager: "The wager is corrected after a floorperson confirms it.",
};

/* A correction request: the table waits until a floorperson has decided it. */
const asking = ({ view: { asking: { event, wager, reason, since } } }) => html`<div class="notice wait asking" role="status">
  <h2>Waiting for a floorperson</h2>
  <p>${ASKED[event]}</p>
  ${wager && html`<p>${wager}</p>`}
  ${reason && html`<p>Reason: ${reason}</p>`}
  <p>Asked at ${new Date(since).toLocaleTimeString("en-US", { hourCycle: "h23" })}.${" "}
    The table continues automatically. ${event === "correct_wager" ? "Deal no card." : "Do not move the cards."}</p>
</div>`;

const unlinked = ({ view }) => html`<div class="notice">
  <h2>No linked progressive wager at this table</h2>
  <p>${view.game} has no such wager here, so there is nothing to enter on this panel. To compute the
    payouts of a round, touch <a href="/settle">Settle by hand</a>.</p>
</div>`;

const TASKS = {
  unlinked, asking, waiting, settled,
  settling: waiting,
  held: ({ view }) => html`<${Held} ...${view} />`,
  locked: counting,
  dealt: dealing,
};
const LOOKS_BACK = new Set(["open", "waiting", "locked", "dealt"]);

export const DealerTask = (state) => html`<section class="dealer-task" id="dealer-task" aria-label="Dealer"
  data-phase=${state.view.phase}>
  <div class="task" id="task" key=${state.stage} tabindex="-1">${TASKS[state.stage]?.(state)}</div>
  <div class="bar" key="bar">
    ${LOOKS_BACK.has(state.stage) && lookBack(state)}
    ${ACTIONS[state.stage]?.(state)}
  </div>
</section>`;
