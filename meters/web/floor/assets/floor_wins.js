"use strict";
/* The wins of the past: the last of each progressive, and a search over all. */
const wins = (() => {
  const { make, money } = house;
  const LIMIT = 25;
  let view = null;

  const readLinks = async () => {
    try {
      return await service.get("/api/v1/links");
    } catch (error) {
      if (!(error instanceof service.Refused)) throw error;
      return [];
    }
  };

  const select = (name, options) =>
    make("select", { name }, options.map(([value, told]) => make("option", { value }, told)));

  const LAST_DAY = "9999-12-30";

  class View {
    constructor(root) {
      this.asked = 0;
      this.drawn = new Map();
      this.progressive = select("progressive", [["", "All progressives"]]);
      this.form = this.search();
      this.told = make("p.nothing", { role: "status" }, "Reading…");
      this.list = make("ol.wins", {});
      this.more = make("button", { type: "button", hidden: true, onclick: () => this.read(this.next) }, "Earlier wins");
      root.append(make("h1", { tabindex: "-1" }, "Wins"), this.form, this.told, this.list, this.more);
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
          field("State", select("state", [
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
          field("Which wins", select("awards", [["", "All"], ["true", "Off the meter only"]]))),
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
        since: value("from") && words.dayStart(value("from")),
        until: value("to") && words.dayStart(value("to"), 1),
        meter_awards: value("awards"), limit: LIMIT,
      };
    }

    /* What is wrong with the dates, in words. */
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
          this.told.textContent = wrong;
          return;
        }
        this.shown = this.query();
      }
      this.more.disabled = true;
      try {
        const page = await service.get("/api/v1/wins", { ...this.shown, before });
        if (asked !== this.asked) return;
        if (before === null) this.list.replaceChildren();
        this.list.append(...page.wins.map((claim) => this.row(claim)));
        this.next = page.next;
        this.more.hidden = page.next === null;
        const count = this.list.children.length;
        this.told.textContent = count
          ? `${words.count(count, "win")}, the latest first${page.next ? "; there are more" : ""}`
          : "No such win.";
      } catch (error) {
        if (!(error instanceof service.Refused)) throw error;
        if (asked === this.asked) this.told.textContent = error.message;
      } finally {
        this.more.disabled = false;
      }
    }

    row(claim) {
      const about = [claims.place(claim), claims.itemName(claim), claim.patron].filter(Boolean);
      return make("li", {},
        make("button.row", { type: "button", "data-focus": `win ${claim.claim}`, onclick: () => open(claim.claim) },
          make("span.when", {}, words.moment(claim.at)),
          make("span.sum", {}, money(claim.amount)),
          make("span.main", {}, claims.handName(claim)),
          make("span.about", {}, about.join(" · ")),
          claims.chip(claim)));
    }
  }

  const open = async (id) => {
    try {
      const claim = await service.get(`/api/v1/claims/${encodeURIComponent(id)}`);
      dialogs.open({
        title: claims.place(claim), wide: true,
        content: make("div.whole", {}, claims.whole(claim)),
        beside: claims.slipLink(claim),
      });
    } catch (error) {
      if (!(error instanceof service.Refused)) throw error;
      if (view) view.told.textContent = error.message;
    }
  };

  return {
    name: "Wins", right: "wins",
    show: (root) => { view = new View(root); },
    hide: () => { view = null; },
    changed: () => {},
  };
})();
