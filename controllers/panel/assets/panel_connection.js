/* The connection between the page and the table's agent. Views arrive in one event stream, and
   device events are sent to one URL. If the agent sends nothing, the page says so and shows no
   value as current. */

import { afterPress } from "./after_press.js";
import { EventStream } from "./event_stream.js";
import { byId } from "./panel_drawing.js";
import { guarded } from "./panel_guard.js";
import { fetchText, reload } from "./requests.js";

const SILENT_MS = 3500;
const RETRY_MAX_MS = 2000;
const ANSWER_WITHIN_MS = 8000;
const QUEUED_MAX_MS = 1000;
const TOAST_MS = 9000;

const pageVersion = document.documentElement.dataset.version;
const pressed = new Set();
let drawers = [];
let view = null;
let lost = true;
let lastAnswer = Promise.resolve();
let hangUp = null;
let toastTimer = 0;

export const draw = () => {
  if (view === null) return;
  guarded(() => { for (const each of drawers) each(view, lost); });
};

const setLost = (is) => {
  byId("lost").hidden = !is;
  if (is === lost) return;
  lost = is;
  document.body.dataset.lost = String(is);
  byId("main").inert = is;
  if (is) hangUp?.abort();
  draw();
};

export const toast = (text) => {
  const where = byId("toast");
  clearTimeout(toastTimer);
  where.textContent = text;
  where.hidden = !text;
  if (text) toastTimer = setTimeout(() => { where.hidden = true; }, TOAST_MS);
};

/* Remove a toast if the page itself now shows the same text. */
export const untoast = (text) => { if (byId("toast").textContent === text) toast(""); };

const failed = (code, message) => ({ ok: false, error: { code, message } });

/* An event that waited too long is not sent, because the table can have changed since the touch. */
const ask = async (body, pressedAt) => {
  if (lost || performance.now() - pressedAt > QUEUED_MAX_MS) {
    return failed("not_sent", "Not sent: the table did not answer in time. "
      + "Look at what the panel shows, and press again.");
  }
  hangUp = new AbortController();
  try {
    const { text } = await fetchText("/api/v1/events", ANSWER_WITHIN_MS, {
      method: "POST", headers: { "Content-Type": "application/json" }, body, signal: hangUp.signal,
    });
    return JSON.parse(text);
  } catch {
    return failed("no_answer", "No answer. Look at what the panel shows before you press again.");
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
    const shown = refused && !quiet.includes(answer.error.code)
      && answer.error.message !== view?.refusal?.message;
    toast(shown ? answer.error.message : "");
    return answer;
  });
};

/* Connect, and draw each received view with the functions in `parts`. */
export const start = (parts) => {
  drawers = parts;
  byId("toast").addEventListener("click", () => toast(""));
  return new EventStream("/api/v1/table/stream", {
    silentMs: SILENT_MS,
    retryMaxMs: RETRY_MAX_MS,
    events: {
      page: ({ version }) => {
        if (version !== pageVersion) reload();
      },
      view: (found) => {
        view = found;
        setLost(false);
        afterPress(draw);
      },
      heartbeat: () => setLost(false),
    },
    lost: () => setLost(true),
  });
};
