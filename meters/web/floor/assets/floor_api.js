/* Requests to the service: each within a time limit, and each press of a button sent once. */

import * as format from "./floor_format.js";
import { fetchText } from "./requests.js";

const LIMIT_MS = 8000;
const UNKNOWN = "No answer. It may or may not have been done: check the list.";
const AWAY = "The service does not answer. Try again in a moment.";

/* A request that was not carried out; `unknown` if it may have been. */
export class Refused extends Error {
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
  try {
    return await fetchText(path, LIMIT_MS, {
      method, headers, redirect: "error",
      body: method === "POST" ? JSON.stringify(body ?? {}) : undefined,
    });
  } catch {
    const unknown = method === "POST" && !path.endsWith("/sign-in");
    throw new Refused(unknown ? UNKNOWN : AWAY, { unknown });
  }
};

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const ask = async (method, path, body, attended = true) => {
  const asked = csrf;
  const { answer, text } = await send(method, path, body, attended);
  /* The header has whole seconds, so a smaller difference is ignored. */
  const found = Date.parse(answer.headers.get("Date")) - Date.now();
  if (Math.abs(found - aheadMs) > 2000) aheadMs = found;
  const told = parsed(text);
  if (answer.ok) return told;
  const { code = "", message = "" } = told?.error ?? {};
  if (answer.status === 401 && !path.endsWith("/sign-in") && asked && asked === csrf) ended();
  const plain = answer.status >= 500 && !message ? AWAY : message || "The service refused.";
  throw new Refused(format.sentence(plain), {
    status: answer.status,
    code,
    retryAfterS: Number(answer.headers.get("Retry-After")) || null,
  });
};

/* Read. The page does so by itself whenever something changes; that does not keep a session
   alive. */
export const get = (path, query = {}) => {
  const asked = new URLSearchParams(
    Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined),
  );
  return ask("GET", asked.size ? `${path}?${asked}` : path, null, false);
};

/* Send. A repetition of a request that is still in progress is not sent again. */
export const post = (path, body = {}) => {
  const key = `${path} ${JSON.stringify(body)}`;
  if (!underWay.has(key)) {
    underWay.set(key, ask("POST", path, body).finally(() => underWay.delete(key)));
  }
  return underWay.get(key);
};

/* Rethrow an error unless it is a refusal. */
export const refusal = (error) => {
  if (!(error instanceof Refused)) throw error;
  return error;
};

/* Read the signed-in user; it counts as a touch of the page. */
export const me = () => ask("GET", "/api/v1/me");

/* The service's time, since the tablet's clock may be wrong. */
export const now = () => Date.now() + aheadMs;

export const begin = (token) => { csrf = token; };
export const onEnded = (listener) => { ended = listener; };
