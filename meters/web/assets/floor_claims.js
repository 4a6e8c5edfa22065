/* A win as it is shown in the waiting list and in the list of past wins. */

import { openPin } from "./floor_dialog.js";
import * as format from "./floor_format.js";
import * as session from "./floor_session.js";
import { money } from "./money.js";
import { Cards } from "./playing_cards.js";
import { html } from "./preact.js";

const STATES = {
  pending: "To validate",
  validated: "Validated",
  paid: "Paid",
  rejected: "Rejected",
};
export const waitsForPay = (claim) => claim.state === "validated" && claim.paid_from === "hand_pay";
export const owesEnvy = (claim) => claim.envy_state === "validated";
/* Check if only the Envy Bonuses of the claim are left to be paid or rejected. */
export const onlyEnvy = (claim) => owesEnvy(claim) && claim.state !== "pending" && !waitsForPay(claim);
export const sum = (claim) => (claim.only_envy ? claim.envy_amount : claim.amount);
export const stateText = (claim) => {
  if (claim.request) return claim.request.act === "reject" ? "Rejection to confirm" : "Reopening to confirm";
  if (waitsForPay(claim)) return "To be paid";
  return onlyEnvy(claim) ? "Envy to be paid" : STATES[claim.state];
};
/* The Envy Bonuses of a claim in cents, without those that are not due. */
export const dueEnvy = (claim) => (claim.envy_state === "rejected" ? 0 : claim.envy_amount);
export const place = (claim) => `Table ${claim.table}, position ${claim.position}`;
export const itemName = (claim) => claim.item_name || format.item(claim.item);
export const handName = (claim) => claim.hand_name || format.capital(format.plain(claim.hand));
export const share = (claim) => {
  if (claim.only_envy) return "Only Envy Bonuses: no win of this hand waits";
  return claim.percent === null ? "At odds, not from the meter" : `${claim.percent}% of the meter`;
};
export const look = (claim) => {
  if (claim.request) return "pending";
  return waitsForPay(claim) || onlyEnvy(claim) ? "unpaid" : claim.state;
};
/* The time since which a claim waits: the request to reopen a rejected win, or the win. */
export const since = (claim) => (claim.state === "rejected" && claim.request ? claim.request.at : claim.at);

/* Who rejected a win, and why. */
export const rejection = (claim) =>
  `Rejected by ${[claim.requested_by, claim.decided_by].filter(Boolean).join(" and ")}: ${claim.reason}.`;

export const Chip = ({ claim }) => html`<span class="chip" data-state=${look(claim)}>${stateText(claim)}</span>`;

/* The cards that decide the wager: the cards of the position, and the cards of the dealer and
   of the community if they count. */
export const Hands = ({ claim }) => html`
  <div class="hands">
    ${[[`Position ${claim.position}`, claim.cards], ["Community", claim.community], ["Dealer", claim.dealer]]
      .filter(([, names]) => names.length)
      .map(([title, names]) => html`
        <div class="hand"><p class="of">${title}</p><${Cards} names=${names} /></div>`)}
  </div>`;

/* A list of names and texts; a pair without a text is left out. */
export const Facts = ({ pairs }) => html`
  <dl class="facts">
    ${pairs.filter(([, text]) => text).map(([name, text]) => html`
      <div key=${name}><dt>${name}</dt><dd>${text}</dd></div>`)}
  </dl>`;

const by = (name, at) => (name ? `${name}, ${format.moment(at)}` : "");

const envyTitle = (claim) => {
  const decided = claim.envy_by ? ` by ${by(claim.envy_by, claim.envy_at)}` : "";
  switch (claim.envy_state) {
    case "pending": return claim.request?.envy_not_due
      ? "Envy Bonuses: not due once the rejection is confirmed"
      : "Envy Bonuses: owed once the win is decided";
    case "paid": return `Envy Bonuses: paid${decided}`;
    case "rejected": return `Envy Bonuses: not due, ${claim.envy_reason ?? "the hand was not as entered"}`;
    default: return claim.envy_not_due
      ? "Envy Bonuses: not due, the hand was not as entered"
      : "Envy owed for this hand";
  }
};

export const Envy = ({ claim, title = envyTitle(claim) }) => claim.envy.length > 0 && html`
  <section class="envy">
    <h3>${title}</h3>
    <ul>${claim.envy.map((owed) => html`
      <li><span>${format.who(owed.position, owed.patron)}</span> <span class="sum">${money(owed.amount)}</span></li>`)}
    </ul>
  </section>`;

export const Wagers = ({ claim }) => claim.wagers.length > 0 && html`
  <table class="wagers">
    <caption>Wagers accepted at lock-out</caption>
    <tbody>${claim.wagers.map((one) => html`
      <tr data-own=${one.position === claim.position ? "" : null}>
        <th scope="row">${format.who(one.position, one.patron)}</th>
        <td><ul>${Object.entries(one.wagers).map(([name, cents]) => html`
          <li>${format.item(name)} <span class="sum">${money(cents)}</span></li>`)}
          ${(claim.no_win ?? []).includes(one.position)
            && html`<li class="declared">Hand declared to win nothing</li>`}</ul></td>
      </tr>`)}
    </tbody>
  </table>`;

export const order = (claim) =>
  claim.turns > 1
    ? `Win ${claim.turn} of ${claim.turns} of its round · entry ${claim.order}`
    : `Entry ${claim.order}`;

export const TaxNotice = ({ claim }) =>
  claim.tax_documents && claim.state !== "rejected" && claim.state !== "paid"
    && html`<p class="notice wait tax">Tax documents are needed before this is paid</p>`;

/* The request of one person that another person must confirm. */
export const RequestNotice = ({ claim: { request } }) => request && html`
  <p class="notice wait request">
    ${`${request.by} requests to ${request.act} it, ${format.moment(request.at)}: ${request.reason}.`}
    ${request.envy_not_due ? " The Envy Bonuses are not due either." : ""}</p>`;

/* The print of a slip is recorded with the name of the user. So it needs the PIN if the session has
   lapsed. */
export const SlipLink = ({ claim }) => {
  const path = `/api/v1/claims/${encodeURIComponent(claim.claim)}/slip.pdf`;
  const ask = (event) => {
    if (!session.hasLapsed()) return;
    event.preventDefault();
    openPin(() => window.open(path, "_blank", "noopener"));
  };
  return html`
    <a class="button" href=${path} target="_blank" rel="noopener" onClick=${ask}>Payout slip (PDF)</a>`;
};

/* Everything that is known about a win. */
export const WholeClaim = ({ claim }) => html`
  <div class="whole">
    <${TaxNotice} claim=${claim} />
    <${RequestNotice} claim=${claim} />
    <div class="sum-line"><p class="amount">${money(sum(claim))}</p><${Chip} claim=${claim} /></div>
    <p class="hand-name">${handName(claim)}</p>
    <${Hands} claim=${claim} />
    <${Facts} pairs=${[
      ["Won", format.moment(claim.at)],
      ["Table", `${claim.table}, asset ${claim.asset}`],
      ["Position", String(claim.position)],
      ["Patron", claim.patron],
      ["Wager", `${itemName(claim)}, ${money(claim.wagered)}`],
      ["Progressive", `${claim.meter_name || claim.meter} · ${claim.link_name || claim.link}`],
      ["Share", share(claim)],
      ["Meter after it", claim.percent === null ? "" : money(claim.meter_after)],
      ["Paid from", format.paidFrom(claim.paid_from)],
      ["Order", order(claim)],
      ["Rule", claim.rule],
      ["Round", claim.round],
      ["Claim", claim.claim],
    ]} />
    <${Facts} pairs=${[
      ["Validated by", by(claim.validated_by, claim.validated_at)],
      ["Paid by", by(claim.paid_by, claim.paid_at)],
      ["Slip number", claim.slip],
      ["Slip number corrected by", by(claim.slip_corrected_by, claim.slip_corrected_at)],
      ["Rejected by", claim.state === "rejected" ? by(claim.decided_by, claim.decided_at) : ""],
      ["Rejection requested by", claim.state === "rejected" ? claim.requested_by : ""],
      ["Reopened by", claim.state === "pending" ? by(claim.decided_by, claim.decided_at) : ""],
      ["Reopening requested by", claim.state === "pending" ? claim.requested_by : ""],
      ["Reason", claim.reason],
    ]} />
    <${Envy} claim=${claim} />
    <${Wagers} claim=${claim} />
  </div>`;
