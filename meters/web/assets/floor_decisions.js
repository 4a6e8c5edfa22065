/* Decisions on a win and on the Envy Bonuses for its hand. Each dialog repeats the win with its
   cards, and each act ends with a receipt. */

import * as api from "./floor_api.js";
import * as claims from "./floor_claims.js";
import { Action, Choice, Colleague, Field, needed, open as openDialog, OwnPin, signature, useAct } from "./floor_dialog.js";
import { chipsText, Hands } from "./floor_evidence.js";
import * as format from "./floor_format.js";
import { Menu } from "./floor_menu.js";
import { useAnswer } from "./floor_reading.js";
import { give } from "./floor_receipts.js";
import { disputeOf, hrefOf } from "./floor_route.js";
import * as session from "./floor_session.js";
import { SlipLink } from "./floor_slip.js";
import { money } from "./money.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";
import { REJECTIONS } from "./reasons.js";
import { say } from "./say.js";

const OTHER = "other";

const path = (claim, act) => `/api/v1/claims/${encodeURIComponent(claim.claim)}/${act}`;

/* The win is repeated in the dialog, so nobody decides a different win of the list. */
const Again = ({ claim }) => html`
  <div class="again">
    <p class="amount">${money(claims.sum(claim))}</p>
    <p class="place">${claims.place(claim)}</p>
    <p>${`${claims.handName(claim)} · ${claims.itemName(claim)}`}</p>
    <${Hands} claim=${claim} />
    ${claim.wagers.length > 0 && !claims.isMustHitBy(claim) && html`<p class="of">${chipsText(claim)}</p>`}
  </div>`;

/* Nothing is paid with a slip before the win is validated, or after it was rejected. */
const hasSlip = (claim) => !claim.only_envy && ["validated", "paid"].includes(claim.state);

/* The receipt of an act: what was done, the slip, and the way back to the win. */
const receipt = (text, claim, how) => give(text, [
  hasSlip(claim) && html`<${SlipLink} claim=${claim} label=${say("Print")} />`,
  html`<a class="button quiet" href=${hrefOf("wins", claim.claim)}>${say("Open#act")}</a>`,
], how);

/* Somebody else decided first. That is no error of this person: they learn what was done. */
const tooLate = async (claim) => {
  const now = await api.get(`/api/v1/claims/${encodeURIComponent(claim.claim)}`);
  receipt(`${claims.shortPlace(claim)}: ${claims.already(now)}`, now, { isLate: true });
};

/* Open the dialog of an act on a claim. `told` returns the text of the receipt for the claim after the
   act. */
const open = ({ claim, told, ...dialog }) => openDialog({
  ...dialog,
  about: claim.claim,
  receipt: (after) => receipt(told(after), after),
  late: () => tooLate(claim),
});

const validation = (claim) => ({
  act: () => api.post(path(claim, "validate")),
  told: ({ amount }) => say("Validated {amount}, {place}", { amount: money(amount), place: claims.shortPlace(claim) }),
});

/* A session that has lapsed needs a PIN, and so a dialog. */
const validate = (claim, done) => open({
  claim,
  ...validation(claim),
  title: say("Validate this win?"),
  content: html`<${Again} claim=${claim} />`,
  confirm: say("Validate {amount}", { amount: money(claim.amount) }),
  done,
});

/* The evidence is on the screen, so one press validates the win. A press counts only after the win has
   been on the screen for a moment. The button can have the focus before. */
const Validate = ({ claim, isFirst, kind, done }) => {
  const { act, told } = validation(claim);
  const { phase, error, submit } = useAct({
    act, done, settles: true, acted: () => document.querySelector(".detail h2")?.focus(),
    receipt: (after) => receipt(told(after), after),
    late: () => tooLate(claim),
  });
  return html`
    <form class="one-press" novalidate onSubmit=${submit}>
      <p class="notice bad" role="alert" hidden=${!error}>${error}</p>
      <button type="submit" class=${kind} data-key=${isFirst ? "v" : null} disabled=${["sending", "over"].includes(phase)}
        aria-disabled=${phase === "opening" ? "true" : null} aria-label=${`${say("Validate {amount}", { amount: money(claim.amount) })}: ${claims.place(claim)}`}>
        ${phase === "sending" ? say("Sending…") : say("Validate {amount}", { amount: html`<span class="sum">${money(claim.amount)}</span>` })}</button>
    </form>`;
};

const Reasons = () => {
  const [chosen, setChosen] = useState("");
  const own = useRef();
  const isOther = chosen === OTHER;
  useLayoutEffect(() => { if (isOther) own.current.querySelector("input").focus(); }, [isOther]);
  return html`
    <${Choice} legend=${say("Why?")} name="reason" short onChoose=${setChosen}
      options=${[...Object.entries(REJECTIONS), [OTHER, say("Another reason")]]} />
    <div ref=${own} hidden=${!isOther}><${Field} label=${say("In your words")} name="own" /></div>`;
};

const rejectedText = (claim) => {
  if (claim.two_people_reject) return say("Another person must confirm this. Until then the win waits.");
  if (claim.percent === null) return say("Nothing is paid for it.");
  if (claims.isMustHitBy(claim)) return say("Nothing is paid for it; the amount raises the next cycles of the meter.");
  return claim.percent === 100
    ? say("Nothing is paid for it; the amount goes back to the meter. The reseed stays on the meter until two supervisors adjust it.")
    : [say("Nothing is paid for it; the amount goes back to the meter."),
      claim.turns > 1 && say("If parts of one hand won the whole meter, its reseed stays on the meter until two supervisors adjust it.")]
      .filter(Boolean).join(" ");
};

/* The other wins of the round that wait for a decision or a payment: this act leaves them as they are. */
const OtherWins = ({ claim }) => {
  const { found } = useAnswer(() => api.get("/api/v1/claims"));
  const others = (found ?? []).filter((other) => other.claim !== claim.claim && !other.only_envy && other.state !== "rejected"
    && ["link", "table", "round"].every((name) => other[name] === claim[name]));
  return others.length > 0 && html`
    <section class="others">
      <h3>${say("Other wins of this round, which still wait")}</h3>
      <ul>${others.map((other) => html`
        <li><span>${`${say("Position {position}", other)}: ${claims.itemName(other)}`}</span> <span class="sum">${money(other.amount)}</span></li>`)}
      </ul>
    </section>`;
};

/* A reopened win can have Envy Bonuses that are already paid. No decision about these is possible. */
const envyIsOpen = (claim) => claim.envy.length > 0 && claim.envy_state !== "paid";

const reject = (claim, done) => open({
  claim,
  told: ({ amount, request }) => (request
    ? say("Rejection of {amount} requested: another person confirms it", { amount: money(amount) })
    : say("Rejected {amount}, {place}", { amount: money(amount), place: claims.shortPlace(claim) })),
  title: claim.two_people_reject ? say("Request to reject this win?") : say("Reject this win?"),
  content: html`
    <${Again} claim=${claim} />
    <${Reasons} />
    ${claim.envy.length > 0 && html`<${claims.Envy} claim=${claim} title=${say("Envy Bonuses for this hand")} />`}
    ${envyIsOpen(claim) && html`
      <${Choice} legend=${say("Are these Envy Bonuses due?")} name="envy" options=${[
        ["not_due", say("The hand was not as entered: Envy Bonuses are not due either")],
        ["due", say("The hand is as entered: Envy Bonuses are due")],
      ]} />`}
    <p>${rejectedText(claim)}</p>
    ${claim.turns > 1 && html`<${OtherWins} claim=${claim} />`}`,
  confirm: claim.two_people_reject ? say("Request rejection of {amount}", { amount: money(claim.amount) })
    : say("Reject {amount}", { amount: money(claim.amount) }),
  kind: "stop",
  act: (form) => {
    const chosen = needed(form, "reason", say("Say why."));
    const reason = chosen === OTHER ? needed(form, "own", say("Say why, in your words.")) : chosen;
    const envyNotDue = envyIsOpen(claim)
      ? { envy_not_due: needed(form, "envy", say("Say whether the Envy Bonuses are due.")) === "not_due" }
      : {};
    return api.post(path(claim, "reject"), { reason, ...envyNotDue });
  },
  done,
});

/* The second person sees the same facts and the request of the first person, on whose device they
   sign it. */
const confirmRequest = (claim, done) => {
  const isReject = claim.request.act === "reject";
  const rest = isReject
    ? rejectedText({ ...claim, two_people_reject: false })
    : say("It waits for a floorperson again, as before its rejection.");
  return open({
    claim,
    told: ({ amount }) => (isReject ? say("Rejected {amount}, {place}", { amount: money(amount), place: claims.shortPlace(claim) })
      : say("Reopened {amount}, {place}", { amount: money(amount), place: claims.shortPlace(claim) })),
    title: isReject ? say("Reject this win?") : say("Reopen this win?"),
    content: html`
      <${Again} claim=${claim} />
      <${claims.RequestNotice} claim=${claim} />
      ${isReject && claim.envy.length > 0 && html`<${claims.Envy} claim=${claim} />`}
      <p>${rest}</p>
      ${isReject && claim.turns > 1 && html`<${OtherWins} claim=${claim} />`}
      ${(claim.request.by === session.userName() || claim.barred_by) && html`<${Colleague} />`}`,
    confirm: isReject ? say("Reject {amount}", { amount: money(claim.amount) })
      : say("Reopen {amount}", { amount: money(claim.amount) }),
    kind: isReject ? "stop" : "go",
    act: (form) => api.post(path(claim, "confirm"), { request: claim.request.entry, ...signature(form) }),
    done,
  });
};

/* Until another person has confirmed a request, the person who made it can withdraw it. */
const withdraw = (claim, done) => open({
  claim,
  told: () => say("Request withdrawn, {place}", { place: claims.shortPlace(claim) }),
  title: say("Withdraw your request?"),
  content: html`
    <${Again} claim=${claim} />
    <${claims.RequestNotice} claim=${claim} />
    <p>${claim.request.act === "reject" ? say("The win then waits for a floorperson, as before.") : say("The win then stays rejected.")}</p>`,
  confirm: say("Withdraw"),
  act: () => api.post(path(claim, "withdraw"), { request: claim.request.entry }),
  done,
});

const reopen = (claim, done) => open({
  claim,
  told: ({ amount }) => say("Reopening of {amount} requested: another person confirms it", { amount: money(amount) }),
  title: say("Request to reopen this win?"),
  content: html`
    <${Again} claim=${claim} />
    <p>${claims.rejection(claim)}</p>
    <${Field} label=${say("Why was the rejection wrong?")} name="reason" />
    <p>${say("Another person must confirm this before the gaming day is closed.")}</p>`,
  confirm: say("Request reopening of {amount}", { amount: money(claim.amount) }),
  act: (form) => api.post(path(claim, "reopen"), { reason: needed(form, "reason", say("Say why.")) }),
  done,
});

const correctSlip = (claim, done) => open({
  claim,
  told: ({ slip }) => say("Slip number {slip} in place of {before}", { slip, before: claim.slip }),
  title: say("Correct the slip number?"),
  content: html`
    <${Again} claim=${claim} />
    <p>${say("Slip number now: {slip}. It stays in the ledger, and no other win can use it.", claim)}</p>
    <${Field} label=${say("Right number of the payout slip")} name="slip" maxlength="100" autocapitalize="characters" />
    <${Field} label=${say("Why?")} name="reason" enterkeyhint="done" />`,
  confirm: say("Correct the number"),
  act: (form) => {
    const slip = needed(form, "slip", say("The right number is needed."));
    const reason = needed(form, "reason", say("Say why."));
    return api.post(path(claim, "correct-slip"), { slip, replaces: claim.slip, reason });
  },
  done,
});

const pay = (claim) => (form) => {
  const slip = needed(form, "slip", say("The number of the slip is needed."));
  const envyPaid = claims.owesEnvy(claim)
    ? { envy_paid: needed(form, "envy", say("Say whether the Envy Bonuses are paid.")) === "paid" }
    : {};
  return api.post(path(claim, "pay"), { slip, ...envyPaid, ...signature(form) });
};
const paidText = ({ amount, slip }) => say("Paid {amount}, slip {slip}", { amount: money(amount), slip });

const PaymentFields = ({ claim }) => html`
  <${Field} label=${say("Number of the payout slip")} name="slip" maxlength="100" autocapitalize="characters" enterkeyhint="done" />
  ${claims.owesEnvy(claim) && html`
    <${Choice} legend=${say("And the Envy Bonuses of {amount}?", { amount: money(claim.envy_amount) })} name="envy" short
      options=${[["paid", say("The table has paid them")], ["later", say("Not yet")]]} />`}`;

/* A colleague pays on the device of a person who must not pay the win. */
const payAsColleague = (claim, done) => open({
  claim,
  told: paidText,
  title: say("Pay by hand"),
  content: html`
    <${Again} claim=${claim} />
    <${claims.TaxNotice} claim=${claim} />
    <${PaymentFields} claim=${claim} />
    <${Colleague} />`,
  confirm: say("Paid {amount}", { amount: money(claim.amount) }),
  act: pay(claim),
  done,
});

/* Check if the signed-in user may pay a win now. */
const mayPay = (claim, me) => claims.waitsForPay(claim) && !claim.request && me.rights.includes("decide")
  && claim.validated_by !== me.name && !claim.barred_by;

/* The form with which the second person pays, beside the evidence. Its button is among the acts. */
export const usePayment = (claim, me, done) => {
  const isOpen = mayPay(claim, me);
  const form = useAct({
    act: isOpen && pay(claim),
    done,
    receipt: (after) => receipt(paidText(after), after),
    late: () => tooLate(claim),
  });
  return isOpen ? form : null;
};

export const Payment = ({ claim, payment }) => payment && html`
  <form id="pay" class="panel pay-form" aria-label=${say("Pay by hand")} novalidate autocomplete="off" onSubmit=${payment.submit} onInput=${payment.clear}>
    <h3>${say("Pay by hand")} <span>${say("validated by {by}, {time}", { by: claim.validated_by, time: format.time(claim.validated_at) })}</span></h3>
    <${claims.TaxNotice} claim=${claim} />
    <div class="two-fields">
      <${PaymentFields} claim=${claim} />
      ${payment.needsPin && html`<${OwnPin} />`}
    </div>
  </form>`;

const PayButton = ({ claim, payment }) => html`
  <button type="submit" form="pay" class="go" data-key="v" disabled=${payment.phase !== "ready"}
    aria-label=${`${say("Paid {amount}", { amount: money(claim.amount) })}: ${claims.place(claim)}`}>
    ${payment.phase === "sending" ? say("Sending…") : say("Paid {amount}", { amount: html`<span class="sum">${money(claim.amount)}</span>` })}</button>`;

/* One button pays all Envy Bonuses of a hand. */
const payEnvy = (claim, done) => open({
  claim,
  told: ({ envy_amount: cents }) => say("Envy Bonuses of {amount} paid by the table", { amount: money(cents) }),
  title: say("Has the table paid these Envy Bonuses?"),
  content: html`
    <div class="again">
      <p class="amount">${money(claim.envy_amount)}</p>
      <p class="place">${say("For the hand of {place}", { place: claims.place(claim) })}</p>
    </div>
    <${claims.Envy} claim=${claim} />`,
  confirm: say("Paid {amount}", { amount: money(claim.envy_amount) }),
  act: () => api.post(path(claim, "pay-envy")),
  done,
});

const rejectEnvy = (claim, done) => open({
  claim,
  told: ({ envy_amount: cents }) => say("Envy Bonuses of {amount} not due", { amount: money(cents) }),
  title: say("Are these Envy Bonuses not due?"),
  content: html`
    <${claims.Envy} claim=${claim} />
    <${Field} label=${say("Why not?")} name="reason" />
    <p>${say("Nothing is paid for them.")}</p>`,
  confirm: say("Reject Envy of {amount}", { amount: money(claim.envy_amount) }),
  kind: "stop",
  act: (form) => api.post(path(claim, "reject-envy"), { reason: needed(form, "reason", say("Say why.")) }),
  done,
});

const envyButtons = (claim) => (claims.owesEnvy(claim)
  ? [["go", say("Envy paid"), payEnvy, claim.envy_amount], ["stop", say("Envy not due"), rejectEnvy, claim.envy_amount]]
  : []);

/* The buttons of a win that was paid or rejected. */
const later = (claim) => {
  if (claim.only_envy) return [];
  if (claim.state === "rejected") return [[null, say("Reopen"), reopen, claim.amount]];
  return claim.slip ? [[null, say("Correct the slip number"), correctSlip, claim.amount]] : [];
};

const isOwnRequest = ({ request }, me) => request?.by === me.name;

/* The buttons of a claim: kind, label, act and amount. While a request waits, an answer to it is
   first. */
const buttons = (claim, me) => {
  if (!me.rights.includes("decide")) return [];
  if (claim.request) {
    const isReject = claim.request.act === "reject";
    const label = isReject ? say("Confirm rejection") : say("Confirm reopening");
    const isOwn = isOwnRequest(claim, me);
    return [
      isOwn || claim.barred_by ? [null, say("Colleague confirms"), confirmRequest, claim.amount] : [isReject ? "stop" : "go", label, confirmRequest, claim.amount],
      ...(isOwn ? [[null, say("Withdraw the request"), withdraw, claim.amount]] : []),
      ...(isReject ? [[null, say("Validate"), validate, claim.amount]] : []),
    ];
  }
  if (claim.state === "pending") {
    return [["go", say("Validate"), validate, claim.amount], ["stop", say("Reject"), reject, claim.amount]];
  }
  if (claim.only_envy || claim.state === "paid" || claim.state === "rejected") {
    return [...envyButtons(claim), ...later(claim)];
  }
  /* A person who may pay the win says in the same form whether the Envy Bonuses are paid. */
  const envy = envyButtons(claim);
  if (!claims.waitsForPay(claim)) return envy;
  return mayPay(claim, me) ? envy.slice(1) : envy.map(([kind, ...rest]) => [kind === "go" ? "later" : kind, ...rest]);
};

/* The acts of people who may not decide, in words. */
const watches = (claim) => {
  if (claim.state === "pending" || claim.request) return say("A floorperson or a supervisor decides.");
  if (claims.waitsForPay(claim)) return say("A floorperson or a supervisor pays it, but not {by}.", { by: claim.validated_by });
  return claims.owesEnvy(claim) ? say("A floorperson or a supervisor records the payment of the Envy Bonuses.") : "";
};

/* Who must act in place of this person, and what comes after their act. */
const who = (claim, me) => {
  if (!me.rights.includes("decide")) return watches(claim);
  if (claim.barred_by) return claims.barText(claim, me);
  if (claims.waitsForPay(claim) && claim.validated_by === me.name) return say("You validated it: another person must pay it.");
  return isOwnRequest(claim, me) ? say("You requested it: another person must confirm it.") : "";
};
const then = (claim) => claim.state === "pending" && !claim.request && [
  claims.isHandPay(claim) && (!claims.hasCards(claim) || claims.isMustHitBy(claim) ? say("Another person pays.") : say("Another person pays: the cards stay until then.")),
  claim.two_people_reject && say("A rejection needs a second person."),
].filter(Boolean).join(" ");

/* The buttons of a win for the signed-in user. In place of a button that they may not press, it says
   who may. The first act has the key V, and names its amount. On a phone, rare acts are behind one
   button if there are many. */
export const ClaimActs = ({ claim, me, done, payment, isPhone }) => {
  const hasLapsed = session.useLapsed();
  const found = buttons(claim, me);
  const words = who(claim, me);
  /* The slip is what comes next after a hand pay is validated. Envy Bonuses have a key of their own until
     the win is paid, so a second V right after the validation does not pay them. */
  const waits = claims.waitsForPay(claim);
  const slipLeads = waits && !payment && me.rights.includes("decide");
  const shown = found.map(([kind, label, act, cents], at) => act === validate && !hasLapsed && !claim.request
    ? html`<${Validate} key=${label} claim=${claim} isFirst=${at === 0} kind=${kind} done=${done} />`
    : html`<${Action} key=${label} kind=${payment ? null : kind} label=${label} sum=${at === 0 && kind ? money(cents) : ""}
      keyName=${at === 0 && !payment ? waits ? "e" : "v" : null}
      about=${claims.place(claim)} onClick=${() => act(claim, done)} />`);
  const isRare = (at) => found[at][2] === correctSlip;
  const rares = shown.filter((_, at) => isRare(at));
  const rare = html`
    ${rares}
    <a class="button" href=${disputeOf(claim.link, claim.order, claim.position)} target="_blank" rel="noopener">${say("Dispute")}</a>`;
  return html`
    <div class="acts">
      ${payment && html`
        <p class="notice bad" role="alert" hidden=${!payment.error}>${payment.error}</p>
        <${PayButton} claim=${claim} payment=${payment} />`}
      ${slipLeads && html`
        <${SlipLink} claim=${claim} label=${say("Slip")} kind="go" />
        <${Action} label=${say("Colleague pays")} about=${claims.place(claim)} onClick=${() => payAsColleague(claim, done)} />`}
      ${shown.filter((_, at) => !isRare(at))}
      ${hasSlip(claim) && !slipLeads && html`<${SlipLink} claim=${claim} label=${say("Slip")} />`}
      ${isPhone && rares.length > 0 && found.length > 2
        ? html`<${Menu} id="rare" kind="rare" label=${say("More acts")} button=${say("More")}><div class="acts" data-closes="">${rare}</div><//>` : rare}
      ${words ? html`<p class="why">${words}</p>` : then(claim) && html`<p class="why then">${then(claim)}</p>`}
    </div>`;
};
