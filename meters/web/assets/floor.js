/* The floor page: its frame, its views, and the connection that keeps the views current. */

import { afterPress } from "./after_press.js";
import { EventStream } from "./event_stream.js";
import * as api from "./floor_api.js";
import * as dialogs from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { Inoperable } from "./floor_inoperable.js";
import { Links } from "./floor_links.js";
import * as session from "./floor_session.js";
import { SignIn } from "./floor_sign_in.js";
import { SoundButton } from "./floor_sound.js";
import { MustChoose, openOwnPin, Users } from "./floor_users.js";
import { useWaiting, Waiting } from "./floor_waiting.js";
import { Wins } from "./floor_wins.js";
import { html, render, useLayoutEffect, useRef, useState } from "./preact.js";

const VIEWS = [
  { name: "waiting", label: "Waiting", right: "waiting", View: Waiting },
  { name: "wins", label: "Wins", right: "wins", View: Wins },
  { name: "links", label: "Links", right: "wins", View: Links },
  { name: "people", label: "People", right: "users", View: Users },
];
/* The service sends a heartbeat every two seconds. After five seconds without one, the page says
   that the connection is lost. */
const SILENT_MS = 4000;
const RETRY_MAX_MS = 5000;
const TITLE = document.title;

/* The state of the event stream: `changes` counts the changes, and each loss is one too, because a
   read then shows whether the connection failed or the session ended. `heard` is null until the
   stream has connected or failed for the first time. */
const useStream = () => {
  const [stream, setStream] = useState({ changes: 0, heard: null, lostAt: 0 });
  useLayoutEffect(() => {
    const take = (next) => afterPress(() => setStream((now) => ({ ...now, ...next(now) })));
    const source = new EventStream("/api/v1/floor/stream", {
      silentMs: SILENT_MS,
      retryMaxMs: RETRY_MAX_MS,
      events: { changed: () => setStream((now) => ({ ...now, changes: now.changes + 1 })), heartbeat: () => {} },
      heard: () => take(() => ({ heard: true })),
      lost: () => take(({ changes }) => ({ heard: false, lostAt: performance.now(), changes: changes + 1 })),
    });
    const offline = () => source.reconnect();
    const online = () => source.connect();
    window.addEventListener("offline", offline);
    window.addEventListener("online", online);
    const unlisten = session.listen((hasLapsed) => { if (!hasLapsed) source.connect(); });
    return () => {
      unlisten();
      source.stop();
      window.removeEventListener("offline", offline);
      window.removeEventListener("online", online);
    };
  }, []);
  return stream;
};

const useHash = () => {
  const [hash, setHash] = useState(location.hash.slice(1));
  useLayoutEffect(() => {
    const changed = () => setHash(location.hash.slice(1));
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  return hash;
};

const Lapsed = () => session.useLapsed() && html`
  <div class="lapsed notice wait" role="status">
    <p>You can watch. To act, enter your PIN.</p>
    <button type="button" onClick=${() => dialogs.openPin()}>Enter PIN</button>
  </div>`;

const Head = ({ me, notice, children }) => html`
  <section class="top" aria-label="Signed in">
    <div class="head">
      <div class="bar">
        <p class="who"><strong>${me.name}</strong> ${me.role}</p>
        <div class="bar presses">
          <${SoundButton} />
          ${!me.choose_pin && html`<button type="button" onClick=${() => openOwnPin()}>My PIN</button>`}
          <button type="button" onClick=${() => session.signOut()}>Sign out</button>
        </div>
      </div>
      ${children}
      <${Lapsed} />
    </div>
    ${notice}
  </section>`;

const Tabs = ({ views, shown, count }) => views.length > 1 && html`
  <nav aria-label="Views">
    ${views.map(({ name, label, View }) => html`
      <a key=${name} href=${`#${name}`} aria-current=${name === shown ? "page" : null}>
        ${label}${View === Waiting && count > 0 && html`<span class="count wait">${count}</span>`}
      </a>`)}
  </nav>`;

/* If the event stream is lost or a read fails, the data on the screen can be old. */
const OldLine = ({ stream, waiting }) => {
  const isCurrent = stream.heard !== false && !waiting.error && waiting.readAt >= stream.lostAt;
  const isOld = waiting.answers > 0 && !isCurrent;
  useLayoutEffect(() => {
    document.documentElement.toggleAttribute("data-old", isOld);
    return () => document.documentElement.removeAttribute("data-old");
  }, [isOld]);
  return html`
    <p class="line bad" role="status" hidden=${!isOld}>
      ${isOld && `Reconnecting. What you see may be old: as of ${format.clockSeconds(waiting.at ?? api.now())}.`}</p>`;
};

const Floor = ({ me }) => {
  const stream = useStream();
  const waiting = useWaiting(stream.changes);
  const hash = useHash();
  const views = VIEWS.filter(({ right }) => me.rights.includes(right));
  const { name, View } = views.find((view) => view.name === hash) ?? views[0];
  const isFirst = useRef(true);
  const count = waiting.found?.length ?? 0;
  useLayoutEffect(() => {
    dialogs.closeAll();
    window.scrollTo(0, 0);
    if (!isFirst.current) document.querySelector("main h1")?.focus();
    isFirst.current = false;
  }, [name]);
  useLayoutEffect(() => {
    document.title = count ? `(${count}) ${TITLE}` : TITLE;
    return () => { document.title = TITLE; };
  }, [count]);
  return html`
    <${Head} me=${me} notice=${html`<${Inoperable} changes=${stream.changes} />`}>
      <${Tabs} views=${views} shown=${name} count=${count} />
    <//>
    <${OldLine} stream=${stream} waiting=${waiting} />
    <main key=${name} data-view=${name}><${View} me=${me} changes=${stream.changes} waiting=${waiting} /></main>
    <p class="sr" role="status" aria-live="polite">${waiting.arrivals}</p>`;
};

const App = () => {
  const [{ me, asked }, setState] = useState({ me: null, asked: null });
  useLayoutEffect(() => {
    session.on({
      begun: (user) => setState({ me: user, asked: null }),
      over: (why, name) => {
        dialogs.closeAll();
        history.replaceState(null, "", location.pathname);
        setState({ me: null, asked: { why, name: why ? name : "" } });
      },
    });
    session.resume().catch((error) => {
      const { status, message } = api.refusal(error);
      setState({ me: null, asked: status === 401 ? {} : { why: message } });
    });
  }, []);
  if (!me) return asked && html`<${SignIn} ...${asked} />`;
  return html`
    ${me.choose_pin ? html`<${Head} me=${me} /><main><${MustChoose} /></main>` : html`<${Floor} me=${me} />`}`;
};

render(html`<${App} />`, document.getElementById("floor"));
