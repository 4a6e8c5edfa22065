/* What stays visible in every phase: refusals, returned wagers, and earlier rounds. */

import { money } from "./money.js";
import { press } from "./panel_connection.js";
import { button, byText } from "./panel_elements.js";
import { update } from "./panel_state.js";
import { html } from "./preact.js";

const STATE_TEXTS = {
  pay: (amount) => `PAY ${amount}`,
  credit: (amount) => `CREDIT ${amount}`,
  wait: (amount) => `wait for floorperson, ${amount}`,
  hand_pay: (amount) => `do not pay: hand pay, ${amount}`,
  paid: (amount) => `paid by hand, ${amount}`,
  rejected: () => "DO NOT PAY: rejected",
  ask: (amount) => `ask the floorperson: the win was rejected, ${amount}`,
  done: (amount) => `paid, ${amount}`,
  nothing: () => "nothing",
};
/* Names of the buttons with which the dealer completes a line. The dealer has paid the line, or
   knows that it must not be paid. */
const TICKS = { pay: "Paid", credit: "Credited", rejected: "Seen", ask: "Done" };
const REFUSED = {
  lockout: "the wagers", settle: "the result", void: "the void", correct_wager: "the correction of a wager",
};

/* Complete lines. The event has the states that the page showed at the press. If a state has
   changed since then, the agent completes none of these lines. */
const done = (round, lines) => () => press({
  event: "done", round, lines: Object.fromEntries(lines.map((line) => [line.line, line.state])),
});

const ticks = (line) => TICKS[line.state] !== undefined;

const payerOf = (line) => line.state !== "rejected" && line.payer
  && html`<span class="payer">: ${line.state === "wait" && "then "}${line.payer}</span>`;

const textOf = (line) => html`Position ${line.position}: <b>${STATE_TEXTS[line.state](money(line.amount))}</b>
  <span class="item"> ${line.item}</span>${payerOf(line)}`;

const owed = (round) => (line) => html`<li key=${line.line} data-state=${line.state} data-line=${line.line}>
  <p>${textOf(line)}</p>
  ${TICKS[line.state] && button(`done-${round}-${line.line}`, TICKS[line.state], done(round, [line]), {
    class: "small",
    "aria-label": `Round ${round}, position ${line.position}, ${line.item}${
      line.envy_of ? ` for position ${line.envy_of}` : ""}: ${TICKS[line.state].toLowerCase()}`,
  })}
</li>`;

const earlier = ({ round, open, undecided }) => html`<li class="earlier" key=${round} data-round=${round}>
  <h2>${round}</h2>
  <ul>${open.map(owed(round))}</ul>
  ${!undecided && open.length > 1 && button(`done-${round}`, "Done", done(round, open),
    { class: "small", "aria-label": `Round ${round} done` })}
</li>`;

/* One line for all earlier rounds. What the dealer can do now is first. */
const inOneLine = (waiting) => waiting.map(({ round, open }) => html`<span class="round" key=${round}
  data-round=${round}><b>${round}</b>${[...open.filter(ticks), ...open.filter((line) => !ticks(line))].map((line) =>
    html`<span key=${line.line} data-state=${line.state} data-line=${line.line}>${textOf(line)}</span>`)}</span>`);

/* The list covers the positions while it is open, so it moves nothing. */
export const EarlierRounds = ({ view: { waiting }, showsEarlier }) => waiting.length > 0 && html`
  <section id="earlier" role="status" aria-label="Earlier rounds">
    ${button("earlier-open", [
      html`<span class="owed">${showsEarlier ? "Earlier rounds" : inOneLine(waiting)}</span>`,
      html`<span class="more">${showsEarlier ? "Close ▴" : "Open ▾"}</span>`,
    ], () => update({ showsEarlier: !showsEarlier }), { "aria-expanded": showsEarlier })}
    ${showsEarlier && html`<ul class="rounds">${waiting.map(earlier)}</ul>`}
  </section>`;

const refusal = (found) => html`<div class="notice bad" role="alert" id="refusal">
  <h2>The service refused ${REFUSED[found.event] ?? found.event}</h2>
  <p>${found.message}.</p>
</div>`;

const returned = (found) => html`<div class="notice wait" role="status" id="returned">
  <h2>Give back <span>${found.reason}. ${found.others}</span></h2>
  <ul>${byText(found.positions, ({ items }) => items.join(", "))}</ul>
</div>`;

export const Notices = ({ view }) => {
  /* While hands are entered, the positions show the returned wagers, so the pad has more space. */
  const back = view.phase !== "dealt" && view.returned;
  const refused = !(view.refusal?.event === "lockout" && view.returned) && view.refusal;
  return (back || refused) && html`<section id="notices" aria-label="Refusals and returned wagers">
    ${refused && refusal(refused)}${back && returned(back)}</section>`;
};
