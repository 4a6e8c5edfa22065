/* Past wins: the latest of each progressive, and a search over all. */

import { make, select } from "./elements.js";
import * as api from "./floor_api.js";
import * as claims from "./floor_claims.js";
import * as dialogs from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { money } from "./money.js";

const LIMIT = 25;
let view = null;

const readLinks = async () => {
  try {
    return await api.get("/api/v1/links");
  } catch (error) {
    api.refusal(error);
    return [];
  }
};

const LAST_DAY = "9999-12-30";

class View {
  constructor(root) {
    this.asked = 0;
    this.drawn = new Map();
    this.progressive = select({ name: "progressive" }, [["", "All progressives"]]);
    this.form = this.search();
    this.status = make("p.nothing", { role: "status" }, "Reading…");
    this.list = make("ol.wins", {});
    this.more = make("button", { type: "button", hidden: true, onclick: () => this.read(this.next) }, "Earlier wins");
    root.append(make("h1", { tabindex: "-1" }, "Wins"), this.form, this.status, this.list, this.more);
    this.fill();
    this.read();
  }

  search() {
    const { field } = dialogs;
    const text = (name, length) => make("input", { type: "search", name, maxlength: length, enterkeyhint: "search" });
    const further = make("details.further", {}, make("summary", {}, "Search"),
      make("div.grid", {},
        field("Words", text("words", 100), "A patron, a hand, a slip, a reason, a name"),
        field("Table", text("table", 32)),
        field("State", select({ name: "state" }, [
          ["", "Any"], ["pending", "To validate"], ["validated", "Validated"],
          ["paid", "Paid"], ["rejected", "Rejected"],
        ])),
        field("From", make("input", { type: "date", name: "from", max: LAST_DAY })),
        field("To, that day included", make("input", { type: "date", name: "to", max: LAST_DAY }))),
      make("div.acts", {},
        make("button.go", { type: "submit" }, "Search"),
        make("button", { type: "button", onclick: () => this.clear() }, "Clear")));
    const form = make("form.search", { role: "search", novalidate: true },
      make("div.grid", {},
        field("Progressive", this.progressive),
        field("Which wins", select({ name: "awards" }, [["", "All"], ["true", "From the meter only"]]))),
      further);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.read();
    });
    for (const name of ["progressive", "awards"]) {
      form.elements[name].addEventListener("change", () => this.read());
    }
    return form;
  }

  async fill() {
    for (const link of await readLinks()) {
      this.progressive.append(make("optgroup", { label: link.name },
        link.meters.map((meter) =>
          make("option", { value: `${link.link} ${meter.meter}` }, meter.name))));
    }
  }

  clear() {
    this.form.reset();
    this.read();
  }

  query() {
    const value = (name) => this.form.elements[name].value.trim();
    const [link, meter] = value("progressive").split(" ");
    return {
      link, meter, words: value("words"), table: value("table"), state: value("state"),
      since: value("from") && format.dayStart(value("from")),
      until: value("to") && format.dayStart(value("to"), 1),
      meter_awards: value("awards"), limit: LIMIT,
    };
  }

  /* The error in the dates, as text. */
  wrong() {
    const { from, to } = this.form.elements;
    if (!from.validity.valid || !to.validity.valid) return "A date has a year of four digits.";
    return from.value && to.value && from.value > to.value ? "From is after To: no day lies between." : "";
  }

  async read(before = null) {
    const asked = (this.asked += 1);
    if (before === null) {
      const wrong = this.wrong();
      if (wrong) {
        this.list.replaceChildren();
        this.more.hidden = true;
        this.status.textContent = wrong;
        return;
      }
      this.shown = this.query();
    }
    this.more.disabled = true;
    try {
      const page = await api.get("/api/v1/wins", { ...this.shown, before });
      if (asked !== this.asked) return;
      if (before === null) this.list.replaceChildren();
      this.list.append(...page.wins.map((claim) => this.row(claim)));
      this.next = page.next;
      this.more.hidden = page.next === null;
      const count = this.list.children.length;
      this.status.textContent = count
        ? `${format.count(count, "win")}, the latest first${page.next ? "; there are more" : ""}`
        : "No wins found.";
    } catch (error) {
      const { message } = api.refusal(error);
      if (asked === this.asked) this.status.textContent = message;
    } finally {
      this.more.disabled = false;
    }
  }

  row(claim) {
    const about = [claims.place(claim), claims.itemName(claim), claim.patron].filter(Boolean);
    return make("li", {},
      make("button.row", { type: "button", "data-focus": `win ${claim.claim}`, onclick: () => open(claim.claim) },
        make("span.when", {}, format.moment(claim.at)),
        make("span.sum", {}, money(claim.amount)),
        make("span.main", {}, claims.handName(claim)),
        make("span.about", {}, about.join(" · ")),
        claims.chip(claim)));
  }
}

const open = async (id) => {
  try {
    const claim = await api.get(`/api/v1/claims/${encodeURIComponent(id)}`);
    dialogs.open({
      title: claims.place(claim), wide: true,
      content: make("div.whole", {}, claims.whole(claim)),
      link: claims.slipLink(claim),
    });
  } catch (error) {
    const { message } = api.refusal(error);
    if (view) view.status.textContent = message;
  }
};

export const name = "Wins";
export const right = "wins";
export const show = (root) => { view = new View(root); };
export const hide = () => { view = null; };
export const changed = () => {};
