/* The floor page: its frame, its views, and the connection that keeps the views current. */

import { afterPress } from "./after_press.js";
import { make } from "./elements.js";
import { EventStream } from "./event_stream.js";
import * as api from "./floor_api.js";
import * as dialogs from "./floor_dialog.js";
import * as format from "./floor_format.js";
import * as links from "./floor_links.js";
import * as session from "./floor_session.js";
import * as sound from "./floor_sound.js";
import * as users from "./floor_users.js";
import * as waiting from "./floor_waiting.js";
import * as wins from "./floor_wins.js";

const VIEWS = { waiting, wins, links, people: users };
/* The service sends a heartbeat every two seconds. After five seconds without one, the page says
   that the connection is lost. */
const SILENT_MS = 4000;
const RETRY_MAX_MS = 5000;
const TITLE = document.title;

const root = document.getElementById("floor");
const main = make("main", {});
const nav = make("nav", { "aria-label": "Views" });
const who = make("p.who", {});
const line = make("p.line.bad", { role: "status", hidden: true });
const own = make("button", { type: "button", onclick: () => users.choosePin() }, "My PIN");
const out = make("button", { type: "button", onclick: () => session.signOut() }, "Sign out");
const presses = make("div.bar.presses", {}, sound.button, own, out);
const head = make("section.top", { "aria-label": "Signed in" },
  make("div.bar", {}, who, presses), nav);

let me = null;
let shown = null;
let stream = null;
/* Null until the event stream has connected or failed for the first time. */
let heard = null;
let current = false;
let lastRead = null;

const count = (number) => {
  document.title = number ? `(${number}) ${TITLE}` : TITLE;
  const badge = nav.querySelector(".count");
  if (!badge) return;
  badge.hidden = !number;
  badge.textContent = String(number);
};

/* If the event stream is lost or a read fails, the data on the screen can be old. */
const drawLine = () => {
  const good = heard !== false && current;
  line.hidden = good || lastRead === null;
  document.documentElement.toggleAttribute("data-old", !good && lastRead !== null);
  if (good || lastRead === null) return;
  line.textContent = `Reconnecting. What you see may be old: as of ${format.clockSeconds(lastRead)}.`;
};
const wasRead = (good) => {
  current = good;
  if (good) lastRead = api.now();
  else lastRead ??= api.now();
  afterPress(drawLine);
};

const allowed = () =>
  Object.entries(VIEWS).filter(([, view]) => me.rights.includes(view.right));

const route = () => {
  if (!me || me.choose_pin) return;
  const asked = location.hash.slice(1);
  const [name, view] = allowed().find(([each]) => each === asked) ?? allowed()[0];
  if (shown === view) return;
  const moved = shown !== null;
  dialogs.closeAll();
  shown?.hide();
  shown = view;
  main.replaceChildren();
  main.dataset.view = name;
  for (const tab of nav.querySelectorAll("a")) {
    if (tab.hash === `#${name}`) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  view.show(main, me);
  window.scrollTo(0, 0);
  if (moved) main.querySelector("h1")?.focus();
};

const begun = (found) => {
  me = found;
  heard = lastRead = null;
  current = false;
  who.replaceChildren(make("strong", {}, me.name), ` ${me.role}`);
  nav.replaceChildren(...allowed().map(([name, view]) =>
    make("a", { href: `#${name}` }, view.name,
      view === waiting ? make("span.count.wait", { hidden: true }) : null)));
  nav.hidden = nav.children.length < 2;
  root.replaceChildren(head, line, main, waiting.arrivals, session.stay);
  shown = null;
  own.hidden = me.choose_pin;
  if (me.choose_pin) {
    nav.hidden = true;
    main.replaceChildren();
    users.mustChoose(main);
    main.querySelector("h1")?.focus();
    return;
  }
  route();
  waiting.begin(me, { counted: count, wasRead });
  stream = new EventStream("/api/v1/floor/stream", {
    silentMs: SILENT_MS,
    retryMaxMs: RETRY_MAX_MS,
    events: {
      changed: () => {
        waiting.refresh();
        shown?.changed();
      },
      heartbeat: () => {},
    },
    heard: () => {
      heard = true;
      afterPress(drawLine);
    },
    /* The stream is lost if the connection fails, and also if the session has ended. A read shows
       which of the two happened. */
    lost: () => {
      heard = false;
      current = false;
      afterPress(drawLine);
      waiting.refresh();
    },
  });
};

const over = (why, name) => {
  me = null;
  stream?.stop();
  stream = null;
  waiting.end();
  shown?.hide();
  shown = null;
  dialogs.closeAll();
  main.replaceChildren();
  nav.replaceChildren();
  who.replaceChildren();
  line.textContent = "";
  document.documentElement.removeAttribute("data-old");
  document.title = TITLE;
  history.replaceState(null, "", location.pathname);
  signIn({ why, name: why ? name : "" });
};

const signIn = (asked) => {
  const place = make("main.door", {});
  root.replaceChildren(place);
  session.showSignIn(place, asked);
};

const start = async () => {
  try {
    await session.resume();
  } catch (error) {
    const { status, message } = api.refusal(error);
    signIn(status === 401 ? {} : { why: message });
  }
};

window.addEventListener("hashchange", route);
window.addEventListener("offline", () => stream?.reconnect());
window.addEventListener("online", () => stream?.connect());
session.on({ begun, over });
start();
