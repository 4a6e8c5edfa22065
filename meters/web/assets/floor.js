/* The floor page: its views, and the connection that keeps them current. */

import { afterPress } from "./after_press.js";
import { EventStream } from "./event_stream.js";
import * as api from "./floor_api.js";
import * as dialogs from "./floor_dialog.js";
import { Find } from "./floor_find.js";
import { Bars, Head, Nav, useSize } from "./floor_frame.js";
import { History } from "./floor_history.js";
import { Inbox, useInbox } from "./floor_inbox.js";
import { Links } from "./floor_links.js";
import { FloorView, useFloor } from "./floor_map.js";
import { Receipts, clear } from "./floor_receipts.js";
import { Reports } from "./floor_reports.js";
import { hrefOf, useRoute } from "./floor_route.js";
import * as session from "./floor_session.js";
import { SignIn } from "./floor_sign_in.js";
import { MustChoose, Users } from "./floor_users.js";
import { Wins } from "./floor_wins.js";
import { html, render, useLayoutEffect, useRef, useState } from "./preact.js";
import { say } from "./say.js";

/* The views in their order, each for people with a right. A view gets `me`, `changes` (a number
   that rises when something on the floor changes), `floor` (its tables, and the open day), `inbox`,
   `size` of the screen, and `of`: what follows its name in the address, such as the id of a claim. */
const VIEWS = [
  { name: "inbox", label: say("Inbox"), icon: "inbox", right: "waiting", View: Inbox },
  { name: "floor", label: say("Floor"), icon: "floor", right: "wins", View: FloorView },
  { name: "wins", label: say("Wins"), icon: "handpay", right: "wins", View: Wins },
  { name: "meters", label: say("Meters"), icon: "gauge", right: "wins", View: Links },
  { name: "history", label: say("History"), icon: "chart", right: "wins", View: History },
  { name: "reports", label: say("Reports"), icon: "doc", right: "wins", View: Reports },
  { name: "find", label: say("Find"), icon: "search", right: "wins", View: Find },
  { name: "people", label: say("People"), icon: "one", right: "users", View: Users },
];
/* The service sends a heartbeat every two seconds. After about four seconds without one, the page says
   that the connection is lost. */
const SILENT_MS = 4000;
const RETRY_MAX_MS = 5000;
/* The words that the page shows before its scripts run. */
const put = (where, text) => { for (const element of document.querySelectorAll(where)) element.textContent = text; };
put("header .demonstration", say("Demonstration: simulated play, no real money"));
const TITLE = `${say("Floor")} · ${document.querySelector("header .facility").textContent}`;
document.title = TITLE;

/* The state of the event stream. `changes` counts the changes, and also each loss of the connection:
   the data is read again, which shows whether the connection failed or the session ended. `heard` is
   null until the stream has connected or failed for the first time. */
const useStream = () => {
  const [stream, setStream] = useState({ changes: 0, moved: 0, heard: null, lostAt: 0 });
  useLayoutEffect(() => {
    const take = (next) => afterPress(() => setStream((now) => ({ ...now, ...next(now) })));
    const source = new EventStream("/api/v1/floor/stream", {
      silentMs: SILENT_MS,
      retryMaxMs: RETRY_MAX_MS,
      events: {
        changed: () => setStream((now) => ({ ...now, changes: now.changes + 1 })),
        tables: () => setStream((now) => ({ ...now, moved: now.moved + 1 })),
        heartbeat: () => {},
      },
      heard: () => take(() => ({ heard: true })),
      lost: () => session.isRenewing() || take(({ changes }) => ({ heard: false, lostAt: performance.now(), changes: changes + 1 })),
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

/* If the event stream is lost or a read fails, the data on the screen can be old. */
const isOldNow = (stream, { answers, error, readAt }) =>
  answers > 0 && (stream.heard === false || Boolean(error) || readAt < stream.lostAt);

const Floor = ({ me }) => {
  const stream = useStream();
  const inbox = useInbox(me, stream.changes);
  const floor = useFloor(me, stream.changes, stream.moved);
  const route = useRoute();
  const size = useSize();
  const views = VIEWS.filter(({ right }) => me.rights.includes(right));
  const { name, label, View } = views.find((view) => view.name === route.name) ?? views[0];
  const isFirst = useRef(true);
  const isOld = isOldNow(stream, inbox);
  const count = inbox.rows?.length ?? 0;
  useLayoutEffect(() => {
    dialogs.closeAll();
    if (!isFirst.current) document.querySelector("main h1")?.focus();
    isFirst.current = false;
  }, [name]);
  useLayoutEffect(() => {
    document.title = count ? `(${count}) ${TITLE}` : TITLE;
    return () => { document.title = TITLE; };
  }, [count]);
  /* A receipt that is still shown belongs to another win. */
  useLayoutEffect(() => { if (route.of) clear(); }, [route.of]);
  const wasOld = useRef(false);
  useLayoutEffect(() => {
    if (wasOld.current && !isOld) dispatchEvent(new Event("current"));
    wasOld.current = isOld;
    document.documentElement.toggleAttribute("data-old", isOld);
    return () => document.documentElement.removeAttribute("data-old");
  }, [isOld]);
  return html`
    <div class="app">
      <${Head} me=${me} label=${label} isInbox=${name === "inbox"} inbox=${inbox} floor=${floor} isLive=${stream.heard && !isOld} size=${size} />
      <${Nav} views=${views} shown=${name} count=${count} size=${size} />
      <${Bars} changes=${stream.changes} isOld=${isOld} at=${inbox.at} />
      <main key=${name} data-view=${name}>
        <${View} me=${me} changes=${stream.changes} floor=${floor} inbox=${inbox} size=${size} of=${name === route.name ? route.of : ""} />
      </main>
      <${Receipts} />
    </div>
    <p class="sr" role="status" aria-live="polite">${inbox.arrivals}</p>`;
};

const App = () => {
  const [{ me, asked }, setState] = useState({ me: null, asked: null });
  useLayoutEffect(() => {
    session.on({
      begun: (user) => setState({ me: user, asked: null }),
      over: (why, name) => {
        dialogs.closeAll();
        clear();
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
  if (me.choose_pin) {
    return html`<div class="app"><${Head} me=${me} label="" /><${Bars} /><main><${MustChoose} /></main></div>`;
  }
  return html`<${Floor} me=${me} />`;
};

/* The address of a round that somebody sent, such as /floor?table=TCP-03&round=R9. */
if (location.search) {
  const { link, entry } = Object.fromEntries(new URLSearchParams(location.search));
  history.replaceState(null, "", location.pathname + hrefOf("find", link && entry ? `${link}/${entry}` : location.search));
}

render(html`<${App} />`, document.getElementById("floor"));
