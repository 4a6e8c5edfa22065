/* The words and amounts of a win, for lists, for its pane and for dialogs. */

import * as format from "./floor_format.js";
import { money } from "./money.js";
import { html } from "./preact.js";

const STATES = {
  pending: "To validate",
  validated: "Validated",
  paid: "Paid",
  rejected: "Rejected",
};
export const isHandPay = (claim) => claim.paid_from === "hand_pay" && !claim.only_envy;
export const waitsForPay = (claim) => claim.state === "validated" && claim.paid_from === "hand_pay";
export const owesEnvy = (claim) => claim.envy_state === "validated";
/* Check if only the Envy Bonuses of the claim are left to be paid or rejected. */
export const onlyEnvy = (claim) => owesEnvy(claim) && claim.state !== "pending" && !waitsForPay(claim);
export const sum = (claim) => (claim.only_envy ? claim.envy_amount : claim.amount);
/* The amount that the next act is about. */
export const due = (claim) => (onlyEnvy(claim) && !claim.request ? claim.envy_amount : sum(claim));
export const stateText = (claim) => {
  if (claim.request) return claim.request.act === "reject" ? "Rejection to confirm" : "Reopening to confirm";
  if (waitsForPay(claim)) return "To be paid";
  return onlyEnvy(claim) ? "Envy to be paid" : STATES[claim.state];
};
/* The Envy Bonuses of a claim in cents, without those that are not due. */
export const dueEnvy = (claim) => (claim.envy_state === "rejected" ? 0 : claim.envy_amount);
export const place = (claim) => `Table ${claim.table}, position ${claim.position}`;
export const shortPlace = (claim) => `${claim.table} · Position ${claim.position}`;
export const itemName = (claim) => claim.item_name || format.item(claim.item);
export const handName = (claim) => claim.hand_name || format.capital(format.plain(claim.hand));
export const share = (claim) => {
  if (claim.only_envy) return "Only Envy Bonuses: no win of this hand waits";
  return claim.percent === null ? "At odds, not from the meter" : `${claim.percent}% of the meter`;
};
export const look = (claim) => {
  if (claim.request) return "second";
  return waitsForPay(claim) || onlyEnvy(claim) ? "unpaid" : claim.state;
};
/* The time since which a claim waits: the request to reopen a rejected win, or the win. */
export const since = (claim) => (claim.state === "rejected" && claim.request ? claim.request.at : claim.at);

/* Who rejected a win, and why. */
export const rejection = (claim) =>
  `Rejected by ${[claim.requested_by, claim.decided_by].filter(Boolean).join(" and ")}: ${claim.reason}.`;

/* What the last decision on a win was, for a person who comes too late with another. */
export const already = (claim) => {
  const done = (what, by, at) => `${what} already by ${by}, ${format.time(at)}`;
  if (claim.request) return `${claim.request.by} requests to ${claim.request.act} it, ${format.time(claim.request.at)}`;
  switch (claim.state) {
    case "paid": return `${done("Paid", claim.paid_by, claim.paid_at)}${claim.slip ? `, slip ${claim.slip}: do not pay it again` : ""}`;
    case "validated": return done("Validated", claim.validated_by, claim.validated_at);
    case "rejected": return `${done("Rejected", claim.decided_by, claim.decided_at)}: ${claim.reason}`;
    default: return "It waits for a floorperson again";
  }
};

export const Chip = ({ claim }) => html`<span class="chip" data-state=${look(claim)}>${stateText(claim)}</span>`;

/* A list of names and texts; a pair without a text is left out. */
export const Facts = ({ pairs }) => html`
  <dl class="facts">
    ${pairs.filter(([, text]) => text).map(([name, text]) => html`
      <div key=${name}><dt>${name}</dt><dd>${text}</dd></div>`)}
  </dl>`;

export const envyTitle = (claim) => {
  const decided = claim.envy_by ? ` by ${claim.envy_by}` : "";
  switch (claim.envy_state) {
    case "pending": return claim.request?.envy_not_due
      ? "Envy Bonuses: not due once the rejection is confirmed"
      : "Envy Bonuses: owed once the win is decided";
    case "paid": return `Envy Bonuses: paid${decided}`;
    case "rejected": return `Envy Bonuses: not due, ${claim.envy_reason ?? "the hand was not as entered"}`;
    default: return claim.envy_not_due
      ? "Envy Bonuses: not due, the hand was not as entered"
      : "Envy Bonuses: owed by the table";
  }
};

export const Envy = ({ claim, title = envyTitle(claim) }) => claim.envy.length > 0 && html`
  <section class="envy">
    <h3>${title}</h3>
    <ul>${claim.envy.map((owed) => html`
      <li><span>${format.who(owed.position, owed.patron)}</span> <span class="sum">${money(owed.amount)}</span></li>`)}
    </ul>
  </section>`;

export const order = (claim) =>
  claim.turns > 1
    ? `Win ${claim.turn} of ${claim.turns} of its round · entry ${claim.order}`
    : `Entry ${claim.order}`;

export const needsTaxDocuments = (claim) =>
  claim.tax_documents && claim.state !== "rejected" && claim.state !== "paid";

export const TaxNotice = ({ claim }) => needsTaxDocuments(claim)
  && html`<p class="notice wait tax">Tax documents are needed before this is paid</p>`;

/* The request of one person that another person must confirm. */
export const RequestNotice = ({ claim: { request } }) => request && html`
  <p class="notice wait request">
    ${`${request.by} requests to ${request.act} it, ${format.moment(request.at)}: ${request.reason}.`}
    ${request.envy_not_due ? " The Envy Bonuses are not due either." : ""}</p>`;
