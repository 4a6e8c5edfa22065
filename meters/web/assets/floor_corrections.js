/* A correction request: a void after cards were entered, a hand entered differently, or a wager
   added or taken back before the first card. A floorperson confirms or refuses the request. The table
   waits until then. */

import * as api from "./floor_api.js";
import { Action, Field, needed, open as openDialog } from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { Pane, Waited } from "./floor_panes.js";
import { give } from "./floor_receipts.js";
import { money } from "./money.js";
import { Cards } from "./playing_cards.js";
import { html } from "./preact.js";

const KINDS = {
  void: "Void after cards", result: "Hand entered differently",
  add_wager: "Add a wager", take_back_wager: "Take a wager back",
};
const WHAT = {
  void: "this void", result: "this result", add_wager: "adding this wager", take_back_wager: "taking this wager back",
};
const LOOK = {
  add_wager: "Check at the table that the chip is there, and that no card is dealt.",
  take_back_wager: "Check at the table that the position has no chip for it, and that no card is dealt.",
};

const path = (ask, act) => `/api/v1/asks/${encodeURIComponent(ask.ask)}/${act}`;
export const place = (ask) => `Table ${ask.table}, round ${ask.round}`;
export const kind = (ask) => KINDS[ask.what];
export const summary = (ask) => [kind(ask), ask.reason].filter(Boolean).join(": ");

const whose = (hand) => {
  if (hand.what === "hand") return `Position ${hand.position}`;
  return hand.what === "dealer" ? "Dealer" : "Community";
};

const settledAs = (ask, hand) => {
  if (ask.what === "void") return "Not settled: the round is void";
  if (hand.after_no_win) return "Settled as declared to win nothing";
  return hand.after_folded ? "Settled as folded, without cards" : "Settled without cards";
};

const Then = ({ ask, hand }) => (hand.after.length
  ? html`<div class="hand"><p class="of">${hand.after_folded ? "To be settled as folded" : "To be settled"}</p><${Cards} names=${hand.after} /></div>`
  : html`<p class="of">${settledAs(ask, hand)}</p>`);

/* The cards that were entered first. Without cards, the hand was declared to win nothing. */
const First = ({ hand }) => (hand.before_no_win
  ? html`<p class="of">${`${whose(hand)}, declared to win nothing`}</p>`
  : html`<div class="hand"><p class="of">${`${whose(hand)}, entered`}</p><${Cards} names=${hand.before} /></div>`);

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
          && html`<p class="why">${`Taken back${hand.reason ? `: ${hand.reason}` : ""}`}</p>`}
      </li>`)}
  </ul>`);

const Again = ({ ask }) => html`
  <div class="again">
    <p class="place">${place(ask)}</p>
    <p>${summary(ask)}</p>
  </div>
  <${Changes} ask=${ask} />`;

/* Open a dialog about a request; `told` is what the receipt says of it. */
const open = ({ ask, told, ...dialog }) => openDialog({
  ...dialog,
  receipt: () => give(`${told}: ${KINDS[ask.what].toLowerCase()}, ${ask.table} · Round ${ask.round}`),
  late: async () => give(`${place(ask)}: the table no longer asks. Somebody has decided it, or the dealer took it back.`),
});

const confirm = (ask, done) => open({
  ask,
  told: "Confirmed",
  title: `Confirm ${WHAT[ask.what]}?`,
  content: html`<${Again} ask=${ask} />`,
  confirm: "Confirm",
  act: () => api.post(path(ask, "confirm")),
  done,
});

const refuse = (ask, done) => open({
  ask,
  told: "Refused",
  title: `Refuse ${WHAT[ask.what]}?`,
  content: html`
    <${Again} ask=${ask} />
    <${Field} label="Why? The dealer reads it" name="reason" />
    <p>Nothing changes at the table: the round goes on.</p>`,
  confirm: "Refuse",
  kind: "stop",
  act: (form) => api.post(path(ask, "refuse"), { reason: needed(form, "reason", "Say why.") }),
  done,
});

const CorrectionActs = ({ ask, me, done }) => html`
  <div class="acts">
    ${me.rights.includes("decide")
      ? html`
        <${Action} kind="go" label="Confirm" first about=${place(ask)} onClick=${() => confirm(ask, done)} />
        <${Action} kind="stop" label="Refuse" about=${place(ask)} onClick=${() => refuse(ask, done)} />`
      : html`<p class="why">A floorperson or a supervisor decides.</p>`}
  </div>`;

/* A request in its pane. */
export const Correction = ({ ask, me, done, back }) => html`
  <${Pane} kind="ask" of=${{ "data-ask": ask.ask }} back=${back} acts=${html`<${CorrectionActs} ask=${ask} me=${me} done=${done} />`}>
    <div class="win-title">
      <div>
        <h2 tabindex="-1">${`${ask.table} · Round ${ask.round}`} <span>${`· ${ask.link_name} · asset ${ask.asset}`}</span></h2>
        <p class="hand-name">${kind(ask)}</p>
        ${ask.reason && html`<p>${`Reason: ${ask.reason}`}</p>`}
      </div>
      <p class="tags"><${Waited} at=${ask.at} isTold /></p>
    </div>
    <section class="panel"><h3>What changes <span>the table waits</span></h3><${Changes} ask=${ask} /></section>
  <//>`;
