"use strict";
/* Asks the service, and sends it what people decide: each request within a bound, each press of a
   button once. */
const service = (() => {
  const BOUND_MS = 8000;
  const UNKNOWN = "No answer. It may or may not have been done: look at the list.";
  const AWAY = "The service does not answer. Try again in a moment.";

  /* Something that was not done, or of which nobody knows whether it was: then `unknown`. */
  class Refused extends Error {
    constructor(message, { status = 0, code = "", unknown = false, retryAfterS = null } = {}) {
      super(message);
      Object.assign(this, { status, code, unknown, retryAfterS });
    }
  }

  let csrf = "";
  let aheadMs = 0;
  let ended = () => {};
  const underWay = new Map();

  const send = async (method, path, body, attended) => {
    const headers = { Accept: "application/json" };
    if (!attended) headers["X-Unattended"] = "1";
    if (method === "POST") {
      headers["Content-Type"] = "application/json";
      headers["X-CSRF-Token"] = csrf;
    }
    const bound = new AbortController();
    const timer = setTimeout(() => bound.abort(), BOUND_MS);
    try {
      const answer = await fetch(path, {
        method, headers, signal: bound.signal, cache: "no-store", redirect: "error",
        body: method === "POST" ? JSON.stringify(body ?? {}) : undefined,
      });
      return { answer, text: await answer.text() };
    } catch {
      const unknown = method === "POST" && !path.endsWith("/sign-in");
      throw new Refused(unknown ? UNKNOWN : AWAY, { unknown });
    } finally {
      clearTimeout(timer);
    }
  };

  const ask = async (method, path, body, attended = true) => {
    const asked = csrf;
    const { answer, text } = await send(method, path, body, attended);
    /* Told in whole seconds: what differs by less is no other time. */
    const found = Date.parse(answer.headers.get("Date")) - Date.now();
    if (Math.abs(found - aheadMs) > 2000) aheadMs = found;
    let told = null;
    try {
      told = text ? JSON.parse(text) : null;
    } catch {
      told = null;
    }
    if (answer.ok) return told;
    const { code = "", message = "" } = told?.error ?? {};
    if (answer.status === 401 && !path.endsWith("/sign-in") && asked && asked === csrf) ended();
    const plain = answer.status >= 500 && !message ? AWAY : message || "The service refused.";
    throw new Refused(words.sentence(plain), {
      status: answer.status,
      code,
      retryAfterS: Number(answer.headers.get("Retry-After")) || null,
    });
  };

  /* The page reads by itself as often as something changes: that keeps no session alive. */
  const get = (path, query = {}) => {
    const asked = new URLSearchParams(
      Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined),
    );
    return ask("GET", asked.size ? `${path}?${asked}` : path, null, false);
  };

  /* The same act, pressed again while it is under way, is the one that is under way. */
  const post = (path, body = {}) => {
    const key = `${path} ${JSON.stringify(body)}`;
    if (!underWay.has(key)) {
      underWay.set(key, ask("POST", path, body).finally(() => underWay.delete(key)));
    }
    return underWay.get(key);
  };

  return {
    Refused, get, post,
    /* Who is signed in; that he is at the page counts as an act. */
    me: () => ask("GET", "/api/v1/me"),
    /* The service's own time: the tablet's clock may be wrong. */
    now: () => Date.now() + aheadMs,
    begin: (token) => { csrf = token; },
    onEnded: (listener) => { ended = listener; },
  };
})();
