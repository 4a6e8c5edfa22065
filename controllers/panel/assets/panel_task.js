/* The dealer's next task: lock-out, the count, the hands, the settlement, or a void. */

import { money } from "./money.js";
import { press } from "./panel_connection.js";
import { button, byText } from "./panel_elements.js";
import { choose, Pad } from "./panel_pad.js";
import { askCorrection, askUndo, askVoid } from "./panel_reasons.js";
import { DrawMade, Held, Settlement } from "./panel_settled.js";
import { current, update } from "./panel_state.js";
import { told } from "./panel_words.js";
import { Cards } from "./playing_cards.js";
import { html } from "./preact.js";
import { reasonText } from "./reasons.js";
import { locale, say, sayCount, sayHand } from "./say.js";

const RESULT = {
  name: say("Result"), enter: say("Enter the result"), undo: say("Undo the result"), takeBack: say("Take back the result?"),
};
const PILES = {
  dealer: {
    name: say("Dealer"), enter: say("Dealer enter"), undo: say("Dealer undo"), takeBack: say("Take back the dealer's hand?"),
  },
  community: {
    name: say("Community"), enter: say("Community enter"), undo: say("Community undo"), takeBack: say("Take back the community cards?"),
  },
};
const TIME = new Intl.DateTimeFormat(locale, { timeStyle: "medium", hourCycle: "h23" });

const hasElectronic = ({ positions, chips }) => positions.flatMap(({ lit }) => lit).length > chips;

/* The dealer counts no chips of electronic wagers, so the sentence says how many wagers have chips. */
const accepted = (view) => {
  const { positions, chips } = view;
  const lit = positions.flatMap(({ amounts }) => Object.values(amounts));
  const sum = lit.reduce((total, amount) => total + amount, 0);
  const all = sayCount("{count} wager accepted, {amount}", "{count} wagers accepted, {amount}", lit.length, { amount: money(sum) });
  return hasElectronic(view) ? say("{wagers} (with chips: {chips})", { wagers: all, chips }) : all;
};

/* Button that shows or hides the settlement that was closed last. */
const lookBack = ({ view, looksBack }) => view.last && button("last-settlement", say("Last settlement"), () => {
  update({ looksBack: !looksBack });
  if (!looksBack) document.getElementById("settled-title")?.scrollIntoView({ block: "start" });
}, { class: "small", "aria-expanded": looksBack });

const voids = () => button("void-ask", say("Void the round…"), askVoid, { class: "stop" });

const corrects = (view) => view.can.includes("correct_wager")
  && button("correct-ask", say("Correct a wager…"), () => askCorrection(current().view), { class: "small" });

const tally = (text) => html`<p class="tally" key="tally">${text}</p>`;

const next = ({ round, seen }) => () => press({ event: "next", round, done: seen });

/* The actions of each stage, below everything else. */
const ACTIONS = {
  open: ({ view }) => [
    tally(accepted(view)),
    button("repeat", say("Same as last round"), () => press({ event: "repeat" }),
      { disabled: !view.can.includes("repeat") }),
    button("lockout", say("Lock-out: no more bets"), () => press({ event: "lockout" }),
      { class: "stop big", disabled: !view.can.includes("lockout"), "data-next": true }),
  ],
  locked: ({ view }) => [corrects(view), voids()],
  locked_out: voids,
  dealt: ({ view }) => [
    tally(view.missing.length ? say("Missing: {what}", { what: view.missing.map(told).join("; ") })
      : [view.results.length ? say("All required results are entered.") : say("All required cards are entered."), view.envy_unread
        && ` ${say("Also enter hands that may win something for other players, even without a progressive wager.")}`]),
    view.chips > 0 && view.can.includes("retract chips") && button("undo-chips", say("Count again"),
      () => press({ event: "retract", what: "chips" }), { class: "undo" }),
    corrects(view),
    voids(),
    button("settle", say("Settle the round"), () => press({ event: "settle" }, { quiet: ["unconfirmed"] }),
      { class: "go big", disabled: !view.can.includes("settle"), "data-next": true }),
  ],
  settled: ({ view }) => view.phase === "open" && [
    tally([view.settled.told.map(told).join(" "), view.positions.some((place) => place.lit.length)
      && ` ${say("For the next round: {wagers}.", { wagers: accepted(view) })}`]),
    button("next-round", say("Next round"), next(view.settled),
      { class: "go big", disabled: !view.can.includes("next"), "data-next": true }),
  ],
  asking: ({ view }) => button("withdraw-correction", say("Withdraw the request"), () => press({ event: "withdraw_correction" }),
    { disabled: !view.can.includes("withdraw") }),
};

const settled = ({ view }) => html`
  ${view.phase === "held" && html`<${Held} ...${view} />`}
  <${Settlement} settled=${view.settled} isLast=${view.phase === "open"} />`;

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
  <h2>${sayCount("You counted {count} chip.", "You counted {count} chips.", view.differs.counted)}
    ${" "}${sayCount("{count} wager has a chip.", "{count} wagers have chips.", view.chips)}</h2>
  <p>${say("Compare the chips with the lights and count again. If a light is wrong, call a floorperson and touch “Correct a wager…”: the round goes on.")}</p>
  <ul>${byText(view.lit, ({ wagers }) => `${wagers.length} (${wagers.join(", ")})`)}</ul>
</div>`;

/* The message about a wrong count is below the field, so it moves nothing that the dealer touches. */
const counting = (state) => html`
  <${DrawMade} draw=${state.view.draw} />
  <form class="count" onsubmit=${count}>
    <h2>${state.view.chips_returned ? say("Count the returned chips") : say("Count the value chips")}</h2>
    ${hasElectronic(state.view) && html`<p>${say("Five Card Hand Bonus wagers are electronic and have no chips.")}</p>`}
    <div class="entry">
      <input id="count" type="text" inputmode="numeric" autocomplete="off" maxlength="3" pattern="[0-9]*"
        aria-label=${say("Chips counted")} value=${state.counted} oninput=${({ target }) => enter(target.value)} />
      <button class="go big" id="count-confirm" type="submit">${say("Confirm count")}</button>
    </div>
    ${state.view.differs && wrongCount(state.view)}
    <div class="digits" role="group" aria-label=${say("Digits")}>${[..."1234567890⌫"].map((digit) =>
      button(`digit-${digit}`, digit, () => type(digit),
        { "aria-label": digit === "⌫" ? say("Delete the last digit") : digit }))}</div>
  </form>`;

const pile = ({ view, target }, what, size) => {
  const words = view.results.length ? RESULT : PILES[what];
  const enter = view.results.length ? RESULT.enter : say("Enter {size} cards", { size });
  return html`<div class="pile" role="group" aria-label=${words.name}>
  <h2>${words.name}</h2>
  ${view[what] ? html`<${Cards} names=${view[what]} />`
    : button(`${what}-hand`, enter, () => choose(what),
      { class: target === what ? "small chosen" : "small", "aria-label": words.enter })}
  ${view.can.includes(`retract ${what}`) && button(`${what}-undo`, say("Undo"),
    () => askUndo({ event: "retract", what }, words.takeBack), { class: "small undo", "aria-label": words.undo })}
</div>`;
};

/* A declaration that contradicts cards that the dealer entered earlier. */
const declaredWin = ({ position, cards, entered_at: at, wager, hand }) => html`<div class="notice bad declared" role="alert">
  <h2>${say("Position {position} is declared “No win”, but these cards would win its {wager}: {hand}",
    { position, wager, hand: sayHand(hand) })}</h2>
  <${Cards} names=${cards} />
  <p>${say("They were entered for position {at} and taken back. If position {position} has them, touch its “Undo” and enter them. If not, a floorperson must confirm the result.", { at, position })}</p>
</div>`;

const dealing = (state) => html`
  ${state.view.declared_wins.map(declaredWin)}
  <div class="piles">
    <div class="dealt">
      ${state.view.dealer_cards > 0 && pile(state, "dealer", state.view.dealer_cards)}
      ${state.view.needs_community && pile(state, "community", state.view.community_dealt)}
      <${DrawMade} draw=${state.view.draw} />
      ${button("link-boxes", say("Same player…"), () => update({ links: !state.links }),
        { class: "small", "aria-expanded": state.links })}
    </div>
    ${state.view.can.includes("no_win") && button("no-win",
      state.view.positions.some((place) => place.lit.length && place.cards) ? say("No other winners") : say("No winners"),
      () => press({ event: "no_win" }), { class: "go" })}
  </div>
  <${Pad} ...${state} />`;

const WAITING = {
  lockout: say("The wagers were sent to the service. Deal no card until it answers."),
  settle: say("The result was sent to the service. Leave the cards on the table until it answers."),
  void: say("The void was sent to the service."),
  correct_wager: say("The correction was sent to the service. Deal no card until it answers."),
};

const RESULTS_WAIT = { ...WAITING, settle: say("The result was sent to the service. Leave the table as it is until it answers.") };

const waiting = ({ view }) => html`<div class="notice wait waiting" role="status">
  <h2>${say("Waiting for the service")}</h2>
  <p>${(view.results.length ? RESULTS_WAIT : WAITING)[view.unanswered]} ${say("It is repeated until the service answers, and it counts only once.")}</p>
</div>`;

const RESULTS_ASKED = {
  settle: say("The result was entered differently before. It is settled after a floorperson confirms it."),
  void: say("A result was entered. The round is void after a floorperson confirms it."),
};
const ASKED = {
  settle: say("Hands were entered differently before. The result is settled after a floorperson confirms it."),
  void: say("Cards were entered. The round is void after a floorperson confirms it."),
  correct_wager: say("The wager is corrected after a floorperson confirms it."),
};

const stay = (event, results) => {
  if (results.length) return say("Leave the table as it is.");
  return event === "correct_wager" ? say("Deal no card.") : say("Do not move the cards.");
};

/* A correction request: the table waits for the floorperson's decision. */
const asking = ({ view: { results, asking: { event, wager, reason, since } } }) => html`<div class="notice wait asking" role="status">
  <h2>${say("Waiting for a floorperson")}</h2>
  <p>${(results.length && RESULTS_ASKED[event]) || ASKED[event]}</p>
  ${wager && html`<p>${told(wager)}</p>`}
  ${reason && html`<p>${say("Reason: {reason}", { reason: reasonText(reason) })}</p>`}
  <p>${say("Asked at {time}. The table continues automatically.", { time: TIME.format(new Date(since)) })}
    ${" "}${stay(event, results)}</p>
</div>`;

const unlinked = ({ view }) => html`<div class="notice">
  <h2>${say("No linked progressive wager at this table")}</h2>
  <p>${say("{game} has no such wager here, so there is nothing to enter on this panel. To compute the payouts of a round, touch {link}.",
    { game: view.game, link: html`<a href="/settle">${say("Settle by hand")}</a>` })}</p>
</div>`;

const TASKS = {
  unlinked, asking, waiting, settled,
  settling: waiting,
  held: ({ view }) => html`<${Held} ...${view} />`,
  locked: counting,
  dealt: dealing,
};
const LOOKS_BACK = new Set(["open", "waiting", "locked", "dealt"]);

export const DealerTask = (state) => html`<section class="dealer-task" id="dealer-task" aria-label=${say("Dealer")}
  data-phase=${state.view.phase}>
  <div class="task" id="task" key=${state.stage} tabindex="-1">${TASKS[state.stage]?.(state)}</div>
  <div class="bar" key="bar">
    ${LOOKS_BACK.has(state.stage) && lookBack(state)}
    ${ACTIONS[state.stage]?.(state)}
  </div>
</section>`;
