/* An amount on drums, as an odometer shows it. Money is whole cents. */

const ROLL_MS = 700;
const PACE_MS = 800;
const NAMES = { $: "dollar", ",": "comma", ".": "point" };

const still = window.matchMedia("(prefers-reduced-motion: reduce)");

export const money = (cents) => {
  const digits = String(cents).padStart(3, "0");
  const dollars = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",");
  return `$${dollars}.${digits.slice(-2)}`;
};

export const say = (element, label) => {
  if (element.getAttribute("aria-label") !== label) element.setAttribute("aria-label", label);
};

/* Draw an amount as it stands. */
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

/* The drums only ever turn upward. An amount that falls, because it was won or put right, is not
   turned back but shown anew. */
export class Drums {
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
    if (rises && sameShape && this.isSeen()) {
      const at = performance.now();
      if (at - this.rolledAt < PACE_MS) return;
      this.rolledAt = at;
      this.roll(text);
    } else {
      draw(this.element, text);
      if (this.shown !== null && !rises && !still.matches) {
        this.element.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 900 });
      }
    }
    this.shown = cents;
  }

  isSeen() {
    return !still.matches && !document.hidden && this.element.closest("[hidden]") === null;
  }

  /* Only transforms move, so that a slow machine's compositor can do it alone. Past the nine the
     drum goes on into its second set of numerals, and stands at the first again when it is done. */
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
