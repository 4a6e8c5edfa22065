"use strict";
/* A button that is drawn anew, or moves, between a finger's touch and its lifting is not pressed:
   what is to be drawn meanwhile waits until the press was heard. A finger that rests on the page
   keeps nothing from being shown for more than a second. */
const fingers = (() => {
  const RESTS_MAX_MS = 1000;
  const HEARD_WITHIN_MS = 200;
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

  /* A second finger, or a key that repeats itself, does not make the second longer. */
  const touched = (finger) => {
    if (!down.size) drawWithin(RESTS_MAX_MS);
    down.add(finger);
  };

  /* The press of the last one comes next, and may be late; a finger that scrolls makes none. */
  const left = (finger, presses) => {
    if (!down.has(finger)) return;
    if (down.size > 1) down.delete(finger);
    else drawWithin(presses ? HEARD_WITHIN_MS : 0);
  };

  /* Who draws because of the press does so at once. */
  const heard = () => {
    down.clear();
    drawWithin(0);
  };

  const on = (what, listener) => window.addEventListener(what, listener, { capture: true });
  on("pointerdown", (event) => touched(event.pointerId));
  on("pointerup", (event) => left(event.pointerId, true));
  on("pointercancel", (event) => left(event.pointerId, false));
  on("keydown", (event) => { if (event.key === " ") touched(event.key); });
  on("keyup", (event) => left(event.key, true));
  on("click", heard);

  /* Draw, as soon as no finger is on the page; one that is asked for twice is drawn once. */
  const lifted = (draw) => {
    if (down.size) waiting.add(draw);
    else draw();
  };

  return { lifted };
})();
