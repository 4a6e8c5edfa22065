/* Requests to the server, and the session of the floor page. */

import { fetchText } from "./requests.js";
import { say } from "./say.js";

const LIMIT_MS = 8000;
const AWAY = say("The server does not answer. Try again in a moment.");
let csrf = "";

const ask = async (path, options = {}) => {
  try {
    const { answer, text } = await fetchText(path, LIMIT_MS, { redirect: "error", ...options });
    const reply = JSON.parse(text);
    return { ok: answer.ok, status: answer.status, reply, error: reply.error ?? null };
  } catch {
    return { ok: false, status: 0, reply: null, error: { message: AWAY } };
  }
};

/* The floor page stores this note while it signs out: the server can still know the session. */
const signsOut = () => {
  try {
    return localStorage.getItem("pitlink.floor.left") !== null;
  } catch {
    return false; // the browser has no storage
  }
};

/* Read the signed-in user. Return "open", "signed out", or the reason why it is unknown. */
export const readSession = async () => {
  if (signsOut()) return "signed out";
  const { ok, status, reply, error } = await ask("/api/v1/me");
  if (!ok) return status === 401 ? "signed out" : error.message;
  csrf = reply.csrf;
  return "open";
};

/* Read the round of a ledger entry of a link. */
export const readRound = (link, entry) => ask(`/api/v1/links/${encodeURIComponent(link)}/rounds/${encodeURIComponent(entry)}`);

export const settle = (round) => ask("/api/v1/settlements", {
  method: "POST",
  headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
  body: JSON.stringify(round),
});

/* Follow the session of the floor page in the same browser. When the user signs out, the entered
   round is removed from the screen. */
export const followSession = (begun) => {
  const others = new BroadcastChannel("pitlink floor");
  others.addEventListener("message", ({ data }) => {
    if (data === "over") location.reload();
    else if (data === "begun") begun();
  });
  return () => others.close();
};
