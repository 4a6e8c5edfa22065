/* Drawing that waits for the end of a press. A button that is drawn again, or moves, between
   pointer down and pointer up is not pressed. A finger that rests on the page delays drawing by no
   more than a second. */

const REST_MAX_MS = 1000;
const CLICK_WITHIN_MS = 200;
const down = new Set();
const waiting = new Set();
let timer = 0;

const drawWaiting = () => {
  down.clear();
  const draws = [...waiting];
  waiting.clear();
  for (const draw of draws) draw();
};

const drawWithin = (ms) => {
  clearTimeout(timer);
  timer = setTimeout(drawWaiting, ms);
};

/* A second finger, or a key that repeats, does not make the second longer. */
const pressed = (pointer) => {
  if (!down.size) drawWithin(REST_MAX_MS);
  down.add(pointer);
};

/* The click of the last pointer comes next, and may be late; a finger that scrolls makes none. */
const released = (pointer, clicks) => {
  if (!down.has(pointer)) return;
  if (down.size > 1) down.delete(pointer);
  else drawWithin(clicks ? CLICK_WITHIN_MS : 0);
};

/* What is drawn because of the click is drawn at once. */
const clicked = () => {
  down.clear();
  drawWithin(0);
};

const on = (what, listener) => window.addEventListener(what, listener, { capture: true });
on("pointerdown", (event) => pressed(event.pointerId));
on("pointerup", (event) => released(event.pointerId, true));
on("pointercancel", (event) => released(event.pointerId, false));
on("keydown", (event) => { if (event.key === " ") pressed(event.key); });
on("keyup", (event) => released(event.key, true));
on("click", clicked);

/* Draw as soon as no press is under way; a function that is passed twice is called once. */
export const afterPress = (draw) => {
  if (down.size) waiting.add(draw);
  else draw();
};
