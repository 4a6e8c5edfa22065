/* The waiting list of a floorperson. Correction requests are first, because they stop a table;
   wins follow. The oldest of each is first. The list is kept current in every view, so a new
   entry is heard and counted in each of them. */

import { afterPress } from "./after_press.js";
import { make } from "./elements.js";
import * as api from "./floor_api.js";
import * as claims from "./floor_claims.js";
import * as corrections from "./floor_corrections.js";
import * as decisions from "./floor_decisions.js";
import * as dialogs from "./floor_dialog.js";
import * as format from "./floor_format.js";
import * as sound from "./floor_sound.js";
import { money } from "./money.js";

const LOUD_MS = 180000;
const NEW_MS = 12000;
const RETRY_MS = 2000;
const isWide = window.matchMedia("(min-width: 64rem)");

let me = null;
let rows = null;
let drawn = new Map();
let arrived = new Map();
let opened = new Map();
let list = null;
let statusText = null;
let reading = null;
let again = false;
let retry = null;
let counted = () => {};
let wasRead = () => {};

export const arrivals = make("p.sr", { role: "status", "aria-live": "polite" });

const read = async () => {
  const of = me;
  try {
    const [asks, wins] = await Promise.all(
      [api.get("/api/v1/asks"), api.get("/api/v1/claims")]);
    const found = [
      ...asks.map((ask) => ({ id: `ask ${ask.ask}`, ask })),
      ...wins.map((claim) => ({ id: claim.claim, claim })),
    ];
    if (of !== me) return;
    take(found);
    wasRead(true);
  } catch (error) {
    const { status } = api.refusal(error);
    if (of !== me || status === 401) return;
    wasRead(false);
    clearTimeout(retry);
    retry = setTimeout(() => { refresh(); }, RETRY_MS);
  }
};

/* Read the list. If this is called during a read, the list is read once more after it. */
export const refresh = () => {
  if (!me) return Promise.resolve();
  if (reading) {
    again = true;
    return reading;
  }
  reading = read().finally(() => {
    reading = null;
    if (again) {
      again = false;
      refresh();
    }
  });
  return reading;
};

const take = (found) => {
  const known = rows && new Set(rows.map((row) => row.id));
  const come = known ? found.filter((row) => !known.has(row.id)) : [];
  rows = found;
  for (const row of come) arrived.set(row.id, api.now());
  if (come.length) {
    sound.ring();
    arrivals.textContent = come.map(({ ask, claim }) => (ask
      ? `To confirm: ${corrections.place(ask)}, ${corrections.kind(ask)}.`
      : `New win: ${claims.place(claim)}, ${money(claims.sum(claim))}.`)).join(" ");
  }
  counted(rows.length);
  afterPress(draw);
};

const card = (claim) => {
  const details = claim.wagers.length
    ? make("details", { open: opened.get(claim.claim) ?? isWide.matches },
      make("summary", { "data-focus": `evidence ${claim.claim}` },
        `Wagers at lock-out: ${format.count(claim.wagers.length, "position")}`),
      claims.wagers(claim))
    : null;
  details?.addEventListener("toggle", () => opened.set(claim.claim, details.open));
  return make("li.claim", { "data-claim": claim.claim, "data-state": claims.look(claim) },
    claims.waitingHead(claim.table, `Position ${claim.position}`, claims.chip(claim), claim.at),
    make("div.what", {},
      claims.taxNotice(claim),
      make("p.amount", {}, money(claims.sum(claim))),
      make("p.share", {}, `${claims.share(claim)} · ${format.paidFrom(claim.paid_from)}`),
      claims.waitsForPay(claim)
        && make("p.by", {}, `Validated by ${claim.validated_by}, to be paid by another person`),
      claims.onlyEnvy(claim)
        && make("p.by", {}, `The table pays Envy Bonuses of ${money(claim.envy_amount)}`)),
    make("div.won", {},
      make("p.hand-name", {}, claims.handName(claim)),
      make("p.wager", {}, `${claims.itemName(claim)}, ${money(claim.wagered)}`),
      claims.hands(claim)),
    decisions.acts(claim, me, refresh),
    make("div.more", {},
      make("p.order", {}, [claims.order(claim), `asset ${claim.asset}`, claim.patron && `patron ${claim.patron}`]
        .filter(Boolean).join(" · ")),
      claims.envy(claim), details));
};

/* Draw only the rows that have changed, so no other button moves while somebody taps. */
const draw = () => {
  if (!list || !rows) return;
  const kept = new Map();
  const nodes = rows.map((row) => {
    const text = JSON.stringify(row);
    const before = drawn.get(row.id);
    const node = () => (row.ask ? corrections.card(row.ask, me, refresh) : card(row.claim));
    const now = before?.text === text ? before : { text, node: node() };
    kept.set(row.id, now);
    return now.node;
  });
  drawn = kept;
  const same = nodes.length === list.children.length
    && nodes.every((node, at) => list.children[at] === node);
  if (!same) dialogs.redraw(list, nodes);
  list.hidden = !rows.length;
  statusText.hidden = Boolean(rows.length);
  statusText.textContent = "Nothing waits.";
  tick();
};

const tick = () => {
  if (!list) return;
  const now = api.now();
  for (const node of list.querySelectorAll("[data-at]")) {
    const ms = now - Date.parse(node.dataset.at);
    node.textContent = format.span(ms);
    node.parentElement.toggleAttribute("data-long", ms >= LOUD_MS);
  }
  for (const [id, at] of arrived) {
    const fresh = now - at < NEW_MS;
    const node = drawn.get(id)?.node;
    node?.toggleAttribute("data-new", fresh);
    if (node) node.querySelector(".new").hidden = !fresh;
    if (!fresh) arrived.delete(id);
  }
};

export const show = (root) => {
  statusText = make("p.nothing", {}, "Reading the list…");
  list = make("ol.claims", { hidden: true });
  drawn = new Map();
  root.append(make("h1.sr", { tabindex: "-1" }, "Waiting for a floorperson"), statusText, list);
  draw();
};

export const hide = () => {
  list = null;
  statusText = null;
  drawn = new Map();
};

setInterval(tick, 1000);

export const name = "Waiting";
export const right = "waiting";
export const changed = () => {};

export const begin = (who, listeners) => {
  me = who;
  ({ counted, wasRead } = listeners);
  return refresh();
};

export const end = () => {
  clearTimeout(retry);
  me = rows = null;
  drawn = new Map();
  arrived = new Map();
  opened = new Map();
  arrivals.textContent = "";
  hide();
};
