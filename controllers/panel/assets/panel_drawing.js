/* Drawing functions for the parts of the panel. A part is drawn again only if its data changes. */

import { make } from "./elements.js";

const drawnFrom = new WeakMap();

export const byId = (id) => document.getElementById(id);

/* Create a button; `kind` has its classes, each after a dot. */
export const button = (id, kind, text, onclick, attributes = {}) =>
  make(`button${kind}`, { id, type: "button", onclick, ...attributes }, text);

/* Replace the contents of an element and keep the focus. If the focused element is gone, move the
   focus to the next action. Only if a field had the focus, move the focus to a field, because a
   field opens the tablet's keyboard. */
const replace = (where, contents) => {
  const active = where.contains(document.activeElement) ? document.activeElement : null;
  where.replaceChildren(...contents.flat().filter((each) => each !== null && each !== undefined));
  if (active === null) return;
  const same = active === where ? null : byId(active.id);
  const field = active.matches("input") ? where.querySelector("input") : null;
  const next = same ?? field ?? where.querySelector("[data-next]:enabled") ?? where;
  if (next === where) where.tabIndex = -1;
  next.focus({ preventScroll: true });
};

/* Draw the contents of an element if their data has changed. */
export const drawFrom = (data, where, contents) => {
  const text = JSON.stringify(data);
  if (drawnFrom.get(where) === text) return;
  drawnFrom.set(where, text);
  replace(where, contents());
};
