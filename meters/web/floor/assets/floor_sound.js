/* The sound of a new win. A browser lets a page play sound only after somebody has touched the
   page. Until the first touch, the sound switch says that it waits for a touch. */

import { make } from "./elements.js";
import { recall, remember } from "./floor_storage.js";

const NOTES = [[880, 0], [1174.7, 0.16], [1568, 0.32], [880, 0.7], [1174.7, 0.86], [1568, 1.02]];
const NOTE_S = 0.34;
const LOUD = 0.5;

let context = null;
let on = recall("sound") !== "off";
export const button = make("button.sound", { type: "button", onclick: () => press() });

const show = () => {
  const waits = on && context?.state !== "running";
  button.textContent = waits ? "Tap for sound" : on ? "Sound on" : "Sound off";
  button.setAttribute("aria-pressed", String(on));
  button.dataset.state = waits ? "waits" : on ? "on" : "off";
};

const allow = async () => {
  context ??= new AudioContext();
  context.onstatechange = show;
  if (context.state !== "running") await context.resume().catch(() => {});
  show();
};

const press = () => {
  const waits = on && context?.state !== "running";
  if (!waits) on = !on;
  remember("sound", on ? "on" : "off");
  if (on) allow().then(ring);
  show();
};

export const ring = () => {
  if (!on || context?.state !== "running") return;
  for (const [pitch, after] of NOTES) {
    const at = context.currentTime + after;
    const tone = new OscillatorNode(context, { type: "triangle", frequency: pitch });
    const level = new GainNode(context, { gain: 0 });
    level.gain.setValueAtTime(0, at);
    level.gain.linearRampToValueAtTime(LOUD, at + 0.02);
    level.gain.exponentialRampToValueAtTime(0.001, at + NOTE_S);
    tone.connect(level).connect(context.destination);
    tone.start(at);
    tone.stop(at + NOTE_S);
  }
};

for (const gesture of ["pointerup", "keydown"]) {
  window.addEventListener(gesture, (event) => {
    if (on && event.target !== button && context?.state !== "running") allow();
  });
}
show();
