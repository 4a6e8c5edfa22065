/* A win as it is shown in the waiting list and in the list of past wins. */

import { cards, make } from "./elements.js";
import * as format from "./floor_format.js";
import { money } from "./money.js";

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
const state = (claim) => {
  if (waitsForPay(claim)) return "To be paid";
  return onlyEnvy(claim) ? "Envy to be paid" : STATES[claim.state];
};
export const place = (claim) => `Table ${claim.table}, position ${claim.position}`;
export const itemName = (claim) => claim.item_name || format.item(claim.item);
export const handName = (claim) => claim.hand_name || format.capital(format.plain(claim.hand));
export const share = (claim) => {
  if (claim.only_envy) return "Only Envy Bonuses: no win of this hand waits";
  return claim.percent === null ? "At odds, not from the meter" : `${claim.percent}% of the meter`;
};
export const look = (claim) => (waitsForPay(claim) || onlyEnvy(claim) ? "unpaid" : claim.state);

export const chip = (claim) => make("span.chip", { "data-state": look(claim) }, state(claim));

/* The head of a row of the waiting list: the place, the state, and how long it has waited. */
export const waitingHead = (table, part, chip, at) =>
  make("header", {},
    make("h2", {}, `${table} `, make("span", {}, part)),
    make("p.tags", {}, chip, make("span.new", { hidden: true }, "New")),
    make("p.waited", {}, make("span.of", {}, "Waiting "), make("span.span", { "data-at": at }, "")));

/* The cards that decide the wager: the cards of the position, and the cards of the dealer and
   of the community if they count. */
export const hands = (claim) =>
  make("div.hands", {}, [
    [`Position ${claim.position}`, claim.cards],
    ["Community", claim.community],
    ["Dealer", claim.dealer],
  ].filter(([, names]) => names.length).map(([title, names]) =>
    make("div.hand", {}, make("p.of", {}, title), cards(names))));

export const facts = (pairs) =>
  make("dl.facts", {}, pairs.filter(([, value]) => value).map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value))));

const envyTitle = (claim) => {
  const by = claim.envy_by ? ` by ${claim.envy_by}, ${format.moment(claim.envy_at)}` : "";
  switch (claim.envy_state) {
    case "pending": return "Envy Bonuses: owed once the win is decided";
    case "paid": return `Envy Bonuses: paid${by}`;
    case "rejected": return `Envy Bonuses: not due, ${claim.envy_reason ?? "the hand was not as entered"}`;
    default: return claim.envy_not_due
      ? "Envy Bonuses: not due, the hand was not as entered"
      : "Envy owed for this hand";
  }
};

export const envy = (claim) => {
  if (!claim.envy.length) return null;
  const title = envyTitle(claim);
  return make("section.envy", {}, make("h3", {}, title),
    make("ul", {}, claim.envy.map((owed) =>
      make("li", {},
        make("span", {}, format.who(owed.position, owed.patron)),
        make("span.sum", {}, money(owed.amount))))));
};

export const wagers = (claim) =>
  claim.wagers.length > 0
    && make("table.wagers", {},
      make("caption", {}, "Wagers accepted at lock-out"),
      make("tbody", {}, claim.wagers.map((one) =>
        make("tr", one.position === claim.position ? { "data-own": true } : {},
          make("th", { scope: "row" }, format.who(one.position, one.patron)),
          make("td", {}, make("ul", {}, Object.entries(one.wagers).map(([name, cents]) =>
            make("li", {}, `${format.item(name)} `, make("span.sum", {}, money(cents))))))))));

export const order = (claim) =>
  claim.turns > 1
    ? `Win ${claim.turn} of ${claim.turns} of its round · entry ${claim.order}`
    : `Entry ${claim.order}`;

const by = (name, at) => (name ? `${name}, ${format.moment(at)}` : "");

const decisions = (claim) => facts([
  ["Validated by", by(claim.validated_by, claim.validated_at)],
  ["Paid by", by(claim.paid_by, claim.paid_at)],
  ["Slip number", claim.slip],
  ["Rejected by", claim.state === "rejected" ? by(claim.decided_by, claim.decided_at) : ""],
  ["Reason", claim.reason],
]);

export const taxNotice = (claim) =>
  claim.tax_documents && claim.state !== "rejected" && claim.state !== "paid"
    && make("p.notice.wait.tax", {}, "Tax documents are needed before this is paid");

export const slipLink = (claim) =>
  make("a.button", {
    href: `/api/v1/claims/${encodeURIComponent(claim.claim)}/slip.pdf`,
    target: "_blank", rel: "noopener", "data-focus": `slip ${claim.claim}`,
  }, "Payout slip (PDF)");

/* Everything that is known about a win. */
export const whole = (claim) => [
  taxNotice(claim),
  make("div.sum-line", {}, make("p.amount", {}, money(sum(claim))), chip(claim)),
  make("p.hand-name", {}, handName(claim)),
  hands(claim),
  facts([
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
  ]),
  decisions(claim),
  envy(claim),
  wagers(claim),
];
