/* Keeps a signage page current. An amount is shown only while heartbeats of its link arrive. If
   none arrives for four seconds, the meter is marked and its amount is removed; a service that
   restarts sooner changes nothing. If this script stops, the style sheet hides the amounts. Money
   is in whole cents. */

import { now, since } from "./clock.js";
import { EventStream } from "./event_stream.js";
import { keep } from "./expiry.js";
import { money } from "./money.js";
import { reload } from "./requests.js";
import { Bar } from "./signage_bar.js";
import { Celebration, sizeOf } from "./signage_celebration.js";
import { whenSaid } from "./signage_languages.js";
import { Odometer, draw, label, reducedMotion } from "./signage_odometer.js";
import { Rotation } from "./signage_rotation.js";
import { lengthOf, say, words } from "./signage_words.js";

const SILENT_MS = 15000;
const RETRY_MAX_MS = 10000;
const STALE_MS = 4000;
const BEHIND_MS = 5000;
const EACH_HIT_MS = 4000;
const HAND_EVERY = 3; // one turn of so many shows the hands that win
const CHARS_STEP = 6; // the step of the lengths that the style sheet knows
const KNOWN_MAX = 1000;
const FRAMES_FROM_MS = 3000;
const FRAMES_FOR_MS = 3000;
const FRAMES_CALM = 40; // frames a second: with fewer, nothing but amounts moves
const FRAMES_RAYS = 56;

const page = document.documentElement;
const celebration = new Celebration(document.querySelector(".celebration"), document.querySelector(".ribbon"), words, page.dataset.sound);
const bar = new Bar(document.body, words, page.dataset.timezone);
const rotation = new Rotation(
  document.querySelector(".floor"),
  document.querySelector(".pause"),
);
const messages = document.querySelectorAll(".message");
const celebrateFrom = Number(page.dataset.celebrate);

let connected = true; // the page that the server sent is current at first
let outdated = false; // true while a newer page is needed and cannot be loaded
let streamed = false; // true after the stream has sent the current wins

const write = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};
const mark = (element, name, value) => {
  if (element.dataset[name] !== String(value)) element.dataset[name] = value;
};

/* Load the newer page. Until it can be loaded, this page shows no amounts. */
const renew = () => reload(() => { outdated = true; });

/* The wins that this display has received. No win is celebrated twice. */
const known = new Set();
const isNew = (claim) => {
  if (known.has(claim)) return false;
  known.add(claim);
  if (known.size > KNOWN_MAX) known.delete(known.values().next().value);
  return true;
};

class Meter {
  constructor(element, link) {
    this.element = element;
    this.link = link;
    this.amount = element.querySelector(".amount");
    this.note = element.querySelector(".note");
    this.kind = this.note.querySelector(".kind");
    this.what = this.note.querySelector(".what");
    this.odometer = new Odometer(this.amount);
    this.hits = new Map();
    this.row = null;
    this.waits = this.note.dataset.kind === "pending";
    this.behindSince = null;
    const { amount, version, cycle, is, wager, known: claims } = element.dataset;
    if (wager !== undefined) this.wager = Number(wager);
    for (const claim of (claims ?? "").split(" ")) isNew(claim);
    if (version !== undefined) {
      this.row = {
        amount: Number(amount), version: Number(version), cycle: Number(cycle), state: is,
      };
      if (this.amount.firstChild) this.begin();
    }
  }

  get title() {
    return this.element.querySelector("h3").textContent;
  }

  /* The page that the server sent shows the amount. */
  begin() {
    this.odometer.begin(this.row.amount, this.row.cycle);
  }

  /* Show the amount, and return it as text. */
  show(shown) {
    this.odometer.show(this.row.amount, this.row.cycle, shown === "live");
    mark(this.element, "amount", this.row.amount);
    return money(this.row.amount);
  }

  clear() {
    this.odometer.clear();
  }

  update(row) {
    if (this.row !== null && row.version < this.row.version) {
      /* A value with a lower version is ignored. But if no higher version follows, the meter was
         created again, and the amount on this page is wrong. */
      this.behindSince ??= now();
      return;
    }
    this.behindSince = null;
    this.row = row;
    /* The wager has changed. The page shows the wager, so it is loaded again. */
    if (this.wager !== undefined && row.wager !== this.wager) renew();
    this.wager = row.wager;
  }

  updateWin(hit) {
    const fresh = isNew(hit.claim);
    if (hit.event !== "hit" && (hit.event === "rejected" || hit.news_ms === 0)) {
      this.hits.delete(hit.claim);
      if (hit.event === "rejected") celebration.drop(hit.claim);
      return;
    }
    this.hits.set(hit.claim, { hit, until: performance.now() + hit.news_ms });
    if (!fresh) celebration.verify(hit);
    else if (hit.news_ms > 0) celebration.celebrate(hit, this, sizeOf(hit, { from: celebrateFrom, isTop: "top" in this.element.dataset }));
  }

  bring() {
    rotation.bring(this.element);
  }

  shown() {
    if (this.row === null || this.row.state === "inoperable" || !this.link.live()) {
      return "unavailable";
    }
    return this.link.state === "closed" || this.row.state === "closed" ? "closed" : "live";
  }

  render() {
    const row = this.row;
    if (this.behindSince !== null && since(this.behindSince) > BEHIND_MS) renew();
    const shown = this.shown();
    mark(this.element, "state", shown);
    if (shown === "unavailable") {
      this.clear();
      label(this.amount, words.unavailable);
      this.setNote("", "", "");
      this.waits = false;
      return;
    }
    mark(this.element, "version", row.version);
    mark(this.element, "cycle", row.cycle);
    mark(this.element, "is", row.state);
    label(this.amount, this.show(shown) + (shown === "closed" ? ` ${words.closed}` : ""));
    if (streamed) this.noteWins(shown);
    keep(this.element);
  }

  /* Show the pending wins in turn. If there are none, show a win that was validated a moment ago
     (duty D8). */
  noteWins(shown) {
    const pending = [];
    let good = null;
    for (const [claim, { hit, until }] of this.hits) {
      if (hit.event === "hit") pending.push(hit);
      else if (performance.now() < until) good = hit;
      else this.hits.delete(claim);
    }
    this.waits = pending.length > 0;
    const turn = Math.floor(performance.now() / EACH_HIT_MS);
    mark(this.element, "turn", (this.waits || good) && turn % HAND_EVERY === HAND_EVERY - 1 ? "hand" : "");
    const won = (hit) => say("won", { table: hit.table, amount: money(hit.amount) });
    if (this.waits) {
      pending.sort((one, other) => other.amount - one.amount);
      const at = (turn - Math.floor(turn / HAND_EVERY)) % pending.length;
      const more = pending.length > 1 ? ` · ${say("one_of", { at: at + 1, count: pending.length })}` : "";
      this.setNote("pending", won(pending[at]), words.pending + more);
    } else if (shown === "closed") this.setNote("closed", words.closed, "");
    else if (good !== null) this.setNote("validated", won(good), words.validated);
    else if (this.row.state === "pending" && !("fixed" in this.element.dataset)) this.setNote("pending", words.waits, "");
    else this.setNote("", "", "");
  }

  setNote(kind, what, word) {
    mark(this.note, "kind", kind);
    mark(this.note, "chars", Math.ceil(Math.max(1, lengthOf(what + word)) / CHARS_STEP) * CHARS_STEP);
    write(this.what, what);
    write(this.kind, word);
  }
}

/* A fixed payout of the tables, in a box like that of a meter. Its row is that of the meter whose wager
   wins it: the box disappears with this meter. Its amount never moves: with another, the page is loaded
   again. */
class FixedJackpot extends Meter {
  get cents() {
    return Number(this.element.dataset.fixed);
  }

  /* `jackpots` are those that the link has now. */
  check(jackpots) {
    const present = jackpots.find(({ jackpot }) => jackpot === this.element.dataset.meter);
    if (present?.amount !== this.cents) renew();
  }

  begin() {}

  show() {
    const text = money(this.cents).replace(/\.00$/, "");
    if (!this.amount.firstChild) draw(this.amount, text);
    return text;
  }

  clear() {
    this.amount.replaceChildren();
  }
}

class Link {
  constructor(element) {
    this.element = element;
    this.state = element.dataset.state;
    /* The page was made when it was requested, which can be long ago if a script arrived late. */
    this.heard = this.state === "inoperable" ? null : now(Number(element.dataset.age) + performance.now());
    this.meters = new Map();
    for (const each of element.querySelectorAll(".meter")) {
      this.meters.set(each.dataset.meter, new ("fixed" in each.dataset ? FixedJackpot : Meter)(each, this));
    }
  }

  get fixedJackpots() {
    return [...this.meters.values()].filter((meter) => meter instanceof FixedJackpot);
  }

  updateMeter(row) {
    this.meters.get(row.meter)?.update(row);
    for (const each of this.fixedJackpots) if (each.element.dataset.of === row.meter) each.update(row);
  }

  updateState(row, age) {
    this.heard = now(row.age_ms + age);
    /* While the link was closed, people could change its parameters. */
    if (this.state === "closed" && row.state === "operable") renew();
    this.state = row.state;
  }

  heardLately() {
    return this.heard !== null && since(this.heard) <= STALE_MS;
  }

  live() {
    return !outdated && this.state !== "inoperable" && this.heardLately();
  }

  render() {
    mark(this.element, "state", this.live() ? this.state : "inoperable");
    for (const meter of this.meters.values()) meter.render();
  }

  /* The state of the message that stands for all meters of the link, or else "live". A win that waits
     is shown although its link is closed. */
  shown() {
    const meters = [...this.meters.values()];
    const states = new Set(meters.map((meter) => meter.element.dataset.state));
    if (states.has("live")) return "live";
    if (!states.has("closed")) return "unavailable";
    return meters.some((meter) => meter.waits) ? "live" : "closed";
  }
}

const links = new Map();
for (const each of document.querySelectorAll(".link")) {
  links.set(each.dataset.link, new Link(each));
}

let renderDue = false;
let arrangedFor = "";
const render = () => {
  renderDue = false;
  const all = [...links.values()];
  for (const link of all) link.render();
  celebration.dropStale();
  bar.render(links);
  const rooms = all.flatMap((link) => [...link.meters.values()].map((meter) => meter.amount.dataset.room)).join();
  if (rooms !== arrangedFor) {
    arrangedFor = rooms;
    rotation.arrange();
  }
  const states = new Set(all.map((link) => link.shown()));
  mark(document.body, "shown", states.size === 1 ? [...states][0] : "live");
  messages.forEach(keep);
  const lost = !connected || outdated || all.some((link) => !link.heardLately());
  mark(page, "connection", lost ? "lost" : all.some((link) => link.live()) ? "live" : "");
};
const renderSoon = () => {
  if (renderDue) return;
  renderDue = true;
  setTimeout(render, 30); // the events of 30 ms are drawn together
};

new EventStream(page.dataset.stream, {
  silentMs: SILENT_MS,
  retryMaxMs: RETRY_MAX_MS,
  events: {
    page: ({ version }) => {
      if (version !== page.dataset.version) {
        renew();
        return;
      }
      connected = streamed = true;
      for (const link of links.values()) {
        for (const meter of link.meters.values()) meter.hits.clear();
      }
    },
    meter: (row) => links.get(row.link)?.updateMeter(row),
    fixed_jackpots: ({ link, jackpots }) => links.get(link)?.fixedJackpots.forEach((each) => each.check(jackpots)),
    controller: (row, age) => links.get(row.link)?.updateState(row, age),
    jackpot: (row) => links.get(row.link)?.meters.get(row.fixed_jackpot || row.meter)?.updateWin(row),
    wins: (row) => bar.update(row),
  },
  heard: renderSoon,
  lost: () => {
    connected = false;
    renderSoon();
  },
});

setInterval(() => {
  rotation.tick();
  render();
}, 250);
document.addEventListener("visibilitychange", render);
whenSaid(render);
render();

/* A video behind everything stands still where nothing may move. */
const video = document.querySelector("video.ground");
if (video && reducedMotion.matches) video.pause();

/* How many frames a second the display draws in the next seconds. */
const frameRate = () => new Promise((done) => {
  const began = performance.now();
  let frames = 0;
  const count = () => {
    frames += 1;
    const lasted = performance.now() - began;
    if (lasted < FRAMES_FOR_MS) requestAnimationFrame(count);
    else done((frames * 1000) / lasted);
  };
  requestAnimationFrame(count);
});

/* Rays turn only on a display that can draw them in time. On a display that is slower still, nothing but
   amounts moves. */
setTimeout(async () => {
  if ((await frameRate()) < FRAMES_CALM) {
    page.dataset.calm = "";
    video?.pause();
    return;
  }
  page.dataset.rays = "";
  if ((await frameRate()) < FRAMES_RAYS) delete page.dataset.rays;
}, FRAMES_FROM_MS);
