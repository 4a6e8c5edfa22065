/* The signed-in user, and the time after which an idle user is signed out. When a session ends,
   every page of this browser removes the session's data from the screen. */

import { now, since } from "./clock.js";
import { make } from "./elements.js";
import * as api from "./floor_api.js";
import * as dialogs from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { recall, remember } from "./floor_storage.js";

const WARN_MS = 30000;
const PING_MS = 20000;
const LEFT = "left";
const KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "Clear", "0", "⌫"];

let me = null;
let last = now();
let pinged = now();
let touched = false;
let begun = () => {};
let over = () => {};
const others = new BroadcastChannel("pitlink floor");

const left = make("span", { "aria-hidden": "true" }, "");
const warned = make("p", { role: "alert" });
export const stay = make("section.stay.wait", { hidden: true, "aria-label": "Signing out" },
  make("div", {}, warned, left),
  make("button", { type: "button", onclick: () => look() }, "Stay signed in"));

const begin = (who) => {
  me = who;
  api.begin(me.csrf);
  last = pinged = now();
  begun(me);
};

const end = (why, { notify = true } = {}) => {
  if (!me) return;
  const { name } = me;
  me = null;
  api.begin("");
  stay.hidden = true;
  warned.textContent = "";
  if (notify) others.postMessage("over");
  over(why, name);
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

/* The warning remains until the press ends. So a tap on the warning does not reach the element
   below it. */
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

const minutes = (seconds) => format.count(Math.round(seconds / 60), "minute");

const look = () => {
  if (!me) return;
  reportTouch();
  const rest = me.idle_seconds * 1000 - since(last);
  if (rest <= 0) {
    signOut(`You were signed out after ${minutes(me.idle_seconds)} without a touch.`);
    return;
  }
  const warn = rest <= Math.min(WARN_MS, me.idle_seconds * 500);
  if (warn && stay.hidden) warned.textContent = "You will be signed out. Touch to stay.";
  /* While a dialog is open, nothing outside it can be touched. So the warning is shown in the
     dialog. */
  const place = document.querySelector("dialog[open]") ?? document.getElementById("floor");
  if (warn && stay.parentElement !== place) place.append(stay);
  stay.hidden = !warn;
  left.textContent = warn ? `${Math.ceil(rest / 1000)} s` : "";
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

/* The reason why a sign-in failed, as text. */
const describe = (error) => {
  if (error.code === "wrong_name_or_pin") return "The name or the PIN is wrong.";
  if (error.code === "locked_out" && error.retryAfterS) {
    const at = format.clock(api.now() + error.retryAfterS * 1000);
    return `Too many wrong PINs. Signing in is locked until ${at}.`;
  }
  return error.message;
};

const keypad = (pin) =>
  make("div.keypad", { role: "group", "aria-label": "Keypad" }, KEYS.map((key) =>
    make("button", {
      type: "button", "aria-label": key === "⌫" ? "Delete the last digit" : key,
      onclick: () => {
        if (key === "Clear") pin.value = "";
        else if (key === "⌫") pin.value = pin.value.slice(0, -1);
        else if (pin.value.length < 12) pin.value += key;
      },
    }, key)));

export const showSignIn = (root, { why = "", name = "" } = {}) => {
  const user = make("input", {
    type: "text", name: "name", autocomplete: "username", autocapitalize: "words",
    spellcheck: "false", maxlength: "40", value: name,
  });
  const pin = make("input", {
    type: "password", name: "pin", inputmode: "numeric", autocomplete: "off", maxlength: "12",
  });
  const notice = make("p.notice.bad", { role: "alert", hidden: true });
  const button = make("button.go", { type: "submit" }, "Sign in");
  const form = make("form.sign-in", { novalidate: true },
    make("h1", { tabindex: "-1" }, "Sign in"),
    why ? make("p.notice.wait", { role: "status" }, why) : null,
    dialogs.field("Name", user), dialogs.field("PIN", pin), notice, keypad(pin), button);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    const say = (text, field) => {
      notice.textContent = text;
      notice.hidden = false;
      field.focus();
    };
    notice.hidden = true;
    if (!user.value.trim()) return void say("Your name is needed.", user);
    if (!pin.value) return void say("Your PIN is needed.", pin);
    button.disabled = true;
    button.textContent = "Signing in…";
    const asked = { name: user.value.trim(), pin: pin.value };
    pin.value = "";
    try {
      const found = await api.post("/api/v1/sign-in", asked);
      remember(LEFT, null);
      others.postMessage("begun");
      begin(found);
    } catch (error) {
      say(describe(api.refusal(error)), pin);
    } finally {
      button.disabled = false;
      button.textContent = "Sign in";
    }
  });
  root.append(form);
  if (window.matchMedia("(pointer: fine)").matches) (name ? pin : user).focus();
};

/* Continue the session of a browser that has one, for example after a reload. */
export const resume = async () => {
  if (recall(LEFT) !== null) throw new api.Refused("Sign in.", { status: 401 });
  begin(await api.me());
};

api.onEnded(() => end("Your session has ended. Sign in again."));

/* Call `begun` with the user when a session begins, and `over` with the reason when it ends. */
export const on = (listeners) => { ({ begun, over } = listeners); };
