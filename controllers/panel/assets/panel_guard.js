/* Protection against unintended presses. A button works only after it has been in its place for half
   a second. So a double touch, or a finger that is already moving, does not press a button that has
   just appeared. */

const SETTLED_MS = 500;
const NEAR_PX = 8;
const fresh = new Map();

const buttons = () => document.querySelectorAll("main button, dialog button");

const places = () => {
  const found = new Map();
  for (const each of buttons()) {
    const box = each.getBoundingClientRect();
    if (box.width) found.set(each.id, [box.x, box.y, box.width, box.height]);
  }
  return found;
};

const near = (one, other) => one.every((edge, at) => Math.abs(edge - other[at]) < NEAR_PX);

const mark = () => {
  const now = performance.now();
  for (const each of buttons()) {
    if ((fresh.get(each.id) ?? 0) > now) each.dataset.fresh = "";
    else delete each.dataset.fresh;
  }
};

/* Draw. Then, for half a second, disable the buttons that are new or have moved. */
export const guarded = (draw) => {
  const before = places();
  draw();
  const until = performance.now() + SETTLED_MS;
  let moved = false;
  for (const [id, place] of places()) {
    if (before.has(id) && near(before.get(id), place)) continue;
    fresh.set(id, until);
    moved = true;
  }
  mark();
  if (moved) setTimeout(mark, SETTLED_MS + 1);
};

const swallow = (event) => {
  event.preventDefault();
  event.stopPropagation();
};

/* The Enter key in a field also clicks the button of the form. Such a click is not a touch, so it
   is allowed. */
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button === null || !("fresh" in button.dataset)) return;
  if (document.activeElement instanceof HTMLInputElement && event.detail === 0) return;
  swallow(event);
}, { capture: true });

/* A key that is held down counts as one press. */
document.addEventListener("keydown", (event) => {
  if (event.repeat && event.target.closest?.("button") && /^(Enter| )$/.test(event.key)) {
    swallow(event);
  }
}, { capture: true });
