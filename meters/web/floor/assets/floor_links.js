/* The links: their state, their meters, their proposals, and the acts on them. */

import { afterPress } from "./after_press.js";
import { make } from "./elements.js";
import * as api from "./floor_api.js";
import * as changes from "./floor_changes.js";
import * as claims from "./floor_claims.js";
import * as dialogs from "./floor_dialog.js";
import { Entries, entry } from "./floor_entries.js";
import * as format from "./floor_format.js";
import { money } from "./money.js";

const ACTS_LIMIT = 25;
const NAMED_MAX = 8;
const STATES = { operable: "Open", closed: "Closed", inoperable: "Inoperable" };
const DONE = {
  seed: "Meter started", validate: "Win validated", reject: "Win rejected", pay: "Win paid",
  close: "Link closed", open: "Link opened", propose: "Change proposed",
  withdraw: "Proposal withdrawn", parameter: "Parameter changed", adjust: "Meter adjusted",
  inoperable: "Link was inoperable",
  approve: "Floor file approved",
  restore: "Store restored", reading: "Meters read", archive: "Day archived",
  expire: "Archived days deleted", upgrade: "Store upgraded",
  void: "Round void after cards were entered", result: "Hand entered again",
  confirm_correction: "Correction confirmed", refuse_correction: "Correction refused",
};
let view = null;
let me = null;

class View {
  constructor(root) {
    this.acts = new Map();
    this.status = make("p.nothing", { role: "status" }, "Reading…");
    this.list = make("div.links", {});
    this.seal = make("p.of.seal", { hidden: true });
    root.append(make("h1", { tabindex: "-1" }, "Links"), this.status, this.list, this.seal);
    this.drawn = "";
    this.asked = this.answered = 0;
    this.read();
  }

  async read() {
    const asked = (this.asked += 1);
    let redraw;
    try {
      const found = await api.get("/api/v1/links");
      redraw = () => this.draw(found);
    } catch (error) {
      const { message } = api.refusal(error);
      redraw = () => this.refused(message);
    }
    /* An answer to an older request must not replace the answer to a newer request. */
    if (asked < this.answered) return;
    this.answered = asked;
    afterPress(redraw);
    try {
      await this.readSeal();
    } catch (error) {
      /* The list of links already shows the error. */
      api.refusal(error);
    }
  }

  /* The seal of the operators' log is the same for all links. */
  async readSeal() {
    const { sealed_entry: entry, seal } = await api.get("/api/v1/log/seal");
    this.seal.hidden = !seal;
    this.seal.replaceChildren(
      `Operators' log sealed at entry ${entry.toLocaleString("en-US")}: `, make("code", {}, seal));
  }

  refused(message) {
    this.status.hidden = false;
    this.status.textContent = message;
  }

  draw(found) {
    if (view !== this) return;
    this.status.hidden = true;
    const text = JSON.stringify(found);
    if (text === this.drawn) return;
    this.drawn = text;
    dialogs.redraw(this.list, found.map((link) => this.link(link)));
  }

  done() {
    for (const acts of this.acts.values()) acts.read();
    return this.read();
  }

  link(link) {
    const may = me.rights.includes("links");
    const done = () => this.done();
    const closed = link.state === "closed";
    return make("section.link", { "data-link": link.link, "aria-label": link.name },
      make("header", {},
        make("h2", {}, link.name),
        make("span.chip", { "data-state": link.state }, STATES[link.state]),
        make("p.standing", {}, [
          `${link.tables_online} of ${format.count(link.tables, "table")} connected`,
          `${format.count(link.rounds_open, "open round")}`,
        ].join(" · "))),
      link.tables_offline?.length
        ? make("p.of.offline", {}, this.offline(link.tables_offline)) : null,
      link.reason && !link.unapproved ? make("p.notice.wait", {}, this.why(link)) : null,
      link.unapproved ? this.unapproved(link, may, done) : null,
      may && !link.unapproved ? this.linkActs(link, closed, done) : null,
      link.proposals.length > 0
        && make("section.proposals", {}, make("h3", {}, "Proposed, waiting for another person"),
          make("ul", {}, link.proposals.map((one) => this.proposal(link, one, may, done)))),
      make("ul.meters", {}, link.meters.map((meter) => this.meter(link, meter, may, closed, done))),
      link.seal
        && make("p.of.seal", {}, `Ledger sealed at entry ${link.sealed_entry.toLocaleString("en-US")}: `,
          make("code", {}, link.seal)),
      this.actsOf(link));
  }

  /* The tables that are not connected, so their progressives cannot be played. Only the first
     tables are named. */
  offline(tables) {
    const more = tables.length > NAMED_MAX ? `, and ${tables.length - NAMED_MAX} more` : "";
    return `Not connected: ${tables.slice(0, NAMED_MAX).join(", ")}${more}.`;
  }

  why(link) {
    const by = link.state === "closed" && link.closed_by
      ? `Closed by ${link.closed_by}, ${format.moment(link.closed_at)}: ` : "";
    return format.sentence(by + link.reason);
  }

  unapproved(link, may, done) {
    const off = link.unapproved.barred ?? "";
    return make("section.unapproved", {},
      make("h3", {}, "The floor file is not as approved"),
      make("ul", {}, link.unapproved.changed.map((one) => make("li", {}, format.capital(one)))),
      link.unapproved.approved_by
        && make("p.of", {}, `Approved last by ${link.unapproved.approved_by}, ${format.moment(link.unapproved.approved_at)}`),
      may
        && make("div.acts", {},
          dialogs.action("Approve the floor file", link.name, () => changes.approve(link, done),
            { kind: "go", off }),
          off ? make("p.why", {}, format.sentence(off)) : null));
  }

  linkActs(link, closed, done) {
    if (link.state === "inoperable") {
      return make("p.why", {}, "You can do nothing with it until the cause is gone.");
    }
    const about = link.name;
    return make("div.acts", {}, closed
      ? dialogs.action("Open the link", about, () => changes.open(link, done), { kind: "go" })
      : dialogs.action("Close the link", about, () => changes.close(link, done), { kind: "stop" }));
  }

  proposal(link, one, may, done) {
    const own = one.by === me.name;
    const why = own
      ? "You proposed it: another person confirms."
      : one.kind === "parameter" && link.state !== "closed"
        ? "The link is open: a parameter is confirmed while it is closed."
        : "";
    return make("li", { "data-proposal": one.proposal },
      make("p.strong", {}, changes.describe(link, one)),
      one.reason ? make("p", {}, `Reason: ${format.sentence(one.reason)}`) : null,
      make("p.of", {}, `Proposed by ${one.by}, ${format.moment(one.at)}`),
      may
        && make("div.acts", {},
          dialogs.action("Confirm", one.proposal, () => changes.confirm(link, one, done),
            { kind: "go", off: why }),
          dialogs.action("Withdraw", one.proposal, () => changes.withdraw(link, one, done)),
          why ? make("p.why", {}, why) : null));
  }

  meter(link, meter, may, closed, done) {
    const every = (number) => (number === null ? "" : changes.every(number));
    const off = closed && link.rounds_open === 0 ? "" : "not closed";
    return make("li.meter", { "data-meter": meter.meter },
      make("h3", {}, meter.name),
      make("p.amount", {}, money(meter.amount)),
      claims.facts([
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
        ["Magic Card", every(meter.magic_card_every)],
        ["Lucky Bonus", every(meter.lucky_every)],
        ["Cycle", String(meter.cycle)],
        ["Pending wins of the meter", String(meter.pending)],
      ]),
      make("details", {}, make("summary", {}, "Accounting meters"), claims.facts(counted(meter.accounting))),
      may && link.state !== "inoperable"
        && make("div.acts", {},
          dialogs.action("Change a parameter", `${meter.name}, ${link.name}`, () => changes.parameter(link, meter, done), { off }),
          dialogs.action("Adjust", `${meter.name}, ${link.name}`, () => changes.adjust(link, meter, done)),
          off ? make("p.why", {}, closed
            ? "Parameters can change once the open rounds are finished."
            : "Parameters can change only while the link is closed.") : null));
  }

  actsOf(link) {
    if (!this.acts.has(link.link)) this.acts.set(link.link, new Acts(link));
    return this.acts.get(link.link).node;
  }
}

/* The acts on a link. They are read when the list is opened, and after each new act. */
class Acts {
  constructor(link) {
    this.status = make("p.of", { role: "status" }, "");
    this.entries = new Entries(`/api/v1/links/${encodeURIComponent(link.link)}/acts`, ACTS_LIMIT,
      (act) => entry(act.at, DONE[act.what] ?? format.capital(format.plain(act.what)), act.by,
        [act.table, act.told].filter(Boolean).join(" · ")),
      (error) => { this.status.textContent = error.message; });
    this.node = make("details.acts-of", { ontoggle: () => this.read() },
      make("summary", {}, "What was done, the latest first"),
      this.status, this.entries.list, this.entries.more);
  }

  async read() {
    if (!this.node.open) return;
    this.status.textContent = "";
    await this.entries.read();
    if (!this.status.textContent && !this.entries.list.children.length) this.status.textContent = "Nothing yet.";
  }
}

/* The accounting meters, which only rise (duty D2). */
const counted = (sums) => [
  ["Wagers", `${sums.wagers.toLocaleString("en-US")}, ${money(sums.wagered)}`],
  ["Of these void", sums.voided_wagers ? `${sums.voided_wagers.toLocaleString("en-US")}, ${money(sums.voided)}` : ""],
  ["Percentages of the meter won", sums.hits.toLocaleString("en-US")],
  ["Wins", `${sums.wins.toLocaleString("en-US")}, ${money(sums.won)}`],
  ["Rejected", sums.rejected ? money(sums.rejected) : ""],
  ["Paid at the table", money(sums.paid_by_system)],
  ["Hand paid", money(sums.paid_by_attendant)],
  ["Paid in all", money(sums.paid)],
  ["Overflow in all", sums.overflow ? money(sums.overflow) : ""],
];

export const name = "Links";
export const right = "wins";
export const show = (root, who) => {
  me = who;
  view = new View(root);
};
export const hide = () => { view = me = null; };
export const changed = () => view?.read();
