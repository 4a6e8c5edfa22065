/* The users, and the log of sign-ins and user changes. */

import * as api from "./floor_api.js";
import { Action, Choice, Field, needed, open, wrong } from "./floor_dialog.js";
import { Entries, Entry } from "./floor_entries.js";
import * as format from "./floor_format.js";
import { useAnswer } from "./floor_reading.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";

const LIMIT = 50;
const ROLES = ["dealer", "floorperson", "supervisor", "auditor", "administrator"];
const DONE = {
  sign_in: "Signed in", sign_in_refused: "Sign-in refused", locked_out: "Locked out",
  sign_out: "Signed out", user_added: "User added", user_disabled: "User disabled",
  user_enabled: "User enabled", user_unlocked: "User unlocked", pin_set: "New PIN",
  slip_printed: "Slip printed", service_started: "Service started",
  service_stopped: "Service stopped",
  pin_chosen: "Chose a PIN", pin_refused: "Wrong PIN when choosing one",
};
const SERVES = "For 24 hours it serves to choose their own PIN, and for nothing else.";
const HINT = "6 to 12 digits without a pattern: no date, no run, no repeated digits";

const path = (user, act) => `/api/v1/users/${encodeURIComponent(user.name)}/${act}`;

const PinField = ({ label, name, hint, autocomplete = "new-password" }) => html`
  <${Field} label=${label} name=${name} hint=${hint} type="password" inputmode="numeric"
    autocomplete=${autocomplete} maxlength="12" />`;

/* Two fields for a PIN, which is hidden while it is typed. */
const NewPin = ({ label = "PIN", again = "The PIN again", hint = `${HINT}; leave both empty to have one generated` }) => html`
  <${PinField} label=${label} name="pin" hint=${hint} />
  <${PinField} label=${again} name="again" />`;

/* The typed PIN; undefined if both fields are empty, so that the service generates a PIN. */
const typedPin = ({ elements: { pin, again } }, { canBeGenerated = true } = {}) => {
  if (canBeGenerated && !pin.value && !again.value) return undefined;
  if (!/^\d{6,12}$/.test(pin.value)) throw wrong("A PIN has 6 to 12 digits.", pin);
  if (pin.value !== again.value) throw wrong("The two PINs differ.", again);
  return pin.value;
};

/* A generated PIN is shown only here, and only once. */
const thenShowPin = (done) => (answer) => {
  done();
  if (!answer?.pin) return;
  open({
    title: `The PIN of ${answer.name}`,
    content: html`<p class="pin">${answer.pin}</p><p>${`Write it down now: it is not shown again. ${SERVES}`}</p>`,
  });
};

const add = (done) => open({
  title: "Add a user",
  content: html`
    <${Field} label="Name" name="name" maxlength="40" autocapitalize="words" />
    <${Choice} legend="Role" name="role" short options=${ROLES.map((role) => [role, format.capital(role)])} />
    <${NewPin} />
    <p>${SERVES}</p>`,
  confirm: "Add",
  act: (form) => {
    const name = needed(form, "name", "A name is needed.");
    const role = needed(form, "role", "A role is needed.");
    return api.post("/api/v1/users", { name, role, pin: typedPin(form) });
  },
  done: thenShowPin(done),
});

const account = (act, label, text, kind = "go") => (user, done) => open({
  title: `${label} ${user.name}?`,
  content: html`<p>${text(user)}</p>`,
  confirm: label,
  kind,
  act: () => api.post(path(user, act)),
  done,
});
const disable = account("disable", "Disable",
  () => "They can no longer sign in, and where they are signed in now, they are signed out.", "stop");
const enable = account("enable", "Enable", (user) => `They can sign in again, as ${user.role}.`);
const unlock = account("unlock", "Unlock", () => "They can try to sign in again immediately.");

const setPin = (user, done) => open({
  title: `New PIN for ${user.name}`,
  content: html`<p>${`Where they are signed in now, they are signed out. ${SERVES}`}</p><${NewPin} />`,
  confirm: "Set the PIN",
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
      <summary>What was done with PINs and accounts, to you or by you</summary>
      <ol class="entries">${found.map((row) => html`<${Entry} ...${logEntry(row)} />`)}</ol>
    </details>`;
};

/* The user chooses their own PIN, which nobody else knows. The person who set the PIN before can
   use that PIN too. */
export const openOwnPin = (done) => open({
  title: "My PIN",
  content: html`
    <p>Choose a PIN that only you know. Wherever else you are signed in, you are signed out.</p>
    <${PinField} label="Current PIN" name="old" autocomplete="current-password" />
    <${NewPin} label="New PIN" again="New PIN again" hint=${HINT} />
    <${OwnActs} />`,
  confirm: "Change my PIN",
  act: (form) => {
    const pin = needed(form, "old", "Your current PIN is needed.");
    return api.post("/api/v1/me/pin", { pin, new_pin: typedPin(form, { canBeGenerated: false }) });
  },
  done,
});

/* The view of a user whose PIN another person set. Until the user chooses their own PIN, they
   can do nothing else. */
export const MustChoose = () => {
  const heading = useRef();
  useLayoutEffect(() => heading.current.focus(), []);
  const chosen = (answer) => { if (answer !== undefined) location.reload(); };
  return html`
    <h1 tabindex="-1" ref=${heading}>Choose a PIN</h1>
    <p class="notice wait" role="status">
      This PIN was set for you. Choose one that only you know: until then you can do nothing else.
    </p>
    <button class="go" type="button" onClick=${() => openOwnPin(chosen)}>Choose a PIN</button>`;
};

const LOCKED = {
  name: (lock) => `at ${lock.address || "the service's machine"}`,
  address: (lock) => `with everybody at ${lock.address || "the service's machine"}`,
  new_devices: () => "on devices not used before",
};

const about = (user) => [
  format.capital(user.role),
  user.signed_in_at ? `last signed in ${format.moment(user.signed_in_at)}` : "never signed in",
  user.pin_by === user.name ? "chose their PIN" : `PIN set by ${user.pin_by}`,
  user.choose_by && `serves until ${format.moment(user.choose_by)}`,
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
          <p class="of">${`Locked out ${LOCKED[lock.where](lock)} until ${format.moment(lock.until)}`}</p>`)}
      </div>
      <span class="chip" data-state=${user.enabled ? "operable" : "closed"}>${user.enabled ? "Enabled" : "Disabled"}</span>
      ${me.rights.includes("people") && html`
        <div class="acts">
          ${act("New PIN", setPin)}
          ${user.locked.length > 0 && act("Unlock", unlock, "go")}
          ${!user.enabled && act("Enable", enable, "go")}
          ${user.enabled && user.name !== me.name && act("Disable", disable, "stop")}
        </div>`}
    </li>`;
};

export const Users = ({ me }) => {
  const [acts, setActs] = useState(0);
  const { found, error } = useAnswer(() => api.get("/api/v1/users"), [acts]);
  const done = () => setActs((before) => before + 1);
  const status = error || (found ? "" : "Reading…");
  return html`
    <header class="view">
      <h1 tabindex="-1">People</h1>
      ${me.rights.includes("people")
        && html`<button class="go" type="button" onClick=${() => add(done)}>Add a user</button>`}
    </header>
    <p class="nothing" role="status" hidden=${!status}>${status}</p>
    <ul class="users">${found?.map((user) => html`<${User} key=${user.name} user=${user} me=${me} done=${done} />`)}</ul>
    <section class="log">
      <h2>Operators' log</h2>
      <${Entries} path="/api/v1/log" limit=${LIMIT} entry=${logEntry} changed=${acts} />
    </section>`;
};
