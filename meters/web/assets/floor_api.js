/* Requests to the service. Each has a time limit. Each press of a button is sent once. */

import * as format from "./floor_format.js";
import { refusalText } from "./floor_refusals.js";
import { fetchText } from "./requests.js";
import { say } from "./say.js";

const LIMIT_MS = 8000;
/* The codes with which a PIN is refused or missing, while the session goes on. */
const OF_A_PIN = ["pin_needed", "wrong_name_or_pin", "pin_expired"];
const UNKNOWN = say("No answer. The act may or may not have been done: check the list.");
const AWAY = say("The service does not answer. Try again in a moment.");

/* A request that was not carried out. `unknown` is true if it is possible that the service
   carried it out. */
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
  /* The header Date has whole seconds, so a difference of up to two seconds is ignored. */
  const found = Date.parse(answer.headers.get("Date")) - Date.now();
  if (Math.abs(found - aheadMs) > 2000) aheadMs = found;
  const reply = parsed(text);
  if (answer.ok) return reply;
  const { code = "", message = "" } = reply?.error ?? {};
  const isOver = answer.status === 401 && !OF_A_PIN.includes(code);
  if (isOver && asked && asked === csrf) ended();
  const plain = answer.status >= 500 && !message ? AWAY : refusalText(code, message) || say("The service refused.");
  throw new Refused(format.sentence(plain), {
    status: answer.status,
    code,
    retryAfterS: Number(answer.headers.get("Retry-After")) || null,
  });
};

/* Send a GET request. The page sends one by itself after each change. Such a request does not
   keep the session alive. */
export const get = (path, query = {}) => {
  const asked = new URLSearchParams(
    Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined),
  );
  return ask("GET", String(asked) ? `${path}?${asked}` : path, null, false);
};

/* Read the inoperable links: the reason of each, by its id. The service has the reasons in memory, so
   it answers even if Redis does not. If a link is inoperable, the status of the answer is 503. */
export const inoperable = async () => {
  const { text } = await send("GET", "/readyz", null, false);
  const { links } = parsed(text) ?? {};
  if (!links) throw new Refused(AWAY);
  return links;
};

/* Send a POST request. If the same request is still in progress, it is not sent a second time. */
export const post = (path, body = {}) => {
  const key = `${path} ${JSON.stringify(body)}`;
  if (!underWay.has(key)) {
    underWay.set(key, ask("POST", path, body).finally(() => underWay.delete(key)));
  }
  return underWay.get(key);
};

/* Return an error that is a refusal; throw any other error again. */
export const refusal = (error) => {
  if (!(error instanceof Refused)) throw error;
  return error;
};

/* Read the signed-in user. The service counts this request as a touch of the page. */
export const me = () => ask("GET", "/api/v1/me");

/* The service's time. The tablet's clock can be wrong. */
export const now = () => Date.now() + aheadMs;

export const begin = (token) => { csrf = token; };
export const onEnded = (listener) => { ended = listener; };
