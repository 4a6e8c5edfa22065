"use strict";
/* The floorperson's page: its frame, its views, and what holds them together. */
(() => {
  const { make } = house;
  const VIEWS = { waiting, wins, links, people };
  const TITLE = document.title;

  const root = document.getElementById("floor");
  const main = make("main", {});
  const nav = make("nav", { "aria-label": "Views" });
  const who = make("p.who", {});
  const line = make("p.line", { role: "status", hidden: true });
  const own = make("button", { type: "button", onclick: () => people.choosePin() }, "My PIN");
  const out = make("button", { type: "button", onclick: () => session.signOut() }, "Sign out");
  const presses = make("div.bar.presses", {}, sound.button, own, out);
  const head = make("section.top", { "aria-label": "Signed in" },
    make("div.bar", {}, who, presses), nav);

  let me = null;
  let shown = null;
  /* Null until the stream is heard, or not, for the first time. */
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

  /* What is on the screen may be old as soon as the service is not heard, or not read. */
  const drawLine = () => {
    const good = heard !== false && current;
    line.hidden = good || lastRead === null;
    document.documentElement.toggleAttribute("data-old", !good && lastRead !== null);
    if (good || lastRead === null) return;
    line.textContent = `Reconnecting. What you see may be old: as of ${words.clockSeconds(lastRead)}.`;
  };
  const tellLine = () => fingers.lifted(drawLine);

  const whenRead = (good) => {
    current = good;
    if (good) lastRead = service.now();
    else lastRead ??= service.now();
    tellLine();
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
        view === waiting ? make("span.count", { hidden: true }) : null)));
    nav.hidden = nav.children.length < 2;
    root.replaceChildren(head, line, main, waiting.arrivals, session.stay);
    shown = null;
    own.hidden = me.choose_pin;
    if (me.choose_pin) {
      nav.hidden = true;
      main.replaceChildren();
      people.mustChoose(main);
      main.querySelector("h1")?.focus();
      return;
    }
    route();
    waiting.begin(me, { count, read: whenRead });
    stream.start({
      changed: () => {
        waiting.refresh();
        shown?.changed();
      },
      heard: () => {
        heard = true;
        tellLine();
        waiting.refresh();
      },
      lost: () => {
        heard = false;
        current = false;
        tellLine();
      },
      ended: () => session.end("Your session has ended. Sign in again."),
    });
  };

  const over = (why, name) => {
    me = null;
    stream.stop();
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
      if (!(error instanceof service.Refused)) throw error;
      signIn(error.status === 401 ? {} : { why: error.message });
    }
  };

  window.addEventListener("hashchange", route);
  /* A page brought back from the browser's memory would show what was, to whoever is there now. */
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  session.on({ begun, over });
  start();
})();
