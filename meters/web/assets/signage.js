"use strict";
/* Keeps a signage page current. A number is shown only while its controller is heard: without a
   beat for four seconds, or without the stream, the meter is marked and its number taken away.
   Money is whole cents throughout. */
(() => {
  const STALE_MS = 4000;
  const SILENT_MS = 15000;
  const ROLL_MS = 700;
  const PACE_MS = 800;
  const BEHIND_MS = 5000;
  const RETRY_LEAST_MS = 500;
  const RETRY_MOST_MS = 10000;
  const UNAVAILABLE = "Temporarily unavailable";

  const page = document.documentElement;
  const pulse = document.querySelector(".pulse");
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");

  /* Neither clock is enough alone: one may be set, the other may stand still in a sleeping
     machine. What either takes for old is old. */
  const now = () => ({ steady: performance.now(), wall: Date.now() });
  const since = (then) => {
    const at = now();
    return Math.max(at.steady - then.steady, at.wall - then.wall);
  };

  const money = (cents) => {
    const digits = String(cents).padStart(3, "0");
    const dollars = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",");
    return `$${dollars}.${digits.slice(-2)}`;
  };

  /* The drums of one amount: they only ever turn upward. An amount that falls, because it was won
     or put right, is not turned back but shown anew. */
  class Drums {
    constructor(element) {
      this.element = element;
      this.shown = null;
      this.rolledAt = -PACE_MS;
    }

    show(cents) {
      if (cents === this.shown) return;
      const text = money(cents);
      const rises = this.shown !== null && cents > this.shown;
      const sameShape = this.shown !== null && money(this.shown).length === text.length;
      if (rises && sameShape && !still.matches && !document.hidden) {
        const at = performance.now();
        if (at - this.rolledAt < PACE_MS) return;
        this.rolledAt = at;
        this.roll(text);
      } else {
        this.set(text, this.shown !== null && !rises);
      }
      this.shown = cents;
    }

    set(text, changed) {
      const names = { $: "dollar", ",": "comma", ".": "point" };
      const signs = [...text].map((sign) => {
        const cell = document.createElement("span");
        cell.className = names[sign] || "digit";
        if (!names[sign]) {
          cell.dataset.d = sign;
          cell.append(document.createElement("i"));
        }
        return cell;
      });
      this.element.replaceChildren(...signs);
      this.element.classList.remove("rolling", "changed");
      if (changed) {
        void this.element.offsetHeight;
        this.element.classList.add("changed");
      }
    }

    roll(text) {
      const cells = [...this.element.querySelectorAll(".digit")];
      const digits = [...text].filter((sign) => sign >= "0" && sign <= "9");
      this.element.classList.remove("rolling", "changed");
      for (const cell of cells) cell.style.removeProperty("--at");
      void this.element.offsetHeight; // the drums stand at 0 to 9 before they turn on
      this.element.classList.add("rolling");
      cells.forEach((cell, place) => {
        const from = Number(cell.dataset.d);
        const to = Number(digits[place]);
        cell.dataset.d = digits[place];
        if (to < from) cell.style.setProperty("--at", to + 10);
      });
    }

    clear() {
      this.shown = null;
      this.element.replaceChildren();
    }
  }

  class Meter {
    constructor(element, link) {
      this.element = element;
      this.link = link;
      this.amount = element.querySelector(".amount");
      this.note = element.querySelector(".note");
      this.drums = new Drums(this.amount);
      this.hits = new Map();
      this.row = null;
      this.behindSince = null;
      const { amount, version, cycle, is } = element.dataset;
      if (version !== undefined) {
        this.row = {
          amount: Number(amount), version: Number(version), cycle: Number(cycle), state: is,
        };
        if (this.amount.firstChild) this.drums.shown = this.row.amount;
      }
    }

    take(row) {
      if (this.row !== null && row.version < this.row.version) {
        /* A lower version is ignored; but where nothing newer comes, the meter was made anew,
           and what this page remembers of it is worth nothing. */
        this.behindSince ??= now();
        return;
      }
      this.behindSince = null;
      this.row = row;
    }

    hear(hit) {
      if (hit.event === "hit") this.hits.set(hit.claim, hit);
      else this.hits.delete(hit.claim);
    }

    render() {
      const row = this.row;
      if (this.behindSince !== null && since(this.behindSince) > BEHIND_MS) location.reload();
      const live =
        row !== null && this.link.live() && (row.state === "open" || row.state === "pending");
      const { dataset } = this.element;
      dataset.state = live ? "live" : "unavailable";
      if (!live) {
        this.drums.clear();
        say(this.amount, UNAVAILABLE);
        write(this.note, "");
        return;
      }
      dataset.amount = row.amount;
      dataset.version = row.version;
      dataset.cycle = row.cycle;
      dataset.is = row.state;
      this.drums.show(row.amount);
      say(this.amount, money(row.amount));
      if (told) write(this.note, this.pending());
    }

    pending() {
      let first = null;
      for (const hit of this.hits.values()) {
        if (first === null || hit.amount > first.amount) first = hit;
      }
      if (first === null) return this.row.state === "pending" ? "A win is being verified" : "";
      const more = this.hits.size > 1 ? ` · ${this.hits.size - 1} more` : "";
      return `Table ${first.table} wins ${money(first.amount)}${more}`;
    }
  }

  class Link {
    constructor(element) {
      this.element = element;
      this.heard = null;
      this.operable = element.dataset.state === "live";
      if (this.operable) this.heard = now();
      this.meters = new Map();
      for (const each of element.querySelectorAll(".meter")) {
        this.meters.set(each.dataset.meter, new Meter(each, this));
      }
    }

    beat(row) {
      this.heard = now();
      this.operable = row.state === "operable";
    }

    heardLately() {
      return this.heard !== null && since(this.heard) <= STALE_MS;
    }

    live() {
      return connected && this.operable && this.heardLately();
    }

    render() {
      this.element.dataset.state = this.live() ? "live" : "unavailable";
      let digits = 6;
      for (const meter of this.meters.values()) {
        meter.render();
        if (meter.row !== null) digits = Math.max(digits, String(meter.row.amount).length);
      }
      this.element.dataset.digits = Math.min(digits, 12);
    }
  }

  const say = (element, label) => {
    if (element.getAttribute("aria-label") !== label) element.setAttribute("aria-label", label);
  };
  const write = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };

  let connected = true; // what the server just rendered is current until it proves otherwise
  let told = false; // the open hits are known from the stream alone
  const links = new Map();
  for (const each of document.querySelectorAll(".link")) {
    links.set(each.dataset.link, new Link(each));
  }

  let asked = false;
  const render = () => {
    asked = false;
    for (const link of links.values()) link.render();
    const lost = !connected || [...links.values()].some((link) => !link.heardLately());
    pulse.dataset.is = lost ? "lost" : "live";
    write(pulse, lost ? "Reconnecting" : "Live");
  };
  const ask = () => {
    if (asked) return;
    asked = true;
    setTimeout(render, 30); // a frame's worth of events is drawn at once
  };

  let stream = null;
  let lastEvent = now();
  let retries = 0;

  const meterOf = (row) => links.get(row.link)?.meters.get(row.meter);

  const handlers = {
    page: ({ version }) => {
      if (version !== page.dataset.version) {
        location.reload();
        return;
      }
      connected = told = true;
      retries = 0;
      for (const link of links.values()) {
        for (const meter of link.meters.values()) meter.hits.clear();
      }
    },
    meter: (row) => meterOf(row)?.take(row),
    controller: (row) => links.get(row.link)?.beat(row),
    jackpot: (row) => meterOf(row)?.hear(row),
  };

  const connect = () => {
    lastEvent = now();
    stream = new EventSource(page.dataset.stream);
    const mine = stream;
    for (const [name, handle] of Object.entries(handlers)) {
      mine.addEventListener(name, (event) => {
        if (mine !== stream) return;
        lastEvent = now();
        handle(JSON.parse(event.data));
        ask();
      });
    }
    mine.addEventListener("error", () => {
      if (mine === stream) reconnect();
    });
  };

  const reconnect = () => {
    connected = false;
    stream.close();
    stream = null;
    ask();
    const most = Math.min(RETRY_MOST_MS, RETRY_LEAST_MS * 2 ** retries);
    retries += 1;
    setTimeout(connect, most / 2 + (Math.random() * most) / 2);
  };

  setInterval(() => {
    if (stream !== null && since(lastEvent) > SILENT_MS) reconnect();
    render();
  }, 250);
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
  document.addEventListener("visibilitychange", render);
  connect();
  render();
})();
