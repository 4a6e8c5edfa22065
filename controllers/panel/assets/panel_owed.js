/* What stays visible in every phase: refusals, returned wagers, and earlier rounds. */

import { money } from "./money.js";
import { press } from "./panel_connection.js";
import { button, byText } from "./panel_elements.js";
import { update } from "./panel_state.js";
import { told } from "./panel_words.js";
import { html } from "./preact.js";
import { reasonText } from "./reasons.js";
import { say } from "./say.js";

const STATE_TEXTS = {
  pay: (amount) => say("PAY {amount}", { amount }),
  credit: (amount) => say("CREDIT {amount}", { amount }),
  wait: (amount) => say("wait for floorperson, {amount}", { amount }),
  hand_pay: (amount) => say("do not pay: hand pay, {amount}", { amount }),
  paid: (amount) => say("paid by hand, {amount}", { amount }),
  rejected: () => say("DO NOT PAY: rejected"),
  ask: (amount) => say("ask the floorperson: the win was rejected, {amount}", { amount }),
  done: (amount) => say("paid, {amount}", { amount }),
  nothing: () => say("nothing"),
};
/* Names of the buttons with which the dealer completes a line: it is paid, or must not be paid. */
const TICKS = { pay: say("Paid"), credit: say("Credited"), rejected: say("Seen"), ask: say("Done") };
const REFUSED = {
  lockout: say("The service refused the wagers"), settle: say("The service refused the result"),
  void: say("The service refused the void"), correct_wager: say("The service refused the correction of a wager"),
};

/* Complete lines. The event has the states that the page showed at the press. If a state
   has changed since, the agent completes none of these lines. */
const done = (round, lines) => () => press({
  event: "done", round, lines: Object.fromEntries(lines.map((line) => [line.line, line.state])),
});

const ticks = (line) => TICKS[line.state] !== undefined;

const payerOf = (line) => line.state !== "rejected" && line.payer
  && html`<span class="payer">: ${line.state === "wait"
    ? say("then {payer}", { payer: told(line.payer) }) : told(line.payer)}</span>`;

const textOf = (line) => html`${say("Position {position}", { position: line.position })}: <b>${STATE_TEXTS[line.state](money(line.amount))}</b>
  <span class="item"> ${told(line.item)}</span>${payerOf(line)}`;

const whichOf = (round, { position, item, envy_of: of }) => {
  const values = { round, position, item: told(item), of };
  return of ? say("Round {round}, position {position}, {item} for position {of}", values)
    : say("Round {round}, position {position}, {item}", values);
};

const owed = (round) => (line) => html`<li key=${line.line} data-state=${line.state} data-line=${line.line}>
  <p>${textOf(line)}</p>
  ${TICKS[line.state] && button(`done-${round}-${line.line}`, TICKS[line.state], done(round, [line]), {
    class: "small",
    "aria-label": `${whichOf(round, line)}: ${TICKS[line.state].toLowerCase()}`,
  })}
</li>`;

const earlier = ({ round, title, open, undecided }) => html`<li class="earlier" key=${round} data-round=${round}>
  ${title && html`<h2>${title}</h2>`}
  <ul>${open.map(owed(round))}</ul>
  ${!undecided && open.length > 1 && button(`done-${round}`, say("Done"), done(round, open),
    { class: "small", "aria-label": say("Round {round} done", { round }) })}
</li>`;

/* One line for all earlier rounds, which begins with what the dealer can do now. */
const inOneLine = (waiting) => waiting.map(({ round, title, open }) => html`<span class="round" key=${round}
  data-round=${round}>${title && html`<b>${title}</b>`}${[...open.filter(ticks), ...open.filter((line) => !ticks(line))].map((line) =>
    html`<span key=${line.line} data-state=${line.state} data-line=${line.line}>${textOf(line)}</span>`)}</span>`);

/* The open list covers the positions, so that nothing moves. */
export const EarlierRounds = ({ view: { waiting }, showsEarlier }) => waiting.length > 0 && html`
  <section id="earlier" role="status" aria-label=${say("Earlier rounds")}>
    ${button("earlier-open", [
      html`<span class="owed">${showsEarlier ? say("Earlier rounds") : inOneLine(waiting)}</span>`,
      html`<span class="more">${showsEarlier ? say("Close ▴") : say("Open ▾")}</span>`,
    ], () => update({ showsEarlier: !showsEarlier }), { "aria-expanded": showsEarlier })}
    ${showsEarlier && html`<ul class="rounds">${waiting.map(earlier)}</ul>`}
  </section>`;

const refusal = (found) => html`<div class="notice bad" role="alert" id="refusal">
  <h2>${REFUSED[found.event] ?? say("The service refused {event}", { event: found.event })}</h2>
  <p>${found.message}.</p>
</div>`;

const returned = (found) => html`<div class="notice wait" role="status" id="returned">
  <h2>${say("Give back")} <span>${reasonText(found.reason)}. ${found.others && told(found.others)}</span></h2>
  <ul>${byText(found.positions, ({ items }) => items.map(told).join(", "))}</ul>
</div>`;

export const Notices = ({ view }) => {
  /* While hands are entered, the positions show the returned wagers: the pad needs the space. */
  const back = view.phase !== "dealt" && view.returned;
  const refused = !(view.refusal?.event === "lockout" && view.returned) && view.refusal;
  return (back || refused) && html`<section id="notices" aria-label=${say("Refusals and returned wagers")}>
    ${refused && refusal(refused)}${back && returned(back)}</section>`;
};
