/* The meters of all links: a row for each, and one of them in its pane with its parameters, its
   accounting meters, its proposals, and what was done. */

import { keep } from "./expiry.js";
import * as api from "./floor_api.js";
import * as changes from "./floor_changes.js";
import { Spark, whenText } from "./floor_charts.js";
import { Facts } from "./floor_claims.js";
import { Action } from "./floor_dialog.js";
import { doneText, Entries, Entry } from "./floor_entries.js";
import * as format from "./floor_format.js";
import { Icon } from "./floor_icons.js";
import { Amount, Nothing, Pane } from "./floor_panes.js";
import { useAnswer, useTurn } from "./floor_reading.js";
import { hrefOf } from "./floor_route.js";
import { money } from "./money.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";
import { number, say, sayCount } from "./say.js";

const ACTS_LIMIT = 25;
const LAST_ACTS = 5;
const NAMED_MAX = 8;
const READ_EVERY_MS = 5000;
const SPARKS_EVERY_MS = 15000;
const STATES = { operable: say("Open#link"), closed: say("Closed"), inoperable: say("Inoperable") };

const dollars = (cents) => money(cents).replace(/\.00$/, "");

/* The tables that are not connected, so their progressives cannot be played. Only the first tables
   are named. */
const offlineText = (tables) => {
  const names = tables.slice(0, NAMED_MAX).join(", ");
  return say("Not connected: {tables}.", {
    tables: tables.length > NAMED_MAX ? say("{names}, and {count} more", { names, count: tables.length - NAMED_MAX }) : names,
  });
};

const reasonText = (link) => {
  if (link.state !== "closed" || !link.closed_by) return format.sentence(link.reason);
  return say("Closed by {by}, {time}: {reason}",
    { by: link.closed_by, time: format.moment(link.closed_at), reason: format.sentence(link.reason) });
};

const heading = (first) => (first ? say("The first floor file waits for approval") : say("The floor file is not as approved"));

const whyNotApprove = ({ barred, first_by: by }, me) =>
  barred ? format.sentence(barred) : by === me.name ? say("You approved it first: another person approves it too.") : "";

const Unapproved = ({ link, shared, me, canAct, done }) => {
  const { first, first_by: firstBy, changed, approved_by: by, approved_at: at } = link.unapproved;
  const own = changed.filter((one) => !shared.includes(one));
  const off = whyNotApprove(link.unapproved, me);
  return html`
    <section class="unapproved">
      <h3>${heading(first)}</h3>
      <ul>${own.map((one) => html`<li>${format.capital(one)}</li>`)}</ul>
      ${own.length < changed.length && html`<p>${say("What changes for the whole facility is above.")}</p>`}
      <${changes.Approvals} unapproved=${link.unapproved} />
      ${by && html`<p class="of">${say("Approved last by {by}, {time}", { by, time: format.moment(at) })}</p>`}
      ${canAct && html`
        <div class="acts">
          ${!off && html`<${Action} kind="go" label=${say("Approve the floor file")} about=${link.name}
            onClick=${() => changes.approve(link, done)} />`}
          ${off && html`<p class="why">${off}</p>`}
        </div>`}
    </section>`;
};

/* Several links that wait for an approval, with one button. */
const AllUnapproved = ({ found, canAct, done }) => html`
  <section class="unapproved all">
    <h3>${`${heading(found.waiting.every(({ unapproved }) => unapproved.first))}: ${say("{count} links", { count: found.waiting.length })}`}</h3>
    <${changes.ChangesOfLinks} ...${found} />
    ${canAct && html`
      <div class="acts">
        <${Action} kind="go" label=${say("Approve for {count} links", { count: found.waiting.length })} about=${say("all of them")}
          onClick=${() => changes.approveAll(found, done)} />
      </div>`}
  </section>`;

const LinkAct = ({ link, done }) => {
  if (!link.changeable) return html`<p class="why">${say("You can do nothing with this link until the cause is gone.")}</p>`;
  if (link.wrong_parameters && changes.isClosed(link)) return null;
  return changes.isClosed(link)
    ? html`<${Action} key="open" kind="go" label=${say("Open the link")} about=${link.name} onClick=${() => changes.openLink(link, done)} />`
    : html`<${Action} key="close" kind="stop" label=${say("Close the link")} about=${link.name} onClick=${() => changes.close(link, done)} />`;
};

const Proposal = ({ link, proposal, canAct, done }) => html`
  <section class="proposed" data-proposal=${proposal.proposal}>
    <h3><${Icon} name="proposal" />${changes.describe(link, proposal)}</h3>
    <${changes.Adjusts} link=${link} proposal=${proposal} />
    <p>${`${proposal.by}, ${format.moment(proposal.at)}: ${format.sentence(proposal.reason)}`}</p>
    ${canAct && html`<${changes.ProposalActs} link=${link} proposal=${proposal} done=${done} />`}
  </section>`;

/* The accounting meters, which only rise (duty D2). */
const accounting = (sums) => [
  [say("Wagers"), `${number(sums.wagers)}, ${money(sums.wagered)}`],
  [say("Of these void"), sums.voided_wagers ? `${number(sums.voided_wagers)}, ${money(sums.voided)}` : ""],
  [say("Percentages of the meter won"), number(sums.hits)],
  [say("Wins"), `${number(sums.wins)}, ${money(sums.won)}`],
  [say("Rejected"), sums.rejected ? money(sums.rejected) : ""],
  [say("Of these reopened"), sums.reopened ? money(sums.reopened) : ""],
  [say("Paid at the table"), money(sums.paid_by_system)],
  [say("Hand paid"), money(sums.paid_by_attendant)],
  [say("Paid in total"), money(sums.paid)],
  [say("Total overflow"), sums.overflow ? money(sums.overflow) : ""],
];

const hasReserve = (meter) => meter.reserve_bps || meter.reserve_above_bps || meter.reserve;
const ratesOf = (...bps) => bps.filter(Boolean).map(format.rate).join(" + ");

const wagersOf = ({ wager, smaller_wagers: smaller }) => [wager, ...smaller].map(dollars).reverse().join(" / ");

const parameters = (meter) => [
  [say("Wager"), meter.must_hit_by === null ? wagersOf(meter) : ""],
  [say("Must hit by"), meter.must_hit_by === null ? "" : money(meter.must_hit_by)],
  [say("Paytable"), meter.paytable],
  [say("Reserve"), hasReserve(meter) ? money(meter.reserve) : ""],
  [say("Overflow"), meter.limit !== null || meter.overflow ? money(meter.overflow) : ""],
  [say("Limit"), meter.limit === null ? "" : money(meter.limit)],
  [say("Above the limit"), meter.overflow_to === null ? "" : say("goes to {meter}", { meter: meter.overflow_to })],
  [say("Largest contribution of a round"), meter.contribution_max === null ? "" : money(meter.contribution_max)],
  [say("Seed"), money(meter.seed)],
  [say("Reseed"), money(meter.reseed)],
  [say("Rate to the meter"), format.changing(format.rate(meter.primary_bps), meter.threshold, format.rate(meter.primary_above_bps))],
  [say("Rate to the reserve"), meter.reserve_bps || meter.reserve_above_bps
    ? format.changing(format.rate(meter.reserve_bps), meter.threshold, format.rate(meter.reserve_above_bps)) : ""],
  [say("Magic Card"), meter.magic_card_every === null ? "" : changes.every(meter.magic_card_every)],
  [say("Lucky Bonus"), meter.lucky_every === null ? "" : changes.every(meter.lucky_every)],
  [say("Cycle"), String(meter.cycle)],
  [say("Pending wins of the meter"), String(meter.pending)],
];

const whyNotChange = (link) => {
  if (!changes.isClosed(link)) return say("Parameters can change only while the link is closed.");
  return link.rounds_open ? say("Parameters can change once the open rounds are finished.") : "";
};

const actEntry = (act) => ({
  at: act.at, what: doneText(act.what), by: act.by,
  about: [act.table, act.told, act.hand_record && say("claim {claim}", { claim: act.of })].filter(Boolean).join(" · "),
});

const TABS = [["parameters", say("Parameters")], ["accounting", say("Accounting")], ["done", say("Link log")]];

const MeterActs = ({ link, meter, canAct, done }) => {
  const off = whyNotChange(link);
  const about = `${meter.name}, ${link.name}`;
  return html`
    <div class="acts">
      ${canAct && link.changeable && html`
        ${!off && html`<${Action} label=${say("Change a parameter")} about=${about} onClick=${() => changes.parameter(link, meter, done)} />`}
        ${meter.adjustable
          && html`<${Action} label=${say("Adjust")} about=${about} onClick=${() => changes.adjust(link, meter, done)} />`}`}
      <a class="button" href=${hrefOf("history", `${link.link}/${meter.meter}`)}><${Icon} name="chart" />${say("History")}</a>
      ${canAct && link.changeable && off && html`<p class="why">${off}</p>`}
    </div>`;
};

const Meter = ({ link, meter, spark, me, acts, done, back }) => {
  const [tab, setTab] = useState("parameters");
  const canAct = me.rights.includes("links");
  const proposals = link.proposals.filter((one) => one.meter === meter.meter);
  return html`
    <${Pane} kind="of-meter" of=${{ "data-meter": meter.meter, "data-link": link.link }} back=${back}
      acts=${html`<${MeterActs} link=${link} meter=${meter} canAct=${canAct} done=${done} />`}>
      <div class="win-title"><div>
        <h2 tabindex="-1">${meter.name} <span>${`· ${link.name}`}</span></h2>
        <div class="live"><div class="expires"><${Amount} cents=${meter.amount} /></div><p class="expired" data-text=${say("Not current: reload the page")}></p></div>
        <p>${[spark && say("+{amount} in the last hour", { amount: money(spark.hour) }), say("cycle {cycle}", meter)].filter(Boolean).join(" · ")}</p>
      </div></div>
      ${proposals.map((one) => html`
        <${Proposal} key=${one.proposal} link=${link} proposal=${one} me=${me} canAct=${canAct} done=${done} />`)}
      <div class="tabs" role="group" aria-label=${say("What is shown")}>
        ${TABS.map(([name, label]) => html`
          <button type="button" key=${name} aria-pressed=${String(name === tab)} onClick=${() => setTab(name)}>${label}</button>`)}
      </div>
      ${tab === "parameters" && html`<section class="panel"><${Facts} pairs=${parameters(meter)} /></section>`}
      ${tab === "accounting" && html`<section class="panel"><h3>${say("Accounting meters")} <span>${say("since the first seed")}</span></h3>
        <${Facts} pairs=${accounting(meter.accounting)} /></section>`}
      ${tab === "done" && html`
        <section class="acts-of">
          <h3>${say("What was done with the link")} <span>${say("the latest first")}</span></h3>
          <${Entries} path=${`/api/v1/links/${encodeURIComponent(link.link)}/acts`} limit=${ACTS_LIMIT}
            entry=${actEntry} changed=${acts} empty=${say("Nothing yet.")} />
        </section>`}
    <//>`;
};

const hitText = ({ last_hit_at: at, last_hit_percent: percent }) =>
  at ? [whenText(Date.parse(at)), percent < 100 && `${percent}%`].filter(Boolean).join(" · ") : "—";

const State = ({ link, meter }) => {
  const proposals = link.proposals.filter((one) => one.meter === meter.meter).length;
  if (proposals) return html`<span class="tag proposal"><${Icon} name="proposal" />${sayCount("{count} proposal", "{count} proposals", proposals)}</span>`;
  if (meter.pending) return html`<span class="tag pending"><${Icon} name="half" />${sayCount("{count} win pending", "{count} wins pending", meter.pending)}</span>`;
  return html`<span class="meter-state" data-state=${link.state}>${link.state === "operable" ? say("Rising") : STATES[link.state]}</span>`;
};

const MeterRow = ({ link, meter, spark, isOpen }) => html`
  <tr data-meter=${meter.meter} aria-current=${isOpen ? "true" : null}>
    <th scope="row"><a href=${hrefOf("meters", `${link.link}/${meter.meter}`)}>${meter.name}</a></th>
    <td class="wide">${meter.must_hit_by === null ? wagersOf(meter) : ""}</td>
    <td class="now"><span class="expires">${money(meter.amount)}</span><span class="expired" data-text=${say("not current")}></span></td>
    <td class="spark-cell"><${Spark} spark=${spark} /></td>
    <td>${spark ? `+${money(spark.hour)}` : ""}</td>
    <td class="wide">${meter.seed === meter.reseed ? money(meter.seed) : `${dollars(meter.seed)}, ${dollars(meter.reseed)}`}</td>
    <td class="wide">${format.changing(ratesOf(meter.primary_bps, meter.reserve_bps), meter.threshold, ratesOf(meter.primary_above_bps, meter.reserve_above_bps))}</td>
    <td class="wide">${hasReserve(meter) ? money(meter.reserve) : ""}</td>
    <td class="middle">${spark ? hitText(spark) : ""}</td>
    <td><${State} link=${link} meter=${meter} /></td>
  </tr>`;

const nameOf = ({ by, table }) => (by.startsWith("table:") ? table : by);

/* The last audit, reading, archived day and correction of a link. */
const lastOf = ({ sealed_entry: entry, sealed_at: at, read_day: read, read_at: readAt, archived_day: archived, correction }) => [
  [say("Ledger balanced"), entry ? say("to entry {entry}", { entry: number(entry) }) : say("not yet"), at && whenText(Date.parse(at))],
  [say("Meters read"), read ? say("gaming day {day}", { day: read }) : say("not yet"), readAt && whenText(Date.parse(readAt))],
  [say("Archived"), archived ? say("to gaming day {day}", { day: archived }) : say("not yet")],
  [say("Last correction"), correction ? doneText(correction.what).toLowerCase() : say("none lately"),
    correction && [whenText(Date.parse(correction.at)), nameOf(correction)].filter(Boolean).join(", ")],
];

const LastDone = ({ last, log }) => {
  const acts = last.flatMap((link) => link.acts.map((act) => ({ ...act, link })))
    .sort((one, other) => Date.parse(other.at) - Date.parse(one.at)).slice(0, LAST_ACTS);
  const seals = [
    ...last.map(({ link_name: name, sealed_entry: entry, seal }) => [say("{name}, entry", { name }), entry, seal]),
    [say("Operators' log, entry"), log?.sealed_entry, log?.seal],
  ].filter(([, , seal]) => seal);
  return html`
    <section class="panel last-done">
      <h3>${say("Last done")} <span>${say("all links")}</span></h3>
      ${last.map((link) => html`
        <div class="done-of" key=${link.link}>
          <h4>${link.link_name}</h4>
          <dl>${lastOf(link).map(([name, what, when]) => html`
            <div key=${name}><dt>${name}</dt><dd>${what}${when && html` <small>${when}</small>`}</dd></div>`)}</dl>
        </div>`)}
      <ol class="entries">${acts.map((act) => html`
        <${Entry} key=${`${act.link.link} ${act.entry}`} ...${actEntry(act)} by=${nameOf(act)}
          about=${[act.link.link_name, actEntry(act).about].filter(Boolean).join(" · ")} />`)}</ol>
      ${seals.length > 0 && html`
        <details class="of seals"><summary>${say("Seals, to keep in another place")}</summary>
          <p>${say("Note the seals down where nobody can change them. Each seal proves later that the entries up to its number are still the same.")}</p>
          ${seals.map(([name, entry, seal]) => html`<p class="seal" key=${name}>${`${name} ${number(entry)}: `}<code>${seal}</code></p>`)}
        </details>`}
    </section>`;
};

const HEADS = [
  [say("Meter")], [say("Wager"), "wide"], [say("Now"), "now"], [say("24 hours"), "spark-cell"], [say("Last hour"), "hour"],
  [say("Seed, reseed"), "wide seeds"], [say("Rates"), "wide"], [say("Reserve"), "wide"], [say("Last win"), "middle"],
  [say("State"), "state"],
];

const Link = ({ link, me, sparks, of, done, shared }) => {
  const canAct = me.rights.includes("links");
  return html`
    <section class="link" data-link=${link.link} aria-label=${link.name}>
      <header>
        <h2>${link.name}</h2>
        <span class="chip" data-state=${link.state}>${STATES[link.state]}</span>
        <p class="standing">${[
          sayCount("{online} of {count} table connected", "{online} of {count} tables connected", link.tables, { online: link.tables_online }),
          sayCount("{count} open round", "{count} open rounds", link.rounds_open),
        ].join(" · ")}</p>
        ${canAct && !link.unapproved && html`<${LinkAct} link=${link} done=${done} />`}
      </header>
      ${link.tables_offline.length > 0 && html`<p class="of offline">${offlineText(link.tables_offline)}</p>`}
      ${link.reason && !link.unapproved && html`<p class="notice wait">${reasonText(link)}</p>`}
      ${link.unapproved && html`<${Unapproved} link=${link} shared=${shared} me=${me} canAct=${canAct} done=${done} />`}
      <table class="meter-rows">
        <thead><tr>${HEADS.map(([title, kind]) => html`<th scope="col" key=${title} class=${kind ?? null}>${title}</th>`)}</tr></thead>
        <tbody>${link.meters.map((meter) => html`
          <${MeterRow} key=${meter.meter} link=${link} meter=${meter} isOpen=${of === `${link.link}/${meter.meter}`}
            spark=${sparks?.find((one) => one.link === link.link && one.meter === meter.meter)} />`)}</tbody>
      </table>
    </section>`;
};

export const Links = ({ me, changes: changed, size, of }) => {
  const [acts, setActs] = useState(0);
  /* A wager raises a meter without a change that the event stream reports. */
  const turn = useTurn(READ_EVERY_MS);
  const slow = useTurn(SPARKS_EVERY_MS);
  const links = useAnswer(() => api.get("/api/v1/links"), [changed, acts, turn]);
  const { current: sparks } = useAnswer(() => api.get("/api/v1/meters/sparks"), [changed, slow]);
  const list = useRef();
  useLayoutEffect(() => { if (!links.error) keep(list.current); }, [links.answers]);
  const { found: last } = useAnswer(() => api.get("/api/v1/links/last-done", { limit: LAST_ACTS }), [acts, slow]);
  const { found: log } = useAnswer(() => api.get("/api/v1/log/seal"), [acts, slow]);
  const done = () => setActs((before) => before + 1);
  const approvals = changes.waitingApprovals(links.found ?? [], me);
  const several = approvals.waiting.length > 1;
  const status = links.error || (links.found ? "" : say("Reading…"));
  const [linkId, meterId] = of.split("/");
  const link = links.found?.find((one) => one.link === linkId);
  const meter = link?.meters.find((one) => one.meter === meterId);
  const before = useRef(of);
  useLayoutEffect(() => {
    if (before.current === of) return;
    before.current = of;
    if (of && size === "phone") document.querySelector(".detail h2")?.focus();
  });
  return html`
    <h1 class="sr" tabindex="-1">${say("Meters")}</h1>
    <div class="panes all-meters" data-opened=${meter ? "" : null} ref=${list}>
      <section class="pane list" aria-label=${say("List")}>
        <p class="nothing" role="status" hidden=${!status}>${status}</p>
        ${several && html`<${AllUnapproved} found=${approvals} canAct=${me.rights.includes("links")} done=${done} />`}
        ${links.found?.map((one) => html`
          <${Link} key=${one.link} link=${one} me=${me} sparks=${sparks} of=${of} done=${done} shared=${several ? approvals.common : []} />`)}
        ${last && html`<${LastDone} last=${last} log=${log} />`}
      </section>
      ${meter
        ? html`<${Meter} key=${of} link=${link} meter=${meter} me=${me} acts=${acts} done=${done}
            spark=${sparks?.find((one) => one.link === linkId && one.meter === meterId)} back=${size === "desk" ? null : hrefOf("meters")} />`
        : html`<${Nothing} text=${say("Choose a meter to see its parameters.")} />`}
    </div>`;
};
