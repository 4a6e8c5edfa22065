/* Decisions on a win and on the Envy Bonuses for its hand. Each dialog repeats the win. */

import { make } from "./elements.js";
import * as api from "./floor_api.js";
import * as claims from "./floor_claims.js";
import * as dialogs from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { money } from "./money.js";

const REASONS = [
  "Hand misread", "Cards entered wrongly", "The light was out", "Card fouled",
  "Wager not on the layout", "Deal out of turn",
];
const OTHER = "other";

const path = (claim, act) => `/api/v1/claims/${encodeURIComponent(claim.claim)}/${act}`;

/* The win is repeated in the dialog, so nobody decides a different win of the list. */
const again = (claim) =>
  make("div.again", {},
    make("p.amount", {}, money(claims.sum(claim))),
    make("p.place", {}, claims.place(claim)),
    make("p", {}, `${claims.handName(claim)} · ${claims.itemName(claim)}`));

const validate = (claim, done) => dialogs.open({
  title: "Validate this win?",
  content: [
    again(claim),
    make("p", {}, claim.paid_from === "hand_pay"
      ? "Then another person pays it as a hand pay."
      : `It is paid ${format.paidFrom(claim.paid_from).toLowerCase()}.`),
  ],
  confirm: `Validate ${money(claim.amount)}`,
  act: () => api.post(path(claim, "validate")),
  done,
});

const reject = (claim, done) => {
  const own = dialogs.line("In your words", "Say why, in your words.");
  own.node.hidden = true;
  const reasons = dialogs.choice("Why?", "reason",
    [...REASONS.map((reason) => [reason, reason]), [OTHER, "Another reason"]],
    { short: true, missing: "Say why.", onchange: (value) => {
      own.node.hidden = value !== OTHER;
      if (!own.node.hidden) own.input.focus();
    } });
  const envy = claim.envy.length
    ? dialogs.choice("And the Envy Bonuses?", "envy", [
      ["not_due", "The hand was not as entered: Envy Bonuses are not due either"],
      ["due", "The hand is as entered: Envy Bonuses are due"],
    ], { missing: "Say whether the Envy Bonuses are due." })
    : null;
  dialogs.open({
    title: "Reject this win?",
    content: [
      again(claim), reasons.node, own.node, envy && [claims.envy(claim), envy.node],
      make("p", {}, claim.percent === null
        ? "Nothing is paid for it."
        : "Nothing is paid for it; the amount goes back to the meter."
        + (claim.percent === 100
          ? " The reseed stays on the meter until two supervisors adjust it."
          : "")),
    ],
    confirm: `Reject ${money(claim.amount)}`,
    kind: "stop",
    act: () => {
      const chosen = reasons.value();
      const reason = chosen === OTHER ? own.value() : chosen;
      const envyNotDue = envy ? { envy_not_due: envy.value() === "not_due" } : {};
      return api.post(path(claim, "reject"), { reason, ...envyNotDue });
    },
    done,
  });
};

const pay = (claim, done) => {
  const slip = dialogs.line("Number of the payout slip", "The number of the slip is needed.",
    { maxlength: "100", autocapitalize: "characters", enterkeyhint: "done" });
  const envy = claims.owesEnvy(claim)
    ? dialogs.choice(`And the Envy Bonuses of ${money(claim.envy_amount)}?`, "envy", [
      ["paid", "The table has paid them"],
      ["later", "Not yet"],
    ], { missing: "Say whether the Envy Bonuses are paid." })
    : null;
  dialogs.open({
    title: "Pay this win?",
    content: [
      claims.taxNotice(claim),
      again(claim),
      make("p", {}, `Validated by ${claim.validated_by}.`),
      slip.node,
      envy?.node,
    ],
    confirm: `Paid ${money(claim.amount)}`,
    act: () => {
      const number = slip.value();
      const envyPaid = envy ? { envy_paid: envy.value() === "paid" } : {};
      return api.post(path(claim, "pay"), { slip: number, ...envyPaid });
    },
    done,
  });
};

/* One button pays all Envy Bonuses of a hand. */
const payEnvy = (claim, done) => dialogs.open({
  title: "Has the table paid these Envy Bonuses?",
  content: [
    make("div.again", {},
      make("p.amount", {}, money(claim.envy_amount)),
      make("p.place", {}, `For the hand of ${claims.place(claim)}`)),
    claims.envy(claim),
  ],
  confirm: `Paid ${money(claim.envy_amount)}`,
  act: () => api.post(path(claim, "pay-envy")),
  done,
});

const rejectEnvy = (claim, done) => {
  const reason = dialogs.line("Why not?", "Say why.");
  dialogs.open({
    title: "Are these Envy Bonuses not due?",
    content: [claims.envy(claim), reason.node, make("p", {}, "Nothing is paid for them.")],
    confirm: `Not due ${money(claim.envy_amount)}`,
    kind: "stop",
    act: () => api.post(path(claim, "reject-envy"), { reason: reason.value() }),
    done,
  });
};

/* The buttons of a win for the signed-in user. If the user is not allowed to press a button, the
   reason is shown. */
export const acts = (claim, me, done) => {
  if (!me.rights.includes("wins")) return null;
  const slip = claims.slipLink(claim);
  if (!me.rights.includes("decide")) return make("div.acts", {}, slip);
  const button = (kind, label, act, cents = claim.amount) =>
    dialogs.action(label, `${claims.place(claim)}, ${money(cents)}`, () => act(claim, done),
      { kind, id: claim.claim });
  if (claim.state === "pending") {
    return make("div.acts", {},
      button("go", "Validate", validate), button("stop", "Reject", reject), slip);
  }
  const envy = claims.owesEnvy(claim)
    ? [button("go", "Envy paid", payEnvy, claim.envy_amount),
      button("stop", "Envy not due", rejectEnvy, claim.envy_amount)]
    : [];
  if (!claims.waitsForPay(claim)) return make("div.acts", {}, envy, slip);
  if (claim.validated_by === me.name) {
    return make("div.acts", {},
      make("button.go", { type: "button", disabled: true }, "Pay"),
      envy, slip, make("p.why", {}, "You validated it: another person must pay it."));
  }
  return make("div.acts", {}, button("go", "Pay", pay), envy, slip);
};
