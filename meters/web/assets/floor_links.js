/* The links: their state, their meters, their proposals, and the acts on them. */

import { keep } from "./expiry.js";
import * as api from "./floor_api.js";
import * as changes from "./floor_changes.js";
import { Facts } from "./floor_claims.js";
import { Action } from "./floor_dialog.js";
import { Entries } from "./floor_entries.js";
import * as format from "./floor_format.js";
import { useAnswer, useTurn } from "./floor_reading.js";
import { money } from "./money.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";

const ACTS_LIMIT = 25;
const NAMED_MAX = 8;
const READ_EVERY_MS = 5000;
const STATES = { operable: "Open", closed: "Closed", inoperable: "Inoperable" };
const DONE = {
  seed: "Meter started", validate: "Win validated", reject: "Win rejected", pay: "Win paid",
  request_reject: "Rejection requested", request_reopen: "Reopening requested",
  reopen: "Win reopened", correct_slip: "Slip number corrected",
  close: "Link closed", open: "Link opened", propose: "Change proposed",
  withdraw: "Proposal withdrawn", parameter: "Parameter changed", adjust: "Meter adjusted",
  inoperable: "Link was inoperable",
  approve_first: "Floor file approved by the first of two", approve: "Floor file approved",
  restore: "Store restored", reading: "Meters read", archive: "Day archived",
  expire: "Archived days deleted",
  void: "Round void after cards were entered", result: "Hand entered again",
  correct_wager: "Wager added or taken back",
  confirm_correction: "Correction confirmed", refuse_correction: "Correction refused",
};

const number = (count) => count.toLocaleString("en-US");

/* The tables that are not connected, so their progressives cannot be played. Only the first tables
   are named. */
const offlineText = (tables) => {
  const more = tables.length > NAMED_MAX ? `, and ${tables.length - NAMED_MAX} more` : "";
  return `Not connected: ${tables.slice(0, NAMED_MAX).join(", ")}${more}.`;
};

const reasonText = (link) => {
  const by = link.state === "closed" && link.closed_by
    ? `Closed by ${link.closed_by}, ${format.moment(link.closed_at)}: ` : "";
  return format.sentence(by + link.reason);
};

const heading = (first) => (first ? "The first floor file waits for approval" : "The floor file is not as approved");

const whyNotApprove = ({ barred, first_by: by }, me) =>
  barred ? format.sentence(barred) : by === me.name ? "You approved it first: another person approves it too." : "";

const Unapproved = ({ link, shared, me, canAct, done }) => {
  const { first, first_by: firstBy, changed, approved_by: by, approved_at: at } = link.unapproved;
  const own = changed.filter((one) => !shared.includes(one));
  const off = whyNotApprove(link.unapproved, me);
  return html`
    <section class="unapproved">
      <h3>${heading(first)}</h3>
      <ul>${own.map((one) => html`<li>${format.capital(one)}</li>`)}</ul>
      ${own.length < changed.length && html`<p>What changes for the whole facility is above.</p>`}
      <${changes.Approvals} unapproved=${link.unapproved} />
      ${by && html`<p class="of">${`Approved last by ${by}, ${format.moment(at)}`}</p>`}
      ${canAct && html`
        <div class="acts">
          <${Action} kind="go" label="Approve the floor file" about=${link.name} off=${off}
            onClick=${() => changes.approve(link, done)} />
          ${off && html`<p class="why">${off}</p>`}
        </div>`}
    </section>`;
};

/* Several links that wait for an approval, with one button. */
const AllUnapproved = ({ found, canAct, done }) => html`
  <section class="unapproved all">
    <h3>${`${heading(found.waiting.every(({ unapproved }) => unapproved.first))}: ${found.waiting.length} links`}</h3>
    <${changes.ChangesOfLinks} ...${found} />
    ${canAct && html`
      <div class="acts">
        <${Action} kind="go" label=${`Approve for ${found.waiting.length} links`} about="all of them"
          onClick=${() => changes.approveAll(found, done)} />
      </div>`}
  </section>`;

/* An inoperable link can be changed if it only has wrong parameters, or no broker. */
const canChange = (link) => link.changeable;

const LinkActs = ({ link, done }) => {
  if (!canChange(link)) {
    return html`<p class="why">You can do nothing with it until the cause is gone.</p>`;
  }
  if (link.wrong_parameters && changes.isClosed(link)) return null;
  return html`
    <div class="acts">
      ${changes.isClosed(link)
        ? html`<${Action} key="open" kind="go" label="Open the link" about=${link.name}
            onClick=${() => changes.openLink(link, done)} />`
        : html`<${Action} key="close" kind="stop" label="Close the link" about=${link.name}
            onClick=${() => changes.close(link, done)} />`}
    </div>`;
};

const Proposal = ({ link, proposal, me, canAct, done }) => {
  const off = changes.whyNotConfirm(link, proposal, me);
  return html`
    <li data-proposal=${proposal.proposal}>
      <p class="strong">${changes.describe(link, proposal)}</p>
      <${changes.Adjusts} link=${link} proposal=${proposal} />
      <p>${`Reason: ${format.sentence(proposal.reason)}`}</p>
      <p class="of">${`Proposed by ${proposal.by}, ${format.moment(proposal.at)}`}</p>
      ${canAct && html`
        <div class="acts">
          <${Action} kind="go" label="Confirm" about=${proposal.proposal} off=${off}
            onClick=${() => changes.confirm(link, proposal, done)} />
          <${Action} label="Withdraw" about=${proposal.proposal} onClick=${() => changes.withdraw(link, proposal, done)} />
          ${off && html`<p class="why">${off}</p>`}
        </div>`}
    </li>`;
};

/* The accounting meters, which only rise (duty D2). */
const accounting = (sums) => [
  ["Wagers", `${number(sums.wagers)}, ${money(sums.wagered)}`],
  ["Of these void", sums.voided_wagers ? `${number(sums.voided_wagers)}, ${money(sums.voided)}` : ""],
  ["Percentages of the meter won", number(sums.hits)],
  ["Wins", `${number(sums.wins)}, ${money(sums.won)}`],
  ["Rejected", sums.rejected ? money(sums.rejected) : ""],
  ["Of these reopened", sums.reopened ? money(sums.reopened) : ""],
  ["Paid at the table", money(sums.paid_by_system)],
  ["Hand paid", money(sums.paid_by_attendant)],
  ["Paid in all", money(sums.paid)],
  ["Overflow in all", sums.overflow ? money(sums.overflow) : ""],
];

const parameters = (meter) => [
  ["Wager", money(meter.wager)],
  ["Paytable", meter.paytable],
  ["Reserve", meter.reserve_bps || meter.reserve ? money(meter.reserve) : ""],
  ["Overflow", meter.limit !== null || meter.overflow ? money(meter.overflow) : ""],
  ["Limit", meter.limit === null ? "" : money(meter.limit)],
  ["Largest contribution", meter.contribution_max === null ? "" : money(meter.contribution_max)],
  ["Seed", money(meter.seed)],
  ["Reseed", money(meter.reseed)],
  ["Rate to the meter", format.rate(meter.primary_bps)],
  ["Rate to the reserve", meter.reserve_bps ? format.rate(meter.reserve_bps) : ""],
  ["Magic Card", meter.magic_card_every === null ? "" : changes.every(meter.magic_card_every)],
  ["Lucky Bonus", meter.lucky_every === null ? "" : changes.every(meter.lucky_every)],
  ["Cycle", String(meter.cycle)],
  ["Pending wins of the meter", String(meter.pending)],
];

const whyNotChange = (link) => {
  if (!changes.isClosed(link)) return "Parameters can change only while the link is closed.";
  return link.rounds_open ? "Parameters can change once the open rounds are finished." : "";
};

const Meter = ({ link, meter, canAct, done }) => {
  const off = whyNotChange(link);
  const about = `${meter.name}, ${link.name}`;
  return html`
    <li class="meter" data-meter=${meter.meter}>
      <h3>${meter.name}</h3>
      <div class="amount"><p class="expires">${money(meter.amount)}</p><p class="expired"></p></div>
      <${Facts} pairs=${parameters(meter)} />
      <details><summary>Accounting meters</summary><${Facts} pairs=${accounting(meter.accounting)} /></details>
      ${canAct && canChange(link) && html`
        <div class="acts">
          <${Action} label="Change a parameter" about=${about} off=${off}
            onClick=${() => changes.parameter(link, meter, done)} />
          <${Action} label="Adjust" about=${about} onClick=${() => changes.adjust(link, meter, done)} />
          ${off && html`<p class="why">${off}</p>`}
        </div>`}
    </li>`;
};

const actEntry = (act) => ({
  at: act.at, what: DONE[act.what] ?? format.capital(format.plain(act.what)), by: act.by,
  about: [act.table, act.told, act.hand_record && `claim ${act.of}`].filter(Boolean).join(" · "),
});

/* The acts on a link. They are read when the list is opened, and after each act of this page. */
const Acts = ({ link, acts }) => {
  const [isOpen, setIsOpen] = useState(false);
  return html`
    <details class="acts-of" onToggle=${(event) => setIsOpen(event.target.open)}>
      <summary>What was done, the latest first</summary>
      ${isOpen && html`<${Entries} path=${`/api/v1/links/${encodeURIComponent(link.link)}/acts`} limit=${ACTS_LIMIT}
        entry=${actEntry} changed=${acts} empty="Nothing yet." />`}
    </details>`;
};

const Link = ({ link, me, acts, done, shared }) => {
  const canAct = me.rights.includes("links");
  const act = { link, canAct, done };
  return html`
    <section class="link" data-link=${link.link} aria-label=${link.name}>
      <header>
        <h2>${link.name}</h2>
        <span class="chip" data-state=${link.state}>${STATES[link.state]}</span>
        <p class="standing">${`${link.tables_online} of ${format.count(link.tables, "table")} connected`
          + ` · ${format.count(link.rounds_open, "open round")}`}</p>
      </header>
      ${link.tables_offline.length > 0 && html`<p class="of offline">${offlineText(link.tables_offline)}</p>`}
      ${link.reason && !link.unapproved && html`<p class="notice wait">${reasonText(link)}</p>`}
      ${link.unapproved
        ? html`<${Unapproved} shared=${shared} me=${me} ...${act} />`
        : canAct && html`<${LinkActs} ...${act} />`}
      ${link.proposals.length > 0 && html`
        <section class="proposals">
          <h3>Proposed, waiting for another person</h3>
          <ul>${link.proposals.map((one) => html`
            <${Proposal} key=${one.proposal} proposal=${one} me=${me} ...${act} />`)}</ul>
        </section>`}
      <ul class="meters">${link.meters.map((meter) => html`<${Meter} key=${meter.meter} meter=${meter} ...${act} />`)}</ul>
      ${link.seal && html`
        <p class="of seal">${`Ledger sealed at entry ${number(link.sealed_entry)}: `}<code>${link.seal}</code></p>`}
      <${Acts} link=${link} acts=${acts} />
    </section>`;
};

export const Links = ({ me, changes: changed }) => {
  const [acts, setActs] = useState(0);
  /* A wager raises a meter without a change that the event stream reports. */
  const turn = useTurn(READ_EVERY_MS);
  const links = useAnswer(() => api.get("/api/v1/links"), [changed, acts, turn]);
  const list = useRef();
  useLayoutEffect(() => { if (!links.error) keep(list.current); }, [links.answers]);
  /* The seal of the operators' log is the same for all links. */
  const { found: log } = useAnswer(() => api.get("/api/v1/log/seal"), [changed, acts]);
  const done = () => setActs((before) => before + 1);
  const approvals = changes.waitingApprovals(links.found ?? [], me);
  const several = approvals.waiting.length > 1;
  const status = links.error || (links.found ? "" : "Reading…");
  return html`
    <h1 tabindex="-1">Links</h1>
    <p class="nothing" role="status" hidden=${!status}>${status}</p>
    ${several && html`<${AllUnapproved} found=${approvals} canAct=${me.rights.includes("links")} done=${done} />`}
    <div class="links" ref=${list}>${links.found?.map((link) => html`
      <${Link} key=${link.link} link=${link} me=${me} acts=${acts} done=${done}
        shared=${several ? approvals.common : []} />`)}
    </div>
    ${log?.seal && html`
      <p class="of seal">${`Operators' log sealed at entry ${number(log.sealed_entry)}: `}<code>${log.seal}</code></p>`}`;
};
