/* The users, and the log of sign-ins and user changes. */

import * as api from "./floor_api.js";
import { Action, Choice, Field, needed, open, wrong } from "./floor_dialog.js";
import { Entries, Entry } from "./floor_entries.js";
import * as format from "./floor_format.js";
import { useAnswer } from "./floor_reading.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";
import { say } from "./say.js";

const LIMIT = 50;
export const ROLES = {
  dealer: say("dealer"), floorperson: say("floorperson"), supervisor: say("supervisor"), auditor: say("auditor"),
  administrator: say("administrator"),
};
const DONE = {
  sign_in: say("Signed in"), sign_in_refused: say("Sign-in refused"), locked_out: say("Locked out#user"),
  sign_out: say("Signed out"), user_added: say("User added"), user_disabled: say("User disabled"),
  user_enabled: say("User enabled"), user_unlocked: say("User unlocked"), pin_set: say("New PIN"),
  slip_printed: say("Slip printed"), signed_on_device: say("Signed on another's device"), service_started: say("Service started"),
  service_stopped: say("Service stopped"),
  pin_chosen: say("Chose a PIN"), pin_refused: say("Wrong PIN when choosing one"),
};
const SERVES = say("For 24 hours, they can use this PIN to choose their own, and for nothing else.");
const HINT = say("6 to 12 digits without a pattern: no date, no year at its beginning or end, no run, no repeated digits");
const HINT_OR_EMPTY = say("6 to 12 digits without a pattern: no date, no year at its beginning or end, no run, no repeated digits; leave both empty to have one generated");

const path = (user, act) => `/api/v1/users/${encodeURIComponent(user.name)}/${act}`;

const PinField = ({ label, name, hint, autocomplete = "new-password" }) => html`
  <${Field} label=${label} name=${name} hint=${hint} type="password" inputmode="numeric"
    autocomplete=${autocomplete} maxlength="12" />`;

/* Two fields for a PIN, which is hidden while it is typed. */
const NewPin = ({ label = say("PIN"), again = say("The PIN again"), hint = HINT_OR_EMPTY }) => html`
  <${PinField} label=${label} name="pin" hint=${hint} />
  <${PinField} label=${again} name="again" />`;

/* The typed PIN; undefined if both fields are empty, so that the service generates a PIN. */
const typedPin = ({ elements: { pin, again } }, { canBeGenerated = true } = {}) => {
  if (canBeGenerated && !pin.value && !again.value) return undefined;
  if (!/^\d{6,12}$/.test(pin.value)) throw wrong(say("A PIN has 6 to 12 digits."), pin);
  if (pin.value !== again.value) throw wrong(say("The two PINs differ."), again);
  return pin.value;
};

/* A generated PIN is shown only here, and only once. */
const thenShowPin = (done) => (answer) => {
  done();
  if (!answer?.pin) return;
  open({
    title: say("The PIN of {name}", answer),
    content: html`<p class="pin">${answer.pin}</p><p>${say("Write it down now: it is not shown again.")} ${SERVES}</p>`,
  });
};

const add = (done) => open({
  title: say("Add a user"),
  content: html`
    <${Field} label=${say("Name")} name="name" maxlength="40" autocapitalize="words" />
    <${Choice} legend=${say("Role")} name="role" short options=${Object.entries(ROLES).map(([role, words]) => [role, format.capital(words)])} />
    <${NewPin} />
    <p>${SERVES}</p>`,
  confirm: say("Add"),
  act: (form) => {
    const name = needed(form, "name", say("A name is needed."));
    const role = needed(form, "role", say("A role is needed."));
    return api.post("/api/v1/users", { name, role, pin: typedPin(form) });
  },
  done: thenShowPin(done),
});

const account = (act, title, text, confirm, kind = "go") => (user, done) => open({
  title: title(user),
  content: html`<p>${text(user)}</p>`,
  confirm,
  kind,
  act: () => api.post(path(user, act)),
  done,
});
const disable = account("disable", (user) => say("Disable {name}?", user),
  () => say("They can no longer sign in, and where they are signed in now, they are signed out."), say("Disable"), "stop");
const enable = account("enable", (user) => say("Enable {name}?", user),
  (user) => say("They can sign in again, as {role}.", { role: ROLES[user.role] }), say("Enable"));
const unlock = account("unlock", (user) => say("Unlock {name}?", user),
  () => say("They can try to sign in again immediately."), say("Unlock"));

const setPin = (user, done) => open({
  title: say("New PIN for {name}", user),
  content: html`<p>${say("Where they are signed in now, they are signed out.")} ${SERVES}</p><${NewPin} />`,
  confirm: say("Set the PIN"),
  act: (form) => api.post(path(user, "pin"), { pin: typedPin(form) }),
  done: thenShowPin(done),
});

const logEntry = (row) => ({
  at: row.at, what: DONE[row.what] ?? format.capital(format.plain(row.what)), by: row.by,
  about: [row.about !== row.by && row.about, row.client].filter(Boolean).join(" · "),
});

const OwnActs = () => {
  const { found } = useAnswer(() => api.get("/api/v1/me/acts"));
  return found?.length > 0 && html`
    <details>
      <summary>${say("What was done with PINs and accounts, to you or by you")}</summary>
      <ol class="entries">${found.map((row) => html`<${Entry} ...${logEntry(row)} />`)}</ol>
    </details>`;
};

/* The user chooses their own PIN, which nobody else knows. The person who set the PIN before can
   use that PIN too. */
export const openOwnPin = (done) => open({
  title: say("My PIN"),
  content: html`
    <p>${say("Choose a PIN that only you know. Wherever else you are signed in, you are signed out.")}</p>
    <${PinField} label=${say("Current PIN")} name="old" autocomplete="current-password" />
    <${NewPin} label=${say("New PIN")} again=${say("New PIN again")} hint=${HINT} />
    <${OwnActs} />`,
  confirm: say("Change my PIN"),
  act: (form) => {
    const pin = needed(form, "old", say("Your current PIN is needed."));
    return api.post("/api/v1/me/pin", { pin, new_pin: typedPin(form, { canBeGenerated: false }) });
  },
  done,
});

/* The view of a user whose PIN another person or a command set. Until the user chooses their own PIN, they
   can do nothing else. */
export const MustChoose = () => {
  const heading = useRef();
  useLayoutEffect(() => heading.current.focus(), []);
  const chosen = (answer) => { if (answer !== undefined) location.reload(); };
  return html`
    <div class="must-choose">
      <h1 tabindex="-1" ref=${heading}>${say("Choose a PIN")}</h1>
      <p class="notice wait" role="status">
        ${say("You signed in with a PIN that only serves to choose your own. Choose one that only you know: until then you can do nothing else.")}
      </p>
      <button class="go" type="button" onClick=${() => openOwnPin(chosen)}>${say("Choose a PIN")}</button>
    </div>`;
};

const LOCKED = {
  name: (lock) => say("Locked out at {place} until {time}", lock),
  address: (lock) => say("Locked out with everybody at {place} until {time}", lock),
  new_devices: (lock) => say("Locked out on devices not used before until {time}", lock),
};

const about = (user) => [
  format.capital(ROLES[user.role]),
  user.signed_in_at ? say("last signed in {time}", { time: format.moment(user.signed_in_at) }) : say("never signed in"),
  user.pin_by === user.name ? say("chose their PIN") : say("PIN set by {by}", { by: user.pin_by }),
  user.choose_by && say("valid until {time}", { time: format.moment(user.choose_by) }),
].filter(Boolean).join(" · ");

const User = ({ user, me, done }) => {
  const act = (label, ask, kind) => html`
    <${Action} key=${label} label=${label} about=${user.name} kind=${kind} onClick=${() => ask(user, done)} />`;
  return html`
    <li data-user=${user.name}>
      <div>
        <h2>${user.name}</h2>
        <p class="of">${about(user)}</p>
        ${user.locked.map((lock) => html`
          <p class="of">${LOCKED[lock.where]({ place: lock.address || say("the service's machine"), time: format.moment(lock.until) })}</p>`)}
      </div>
      <span class="chip" data-state=${user.enabled ? "operable" : "closed"}>${user.enabled ? say("Enabled") : say("Disabled")}</span>
      ${me.rights.includes("people") && html`
        <div class="acts">
          ${act(say("New PIN"), setPin)}
          ${user.locked.length > 0 && act(say("Unlock"), unlock, "go")}
          ${!user.enabled && act(say("Enable"), enable, "go")}
          ${user.enabled && user.name !== me.name && act(say("Disable"), disable, "stop")}
        </div>`}
    </li>`;
};

export const Users = ({ me }) => {
  const [acts, setActs] = useState(0);
  const { found, error } = useAnswer(() => api.get("/api/v1/users"), [acts]);
  const done = () => setActs((before) => before + 1);
  const status = error || (found ? "" : say("Reading…"));
  return html`
    <header class="view">
      <h1 tabindex="-1">${say("People")}</h1>
      ${me.rights.includes("people")
        && html`<button class="go" type="button" onClick=${() => add(done)}>${say("Add a user")}</button>`}
    </header>
    <p class="nothing" role="status" hidden=${!status}>${status}</p>
    <ul class="users">${found?.map((user) => html`<${User} key=${user.name} user=${user} me=${me} done=${done} />`)}</ul>
    <section class="log">
      <h2>${say("Operators' log")}</h2>
      <${Entries} path="/api/v1/log" limit=${LIMIT} entry=${logEntry} changed=${acts} />
    </section>`;
};
