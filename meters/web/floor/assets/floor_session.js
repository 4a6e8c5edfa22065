/* The signed-in user, and the time after which an idle user is signed out. When a session ends,
   every page of this browser removes the session's data from the screen. */

import { now, since } from "./clock.js";
import * as api from "./floor_api.js";
import * as format from "./floor_format.js";
import { recall, remember } from "./floor_storage.js";
import { html, useLayoutEffect, useState } from "./preact.js";

const WARN_MS = 30000;
const PING_MS = 20000;
const LEFT = "left";

let me = null;
let last = now();
let pinged = now();
let touched = false;
let begun = () => {};
let over = () => {};
const others = new BroadcastChannel("pitlink floor");

const begin = (user) => {
  me = user;
  api.begin(me.csrf);
  last = pinged = now();
  begun(me);
};

const end = (why, { notify = true } = {}) => {
  if (!me) return;
  const { name } = me;
  me = null;
  api.begin("");
  if (notify) others.postMessage("over");
  over(why, name);
};

export const signIn = async (name, pin) => {
  const user = await api.post("/api/v1/sign-in", { name, pin });
  remember(LEFT, null);
  others.postMessage("begun");
  begin(user);
};

export const signOut = (why = "") => {
  if (!me) return;
  /* If the service cannot be reached, it does not end the session. This note stops a reload of
     the page from continuing the session. */
  remember(LEFT, "1");
  const sent = api.post("/api/v1/sign-out");
  end(why);
  sent.then(() => remember(LEFT, null), () => {});
};

/* Continue the session of a browser that has one, for example after a reload. */
export const resume = async () => {
  if (recall(LEFT) !== null) throw new api.Refused("Sign in.", { status: 401 });
  begin(await api.me());
};

const touch = (event) => {
  if (!me) return;
  last = now();
  touched ||= Boolean(event);
};

/* The service counts the same idle time, so the page reports touches to it, but not every one. */
const reportTouch = () => {
  if (!touched || since(pinged) < PING_MS) return;
  touched = false;
  pinged = now();
  others.postMessage("touched");
  api.me().catch(() => {});
};

const restMs = () => (me ? me.idle_seconds * 1000 - since(last) : Infinity);

const look = () => {
  if (!me) return;
  reportTouch();
  if (restMs() > 0) return;
  const minutes = format.count(Math.round(me.idle_seconds / 60), "minute");
  signOut(`You were signed out after ${minutes} without a touch.`);
};

/* The warning before an idle user is signed out. While a dialog is open, nothing outside it can be
   touched, so the dialog has the warning then. The warning remains until the press on it ends. So
   the press does not reach the element below it. */
export const Stay = ({ inDialog = false }) => {
  const [rest, setRest] = useState(restMs);
  useLayoutEffect(() => {
    const timer = setInterval(() => setRest(restMs()), 1000);
    return () => clearInterval(timer);
  }, []);
  if (!me || rest > Math.min(WARN_MS, me.idle_seconds * 500)) return null;
  if (!inDialog && document.querySelector("dialog[open]")) return null;
  return html`
    <section class="stay wait" aria-label="Signing out">
      <div><p role="alert">You will be signed out. Touch to stay.</p>
        <span aria-hidden="true">${`${Math.ceil(rest / 1000)} s`}</span></div>
      <button type="button" onClick=${() => setRest(restMs())}>Stay signed in</button>
    </section>`;
};

others.addEventListener("message", ({ data }) => {
  if (data === "over") end("You were signed out.", { notify: false });
  else if (data === "begun") location.reload();
  else touch(null);
});
for (const gesture of ["pointerdown", "keydown", "wheel", "touchmove"]) {
  window.addEventListener(gesture, touch, { capture: true, passive: true });
}
document.addEventListener("visibilitychange", look);
setInterval(look, 1000);
api.onEnded(() => end("Your session has ended. Sign in again."));

/* Call `begun` with the user when a session begins, and `over` with the reason when it ends. */
export const on = (listeners) => { ({ begun, over } = listeners); };
