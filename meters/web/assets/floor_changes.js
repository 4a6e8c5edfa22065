/* Acts on a link and its meters. One person opens or closes a link. A change needs two people. */

import * as api from "./floor_api.js";
import * as claims from "./floor_claims.js";
import { Action, Choice, Colleague, Field, needed, open as openDialog, Select, signature, wrong } from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { give } from "./floor_receipts.js";
import * as session from "./floor_session.js";
import { money } from "./money.js";
import { html, useState } from "./preact.js";
import { number, say } from "./say.js";

/* The parameters that table-side agents read in their own floor file too. */
const OF_TABLES = ["wager", "paytable"];
const PARAMETERS = {
  wager: { name: say("Wager"), next: say("New: wager") },
  paytable: { name: say("Paytable"), next: say("New: paytable") },
  magic_card_every: { name: say("Magic Card"), next: say("New: Magic Card, one round in") },
  lucky_every: { name: say("Lucky Bonus"), next: say("New: Lucky Bonus, one round in") },
  limit: { name: say("Limit"), next: say("New: limit") },
  contribution_max: { name: say("Largest contribution of a round"), next: say("New: largest contribution of a round") },
};

const path = (link, rest) => `/api/v1/links/${encodeURIComponent(link.link)}/${rest}`;
const shortName = (parameter) => PARAMETERS[parameter].name;

/* Open the dialog of an act; `told` is its receipt. */
const open = ({ told, ...dialog }) => openDialog({ ...dialog, receipt: () => give(told) });

export const close = (link, done) => open({
  told: say("Closed: {name}", link),
  title: say("Close {name}?", link),
  content: html`
    <p>${say("Its tables accept no new progressive wager. Open rounds are finished.")}</p>
    <${Field} label=${say("Reason")} name="reason" />`,
  confirm: say("Close the link"),
  kind: "stop",
  act: (form) => api.post(path(link, "close"), { reason: needed(form, "reason", say("A reason is needed.")) }),
  done,
});

export const openLink = (link, done) => open({
  told: say("Opened: {name}", link),
  title: say("Open {name}?", link),
  content: html`
    <p>${link.reason ? say("It was closed: {reason}", { reason: format.sentence(link.reason) }) : say("It is closed.")}</p>
    <p>${say("Its tables accept progressive wagers again.")}</p>`,
  confirm: say("Open the link"),
  act: () => api.post(path(link, "open")),
  done,
});

/* Check if people have closed a link. */
export const isClosed = (link) => link.changeable && link.closed_at !== null;

/* Who has approved a floor file, and who is still needed. */
export const Approvals = ({ unapproved }) => {
  const { first, confirmed, first_by: by, first_at: at } = unapproved;
  const needed = first ? say("One person approves it: it is the first floor file of an empty floor.")
    : confirmed ? say("One person approves it: two people have confirmed these values already.")
    : by ? say("Approved first by {by}, {time}. One more person is needed.", { by, time: format.moment(at) })
      : say("Two people approve it.");
  return html`<p class="of">${needed}</p>`;
};

/* All settings of a link, so that a wrong seed is seen before it is approved. */
const Terms = ({ unapproved }) => html`
  <ul class="terms">${unapproved.terms.map((one) => html`<li key=${one}>${format.capital(one)}</li>`)}</ul>`;

export const approve = (link, done) => open({
  told: say("Approved: the floor file for {name}", link),
  title: say("Approve the floor file for {name}?", link),
  content: html`
    <ul>${link.unapproved.changed.map((one) => html`<li class="strong">${format.capital(one)}</li>`)}</ul>
    <p>${say("All terms:")}</p>
    <${Terms} unapproved=${link.unapproved} />
    <${Approvals} unapproved=${link.unapproved} />
    <p>${say("The link uses the floor file once it is approved. At a service with another floor file, the link stops until that service is restarted with this floor file.")}</p>
    <p class="of">${`SHA-256 ${link.unapproved.digest}`}</p>`,
  confirm: say("Approve"),
  act: () => api.post(path(link, "approve"), { digest: link.unapproved.digest }),
  done,
});

/* The links that wait for an approval of this person, and the changes that all of them have in common. */
export const waitingApprovals = (links, me) => {
  const waiting = links.filter(({ unapproved }) => unapproved && !unapproved.barred && unapproved.first_by !== me.name);
  const [first, ...others] = waiting.map(({ unapproved }) => unapproved.facility);
  return { waiting, common: first?.filter((one) => others.every((each) => each.includes(one))) ?? [] };
};

/* The changes of several links: the common changes once, and then the other changes of each link. */
export const ChangesOfLinks = ({ waiting, common }) => html`
  ${common.length > 0 && html`
    <p>${say("For the whole facility, {count} links:", { count: waiting.length })}</p>
    <ul>${common.map((one) => html`<li class="strong">${format.capital(one)}</li>`)}</ul>`}
  ${waiting.map(({ link, name, unapproved }) => [link, name, unapproved.changed.filter((one) => !common.includes(one))])
    .filter(([, , own]) => own.length)
    .map(([link, name, own]) => html`
      <p key=${link}>${name}:</p>
      <ul>${own.map((one) => html`<li class="strong">${format.capital(one)}</li>`)}</ul>`)}`;

/* Approve the floor file for several links. Each link is approved exactly as it is shown. */
export const approveAll = (found, done) => open({
  told: say("Approved: the floor file for {count} links", { count: found.waiting.length }),
  title: say("Approve the floor file for {count} links?", { count: found.waiting.length }),
  content: html`
    <${ChangesOfLinks} ...${found} />
    ${found.waiting.map((link) => html`
      <p key=${link.link}>${say("All terms of {name}:", link)}</p>
      <${Terms} unapproved=${link.unapproved} />
      <${Approvals} unapproved=${link.unapproved} />`)}
    <p>${say("The links use the floor file once it is approved. At a service with another floor file, they stop until that service is restarted with this floor file.")}</p>`,
  confirm: say("Approve for {count} links", { count: found.waiting.length }),
  act: async () => {
    for (const link of found.waiting) await api.post(path(link, "approve"), { digest: link.unapproved.digest });
  },
  done,
});

const bound = (cents) => (cents === null ? say("none") : money(cents));

export const every = (rounds) => (rounds ? say("one round in {count}", { count: number(rounds) }) : say("never"));

const typed = { name: "value", inputmode: "decimal", maxlength: "16" };

const readAmount = (input, missing, least) => {
  const cents = format.typedCents(input.value);
  if (cents === null || cents < least) throw wrong(missing, input);
  return cents;
};
const readEvery = (input) => {
  if (!/^\d{1,7}$/.test(input.value.trim())) throw wrong(say("A whole number is needed; 0 means never."), input);
  return Number(input.value);
};

/* The parameters of a meter that can be changed. Each has its current value as text, the
   properties of a field for the new value, and a function that reads the field. A parameter with
   `options` has a select. A wager or a paytable is not among them if it has only the present value. */
const parameters = (meter) => ({
  ...(meter.wagers.length !== 1 && meter.must_hit_by === null && { wager: {
    now: money(meter.wager),
    ...(meter.wagers.length
      ? {
        field: { options: meter.wagers.map((cents) => [String(cents), money(cents)]), chosen: String(meter.wager) },
        read: (input) => Number(input.value),
      }
      : { field: typed, read: (input) => readAmount(input, say("An amount such as 2.50 is needed."), 1) }),
  } }),
  ...(meter.paytables.length > 1 && { paytable: {
    now: say("Paytable {letter}", { letter: meter.paytable }),
    field: { options: meter.paytables.map((letter) => [letter, say("Paytable {letter}", { letter })]), chosen: meter.paytable },
    read: (input) => input.value,
  } }),
  ...Object.fromEntries(["magic_card_every", "lucky_every"].filter((name) => meter[name] !== null).map((name) =>
    [name, { now: every(meter[name]), field: { ...typed, inputmode: "numeric", maxlength: "7" }, read: readEvery }])),
  ...Object.fromEntries(["limit", "contribution_max"].filter((name) => meter.must_hit_by === null || name !== "limit").map((name) => [name, {
    now: bound(meter[name]),
    field: { ...typed, placeholder: "0.00" },
    read: (input) => readAmount(input, say("An amount is needed; 0 means none."), 0),
  }])),
});

const ParameterFields = ({ offered }) => {
  const [chosen, setChosen] = useState(Object.keys(offered)[0]);
  const { now, field } = offered[chosen];
  return html`
    <${Choice} legend=${say("Which parameter?")} name="parameter" chosen=${chosen} onChoose=${setChosen}
      options=${Object.keys(offered).map((name) => [name, shortName(name)])} />
    <div key=${chosen}>
      <p>${say("Now: {now}", { now })}</p>
      <${field.options ? Select : Field} label=${PARAMETERS[chosen].next} name="value" ...${field} />
    </div>
    <${Field} label=${say("Why?")} name="reason" />
    <p>${say("Another person must confirm it before it takes effect.")}</p>`;
};

export const parameter = (link, meter, done) => {
  const offered = parameters(meter);
  open({
    told: say("Proposed: another person must confirm it"),
    title: say("Change {name}", meter),
    content: html`<${ParameterFields} offered=${offered} />`,
    confirm: say("Propose"),
    act: (form) => {
      const { elements } = form;
      const name = elements.parameter.value;
      const value = offered[name].read(elements.value);
      const reason = needed(form, "reason", say("A reason is needed."));
      return api.post(path(link, "proposals"), { kind: "parameter", meter: meter.meter, parameter: name, value, reason });
    },
    done,
  });
};

/* The warnings about an adjustment, for the person who proposes and for the person who confirms. */
const warnings = (meter, cents, percent) => {
  const after = meter.amount + cents;
  const found = [];
  if (after > meter.highest) {
    found.push(say("This is more than the meter held at any of its last 25 wins: {amount} at most.", { amount: money(meter.highest) }));
  }
  if (Math.abs(cents) * 100 > meter.amount * percent) {
    found.push(meter.amount
      ? say("This moves the meter by {share}% of what it holds, more than {percent}%.",
        { share: Math.round(Math.abs(cents) * 100 / meter.amount), percent })
      : say("The meter holds nothing now, so this moves it by more than {percent}%.", { percent }));
  }
  if (cents > 0 && meter.limit !== null && after > meter.limit) {
    found.push(say("This is above the limit of {amount}.", { amount: money(meter.limit) }));
  }
  return found;
};

/* What the overflow adds to a meter that an adjustment takes below its limit. */
const refill = (meter, cents) => meter.limit === null
  ? 0 : Math.max(0, Math.min(meter.overflow, meter.limit - meter.amount - cents));

/* What an adjustment does: the present amount, the resulting amount, the limit and the warnings. */
export const AdjustmentFigures = ({ meter, cents }) => html`
  <dl class="facts figures">
    <div><dt>${say("Now")}</dt><dd>${money(meter.amount)}</dd></div>
    <div><dt>${cents < 0 ? say("Subtract") : say("Add")}</dt><dd>${money(Math.abs(cents))}</dd></div>
    ${refill(meter, cents) > 0 && html`<div><dt>${say("From its overflow")}</dt><dd>${money(refill(meter, cents))}</dd></div>`}
    <div><dt>${say("After")}</dt><dd>${meter.amount + cents < 0 ? say("less than nothing") : money(meter.amount + cents + refill(meter, cents))}</dd></div>
    <div><dt>${say("Limit")}</dt><dd>${bound(meter.limit)}</dd></div>
  </dl>
  ${warnings(meter, cents, session.warnAdjustmentPercent()).map((one) => html`
    <p class="notice bad warning" key=${one}>${one}</p>`)}`;

const AdjustmentFields = ({ meter }) => {
  const [sign, setSign] = useState(0);
  const [amount, setAmount] = useState("");
  const after = meter.amount + sign * (format.typedCents(amount) ?? 0);
  const preview = after < 0
    ? say("The meter holds only {amount}", { amount: money(meter.amount) })
    : after === meter.amount ? say("{amount} now", { amount: money(after) }) : `${money(meter.amount)} → ${money(after + refill(meter, after - meter.amount))}`;
  return html`
    <p>${say("To correct a malfunction or an error, and for nothing else.")}</p>
    <${Choice} legend=${say("Which way?")} name="way" onChoose=${(value) => setSign(Number(value))}
      options=${[["1", say("+ Add to the meter")], ["-1", say("− Subtract from the meter")]]} />
    <${Field} label=${say("Dollars and cents")} ...${typed} placeholder="0.00" onInput=${(event) => setAmount(event.target.value)} />
    <output class="preview" role="status">${preview}</output>
    ${after !== meter.amount && after >= 0 && html`<${AdjustmentFigures} meter=${meter} cents=${after - meter.amount} />`}
    <${Field} label=${say("What went wrong?")} name="reason" />
    <p>${say("Another person must confirm it before it takes effect.")}</p>`;
};

export const adjust = (link, meter, done) => open({
  told: say("Proposed: another person must confirm it"),
  title: say("Adjust {name}", meter),
  content: html`<${AdjustmentFields} meter=${meter} />`,
  confirm: say("Propose"),
  act: (form) => {
    const way = Number(needed(form, "way", say("Choose whether to add or subtract.")));
    const cents = readAmount(form.elements.value, say("An amount such as 1,234.50 is needed."), 1);
    const reason = needed(form, "reason", say("A reason is needed."));
    return api.post(path(link, "proposals"), { kind: "adjustment", meter: meter.meter, amount: way * cents, reason });
  },
  done,
});

/* A proposal as text: the parameter, its old value and its new value. */
export const describe = (link, proposal) => {
  const meter = link.meters.find((each) => each.meter === proposal.meter);
  const name = meter?.name ?? proposal.meter;
  if (proposal.kind === "adjustment") {
    return say("{name}, adjusted by {after}; it held {before} when proposed", { ...proposal, name });
  }
  return `${name}, ${shortName(proposal.parameter).toLowerCase()}: ${proposal.before} → ${proposal.after}`;
};

/* The figures of a proposed adjustment at present; nothing for a parameter. */
export const Adjusts = ({ link, proposal }) => {
  const meter = link.meters.find((each) => each.meter === proposal.meter);
  return proposal.kind === "adjustment" && meter
    && html`<${AdjustmentFigures} meter=${meter} cents=${proposal.amount} />`;
};

const isOwn = (proposal) => proposal.by === session.userName();

const decide = (act, title, confirm, kind) => (link, proposal, done) => open({
  told: act === "confirm" ? say("Confirmed: {what}", { what: describe(link, proposal) }) : say("Withdrawn: {what}", { what: describe(link, proposal) }),
  title,
  content: html`
    <p class="strong">${describe(link, proposal)}</p>
    <${Adjusts} link=${link} proposal=${proposal} />
    <p>${say("Reason: {reason}", { reason: format.sentence(proposal.reason) })}</p>
    ${OF_TABLES.includes(proposal.parameter) && html`
      <p>${say("Then set the same value in the floor file of the tables, and restart their agents: until then, wagers of these tables are refused at lock-out.")}</p>`}
    <p>${say("Proposed by {by}, {time}.", { by: proposal.by, time: format.moment(proposal.at) })}</p>
    ${act === "confirm" && (isOwn(proposal) || proposal.barred_by) && html`<${Colleague} />`}`,
  confirm,
  kind,
  act: (form) => api.post(path(link, `proposals/${encodeURIComponent(proposal.proposal)}/${act}`), signature(form)),
  done,
});
const confirm = decide("confirm", say("Confirm this change?"), say("Confirm"), "go");
const withdraw = decide("withdraw", say("Withdraw this proposal?"), say("Withdraw"), "stop");

/* The buttons of a proposal. In place of a button that nobody may press now, it says why. */
export const ProposalActs = ({ link, proposal, done }) => {
  const isEarly = proposal.kind === "parameter" && !isClosed(link);
  const why = isOwn(proposal) ? say("You proposed it: another person confirms.")
    : isEarly ? say("The link is open: a parameter is confirmed while it is closed.") : "";
  const bar = proposal.barred_by && claims.barText(proposal, { name: session.userName() }, proposal.by);
  const about = proposal.proposal;
  return html`
    <div class="acts">
      ${!isEarly && (isOwn(proposal) || bar
        ? html`<${Action} label=${say("Colleague confirms")} about=${about} onClick=${() => confirm(link, proposal, done)} />`
        : html`<${Action} kind="go" label=${say("Confirm")} first about=${about} onClick=${() => confirm(link, proposal, done)} />`)}
      <${Action} label=${say("Withdraw")} about=${about} onClick=${() => withdraw(link, proposal, done)} />
      ${(why || bar) && html`<p class="why">${why || bar}</p>`}
    </div>`;
};
