"use strict";
/* Between page and agent: what is shown comes by one stream, what is touched goes by one door.
   Nothing is shown as current that is not: without a word of the agent the page says so. */
const panel = (() => {
  const LOST_AFTER_MS = 3500;
  const LOOK_EVERY_MS = 500;
  const AGAIN_AFTER_MS = 2000;
  const ANSWER_WITHIN_MS = 8000;
  const QUEUED_MAX_MS = 1000;
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
  let hangUp = null;
  let toastTimer = 0;

  const now = () => performance.now();

  const draw = () => {
    if (view === null) return;
    panel.moving(() => { for (const each of drawers) each(view, lost); });
  };

  const setLost = (is) => {
    if (is === lost) return;
    lost = is;
    document.body.dataset.lost = String(is);
    byId("lost").hidden = !is;
    byId("main").inert = is;
    if (is) hangUp?.abort();
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
      fingers.lifted(draw);
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

  /* What the page itself tells now need not hang over it as well. */
  const hush = (text) => { if (byId("toast").textContent === text) toast(""); };

  const failed = (code, message) => ({ ok: false, error: { code, message } });

  /* What waited too long to be sent was meant for a table that may no longer be so. */
  const ask = async (body, touchedAt) => {
    if (lost || now() - touchedAt > QUEUED_MAX_MS) {
      return failed("not_sent", "Not sent: the table did not answer in time. "
        + "Look at what the panel shows, and press again.");
    }
    const hanging = new AbortController();
    const timer = setTimeout(() => hanging.abort(), ANSWER_WITHIN_MS);
    hangUp = hanging;
    try {
      const answer = await fetch("/api/v1/events", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
        signal: hanging.signal,
      });
      return await answer.json();
    } catch {
      return failed("no_answer", "No answer. Look at what the panel shows before you press again.");
    } finally {
      clearTimeout(timer);
    }
  };

  /* Send one device event. The same one is not sent again while its answer is on the way. */
  const press = (event, { quiet = [] } = {}) => {
    const body = JSON.stringify(event);
    if (pressed.has(body)) return Promise.resolve({ ok: false, again: true });
    pressed.add(body);
    const touchedAt = now();
    const answered = turn.then(() => ask(body, touchedAt));
    turn = answered;
    return answered.then((answer) => {
      pressed.delete(body);
      const refused = !answer.ok && !answer.waiting;
      const told = refused && !quiet.includes(answer.error.code)
        && answer.error.message !== view?.refusal?.message;
      toast(told ? answer.error.message : "");
      return answer;
    });
  };

  const start = () => {
    byId("toast").addEventListener("click", () => toast(""));
    open();
    setInterval(watch, LOOK_EVERY_MS);
  };

  /* Draw something anew, and leave the focus where it was; where that is gone, at what comes next:
     a field only for who used one, since a tablet then shows its keys. */
  const replace = (where, ...content) => {
    const active = where.contains(document.activeElement) ? document.activeElement : null;
    where.replaceChildren(...content.flat().filter((each) => each !== null && each !== undefined));
    if (active === null) return;
    const same = active === where ? null : byId(active.id);
    const field = active.matches("input") ? where.querySelector("input") : null;
    const next = same ?? field ?? where.querySelector("[data-next]:enabled") ?? where;
    if (next === where) where.tabIndex = -1;
    next.focus({ preventScroll: true });
  };

  return { byId, draw, drawers, hush, press, replace, start, toast, view: () => view };
})();
