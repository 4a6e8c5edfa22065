/* The connection between the page and the table's agent. Views arrive in one event stream, and
   device events are sent to one URL. If the agent sends nothing, the page says so and shows no
   value as current. */

import { EventStream } from "./event_stream.js";
import { keep } from "./expiry.js";
import { current, receive, update } from "./panel_state.js";
import { refusalText } from "./panel_words.js";
import { fetchText, reload } from "./requests.js";
import { say } from "./say.js";

const SILENT_MS = 3500;
const RETRY_MAX_MS = 2000;
const ANSWER_WITHIN_MS = 8000;
const QUEUED_MAX_MS = 1000;
const TOAST_MS = 9000;

const pageVersion = document.documentElement.dataset.version;
const pressed = new Set();
let lastAnswer = Promise.resolve();
let hangUp = null;
let toastTimer = 0;

export const toast = (text) => {
  clearTimeout(toastTimer);
  update({ toast: text });
  if (text) toastTimer = setTimeout(toast, TOAST_MS, "");
};

const failed = (code, message) => ({ ok: false, error: { code, message } });

/* An event that waited too long is not sent: the table can have changed since the touch. */
const ask = async (body, pressedAt) => {
  if (current().lost || performance.now() - pressedAt > QUEUED_MAX_MS) {
    return failed("not_sent", say("Not sent: the table did not answer in time. Look at what the panel shows, and press again."));
  }
  hangUp = new AbortController();
  try {
    const { text } = await fetchText("/api/v1/events", ANSWER_WITHIN_MS, {
      method: "POST", headers: { "Content-Type": "application/json" }, body, signal: hangUp.signal,
    });
    return JSON.parse(text);
  } catch {
    return failed("no_answer", say("No answer. Look at what the panel shows before you press again."));
  }
};

/* Send one device event. The same event is not sent again before its answer has arrived. */
export const press = (event, { quiet = [] } = {}) => {
  const body = JSON.stringify(event);
  if (pressed.has(body)) return Promise.resolve({ ok: false, again: true });
  pressed.add(body);
  const pressedAt = performance.now();
  lastAnswer = lastAnswer.then(() => ask(body, pressedAt));
  return lastAnswer.then((answer) => {
    pressed.delete(body);
    const refused = !answer.ok && !answer.waiting;
    toast(refused && !quiet.includes(answer.error.code) ? refusalText(answer.error) : "");
    return answer;
  });
};

const reached = () => { if (current().lost) update({ lost: false, refused: "" }); };

/* An event stream does not report why it ended. The agent can have refused the tablet, for example
   because the machine or the key of the table was replaced. */
const findRefusal = async () => {
  const { answer, text } = await fetchText("/api/v1/table", ANSWER_WITHIN_MS);
  if (answer.status === 401 && current().lost) update({ refused: text });
};

/* Electronic wagers have no chips, so the dealer is not asked. Another tablet may be first. */
const countNoChips = () => press({ event: "chips", count: 0 }, { quiet: ["chips_counted", "not_locked"] });

/* Connect, and keep the state of the page current. */
export const connect = () => new EventStream("/api/v1/table/stream", {
  silentMs: SILENT_MS,
  retryMaxMs: RETRY_MAX_MS,
  events: {
    page: ({ version }) => {
      if (version !== pageVersion) reload();
    },
    view: (view) => {
      reached();
      receive(view);
      keep(document.body);
      if (view.phase === "locked" && view.chips + view.chips_returned === 0 && view.can.includes("chips")) countNoChips();
    },
    heartbeat: () => {
      reached();
      keep(document.body);
    },
  },
  lost: () => {
    hangUp?.abort();
    update({ lost: true });
    if (!current().refused) findRefusal().catch(() => {});
  },
});
