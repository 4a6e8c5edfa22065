/* Acts on a link and its meters. One person opens or closes a link. A change needs two people. */

import { make, select } from "./elements.js";
import * as api from "./floor_api.js";
import * as dialogs from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { money } from "./money.js";

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

const reasonLine = (label) => dialogs.line(label, "A reason is needed.", { name: "reason" });

export const close = (link, done) => {
  const reason = reasonLine("Reason");
  dialogs.open({
    title: `Close ${link.name}?`,
    content: [
      make("p", {}, "Its tables accept no new progressive wager. Open rounds are finished."),
      reason.node,
    ],
    confirm: "Close the link",
    kind: "stop",
    act: () => api.post(path(link, "close"), { reason: reason.value() }),
    done,
  });
};

export const open = (link, done) => dialogs.open({
  title: `Open ${link.name}?`,
  content: [
    make("p", {}, link.reason ? `It was closed: ${format.sentence(link.reason)}` : "It is closed."),
    make("p", {}, "Its tables accept progressive wagers again."),
  ],
  confirm: "Open the link",
  act: () => api.post(path(link, "open")),
  done,
});

export const approve = (link, done) => dialogs.open({
  title: `Approve the floor file for ${link.name}?`,
  content: [
    make("ul", {}, link.unapproved.changed.map((one) => make("li.strong", {}, format.capital(one)))),
    make("p", {}, "The link uses it from then on. At a service with another floor file the link "
      + "stops until that service is restarted with this one."),
    make("p.of", {}, `SHA-256 ${link.unapproved.digest}`),
  ],
  confirm: "Approve",
  act: () => api.post(path(link, "approve"), { digest: link.unapproved.digest }),
  done,
});

const bound = (cents) => (cents === null ? "none" : money(cents));

export const every = (number) => (number ? `one round in ${number.toLocaleString("en-US")}` : "never");

const typed = (inputmode, maxlength, attributes = {}) =>
  make("input", { type: "text", inputmode, name: "value", maxlength, ...attributes });

const typedAmount = () => typed("decimal", "16", { placeholder: "0.00" });

/* The parameters of a meter that can be changed. Each has a name, the current value as text, a
   control for the new value, and a function that reads the control. */
const parameters = (meter) => {
  const found = [];
  const any = meter.kind === "five_card_hand_bonus";
  const wager = any ? typed("decimal", "12") : select({ name: "value" },
    [100, 500].map((cents) => [String(cents), money(cents)]), String(meter.wager));
  found.push(["wager", money(meter.wager), wager, () => {
    const cents = any ? format.typedCents(wager.value) : Number(wager.value);
    if (!cents) throw dialogs.wrong("An amount such as 2.50 is needed.", wager);
    return cents;
  }]);
  if (meter.paytables.length) {
    const control = select({ name: "value" },
      meter.paytables.map((letter) => [letter, `Paytable ${letter}`]), meter.paytable);
    found.push(["paytable", `paytable ${meter.paytable}`, control, () => control.value]);
  }
  for (const name of ["magic_card_every", "lucky_every"]) {
    if (meter[name] === null) continue;
    const control = typed("numeric", "7");
    found.push([name, every(meter[name]), control, () => {
      if (!/^\d{1,7}$/.test(control.value.trim())) {
        throw dialogs.wrong("A whole number is needed; 0 means never.", control);
      }
      return Number(control.value);
    }]);
  }
  for (const name of ["limit", "contribution_max"]) {
    const control = typedAmount();
    found.push([name, bound(meter[name]), control, () => {
      const cents = format.typedCents(control.value);
      if (cents === null) throw dialogs.wrong("An amount is needed; 0 means none.", control);
      return cents;
    }]);
  }
  return found;
};

export const parameter = (link, meter, done) => {
  const offered = parameters(meter);
  const place = make("div", {});
  let chosen = offered[0];
  const show = () => place.replaceChildren(
    make("p", {}, `Now: ${chosen[1]}`),
    dialogs.field(`New: ${PARAMETERS[chosen[0]].toLowerCase()}`, chosen[2]));
  const which = dialogs.choice("Which parameter?", "parameter",
    offered.map(([name]) => [name, PARAMETERS[name].split(":")[0]]),
    { chosen: chosen[0], onchange: (value) => {
      chosen = offered.find(([name]) => name === value);
      show();
    } });
  show();
  dialogs.open({
    title: `Change ${meter.name}`,
    content: [which.node, place, make("p", {}, "Another person must confirm it before it takes effect.")],
    confirm: "Propose",
    act: () => api.post(path(link, "proposals"),
      { kind: "parameter", meter: meter.meter, parameter: chosen[0], value: chosen[3]() }),
    done,
  });
};

export const adjust = (link, meter, done) => {
  const amount = typedAmount();
  const preview = make("output.preview", { role: "status" }, "");
  const reason = reasonLine("What went wrong?");
  const way = dialogs.choice("Which way?", "way",
    [["1", "+ Add to the meter"], ["-1", "− Subtract from the meter"]],
    { missing: "Choose whether to add or subtract.", onchange: (value) => {
      sign = Number(value);
      show();
    } });
  let sign = 0;
  const show = () => {
    const cents = format.typedCents(amount.value) * sign || null;
    const after = meter.amount + (cents ?? 0);
    preview.textContent = cents === null
      ? `${money(meter.amount)} now`
      : after < 0
        ? `The meter holds only ${money(meter.amount)}`
        : `${money(meter.amount)} → ${money(after)}`;
  };
  amount.addEventListener("input", show);
  show();
  dialogs.open({
    title: `Adjust ${meter.name}`,
    content: [
      make("p", {}, "To correct a malfunction or an error, and for nothing else."),
      way.node, dialogs.field("Dollars and cents", amount), preview, reason.node,
      make("p", {}, "Another person must confirm it before it takes effect."),
    ],
    confirm: "Propose",
    act: () => {
      const cents = Number(way.value()) * format.typedCents(amount.value);
      if (!cents) throw dialogs.wrong("An amount such as 1,234.50 is needed.", amount);
      return api.post(path(link, "proposals"),
        { kind: "adjustment", meter: meter.meter, amount: cents, reason: reason.value() });
    },
    done,
  });
};

/* A proposal as text: the parameter, its old value and its new value. */
export const describe = (link, proposal) => {
  const meter = link.meters.find((each) => each.meter === proposal.meter);
  const name = meter?.name ?? proposal.meter;
  if (proposal.kind === "adjustment") {
    return `${name}, adjusted by ${proposal.after}; it held ${proposal.before} when proposed`;
  }
  const what = PARAMETERS[proposal.parameter].split(":")[0].toLowerCase();
  return `${name}, ${what}: ${proposal.before} → ${proposal.after}`;
};

const settle = (act, title, confirm, kind) => (link, proposal, done) => dialogs.open({
  title,
  content: [
    make("p.strong", {}, describe(link, proposal)),
    proposal.reason ? make("p", {}, `Reason: ${format.sentence(proposal.reason)}`) : null,
    OF_TABLES.includes(proposal.parameter)
      && make("p", {}, "Then set it in the floor file of the tables too, and restart their agents: "
        + "until then their wagers are refused at lock-out."),
    make("p", {}, `Proposed by ${proposal.by}, ${format.moment(proposal.at)}.`),
  ],
  confirm,
  kind,
  act: () => api.post(path(link, `proposals/${encodeURIComponent(proposal.proposal)}/${act}`)),
  done,
});
export const confirm = settle("confirm", "Confirm this change?", "Confirm", "go");
export const withdraw = settle("withdraw", "Withdraw this proposal?", "Withdraw", "stop");
