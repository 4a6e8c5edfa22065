/* The meters in views, one view after another. There is more than one if not all meters can be read
   together, or if the facility wants it. After the last view, the language changes. */

import { inEach, takesTurns, turn, whenSaid } from "./signage_languages.js";
import { reducedMotion } from "./signage_odometer.js";
import { lengthOf, words } from "./signage_words.js";

const BULB_GAP = 39; // in parts of the screen, as --u in the style sheet
const TITLE_LENGTHS = [24, 16]; // more characters have a smaller size
const TABLE_TEXT = 0.0255; // a paytable is read from 1.5 m: the least size of its text, in shares of the shorter side
const CARDS_COST = 0.85; // the share of its size that an amount keeps beside the cards of a hand
const CARDS_LEAST = 1.6; // the width of such a card, in sizes of the text below
const SVG = "http://www.w3.org/2000/svg";

const wall = window.matchMedia("(min-width: 460px) and (min-height: 400px), (min-width: 1200px)");

const chunks = (list, parts) => {
  const size = Math.ceil(list.length / parts);
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) =>
    list.slice(at * size, (at + 1) * size),
  );
};

/* The style sheet's --u in pixels: a rim is --rw of them. */
const unit = (meter) => {
  const style = getComputedStyle(meter);
  return parseFloat(style.paddingLeft) / Number(style.getPropertyValue("--rw"));
};

/* Light the rim of a meter: unlit bulbs, and two sets that fade against each other. */
const light = (meter) => {
  const count = 2 * Math.round((meter.clientWidth + meter.clientHeight) / (unit(meter) * BULB_GAP));
  if (Number(meter.dataset.bulbs) === count) return;
  meter.dataset.bulbs = count;
  for (const old of meter.querySelectorAll(".bulbs")) old.remove();
  const ring = (name, dash, offset) => {
    const rect = document.createElementNS(SVG, "rect");
    const set = { class: name, pathLength: count, "stroke-dasharray": dash, "stroke-dashoffset": offset };
    for (const [key, value] of Object.entries(set)) rect.setAttribute(key, value);
    return rect;
  };
  const layer = (name, ...rings) => {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("class", `bulbs ${name}`);
    svg.setAttribute("aria-hidden", "true");
    svg.append(...rings);
    return svg;
  };
  meter.prepend(
    layer("unlit", ring("off", "0 1", 0)),
    layer("odd", ring("glow far", "0 2", 0), ring("glow", "0 2", 0), ring("on", "0 2", 0)),
    layer("even", ring("glow far", "0 2", -1), ring("glow", "0 2", -1), ring("on", "0 2", -1)),
  );
};

const unlight = (meter) => {
  delete meter.dataset.bulbs;
  for (const old of meter.querySelectorAll(".bulbs")) old.remove();
};

/* Choose the form of a meter's name: a long one stands in the glass. */
const dressName = (meter) => {
  const tag = meter.querySelector(".tag");
  meter.removeAttribute("data-long");
  const isLong = () => tag.scrollWidth > meter.clientWidth * 0.96;
  if (isLong()) meter.dataset.long = "narrow";
  if (isLong()) {
    meter.dataset.long = "1";
    meter.dataset.long = Math.min(4, Math.round(tag.offsetHeight / parseFloat(getComputedStyle(tag).lineHeight)));
  }
};

/* Return whether the cards of a hand have room below the amount. If the meter is alone on the page, they
   have room if the amount becomes only a little smaller; the cards can then also be an example. */
const hasRoomForCards = (meter, wins, isAlone) => {
  const size = (element) => parseFloat(getComputedStyle(element).fontSize);
  if (isAlone) {
    const hand = wins.querySelector(".hand");
    const amount = meter.querySelector(".amount");
    const most = size(amount);
    meter.toggleAttribute("data-cards", hand !== null && wins.clientHeight > 0);
    return meter.hasAttribute("data-cards") && size(amount) > CARDS_COST * most && size(hand) > CARDS_LEAST * size(wins);
  }
  const { innerWidth, innerHeight } = window;
  const height = meter.querySelector(".glass").clientHeight / Math.min(innerWidth, innerHeight);
  return wins.querySelector(".hand:not(.sample)") !== null && height > (innerWidth > innerHeight ? 0.5 : 0.44);
};

/* Choose the form of the hands that win a meter: they have one line, or a row each, or the cards of the
   first hand lie above them. If there is little room, they have a narrow line. */
const dressWins = (meter, isTight) => {
  const wins = meter.querySelector(".wins");
  const slot = meter.querySelector(".slot");
  const isAlone = meter.matches('.signage [data-links="1"] [data-count="1"] *');
  for (const name of ["data-wins", "data-rows", "data-cards"]) meter.removeAttribute(name);
  const hands = wins.querySelectorAll("li:not(.hand)").length;
  const overflows = () => wins.scrollWidth > slot.clientWidth + 1
    || Math.max(wins.offsetHeight, wins.scrollHeight) > slot.clientHeight + 1;
  meter.toggleAttribute("data-cards", hasRoomForCards(meter, wins, isAlone));
  if (overflows()) {
    const height = meter.querySelector(".glass").clientHeight / Math.min(window.innerWidth, window.innerHeight);
    const lies = meter.hasAttribute("data-cards") && (isAlone || height > 0.4 + 0.06 * hands) && !isTight;
    meter.toggleAttribute("data-cards", lies);
    if (lies || isTight || overflows()) meter.dataset.wins = isTight ? "tight" : "rows";
    if (meter.dataset.wins === "rows") meter.dataset.rows = Math.min(hands, 6);
  }
};

/* The values of each attribute, from the form for the shortest texts to that for the longest. */
const FORMS = {
  "data-long": [null, "narrow", "1", "2", "3", "4"],
  "data-wins": [null, "rows", "tight"],
  "data-rows": [null, "1", "2", "3", "4", "5", "6"],
  "data-cards": ["", null],
};

/* Dress meters in the forms that all languages need, so nothing moves when the language changes. */
const agree = (meters, names, dress) => {
  const found = inEach(() => meters.map((meter) => {
    dress(meter);
    return names.map((name) => meter.getAttribute(name));
  }));
  if (found.length < 2) return;
  meters.forEach((meter, at) => names.forEach((name, number) => {
    const order = FORMS[name];
    const value = order[Math.max(...found.map((each) => order.indexOf(each[at][number])))];
    if (value === null) meter.removeAttribute(name);
    else meter.setAttribute(name, value);
  }));
};

const dress = (meters, isTight) => {
  agree(meters, ["data-long"], dressName);
  agree(meters, ["data-wins", "data-rows", "data-cards"], (meter) => dressWins(meter, isTight));
  for (const meter of meters) {
    if (meter.dataset.tier === "1" || meters.length === 1) light(meter);
    else unlight(meter);
  }
};

/* Write the title of a view, in a size for its length (as the server does in the page that it sends). */
const entitle = (text) => {
  const head = document.querySelector("h1");
  const [long, wide] = TITLE_LENGTHS;
  head.firstElementChild.textContent = text;
  const length = lengthOf(text);
  head.dataset.length = length > long ? "long" : length > wide ? "wide" : "";
};

/* Make the text of a paytable as small as its columns need. Cards go before the text gets much smaller. */
const fitTable = (table) => {
  const share = () => table.querySelector(".head").clientWidth / table.querySelector("table").offsetWidth;
  table.style.removeProperty("--fit");
  table.removeAttribute("data-plain");
  table.toggleAttribute("data-plain", Math.min(...inEach(share)) < 0.9);
  const least = Math.min(...inEach(share));
  if (least < 1) table.style.setProperty("--fit", least * 0.98);
};

/* Return whether a paytable has room for its rows, in letters for a person at the table. */
const readable = (table) => {
  const least = TABLE_TEXT * Math.min(window.innerWidth, window.innerHeight);
  if (parseFloat(getComputedStyle(table.querySelector("tbody")).fontSize) < least) return false;
  return table.scrollHeight <= table.clientHeight + 1 && table.scrollWidth <= table.clientWidth + 1;
};

export class Rotation {
  constructor(floor, button) {
    this.floor = floor;
    this.button = button;
    this.sections = [...floor.querySelectorAll(".link")];
    this.list = document.querySelector(".won");
    this.mode = floor.dataset.rotate;
    this.turn = Number(floor.dataset.seconds) * 1000;
    this.views = [];
    this.tight = new WeakSet();
    this.at = 0;
    this.since = performance.now();
    this.held = false;
    button.addEventListener("click", () => this.hold(!this.held));
    /* Players can touch a small screen at the table to see the next view. */
    floor.addEventListener("click", () => {
      if (this.views.length > 1) this.show((this.at + 1) % this.views.length);
    });
    window.addEventListener("resize", () => this.arrange());
    document.fonts?.addEventListener("loadingdone", () => this.arrange());
    whenSaid((isMore) => {
      if (isMore) this.arrange();
      else this.say();
    });
  }

  /* Divide the meters among as few views as possible, so each can be read. The visible meter remains
     visible. */
  arrange() {
    const kept = this.views[this.at]?.[0];
    this.list?.toggleAttribute("hidden", false);
    this.views = this.divided();
    if (this.list && this.views.length > 1) {
      this.list.hidden = true; // the meters come before the list of wins
      this.views = this.divided();
    }
    this.button.hidden = !this.turns();
    this.at = Math.max(0, this.views.findIndex((view) => view.includes(kept)));
    this.reveal(this.views[this.at] ?? []);
  }

  divided() {
    const of = (section) => [...section.querySelectorAll(".meter")];
    const all = this.sections.flatMap(of);
    if (!wall.matches || all.length === 0) {
      this.reveal(all);
      return [all];
    }
    if (this.mode === "meters") return all.map((meter) => [meter]);
    if (this.mode === "fit" && this.fits(all)) return [all];
    return this.sections.flatMap((section) => this.shared(of(section)));
  }

  shared(meters) {
    for (let parts = 1; parts < meters.length; parts += 1) {
      const views = chunks(meters, parts);
      if (views.every((view) => this.fits(view))) return views;
    }
    return meters.map((meter) => [meter]);
  }

  /* Return whether a view has room for its texts and for numerals of the least size. */
  fits(view) {
    if (this.hasRoom(view)) return true;
    this.tight.add(view);
    return this.hasRoom(view);
  }

  hasRoom(view) {
    this.reveal(view);
    const share = Number(getComputedStyle(this.floor).getPropertyValue("--least"));
    const least = share * Math.min(window.innerWidth, window.innerHeight);
    const tables = [...this.floor.querySelectorAll(".paytable:not([hidden])")];
    return inEach(() => tables.every(readable) && view.every((meter) => {
      const tag = meter.querySelector(".tag");
      const slot = meter.querySelector(".slot");
      const wins = slot.querySelector(".wins");
      const pad = parseFloat(getComputedStyle(meter.querySelector(".glass")).paddingTop);
      if (Number(meter.dataset.long) && tag.offsetHeight > pad) return false;
      if (wins.scrollWidth > wins.clientWidth + 1 || wins.offsetHeight > slot.clientHeight + 1) return false;
      return parseFloat(getComputedStyle(meter.querySelector(".amount")).fontSize) >= least - 0.1;
    })).every(Boolean);
  }

  reveal(view) {
    const shown = new Set(view);
    let links = 0;
    for (const section of this.sections) {
      const meters = [...section.querySelectorAll(".meter")];
      const seen = meters.filter((meter) => shown.has(meter));
      for (const meter of meters) {
        meter.hidden = !shown.has(meter);
        meter.toggleAttribute("data-first", meter === seen[0]);
      }
      const ids = seen.map((meter) => meter.dataset.meter);
      let tables = 0;
      for (const table of section.querySelectorAll(".paytable")) {
        table.hidden = !table.dataset.meters.split(" ").some((id) => ids.includes(id));
        if (!table.hidden) tables += 1;
      }
      section.dataset.tables = tables;
      section.hidden = seen.length === 0;
      section.dataset.count = Math.min(seen.length, 8);
      if (seen.length) links += 1;
    }
    this.floor.dataset.links = Math.min(links, 4);
    const only = links === 1 ? this.sections.find((section) => !section.hidden) : null;
    for (const stake of document.querySelectorAll(".stake")) stake.hidden = stake.dataset.of !== (only?.dataset.link ?? "");
    this.title = only?.ariaLabel;
    entitle(this.title ?? this.floor.dataset.title);
    for (const table of this.floor.querySelectorAll(".paytable:not([hidden])")) fitTable(table);
    dress(view, this.tight.has(view));
    /* All names of a view have the same face. */
    if (view.some(({ dataset }) => dataset.long)) for (const { dataset } of view) dataset.long ??= "narrow";
  }

  /* Show what the page does not say by itself in its language. */
  say() {
    entitle(this.title ?? this.floor.dataset.title);
    this.button.textContent = this.held ? words.turn : words.hold;
  }

  turns() {
    return this.views.length > 1 || takesTurns();
  }

  show(at) {
    this.since = performance.now();
    if (at === this.at) return;
    this.at = at;
    this.reveal(this.views[at]);
    if (!reducedMotion.matches) this.floor.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 700 });
  }

  /* Show the view with a meter immediately, for the time of a whole view. */
  bring(meter) {
    const at = this.views.findIndex((view) => view.includes(meter));
    if (at >= 0) this.show(at);
  }

  hold(held) {
    this.held = held;
    this.say();
    this.since = performance.now();
  }

  /* Show the next view if it is time. Call this regularly. */
  tick() {
    if (!this.turns() || this.held || document.hidden) return;
    if (performance.now() - this.since < this.turn) return;
    const at = (this.at + 1) % this.views.length;
    if (at > 0 || !takesTurns()) this.show(at);
    else if (!document.querySelector(":is(.celebration, .ribbon):not([hidden])")) {
      this.since = performance.now();
      turn(() => this.show(at));
    }
  }
}
