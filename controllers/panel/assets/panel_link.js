"use strict";
/* Between page and agent: what is shown comes by one stream, what is touched goes by one door.
   Nothing is shown as current that is not: without a word of the agent the page says so. */
const panel = (() => {
  const LOST_AFTER_MS = 3500;
  const LOOK_EVERY_MS = 500;
  const AGAIN_AFTER_MS = 2000;
  const ANSWER_WITHIN_MS = 8000;
  const TOAST_MS = 9000;

  const version = document.documentElement.dataset.version;
  const byId = (id) => document.getElementById(id);
  const drawers = [];
  const pressed = new Set();
  let view = null;
  let heardAt = 0;
  let openedAt = 0;
  let lost = true;
  let source = null;
  let turn = Promise.resolve();
  let toastTimer = 0;

  const now = () => performance.now();

  const draw = () => {
    if (view === null) return;
    for (const each of drawers) each(view, lost);
  };

  const setLost = (is) => {
    if (is === lost) return;
    lost = is;
    document.body.dataset.lost = String(is);
    byId("lost").hidden = !is;
    byId("main").inert = is;
    draw();
  };

  const hear = () => {
    heardAt = now();
    setLost(false);
  };

  const open = () => {
    if (source !== null) source.close();
    openedAt = now();
    source = new EventSource("/api/v1/table/stream");
    source.addEventListener("page", (event) => {
      if (JSON.parse(event.data).version !== version) location.reload();
    });
    source.addEventListener("view", (event) => {
      view = JSON.parse(event.data);
      hear();
      draw();
    });
    source.addEventListener("beat", hear);
    source.addEventListener("error", () => setLost(true));
  };

  const watch = () => {
    if (now() - heardAt > LOST_AFTER_MS) setLost(true);
    if (lost) byId("lost").hidden = false;
    if (lost && now() - openedAt > AGAIN_AFTER_MS) open();
  };

  const toast = (text) => {
    const where = byId("toast");
    clearTimeout(toastTimer);
    where.textContent = text;
    where.hidden = !text;
    if (text) toastTimer = setTimeout(() => { where.hidden = true; }, TOAST_MS);
  };

  const ask = async (body) => {
    try {
      const answer = await fetch("/api/v1/events", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      return await answer.json();
    } catch {
      const message = "No answer. Look at what the panel shows before you press again.";
      return { ok: false, error: { code: "no_answer", message } };
    }
  };

  /* Send one device event. The same one is not sent again while its answer is on the way. */
  const press = (event, { quiet = [] } = {}) => {
    const body = JSON.stringify(event);
    if (pressed.has(body)) return Promise.resolve({ ok: false, again: true });
    pressed.add(body);
    const answered = turn.then(() => ask(body));
    turn = answered;
    return answered.then((answer) => {
      pressed.delete(body);
      const refused = !answer.ok && !answer.waiting;
      const told = refused && !quiet.includes(answer.error.code);
      toast(told ? answer.error.message : "");
      return answer;
    });
  };

  const start = () => {
    byId("toast").addEventListener("click", () => toast(""));
    open();
    setInterval(watch, LOOK_EVERY_MS);
  };

  /* Draw something anew, and leave the focus where it was. */
  const replace = (where, ...content) => {
    const focused = where.contains(document.activeElement) ? document.activeElement.id : "";
    where.replaceChildren(...content.flat().filter((each) => each !== null && each !== undefined));
    if (focused) byId(focused)?.focus({ preventScroll: true });
  };

  return { byId, draw, drawers, press, replace, start, toast, view: () => view };
})();
