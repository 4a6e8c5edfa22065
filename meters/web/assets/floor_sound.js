/* The sound of a new win. A browser lets a page play sound only after somebody has touched the
   page. Until the first touch, the sound switch says that it waits for a touch. */

import { recall, remember } from "./floor_storage.js";
import { html, useState } from "./preact.js";
import { say } from "./say.js";

const NOTES = [[880, 0], [1174.7, 0.16], [1568, 0.32], [880, 0.7], [1174.7, 0.86], [1568, 1.02]];
const NOTE_S = 0.34;
const LOUD = 0.5;
const LABELS = { waits: say("Tap for sound"), on: say("Sound is on"), off: say("Sound is off") };

let context = null;
let isOn = recall("sound") !== "off";
let draw = () => {};

const state = () => {
  if (!isOn) return "off";
  return context?.state === "running" ? "on" : "waits";
};

const allow = async () => {
  context ??= new AudioContext();
  context.onstatechange = () => draw(state());
  if (context.state !== "running") await context.resume().catch(() => {});
  draw(state());
};

const press = () => {
  if (state() !== "waits") isOn = !isOn;
  remember("sound", isOn ? "on" : "off");
  if (isOn) allow().then(ring);
  draw(state());
};

/* The state of the sound, in a component that is drawn again when it changes. */
export const useSound = () => {
  const [, setState] = useState(state);
  draw = setState;
  return state();
};

export const SoundButton = ({ sound }) => html`
  <button type="button" class="sound" aria-pressed=${String(isOn)} data-state=${sound} onClick=${press}>
    ${LABELS[sound]}</button>`;

export const ring = () => {
  if (state() !== "on") return;
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
    if (state() === "waits" && !event.target.closest?.(".sound")) allow();
  });
}
