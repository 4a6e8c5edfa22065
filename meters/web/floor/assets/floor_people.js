"use strict";
/* The users, and the log of who signed in and who changed them. */
const people = (() => {
  const { make } = house;
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

  /* Two fields for a PIN that is typed unseen; left empty, one is generated. */
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

  const SERVES = "It serves for 24 hours, to choose a PIN of one's own and for nothing else.";

  /* A PIN that was generated is shown this once. */
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
    const name = make("input", { type: "text", name: "name", maxlength: "40", autocapitalize: "words" });
    const pin = newPin();
    dialogs.open({
      title: "Add a user",
      content: [
        dialogs.field("Name", name),
        dialogs.choice("Role", "role", ROLES.map((role) => [role, words.capital(role)]), { short: true }),
        pin.nodes, make("p", {}, SERVES),
      ],
      confirm: "Add",
      act: (form) => {
        if (name.value.trim().length < 2) throw dialogs.wrong("A name is needed.", name);
        const role = form.elements.role.value;
        if (!role) throw dialogs.wrong("A role is needed.", form.elements.role[0]);
        return service.post("/api/v1/users", { name: name.value.trim(), role, pin: pin.value() });
      },
      done: thenShow(done),
    });
  };

  const disable = (user, done) => dialogs.open({
    title: `Disable ${user.name}?`,
    content: [make("p", {}, "He can sign in no more, and where he is signed in now, he is signed out.")],
    confirm: "Disable",
    kind: "stop",
    act: () => service.post(path(user, "disable")),
    done,
  });

  const enable = (user, done) => dialogs.open({
    title: `Enable ${user.name}?`,
    content: [make("p", {}, `He can sign in again, as ${user.role}.`)],
    confirm: "Enable",
    act: () => service.post(path(user, "enable")),
    done,
  });

  const unlock = (user, done) => dialogs.open({
    title: `Unlock ${user.name}?`,
    content: [make("p", {}, "They can try to sign in again at once.")],
    confirm: "Unlock",
    act: () => service.post(path(user, "unlock")),
    done,
  });

  const LOCKED = {
    name: (lock) => `at ${lock.address || "the service's machine"}`,
    address: (lock) => `with everybody at ${lock.address || "the service's machine"}`,
    new_devices: () => "on devices not used before",
  };
  const locked = (lock) => `Locked out ${LOCKED[lock.where](lock)} until ${words.moment(lock.until)}`;

  const setPin = (user, done) => {
    const pin = newPin();
    dialogs.open({
      title: `New PIN for ${user.name}`,
      content: [make("p", {}, `Where they are signed in now, they are signed out. ${SERVES}`), pin.nodes],
      confirm: "Set the PIN",
      act: () => service.post(path(user, "pin"), { pin: pin.value() }),
      done: thenShow(done),
    });
  };

  /* One's own, which nobody else knows: whoever set the one before could sign in with it. */
  const choosePin = (done = () => view?.readLog()) => {
    const old = pinField("old");
    old.autocomplete = "current-password";
    const pin = newPin("New PIN", "New PIN again", false);
    const acts = make("ol.entries", {});
    const listed = make("details", { hidden: true },
      make("summary", {}, "What was done with PINs and accounts, to you or by you"), acts);
    service.get("/api/v1/me/acts").then((found) => {
      acts.replaceChildren(...found.map(entry));
      listed.hidden = !found.length;
    }, () => {});
    dialogs.open({
      title: "My PIN",
      content: [
        make("p", {}, "Choose a PIN that only you know. Wherever else you are signed in, you are signed out."),
        dialogs.field("PIN you have", old), pin.nodes, listed,
      ],
      confirm: "Change my PIN",
      act: () => {
        if (!old.value) throw dialogs.wrong("The PIN that you have is needed.", old);
        return service.post("/api/v1/me/pin", { pin: old.value, new_pin: pin.value() });
      },
      done,
    });
  };

  /* What somebody sees whose PIN was set by another: nothing else can be done before. */
  const mustChoose = (root) => {
    const chosen = (answer) => { if (answer !== undefined) location.reload(); };
    root.append(
      make("h1", { tabindex: "-1" }, "Choose a PIN"),
      make("p.notice.wait", { role: "status" },
        "Somebody else set your PIN. Choose one that only you know: until then you can do nothing else."),
      make("button.go", { type: "button", onclick: () => choosePin(chosen) }, "Choose a PIN"));
  };

  const entry = (row) => links.entry(
    row.at, DONE[row.what] ?? words.capital(words.plain(row.what)), row.by,
    [row.about !== row.by && row.about, row.client].filter(Boolean).join(" · "));

  class View {
    constructor(root) {
      this.told = make("p.nothing", { role: "status" }, "Reading…");
      this.users = make("ul.users", {});
      this.log = make("ol.entries", {});
      this.more = make("button", { type: "button", hidden: true, onclick: () => this.readLog(this.last) }, "Earlier");
      root.append(
        make("header.view", {}, make("h1", { tabindex: "-1" }, "People"),
          me.rights.includes("people")
            ? make("button.go", { type: "button", "data-focus": "add user", onclick: () => add(() => this.read()) }, "Add a user")
            : null),
        this.told, this.users,
        make("section.log", {}, make("h2", {}, "Operators' log"), this.log, this.more));
      this.read();
    }

    async read() {
      try {
        const found = await service.get("/api/v1/users");
        if (view !== this) return;
        this.told.hidden = true;
        const had = document.activeElement;
        this.users.replaceChildren(...found.map((user) => this.user(user)));
        if (had && !had.isConnected && had.dataset?.focus) dialogs.refocus(had);
      } catch (error) {
        this.say(error);
      }
      await this.readLog();
    }

    async readLog(before = null) {
      try {
        const found = await service.get("/api/v1/log", { before, limit: LIMIT });
        if (before === null) this.log.replaceChildren();
        this.log.append(...found.map(entry));
        this.last = found.at(-1)?.entry ?? null;
        this.more.hidden = found.length < LIMIT;
      } catch (error) {
        this.say(error);
      }
    }

    say(error) {
      if (!(error instanceof service.Refused)) throw error;
      this.told.hidden = false;
      this.told.textContent = error.message;
    }

    user(user) {
      const done = () => this.read();
      const act = (label, press, kind) =>
        make(kind ? `button.${kind}` : "button", {
          type: "button", "aria-label": `${label}: ${user.name}`,
          "data-focus": `${label} ${user.name}`, onclick: () => press(user, done),
        }, label);
      const own = user.name === me.name;
      return make("li", { "data-user": user.name },
        make("div", {},
          make("h2", {}, user.name),
          make("p.of", {}, [
            words.capital(user.role),
            user.signed_in_at ? `last signed in ${words.moment(user.signed_in_at)}` : "never signed in",
            user.pin_by === user.name ? "chose their PIN" : `PIN set by ${user.pin_by}`,
            user.choose_by && `serves until ${words.moment(user.choose_by)}`,
          ].filter(Boolean).join(" · ")),
          user.locked.map((lock) => make("p.of", {}, locked(lock)))),
        make("span.chip", { "data-state": user.enabled ? "operable" : "closed" }, user.enabled ? "Enabled" : "Disabled"),
        me.rights.includes("people")
          ? make("div.acts", {},
            act("New PIN", setPin), user.locked.length ? act("Unlock", unlock, "go") : null,
            !user.enabled ? act("Enable", enable, "go") : own ? null : act("Disable", disable, "stop"))
          : null);
    }
  }

  return {
    name: "People", right: "users", choosePin, mustChoose,
    show: (root, who) => {
      me = who;
      view = new View(root);
    },
    hide: () => { view = me = null; },
    changed: () => {},
  };
})();
