/* An amount on drums. Money is in whole cents. */

import { money } from "./money.js";

const CREEP_MS = 6000;
const ROOM_MOST = 12;
const ROOM_SPARED = 7;

export const reducedMotion = window.matchMedia("(prefers-reduced-motion: reduce)");

export const label = (element, text) => {
  if (element.getAttribute("aria-label") !== text) element.setAttribute("aria-label", text);
};

const sign = (name) => {
  const cell = document.createElement("span");
  cell.className = name;
  return cell;
};
const drum = (digit) => {
  const cell = sign("digit");
  cell.dataset.d = digit;
  cell.append(document.createElement("i"));
  return cell;
};

/* Draw an amount, a drum for each digit; the currency and the cents are small. */
export const draw = (element, text) => {
  const [whole, small] = text.split(".");
  const dollars = [...whole.slice(1)].map((each) => (each === "," ? sign("comma") : drum(each)));
  element.replaceChildren(sign("dollar"), ...dollars);
  if (!small) return;
  const cents = sign("cents");
  cents.append(sign("point"), ...[...small].map(drum));
  element.append(cents);
};

/* Keep room for one digit more than the amount has, up to seven. The room never becomes smaller, so
   the size of the numerals stays when a win empties the meter. */
export const makeRoom = (element, cents) => {
  const digits = String(Math.floor(cents / 100)).length;
  const room = Math.min(ROOM_MOST, Math.max(digits, Math.min(digits + 1, ROOM_SPARED)));
  if (room > Number(element.dataset.room ?? 0)) element.dataset.room = room;
};

/* Every odometer that turns, in one loop of frames. */
const turning = new Set();
const frame = () => {
  const at = performance.now();
  for (const odometer of turning) odometer.turn(at);
  if (turning.size) requestAnimationFrame(frame);
};

/* A rise is shown slowly, so the digits creep. Each amount is reached CREEP_MS after it was known, and
   between two amounts the speed is constant. So the digits never show more than the true amount. Any
   other change, such as a win or a correction, is shown at once. */
export class Odometer {
  constructor(element) {
    this.element = element;
    this.shown = null;
    this.target = null;
    this.cycle = null;
    this.way = [];
    this.strips = null;
  }

  /* The page that the server sent shows this amount. */
  begin(cents, cycle) {
    Object.assign(this, { shown: cents, target: cents, cycle });
    makeRoom(this.element, cents);
  }

  show(cents, cycle, creeps) {
    const rises = this.shown !== null && cycle === this.cycle && cents > this.target;
    const mayCreep = creeps && this.isSeen();
    const falls = this.shown !== null && cents < this.shown;
    if (cents === this.target && cycle === this.cycle && (mayCreep || !this.way.length)) {
      if (this.way.length) this.turn(performance.now()); // a page that is not seen may get no frames
      return;
    }
    Object.assign(this, { target: cents, cycle });
    makeRoom(this.element, cents);
    if (rises && mayCreep) {
      const at = performance.now();
      if (!this.way.length) this.way.push({ at, cents: this.shown });
      this.way.push({ at: at + CREEP_MS, cents });
      if (!turning.size) requestAnimationFrame(frame);
      turning.add(this);
      return;
    }
    this.settle(cents);
    if (falls && !reducedMotion.matches) this.element.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 900 });
  }

  isSeen() {
    return !reducedMotion.matches && !document.hidden && this.element.closest("[hidden]") === null;
  }

  settle(cents) {
    turning.delete(this);
    this.way = [];
    this.shown = cents;
    this.draw(cents);
  }

  /* Only transforms change. A drum turns only while the one below it goes from nine to zero. */
  turn(at) {
    while (this.way.length > 1 && this.way[1].at <= at) this.way.shift();
    const [from, to] = this.way;
    if (!to) {
      this.settle(from.cents);
      return;
    }
    const cents = from.cents + Math.max(0, (to.cents - from.cents) * ((at - from.at) / (to.at - from.at)));
    const whole = Math.floor(cents);
    if (!this.strips || String(whole).length !== this.strips.length) this.draw(whole);
    this.shown = cents;
    let below = cents - whole;
    this.strips.forEach((strip, place) => {
      const digit = Math.floor(whole / 10 ** place) % 10; // cents / 10 could be rounded up
      const part = place === 0 ? below : Math.max(0, below - 9);
      below = digit + part;
      this.place(strip, digit, part);
    });
  }

  draw(cents) {
    draw(this.element, money(cents));
    this.strips = [...this.element.querySelectorAll(".digit > i")].reverse();
  }

  place(strip, digit, part) {
    const cell = strip.parentElement;
    if (cell.dataset.d !== String(digit)) cell.dataset.d = digit;
    if (part > 0 || strip.style.transform) {
      strip.style.willChange = "transform";
      strip.style.transform = `translateY(${((digit + part) * -100) / 11}%)`;
    }
  }

  clear() {
    turning.delete(this);
    Object.assign(this, { shown: null, target: null, cycle: null, way: [], strips: null });
    this.element.replaceChildren();
  }
}
