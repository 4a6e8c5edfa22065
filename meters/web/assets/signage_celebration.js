/* The celebration of a win: the hand, the amount, and the table. */

import { keep } from "./expiry.js";
import { money } from "./money.js";
import { draw, label, makeRoom } from "./signage_odometer.js";
import { say, words } from "./signage_words.js";

const SHOWN_MS = 8000;
const SHOWN_IF_MORE_MS = 5000;
const LEAVING_MS = 500;
const WAITING_MAX = 4; // with four, the last win is shown within half a minute (duty D18)

export class Celebration {
  constructor(element) {
    this.element = element;
    this.part = (name) => element.querySelector(`.celebration-${name}`);
    this.amount = element.querySelector(".amount");
    this.waiting = [];
    this.shown = null;
    this.timer = null;
  }

  /* `meter` is the meter that was won. The largest waiting win is shown first. If too many wins
     wait, the smallest are not celebrated; a note next to the meter names them. */
  celebrate(hit, meter) {
    this.waiting.push({ hit, meter });
    this.waiting.sort((one, other) => other.hit.amount - one.hit.amount);
    this.waiting.length = Math.min(this.waiting.length, WAITING_MAX);
    if (this.shown === null) this.next();
  }

  next() {
    clearTimeout(this.timer);
    this.shown = this.waiting.shift() ?? null;
    if (this.shown === null) {
      this.element.hidden = true;
      this.amount.replaceChildren();
      return;
    }
    const { hit, meter } = this.shown;
    const text = money(hit.amount);
    this.part("hand").textContent = hit.hand_name;
    this.part("table").textContent = say("table", { table: hit.table });
    const state = hit.event === "hit" ? words.pending : words.validated;
    this.part("meter").textContent = `${meter.title}: ${state}`;
    draw(this.amount, text);
    label(this.amount, text);
    delete this.amount.dataset.room;
    makeRoom(this.amount, hit.amount);
    this.element.classList.remove("leaving");
    this.element.hidden = false;
    meter.bring();
    this.timer = setTimeout(() => this.leave(), this.waiting.length ? SHOWN_IF_MORE_MS : SHOWN_MS);
  }

  leave() {
    this.element.classList.add("leaving");
    this.timer = setTimeout(() => this.next(), LEAVING_MS);
  }

  /* A rejected win is not celebrated. */
  drop(claim) {
    this.waiting = this.waiting.filter(({ hit }) => hit.claim !== claim);
    if (this.shown?.hit.claim === claim) this.next();
  }

  /* A celebration must not cover a meter whose amount is no longer current. */
  dropStale() {
    keep(this.element);
    this.waiting = this.waiting.filter(({ meter }) => meter.link.live());
    if (this.shown !== null && !this.shown.meter.link.live()) this.next();
  }
}
