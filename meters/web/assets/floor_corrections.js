/* A correction request: a void after cards were entered, a hand entered differently, or a wager
   added or taken back before the first card. A floorperson confirms or refuses the request. The table
   waits until then. */

import * as api from "./floor_api.js";
import { Action, Field, needed, open as openDialog } from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { Pane, Waited } from "./floor_panes.js";
import { give } from "./floor_receipts.js";
import { money } from "./money.js";
import { Cards, dealerWords } from "./playing_cards.js";
import { html } from "./preact.js";
import { reasonText } from "./reasons.js";
import { say } from "./say.js";

const KINDS = {
  void: say("Void after cards"), result: say("Hand entered differently"),
  add_wager: say("Add a wager"), take_back_wager: say("Take a wager back"),
};
const CONFIRM = {
  void: say("Confirm this void?"), result: say("Confirm this result?"),
  add_wager: say("Confirm adding this wager?"), take_back_wager: say("Confirm taking this wager back?"),
};
const REFUSE = {
  void: say("Refuse this void?"), result: say("Refuse this result?"),
  add_wager: say("Refuse adding this wager?"), take_back_wager: say("Refuse taking this wager back?"),
};
const LOOK = {
  add_wager: say("Check at the table that the chip is there, and that no card is dealt."),
  take_back_wager: say("Check at the table that the position has no chip for it, and that no card is dealt."),
};

const path = (ask, act) => `/api/v1/asks/${encodeURIComponent(ask.ask)}/${act}`;
export const place = (ask) => say("Table {table}, round {round}", ask);
export const kind = (ask) => KINDS[ask.what];
export const summary = (ask) => [kind(ask), ask.reason && reasonText(ask.reason)].filter(Boolean).join(": ");

const whose = (hand) => {
  if (hand.what === "hand") return say("Position {position}", hand);
  return hand.what === "dealer" ? dealerWords(hand.before) : say("Community");
};

const settledAs = (ask, hand) => {
  if (ask.what === "void") return say("Not settled: the round is void");
  if (hand.after_no_win) return say("Settled as declared to win nothing");
  return hand.after_folded ? say("Settled as folded, without cards") : say("Settled without cards");
};

const isReordered = ({ before, after }) => String(before) !== String(after)
  && String([...before].sort()) === String([...after].sort());

const Then = ({ ask, hand }) => (hand.after.length
  ? html`<div class="hand"><p class="of">${hand.after_folded ? say("To be settled as folded") : say("To be settled")}</p><${Cards} names=${hand.after} />
    ${isReordered(hand) && html`<p class="of">${say("The same cards, in another order")}</p>`}</div>`
  : html`<p class="of">${settledAs(ask, hand)}</p>`);

/* The cards that were entered first. Without cards, the hand was declared to win nothing. */
const First = ({ hand }) => (hand.before_no_win
  ? html`<p class="of">${say("{hand}, declared to win nothing", { hand: whose(hand) })}</p>`
  : html`<div class="hand"><p class="of">${say("{hand}, entered", { hand: whose(hand) })}</p><${Cards} names=${hand.before} /></div>`);

const Wager = ({ ask: { what, wager } }) => html`
  <p class="hand-name">${`${format.who(wager.position, wager.patron)}: ${format.item(wager.wager)}, ${money(wager.amount)}`}</p>
  <p class="of">${LOOK[what]}</p>`;

/* The wager that is corrected; or the entered cards of each hand, and the cards that replace them. */
const Changes = ({ ask }) => (ask.wager ? html`<${Wager} ask=${ask} />` : html`
  <ul class="changes">
    ${ask.cards.map((hand) => html`
      <li>
        <${First} hand=${hand} />
        <${Then} ask=${ask} hand=${hand} />
        ${(hand.taken_back || hand.reason)
          && html`<p class="why">${hand.reason ? say("Taken back: {reason}", { reason: reasonText(hand.reason) }) : say("Taken back")}</p>`}
      </li>`)}
  </ul>`);

const Again = ({ ask }) => html`
  <div class="again">
    <p class="place">${place(ask)}</p>
    <p>${summary(ask)}</p>
  </div>
  <${Changes} ask=${ask} />`;

/* Open a dialog about a request. `told` returns the text of its receipt. */
const open = ({ ask, told, ...dialog }) => openDialog({
  ...dialog,
  receipt: () => give(told({ ...ask, kind: KINDS[ask.what].toLowerCase() })),
  late: async () => give(say("{place}: the table no longer asks. Somebody has decided the request, or the dealer took it back.", { place: place(ask) }),
    [], { isLate: true }),
});

const confirm = (ask, done) => open({
  ask,
  told: (values) => say("Confirmed: {kind}, {table} · Round {round}", values),
  title: CONFIRM[ask.what],
  content: html`<${Again} ask=${ask} />`,
  confirm: say("Confirm"),
  act: () => api.post(path(ask, "confirm")),
  done,
});

const refuse = (ask, done) => open({
  ask,
  told: (values) => say("Refused: {kind}, {table} · Round {round}", values),
  title: REFUSE[ask.what],
  content: html`
    <${Again} ask=${ask} />
    <${Field} label=${say("Why? The dealer reads it")} name="reason" />
    <p>${say("Nothing changes at the table: the round goes on.")}</p>`,
  confirm: say("Refuse"),
  kind: "stop",
  act: (form) => api.post(path(ask, "refuse"), { reason: needed(form, "reason", say("Say why.")) }),
  done,
});

const CorrectionActs = ({ ask, me, done }) => html`
  <div class="acts">
    ${me.rights.includes("decide")
      ? html`
        <${Action} kind="go" label=${say("Confirm")} first about=${place(ask)} onClick=${() => confirm(ask, done)} />
        <${Action} kind="stop" label=${say("Refuse")} about=${place(ask)} onClick=${() => refuse(ask, done)} />`
      : html`<p class="why">${say("A floorperson or a supervisor decides.")}</p>`}
  </div>`;

/* A request in its pane. */
export const Correction = ({ ask, me, done, back }) => html`
  <${Pane} kind="ask" of=${{ "data-ask": ask.ask }} back=${back} acts=${html`<${CorrectionActs} ask=${ask} me=${me} done=${done} />`}>
    <div class="win-title">
      <div>
        <h2 tabindex="-1">${say("{table} · Round {round}", ask)} <span>${say("· {link_name} · asset {asset}", ask)}</span></h2>
        <p class="hand-name">${kind(ask)}</p>
        ${ask.reason && html`<p>${say("Reason: {reason}", { reason: reasonText(ask.reason) })}</p>`}
      </div>
      <p class="tags"><${Waited} at=${ask.at} isTold /></p>
    </div>
    <section class="panel"><h3>${say("What changes")} <span>${say("the table waits")}</span></h3><${Changes} ask=${ask} /></section>
  <//>`;
