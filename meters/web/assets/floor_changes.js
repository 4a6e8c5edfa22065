/* Acts on a link and its meters. One person opens or closes a link. A change needs two people. */

import * as api from "./floor_api.js";
import { Choice, Field, needed, open, Select, wrong } from "./floor_dialog.js";
import * as format from "./floor_format.js";
import * as session from "./floor_session.js";
import { money } from "./money.js";
import { html, useState } from "./preact.js";

/* The parameters that table-side agents read in their own floor file too. */
const OF_TABLES = ["wager", "paytable"];
const PARAMETERS = {
  wager: "Wager",
  paytable: "Paytable",
  magic_card_every: "Magic Card: one round in",
  lucky_every: "Lucky Bonus: one round in",
  limit: "Limit",
  contribution_max: "Largest contribution",
};

const path = (link, rest) => `/api/v1/links/${encodeURIComponent(link.link)}/${rest}`;
const shortName = (parameter) => PARAMETERS[parameter].split(":")[0];

export const close = (link, done) => open({
  title: `Close ${link.name}?`,
  content: html`
    <p>Its tables accept no new progressive wager. Open rounds are finished.</p>
    <${Field} label="Reason" name="reason" />`,
  confirm: "Close the link",
  kind: "stop",
  act: (form) => api.post(path(link, "close"), { reason: needed(form, "reason", "A reason is needed.") }),
  done,
});

export const openLink = (link, done) => open({
  title: `Open ${link.name}?`,
  content: html`
    <p>${link.reason ? `It was closed: ${format.sentence(link.reason)}` : "It is closed."}</p>
    <p>Its tables accept progressive wagers again.</p>`,
  confirm: "Open the link",
  act: () => api.post(path(link, "open")),
  done,
});

/* Check if people have closed a link. */
export const isClosed = (link) => link.changeable && link.closed_at !== null;

/* Why a person cannot confirm a proposal now. */
export const whyNotConfirm = (link, proposal, me) => {
  if (proposal.by === me.name) return "You proposed it: another person confirms.";
  return proposal.kind === "parameter" && !isClosed(link)
    ? "The link is open: a parameter is confirmed while it is closed." : "";
};

/* Who has approved a floor file, and who is still needed. */
export const Approvals = ({ unapproved }) => {
  const { first, confirmed, first_by: by, first_at: at } = unapproved;
  const needed = first ? "One person approves it: it is the first floor file of an empty floor."
    : confirmed ? "One person approves it: two people have confirmed these values already."
    : by ? `Approved first by ${by}, ${format.moment(at)}. One more person is needed.`
      : "Two people approve it.";
  return html`<p class="of">${needed}</p>`;
};

/* All settings of a link, so that a wrong seed is seen before it is approved. */
const Terms = ({ unapproved }) => html`
  <ul class="terms">${unapproved.terms.map((one) => html`<li key=${one}>${format.capital(one)}</li>`)}</ul>`;

export const approve = (link, done) => open({
  title: `Approve the floor file for ${link.name}?`,
  content: html`
    <ul>${link.unapproved.changed.map((one) => html`<li class="strong">${format.capital(one)}</li>`)}</ul>
    <p>All terms:</p>
    <${Terms} unapproved=${link.unapproved} />
    <${Approvals} unapproved=${link.unapproved} />
    <p>${"The link uses it once it is approved. At a service with another floor file the link "
      + "stops until that service is restarted with this one."}</p>
    <p class="of">${`SHA-256 ${link.unapproved.digest}`}</p>`,
  confirm: "Approve",
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
    <p>${`For the whole facility, ${waiting.length} links:`}</p>
    <ul>${common.map((one) => html`<li class="strong">${format.capital(one)}</li>`)}</ul>`}
  ${waiting.map(({ link, name, unapproved }) => [link, name, unapproved.changed.filter((one) => !common.includes(one))])
    .filter(([, , own]) => own.length)
    .map(([link, name, own]) => html`
      <p key=${link}>${name}:</p>
      <ul>${own.map((one) => html`<li class="strong">${format.capital(one)}</li>`)}</ul>`)}`;

/* Approve the floor file for several links. Each link is approved exactly as it is shown. */
export const approveAll = (found, done) => open({
  title: `Approve the floor file for ${found.waiting.length} links?`,
  content: html`
    <${ChangesOfLinks} ...${found} />
    ${found.waiting.map((link) => html`
      <p key=${link.link}>${`All terms of ${link.name}:`}</p>
      <${Terms} unapproved=${link.unapproved} />
      <${Approvals} unapproved=${link.unapproved} />`)}
    <p>${"The links use it once it is approved. At a service with another floor file they stop "
      + "until that service is restarted with this one."}</p>`,
  confirm: `Approve for ${found.waiting.length} links`,
  act: async () => {
    for (const link of found.waiting) await api.post(path(link, "approve"), { digest: link.unapproved.digest });
  },
  done,
});

const bound = (cents) => (cents === null ? "none" : money(cents));

export const every = (number) => (number ? `one round in ${number.toLocaleString("en-US")}` : "never");

const typed = { name: "value", inputmode: "decimal", maxlength: "16" };

const readAmount = (input, missing, least) => {
  const cents = format.typedCents(input.value);
  if (cents === null || cents < least) throw wrong(missing, input);
  return cents;
};
const readEvery = (input) => {
  if (!/^\d{1,7}$/.test(input.value.trim())) throw wrong("A whole number is needed; 0 means never.", input);
  return Number(input.value);
};

/* The parameters of a meter that can be changed. Each has its current value as text, the
   properties of a field for the new value, and a function that reads the field. A parameter with
   `options` has a select. A wager or a paytable is not among them if it has only the present value. */
const parameters = (meter) => ({
  ...(meter.wagers.length !== 1 && { wager: {
    now: money(meter.wager),
    ...(meter.wagers.length
      ? {
        field: { options: meter.wagers.map((cents) => [String(cents), money(cents)]), chosen: String(meter.wager) },
        read: (input) => Number(input.value),
      }
      : { field: typed, read: (input) => readAmount(input, "An amount such as 2.50 is needed.", 1) }),
  } }),
  ...(meter.paytables.length > 1 && { paytable: {
    now: `paytable ${meter.paytable}`,
    field: { options: meter.paytables.map((letter) => [letter, `Paytable ${letter}`]), chosen: meter.paytable },
    read: (input) => input.value,
  } }),
  ...Object.fromEntries(["magic_card_every", "lucky_every"].filter((name) => meter[name] !== null).map((name) =>
    [name, { now: every(meter[name]), field: { ...typed, inputmode: "numeric", maxlength: "7" }, read: readEvery }])),
  ...Object.fromEntries(["limit", "contribution_max"].map((name) => [name, {
    now: bound(meter[name]),
    field: { ...typed, placeholder: "0.00" },
    read: (input) => readAmount(input, "An amount is needed; 0 means none.", 0),
  }])),
});

const ParameterFields = ({ offered }) => {
  const [chosen, setChosen] = useState(Object.keys(offered)[0]);
  const { now, field } = offered[chosen];
  return html`
    <${Choice} legend="Which parameter?" name="parameter" chosen=${chosen} onChoose=${setChosen}
      options=${Object.keys(offered).map((name) => [name, shortName(name)])} />
    <div key=${chosen}>
      <p>${`Now: ${now}`}</p>
      <${field.options ? Select : Field} label=${`New: ${PARAMETERS[chosen].toLowerCase()}`} name="value" ...${field} />
    </div>
    <${Field} label="Why?" name="reason" />
    <p>Another person must confirm it before it takes effect.</p>`;
};

export const parameter = (link, meter, done) => {
  const offered = parameters(meter);
  open({
    title: `Change ${meter.name}`,
    content: html`<${ParameterFields} offered=${offered} />`,
    confirm: "Propose",
    act: (form) => {
      const { elements } = form;
      const name = elements.parameter.value;
      const value = offered[name].read(elements.value);
      const reason = needed(form, "reason", "A reason is needed.");
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
    found.push(`This is more than the meter held at any of its last 25 wins: ${money(meter.highest)} at most.`);
  }
  if (Math.abs(cents) * 100 > meter.amount * percent) {
    const share = meter.amount ? `${Math.round(Math.abs(cents) * 100 / meter.amount)}% of what it holds` : "all of it";
    found.push(`This moves the meter by ${share}, more than ${percent}%.`);
  }
  if (cents > 0 && meter.limit !== null && after > meter.limit) {
    found.push(`This is above the limit of ${money(meter.limit)}.`);
  }
  return found;
};

/* What the overflow adds to a meter that an adjustment takes below its limit. */
const refill = (meter, cents) => meter.limit === null
  ? 0 : Math.max(0, Math.min(meter.overflow, meter.limit - meter.amount - cents));

/* What an adjustment does: the present amount, the resulting amount, the limit and the warnings. */
export const AdjustmentFigures = ({ meter, cents }) => html`
  <dl class="facts figures">
    <div><dt>Now</dt><dd>${money(meter.amount)}</dd></div>
    <div><dt>${cents < 0 ? "Subtract" : "Add"}</dt><dd>${money(Math.abs(cents))}</dd></div>
    ${refill(meter, cents) > 0 && html`<div><dt>From its overflow</dt><dd>${money(refill(meter, cents))}</dd></div>`}
    <div><dt>After it</dt><dd>${meter.amount + cents < 0 ? "less than nothing" : money(meter.amount + cents + refill(meter, cents))}</dd></div>
    <div><dt>Limit</dt><dd>${bound(meter.limit)}</dd></div>
  </dl>
  ${warnings(meter, cents, session.warnAdjustmentPercent()).map((one) => html`
    <p class="notice bad warning" key=${one}>${one}</p>`)}`;

const AdjustmentFields = ({ meter }) => {
  const [sign, setSign] = useState(0);
  const [amount, setAmount] = useState("");
  const after = meter.amount + sign * (format.typedCents(amount) ?? 0);
  const preview = after < 0
    ? `The meter holds only ${money(meter.amount)}`
    : after === meter.amount ? `${money(after)} now` : `${money(meter.amount)} → ${money(after + refill(meter, after - meter.amount))}`;
  return html`
    <p>To correct a malfunction or an error, and for nothing else.</p>
    <${Choice} legend="Which way?" name="way" onChoose=${(value) => setSign(Number(value))}
      options=${[["1", "+ Add to the meter"], ["-1", "− Subtract from the meter"]]} />
    <${Field} label="Dollars and cents" ...${typed} placeholder="0.00" onInput=${(event) => setAmount(event.target.value)} />
    <output class="preview" role="status">${preview}</output>
    ${after !== meter.amount && after >= 0 && html`<${AdjustmentFigures} meter=${meter} cents=${after - meter.amount} />`}
    <${Field} label="What went wrong?" name="reason" />
    <p>Another person must confirm it before it takes effect.</p>`;
};

export const adjust = (link, meter, done) => open({
  title: `Adjust ${meter.name}`,
  content: html`<${AdjustmentFields} meter=${meter} />`,
  confirm: "Propose",
  act: (form) => {
    const way = Number(needed(form, "way", "Choose whether to add or subtract."));
    const cents = readAmount(form.elements.value, "An amount such as 1,234.50 is needed.", 1);
    const reason = needed(form, "reason", "A reason is needed.");
    return api.post(path(link, "proposals"), { kind: "adjustment", meter: meter.meter, amount: way * cents, reason });
  },
  done,
});

/* A proposal as text: the parameter, its old value and its new value. */
export const describe = (link, proposal) => {
  const meter = link.meters.find((each) => each.meter === proposal.meter);
  const name = meter?.name ?? proposal.meter;
  if (proposal.kind === "adjustment") {
    return `${name}, adjusted by ${proposal.after}; it held ${proposal.before} when proposed`;
  }
  return `${name}, ${shortName(proposal.parameter).toLowerCase()}: ${proposal.before} → ${proposal.after}`;
};

/* The figures of a proposed adjustment at present; nothing for a parameter. */
export const Adjusts = ({ link, proposal }) => {
  const meter = link.meters.find((each) => each.meter === proposal.meter);
  return proposal.kind === "adjustment" && meter
    && html`<${AdjustmentFigures} meter=${meter} cents=${proposal.amount} />`;
};

const decide = (act, title, confirm, kind) => (link, proposal, done) => open({
  title,
  content: html`
    <p class="strong">${describe(link, proposal)}</p>
    <${Adjusts} link=${link} proposal=${proposal} />
    <p>${`Reason: ${format.sentence(proposal.reason)}`}</p>
    ${OF_TABLES.includes(proposal.parameter) && html`<p>${"Then set it in the floor file of the tables too, and "
      + "restart their agents: until then their wagers are refused at lock-out."}</p>`}
    <p>${`Proposed by ${proposal.by}, ${format.moment(proposal.at)}.`}</p>`,
  confirm,
  kind,
  act: () => api.post(path(link, `proposals/${encodeURIComponent(proposal.proposal)}/${act}`)),
  done,
});
export const confirm = decide("confirm", "Confirm this change?", "Confirm", "go");
export const withdraw = decide("withdraw", "Withdraw this proposal?", "Withdraw", "stop");
