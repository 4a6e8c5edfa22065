/* The users, and the log of sign-ins and user changes. */

import { make } from "./elements.js";
import * as api from "./floor_api.js";
import * as dialogs from "./floor_dialog.js";
import { Entries, entry } from "./floor_entries.js";
import * as format from "./floor_format.js";

const LIMIT = 50;
const ROLES = ["dealer", "floorperson", "supervisor", "auditor", "administrator"];
const DONE = {
  sign_in: "Signed in", sign_in_refused: "Sign-in refused", locked_out: "Locked out",
  sign_out: "Signed out", user_added: "User added", user_disabled: "User disabled",
  user_enabled: "User enabled", user_unlocked: "User unlocked", pin_set: "New PIN",
  slip_printed: "Slip printed", upgraded: "Upgraded", service_started: "Service started",
  service_stopped: "Service stopped",
  pin_chosen: "Chose a PIN", user_noted: "Role and PIN noted", pin_refused: "Wrong PIN when choosing one",
};
let view = null;
let me = null;

const pinField = (label) =>
  make("input", {
    type: "password", inputmode: "numeric", autocomplete: "new-password", maxlength: "12", name: label,
  });

/* Two fields for a PIN, which is hidden while it is typed. If they are empty, the service
   generates a PIN. */
const newPin = (label = "PIN", again = "The PIN again", generated = true) => {
  const first = pinField("pin");
  const second = pinField("again");
  const value = () => {
    if (generated && !first.value && !second.value) return undefined;
    if (!/^\d{6,12}$/.test(first.value)) throw dialogs.wrong("A PIN has 6 to 12 digits.", first);
    if (first.value !== second.value) throw dialogs.wrong("The two PINs differ.", second);
    return first.value;
  };
  const nodes = [
    dialogs.field(label, first, 
      `6 to 12 digits; not one digit repeated, not a run up or down${generated ? "; leave both empty to have one generated" : ""}`),
    dialogs.field(again, second),
  ];
  return { nodes, value };
};

const path = (user, act) => `/api/v1/users/${encodeURIComponent(user.name)}/${act}`;

const SERVES = "For 24 hours it serves to choose their own PIN, and for nothing else.";

/* A generated PIN is shown only here, and only once. */
const showPin = (answer) => {
  if (!answer?.pin) return;
  dialogs.open({
    title: `The PIN of ${answer.name}`,
    content: [make("p.pin", {}, answer.pin), make("p", {}, `Write it down now: it is not shown again. ${SERVES}`)],
  });
};
const thenShow = (done) => (answer) => {
  done();
  showPin(answer);
};

const add = (done) => {
  const name = dialogs.line("Name", "A name is needed.", { maxlength: "40", autocapitalize: "words" });
  const role = dialogs.choice("Role", "role", ROLES.map((each) => [each, format.capital(each)]),
    { short: true, missing: "A role is needed." });
  const pin = newPin();
  dialogs.open({
    title: "Add a user",
    content: [name.node, role.node, pin.nodes, make("p", {}, SERVES)],
    confirm: "Add",
    act: () => api.post("/api/v1/users",
      { name: name.value(), role: role.value(), pin: pin.value() }),
    done: thenShow(done),
  });
};

const account = (act, label, describe, kind = "go") => (user, done) => dialogs.open({
  title: `${label} ${user.name}?`,
  content: make("p", {}, describe(user)),
  confirm: label,
  kind,
  act: () => api.post(path(user, act)),
  done,
});
const disable = account("disable", "Disable",
  () => "They can no longer sign in, and where they are signed in now, they are signed out.", "stop");
const enable = account("enable", "Enable", (user) => `They can sign in again, as ${user.role}.`);
const unlock = account("unlock", "Unlock", () => "They can try to sign in again immediately.");

const LOCKED = {
  name: (lock) => `at ${lock.address || "the service's machine"}`,
  address: (lock) => `with everybody at ${lock.address || "the service's machine"}`,
  new_devices: () => "on devices not used before",
};
const locked = (lock) => `Locked out ${LOCKED[lock.where](lock)} until ${format.moment(lock.until)}`;

const setPin = (user, done) => {
  const pin = newPin();
  dialogs.open({
    title: `New PIN for ${user.name}`,
    content: [make("p", {}, `Where they are signed in now, they are signed out. ${SERVES}`), pin.nodes],
    confirm: "Set the PIN",
    act: () => api.post(path(user, "pin"), { pin: pin.value() }),
    done: thenShow(done),
  });
};

/* The user chooses their own PIN, which nobody else knows. The person who set the PIN before can
   use that PIN too. */
export const choosePin = (done = () => view?.log.read()) => {
  const old = pinField("old");
  old.autocomplete = "current-password";
  const pin = newPin("New PIN", "New PIN again", false);
  const acts = make("ol.entries", {});
  const listed = make("details", { hidden: true },
    make("summary", {}, "What was done with PINs and accounts, to you or by you"), acts);
  api.get("/api/v1/me/acts").then((found) => {
    acts.replaceChildren(...found.map(logEntry));
    listed.hidden = !found.length;
  }, () => {});
  dialogs.open({
    title: "My PIN",
    content: [
      make("p", {}, "Choose a PIN that only you know. Wherever else you are signed in, you are signed out."),
      dialogs.field("Current PIN", old), pin.nodes, listed,
    ],
    confirm: "Change my PIN",
    act: () => {
      if (!old.value) throw dialogs.wrong("Your current PIN is needed.", old);
      return api.post("/api/v1/me/pin", { pin: old.value, new_pin: pin.value() });
    },
    done,
  });
};

/* The view of a user whose PIN another person set. Until the user chooses their own PIN, they
   can do nothing else. */
export const mustChoose = (root) => {
  const chosen = (answer) => { if (answer !== undefined) location.reload(); };
  root.append(
    make("h1", { tabindex: "-1" }, "Choose a PIN"),
    make("p.notice.wait", { role: "status" },
      "Somebody else set your PIN. Choose one that only you know: until then you can do nothing else."),
    make("button.go", { type: "button", onclick: () => choosePin(chosen) }, "Choose a PIN"));
};

const logEntry = (row) => entry(
  row.at, DONE[row.what] ?? format.capital(format.plain(row.what)), row.by,
  [row.about !== row.by && row.about, row.client].filter(Boolean).join(" · "));

class View {
  constructor(root) {
    this.status = make("p.nothing", { role: "status" }, "Reading…");
    this.users = make("ul.users", {});
    this.log = new Entries("/api/v1/log", LIMIT, logEntry, (error) => this.say(error));
    root.append(
      make("header.view", {}, make("h1", { tabindex: "-1" }, "People"),
        me.rights.includes("people")
          && make("button.go", { type: "button", "data-focus": "add user", onclick: () => add(() => this.read()) }, "Add a user")),
      this.status, this.users,
      make("section.log", {}, make("h2", {}, "Operators' log"), this.log.list, this.log.more));
    this.read();
  }

  async read() {
    try {
      const found = await api.get("/api/v1/users");
      if (view !== this) return;
      this.status.hidden = true;
      dialogs.redraw(this.users, found.map((user) => this.user(user)));
    } catch (error) {
      this.say(api.refusal(error));
    }
    await this.log.read();
  }

  say(error) {
    this.status.hidden = false;
    this.status.textContent = error.message;
  }

  user(user) {
    const done = () => this.read();
    const act = (label, ask, kind) =>
      dialogs.action(label, user.name, () => ask(user, done), { kind });
    const own = user.name === me.name;
    return make("li", { "data-user": user.name },
      make("div", {},
        make("h2", {}, user.name),
        make("p.of", {}, [
          format.capital(user.role),
          user.signed_in_at ? `last signed in ${format.moment(user.signed_in_at)}` : "never signed in",
          user.pin_by === user.name ? "chose their PIN" : `PIN set by ${user.pin_by}`,
          user.choose_by && `serves until ${format.moment(user.choose_by)}`,
        ].filter(Boolean).join(" · ")),
        user.locked.map((lock) => make("p.of", {}, locked(lock)))),
      make("span.chip", { "data-state": user.enabled ? "operable" : "closed" }, user.enabled ? "Enabled" : "Disabled"),
      me.rights.includes("people")
        && make("div.acts", {},
          act("New PIN", setPin), user.locked.length ? act("Unlock", unlock, "go") : null,
          !user.enabled ? act("Enable", enable, "go") : own ? null : act("Disable", disable, "stop")));
  }
}

export const name = "People";
export const right = "users";
export const show = (root, who) => {
  me = who;
  view = new View(root);
};
export const hide = () => { view = me = null; };
export const changed = () => {};
