/* An amount on the wheels of an odometer. Money is in whole cents. */

import { money } from "./money.js";

const ROLL_MS = 700;
const ROLL_EVERY_MS = 800;
const NAMES = { $: "dollar", ",": "comma", ".": "point" };

export const reducedMotion = window.matchMedia("(prefers-reduced-motion: reduce)");

export const label = (element, text) => {
  if (element.getAttribute("aria-label") !== text) element.setAttribute("aria-label", text);
};

/* Draw an amount, each character in its own cell. */
export const draw = (element, text) => {
  const signs = [...text].map((sign) => {
    const cell = document.createElement("span");
    cell.className = NAMES[sign] || "digit";
    if (!NAMES[sign]) {
      cell.dataset.d = sign;
      cell.append(document.createElement("i"));
    }
    return cell;
  });
  element.replaceChildren(...signs);
};

/* An odometer. Its digits roll up. If the amount falls after a win or a correction, it changes
   in one step. */
export class Odometer {
  constructor(element) {
    this.element = element;
    this.shown = null;
    this.rolledAt = -ROLL_EVERY_MS;
  }

  show(cents) {
    if (cents === this.shown) return;
    const text = money(cents);
    const rises = this.shown !== null && cents > this.shown;
    const sameShape = this.shown !== null && money(this.shown).length === text.length;
    if (rises && sameShape && this.isSeen()) {
      const at = performance.now();
      if (at - this.rolledAt < ROLL_EVERY_MS) return;
      this.rolledAt = at;
      this.roll(text);
    } else {
      draw(this.element, text);
      if (this.shown !== null && !rises && !reducedMotion.matches) {
        this.element.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 900 });
      }
    }
    this.shown = cents;
  }

  isSeen() {
    return !reducedMotion.matches && !document.hidden && this.element.closest("[hidden]") === null;
  }

  /* Only CSS transforms change, so even a slow machine can draw the movement. After the nine, a
     wheel continues into its second set of numerals. At the end it returns to the first set. */
  roll(text) {
    const digits = [...text].filter((sign) => sign >= "0" && sign <= "9");
    this.element.querySelectorAll(".digit").forEach((cell, place) => {
      const from = Number(cell.dataset.d);
      const to = Number(digits[place]);
      if (to === from) return;
      cell.dataset.d = digits[place];
      const at = (numeral) => ({ transform: `translateY(${numeral * -5}%)` });
      cell.firstElementChild.animate([at(from), at(to < from ? to + 10 : to)], {
        duration: ROLL_MS,
        easing: "cubic-bezier(0.35, 0, 0.2, 1)",
      });
    });
  }

  clear() {
    this.shown = null;
    this.element.replaceChildren();
  }
}
