/* Rotation: views of some meters, one after another. It is used if not all meters can be read
   together, or if the facility wants it. */

import { reducedMotion } from "./signage_odometer.js";

const CELL = 1.84; // the height of a numeral's cell in widths
const SCALES = [1.75, 1.5, 1.25, 1]; // sizes of the text (signage.css)

const wall = window.matchMedia("(min-width: 460px) and (min-height: 400px), (min-width: 1200px)");

const chunks = (list, parts) => {
  const size = Math.ceil(list.length / parts);
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) =>
    list.slice(at * size, (at + 1) * size),
  );
};

export class Rotation {
  constructor(floor, button) {
    this.floor = floor;
    this.button = button;
    this.sections = [...floor.querySelectorAll(".link")];
    this.mode = floor.dataset.rotate;
    this.turn = Number(floor.dataset.seconds) * 1000;
    this.views = [];
    this.at = 0;
    this.since = performance.now();
    this.held = false;
    button.addEventListener("click", () => this.hold(!this.held));
    /* Players can touch a small screen at the table to see the next view. */
    floor.addEventListener("click", () => {
      if (this.views.length > 1) this.show((this.at + 1) % this.views.length);
    });
    window.addEventListener("resize", () => this.arrange());
  }

  /* Divide the meters among as few views as possible, so each can be read. Then make the text as
     large as it can be in these views. The visible meter remains visible. */
  arrange() {
    const kept = this.views[this.at]?.[0];
    this.scale(1);
    this.views = this.divided();
    if (wall.matches) {
      SCALES.find((scale) => {
        this.scale(scale);
        return scale === 1 || this.views.every((view) => this.fits(view));
      });
    }
    this.button.hidden = this.views.length < 2;
    this.at = Math.max(0, this.views.findIndex((view) => view.includes(kept)));
    this.reveal(this.views[this.at] ?? []);
  }

  divided() {
    const of = (section) => [...section.querySelectorAll(".meter")];
    const all = this.sections.flatMap(of);
    if (!wall.matches || all.length === 0) return [all];
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

  scale(factor) {
    this.factor = factor;
    this.floor.dataset.scale = factor;
  }

  /* Return whether a view has room for its texts and for numerals of the least size. Larger text
     needs larger numerals. */
  fits(view) {
    this.reveal(view);
    const share = Number(getComputedStyle(this.floor).getPropertyValue("--least"));
    const least = share * this.factor * Math.min(window.innerWidth, window.innerHeight);
    return view.every((meter) => {
      const face = meter.querySelector(".face");
      if (face.scrollHeight > face.clientHeight + 1) return false;
      if (face.scrollWidth > face.clientWidth + 1) return false;
      const { clientWidth, clientHeight } = meter.querySelector(".window");
      const units = Number(getComputedStyle(meter).getPropertyValue("--units"));
      return Math.min((clientWidth / units) * CELL, clientHeight) >= least - 1;
    });
  }

  reveal(view) {
    const shown = new Set(view);
    let links = 0;
    for (const section of this.sections) {
      let count = 0;
      for (const meter of section.querySelectorAll(".meter")) {
        meter.hidden = !shown.has(meter);
        if (!meter.hidden) count += 1;
      }
      section.hidden = count === 0;
      section.dataset.count = Math.min(count, 6);
      if (count) links += 1;
    }
    this.floor.dataset.links = Math.min(links, 4);
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
    this.button.textContent = held ? "Resume rotation" : "Hold this view";
    this.since = performance.now();
  }

  /* Show the next view if it is time. Call this regularly. */
  tick() {
    if (this.views.length < 2 || this.held || document.hidden) return;
    if (performance.now() - this.since >= this.turn) this.show((this.at + 1) % this.views.length);
  }
}
