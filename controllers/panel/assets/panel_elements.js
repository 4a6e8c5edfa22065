/* Elements that all parts of the panel use. */

import { html } from "./preact.js";
import { toast } from "./panel_connection.js";
import { say } from "./say.js";

const FRESH_MS = 500;
const NEAR_PX = 40;
let last = { x: Infinity, y: Infinity };

const freshen = (node) => {
  if (node === null) return;
  node.dataset.fresh = "";
  setTimeout(() => delete node.dataset.fresh, FRESH_MS);
};

/* A button is the same node as long as it has the same id. */
export const button = (id, text, onclick, attributes = {}) =>
  html`<button key=${id} id=${id} type="button" onclick=${onclick} ref=${freshen} ...${attributes}>${text}</button>`;

/* Return one row for all positions that have the same text. */
export const byText = (places, textOf) => {
  const rows = new Map();
  for (const place of places) rows.set(textOf(place), [...rows.get(textOf(place)) ?? [], place.position]);
  return [...rows].map(([text, positions]) => html`<li key=${positions[0]}>
    <b>${positions.length > 1 ? say("Each of positions {positions}", { positions: positions.join(", ") })
      : say("Position {position}", { position: positions[0] })}: </b>${text}</li>`);
};

/* The second touch of a finger does not press a button that appeared there at the first touch. */
const stopSecondTouch = (event) => {
  const near = Math.hypot(event.clientX - last.x, event.clientY - last.y) < NEAR_PX;
  const byKey = event.detail === 0;
  if (!byKey) last = { x: event.clientX, y: event.clientY };
  if (byKey || !near || !event.target.closest("button[data-fresh]")) return;
  event.stopPropagation();
  event.preventDefault();
  toast(say("That touch was not used, because the button had just appeared under your finger. Press it again."));
};

/* A key that is held down counts as one press. */
const stopRepeat = (event) => {
  if (event.repeat && /^(Enter| )$/.test(event.key) && event.target.closest("button")) event.preventDefault();
};

document.addEventListener("click", stopSecondTouch, { capture: true });
document.addEventListener("keydown", stopRepeat, { capture: true });
