/* The signed-in user. A session lapses if the user does nothing for some minutes: the page then only
   watches, and each act needs the PIN. When a session ends, every page of this browser removes the
   session's data from the screen. */

import { now, since } from "./clock.js";
import { announce } from "./floor_alerts.js";
import * as api from "./floor_api.js";
import * as format from "./floor_format.js";
import { recall, remember } from "./floor_storage.js";
import { useLayoutEffect, useState } from "./preact.js";
import { say } from "./say.js";

const PING_MS = 20000;
const LEFT = "left";
const SIGN_IN = "/api/v1/sign-in";

let me = null;
let last = now();
let pinged = now();
let touched = false;
let lapsed = false;
let renewing = false;
let begun = () => {};
let over = () => {};
const listeners = new Set();
const others = new BroadcastChannel("pitlink floor");

const setLapsed = (next) => {
  lapsed = next;
  for (const listener of listeners) listener(lapsed);
};

const take = (user) => {
  me = user;
  api.begin(me.csrf);
  last = pinged = now();
  touched = false;
  setLapsed(me.lapsed);
};

const begin = (user) => {
  take(user);
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

/* The share of a meter above which the page warns about an adjustment, in percent. */
export const warnAdjustmentPercent = () => me?.warn_adjustment_percent ?? 100;

export const signIn = async (name, pin) => {
  const user = await api.post(SIGN_IN, { name, pin });
  remember(LEFT, null);
  others.postMessage("begun");
  begin(user);
};

/* Begin a new session for the same user. The page stays as it is. */
export const enterPin = async (pin) => {
  const { name, csrf } = me;
  /* The old session ends first. An answer about the old session must not sign the user out. */
  api.begin("");
  renewing = true;
  try {
    take(await api.post(SIGN_IN, { name, pin }));
  } catch (error) {
    if (me) api.begin(csrf);
    throw error;
  } finally {
    renewing = false;
  }
  others.postMessage("begun");
  if (me.choose_pin) begun(me);
};

export const signOut = () => {
  if (!me) return;
  /* If the service cannot be reached, it does not end the session. This note stops a reload of
     the page from continuing the session. */
  remember(LEFT, "1");
  const sent = api.post("/api/v1/sign-out");
  end("");
  sent.then(() => remember(LEFT, null), () => {});
};

/* Continue the session of a browser that has one, for example after a reload. */
export const resume = async () => {
  if (recall(LEFT) !== null) throw new api.Refused(say("Sign in first."), { status: 401 });
  begin(await api.me());
};

/* The reason why a sign-in failed, as text. With `isNamed`, a name was typed with the PIN. */
export const describe = (error, isNamed = !me) => {
  if (error.code === "wrong_name_or_pin") return isNamed ? say("The name or the PIN is wrong.") : say("The PIN is wrong.");
  if (error.code === "locked_out" && error.retryAfterS) {
    const at = format.clock(api.now() + error.retryAfterS * 1000);
    return say("Too many wrong PINs. Signing in is locked until {time}.", { time: at });
  }
  return error.message;
};

/* Call a function whenever the session lapses or is renewed. Return a function that ends this. */
export const listen = (listener) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/* Check if the session has lapsed, in a component that is drawn again when this changes. */
export const useLapsed = () => {
  const [state, setState] = useState(lapsed);
  useLayoutEffect(() => listen(setState), []);
  return state;
};
export const lapse = () => setLapsed(true);
export const hasLapsed = () => lapsed;
/* Check if the session is being renewed: its event stream then ends, and begins again. */
export const isRenewing = () => renewing;
export const userName = () => me?.name ?? "";

const touch = (event) => {
  if (!me || lapsed) return;
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

const look = () => {
  if (!me || lapsed) return;
  reportTouch();
  if (since(last) >= me.idle_seconds * 1000) lapse();
};

others.addEventListener("message", ({ data }) => {
  if (data === "over") end(say("You were signed out."), { notify: false });
  else if (data === "begun") location.reload();
  else touch(null);
});
for (const gesture of ["pointerdown", "keydown", "wheel", "touchmove"]) {
  window.addEventListener(gesture, touch, { capture: true, passive: true });
}
document.addEventListener("visibilitychange", look);
setInterval(look, 1000);
api.onEnded(() => {
  end(say("Your session has ended. Sign in again."));
  /* From now on, nobody hears of a new win. */
  announce(say("Signed out: new wins are not announced."));
});

/* Call `begun` with the user when a session begins, and `over` with the reason when it ends. */
export const on = (handlers) => { ({ begun, over } = handlers); };
