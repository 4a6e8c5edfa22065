/* The words and amounts of a win, for lists, for its pane and for dialogs. */

import * as format from "./floor_format.js";
import { money } from "./money.js";
import { isCard } from "./playing_cards.js";
import { html } from "./preact.js";
import { reasonText } from "./reasons.js";
import { say, sayHand, sayList } from "./say.js";

export const STATES = {
  pending: say("To validate"),
  validated: say("Validated"),
  paid: say("Paid"),
  rejected: say("Rejected"),
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
  if (claim.request) return claim.request.act === "reject" ? say("Rejection to confirm") : say("Reopening to confirm");
  if (waitsForPay(claim)) return say("To be paid");
  return onlyEnvy(claim) ? say("Envy to be paid") : STATES[claim.state];
};
/* The Envy Bonuses of a claim in cents, without those that are not due. */
export const dueEnvy = (claim) => (claim.envy_state === "rejected" ? 0 : claim.envy_amount);
export const place = (claim) => say("Table {table}, position {position}", claim);
export const shortPlace = (claim) => say("{table} · Position {position}", claim);
export const itemName = (claim) => claim.item_name || format.item(claim.item);
export const handName = (claim) => sayHand(claim.hand_name || format.capital(format.plain(claim.hand)));
const handOf = ({ hand_of: position, hand_table: table }) => (table
  ? say("for the hand of table {table}, position {position}", { table, position }) : say("for the hand of position {position}", { position }));
export const share = (claim) => {
  if (claim.only_envy) return say("Only Envy Bonuses: no win of this hand waits");
  if (claim.percent === null) return say("At odds, not from the meter");
  return [format.ofMeter(claim), claim.hand_of && handOf(claim)]
    .filter(Boolean).join(" · ");
};
export const look = (claim) => {
  if (claim.request) return "second";
  return waitsForPay(claim) || onlyEnvy(claim) ? "unpaid" : claim.state;
};
/* The time since which a claim waits: the request to reopen a rejected win, the decision since which
   its Envy Bonuses are owed, or the win. */
export const since = (claim) => {
  if (claim.state === "rejected" && claim.request) return claim.request.at;
  return onlyEnvy(claim) && !claim.only_envy ? claim.envy_at ?? claim.at : claim.at;
};
/* A wager has won a must-hit-by meter, whatever the cards: so no cards stay on the table. */
export const isMustHitBy = (claim) => claim.hand === "must_hit_by";
/* Check if cards decided the win, and stay on the table: not a result that the dealer entered. */
export const hasCards = (claim) => [...claim.cards, ...claim.dealer, ...claim.community].some(isCard);
/* Check if a table waits for this win before it may go on: not for a share that a hand at another table brings. */
export const holdsTable = (claim) => isHandPay(claim) && !isMustHitBy(claim) && !claim.hand_table && (claim.state === "pending" || waitsForPay(claim));
/* Who did the first of two acts on a win: who requested a change, or else who validated the win. */
const firstOf = (claim) => claim.request?.by ?? claim.validated_by;
/* Why another person must do the second act, if a person who set PINs (`barred_by`) bars the user:
   `barStep` says it in a few words, `barText` in full. */
export const barStep = (claim, me) => {
  if (claim.barred_by === firstOf(claim)) return say("another person: {by} set your PIN", { by: claim.barred_by });
  return claim.barred_by === me.name ? say("another person: you set the PIN of {by}", { by: firstOf(claim) })
    : say("another person: {setter} set both PINs", { setter: claim.barred_by });
};
export const barText = (claim, me, by = firstOf(claim)) => {
  const reason = claim.barred_by === by ? say("{by} set your PIN, directly or through others.", { by })
    : claim.barred_by === me.name ? say("You set the PIN of {by}, directly or through others.", { by })
    : say("{setter} set your PIN and that of {by}, directly or through others.", { setter: claim.barred_by, by });
  return `${reason} ${claim.barred_until ? say("Until {time}, another person must do this.", { time: format.moment(claim.barred_until) })
    : say("Another person must do this.")}`;
};
export const whoRejected = (claim) => sayList([claim.requested_by, claim.decided_by].filter(Boolean));

/* Who rejected a win, and why. If only Envy Bonuses waited, they were found not to be due. */
export const rejection = (claim) =>
  say("Rejected by {who}: {reason}.",
    { who: whoRejected(claim), reason: reasonText(claim.reason ?? claim.envy_reason) });

/* What a request of one person asks for. */
export const requested = ({ request }) => (request.act === "reject"
  ? say("{by} requests to reject it", request) : say("{by} requests to reopen it", request));

/* What the last decision on a win was, for a person who comes too late with another. */
export const already = (claim) => {
  if (claim.request) return `${requested(claim)}, ${format.time(claim.request.at)}`;
  switch (claim.state) {
    case "paid": {
      const values = { by: claim.paid_by, time: format.time(claim.paid_at), slip: claim.slip };
      return claim.slip ? say("Paid already by {by}, {time}, slip {slip}: do not pay it again", values)
        : say("Paid already by {by}, {time}", values);
    }
    case "validated":
      return say("Validated already by {by}, {time}", { by: claim.validated_by, time: format.time(claim.validated_at) });
    case "rejected":
      return say("Rejected already by {by}, {time}: {reason}",
        { by: claim.decided_by, time: format.time(claim.decided_at), reason: reasonText(claim.reason) });
    default: return say("It waits for a floorperson again");
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
  switch (claim.envy_state) {
    case "pending": return claim.request?.envy_not_due
      ? say("Envy Bonuses: not due once the rejection is confirmed")
      : say("Envy Bonuses: they wait for the decision on the win");
    case "paid": return claim.envy_by ? say("Envy Bonuses: paid by {by}", { by: claim.envy_by }) : say("Envy Bonuses: paid");
    case "rejected": return claim.envy_reason
      ? say("Envy Bonuses: not due, {reason}", { reason: claim.envy_reason }) : say("Envy Bonuses: not due, the hand was not as entered");
    default: return claim.envy_not_due
      ? say("Envy Bonuses: not due, the hand was not as entered")
      : say("Envy Bonuses: owed by the table");
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
  claim.turns > 1 && !isMustHitBy(claim)
    ? say("Win {turn} of {turns} of its round · entry {order}", claim)
    : say("Entry {order}", claim);

export const needsTaxDocuments = (claim) =>
  claim.tax_documents && claim.state !== "rejected" && claim.state !== "paid";

export const TaxNotice = ({ claim }) => needsTaxDocuments(claim)
  && html`<p class="notice wait tax">${say("Tax documents are needed before this is paid")}</p>`;

/* The request of one person that another person must confirm. */
export const RequestNotice = ({ claim: { request } }) => request && html`
  <p class="notice wait request">
    ${`${requested({ request })}, ${format.moment(request.at)}: ${reasonText(request.reason)}.`}
    ${request.envy_not_due ? ` ${say("The Envy Bonuses are not due either.")}` : ""}</p>`;
