/* Drawing that waits until a press has ended. A button that is redrawn or moves between pointer
   down and pointer up does not count as pressed. A finger that rests on the page delays drawing
   by no more than a second. */

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

/* A second finger, or a key that repeats, does not extend the second. */
const pressed = (pointer) => {
  if (!down.size) drawWithin(REST_MAX_MS);
  down.add(pointer);
};

/* The click of the last pointer comes next, and may be late. A finger that scrolls causes no
   click. */
const released = (pointer, clicks) => {
  if (!down.has(pointer)) return;
  if (down.size > 1) down.delete(pointer);
  else drawWithin(clicks ? CLICK_WITHIN_MS : 0);
};

/* Drawing caused by the click happens immediately. */
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

/* Draw as soon as no press is in progress; a function that is passed twice is called once. */
export const afterPress = (draw) => {
  if (down.size) waiting.add(draw);
  else draw();
};
