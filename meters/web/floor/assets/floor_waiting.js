/* The waiting list of a floorperson. Correction requests are first, because they stop a table;
   wins follow. The oldest of each is first. The list is kept current in every view, so a new
   entry is heard and counted in each of them. */

import { AlertSwitches, announce } from "./floor_alerts.js";
import * as api from "./floor_api.js";
import * as claims from "./floor_claims.js";
import * as corrections from "./floor_corrections.js";
import { ClaimActs } from "./floor_decisions.js";
import * as format from "./floor_format.js";
import { useAnswer, useNow } from "./floor_reading.js";
import { money } from "./money.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";

const LOUD_MS = 180000;
const NEW_MS = 12000;
const RETRY_MS = 2000;
const isWide = window.matchMedia("(min-width: 64rem)");

const read = async () => {
  const [asks, wins] = await Promise.all([api.get("/api/v1/asks"), api.get("/api/v1/claims")]);
  return [
    ...asks.map((ask) => ({ id: `ask ${ask.ask}`, ask })),
    ...wins.map((claim) => ({ id: claim.claim, claim })),
  ];
};

const arrivalText = ({ ask, claim }) => (ask
  ? `To confirm: ${corrections.place(ask)}, ${corrections.kind(ask)}.`
  : `New win: ${claims.place(claim)}, ${money(claims.sum(claim))}.`);

/* The rows of the waiting list, the time at which each new row arrived, and the last arrivals as
   text. */
export const useWaiting = (changes) => {
  const answer = useAnswer(read, [changes]);
  const [arrivals, setArrivals] = useState("");
  const seen = useRef(null);
  const arrivedAt = useRef(new Map()).current;
  useLayoutEffect(() => {
    if (!answer.found) return;
    const come = answer.found.filter(({ id }) => seen.current && !seen.current.has(id));
    seen.current = new Set(answer.found.map(({ id }) => id));
    if (!come.length) return;
    for (const { id } of come) arrivedAt.set(id, api.now());
    const text = come.map(arrivalText).join(" ");
    setArrivals(text);
    announce(text);
  }, [answer.found]);
  useLayoutEffect(() => {
    const retry = answer.error && setTimeout(answer.read, RETRY_MS);
    return () => clearTimeout(retry);
  }, [answer.answers]);
  return { ...answer, arrivals, arrivedAt };
};

/* The head of a row: the place, the state, and how long the row has waited. */
const Head = ({ table, part, at, now, isNew, children }) => {
  const ms = now - Date.parse(at);
  return html`
    <header>
      <h2>${table} <span>${part}</span></h2>
      <p class="tags">${children}<span class="new" hidden=${!isNew}>New</span></p>
      <p class="waited" data-long=${ms >= LOUD_MS ? "" : null}>
        <span class="of">Waiting </span><span class="span" data-at=${at}>${format.span(ms)}</span></p>
    </header>`;
};

const WaitingClaim = ({ claim, me, now, isNew, done }) => html`
  <li class="claim" data-claim=${claim.claim} data-state=${claims.look(claim)} data-new=${isNew ? "" : null}>
    <${Head} table=${claim.table} part=${`Position ${claim.position}`} at=${claim.at} now=${now} isNew=${isNew}>
      <${claims.Chip} claim=${claim} />
    <//>
    <div class="what">
      <${claims.TaxNotice} claim=${claim} />
      <${claims.RequestNotice} claim=${claim} />
      <p class="amount">${money(claims.sum(claim))}</p>
      <p class="share">${`${claims.share(claim)} · ${format.paidFrom(claim.paid_from)}`}</p>
      ${claims.waitsForPay(claim)
        && html`<p class="by">${`Validated by ${claim.validated_by}, to be paid by another person`}</p>`}
      ${claims.onlyEnvy(claim)
        && html`<p class="by">${`The table pays Envy Bonuses of ${money(claim.envy_amount)}`}</p>`}
    </div>
    <div class="won">
      <p class="hand-name">${claims.handName(claim)}</p>
      <p class="wager">${`${claims.itemName(claim)}, ${money(claim.wagered)}`}</p>
      <${claims.Hands} claim=${claim} />
    </div>
    <${ClaimActs} claim=${claim} me=${me} done=${done} />
    <div class="more">
      <p class="order">${[claims.order(claim), `asset ${claim.asset}`, claim.patron && `patron ${claim.patron}`]
        .filter(Boolean).join(" · ")}</p>
      <${claims.Envy} claim=${claim} />
      ${claim.wagers.length > 0 && html`
        <details open=${isWide.matches}>
          <summary>${`Wagers at lock-out: ${format.count(claim.wagers.length, "position")}`}</summary>
          <${claims.Wagers} claim=${claim} />
        </details>`}
    </div>
  </li>`;

const WaitingCorrection = ({ ask, me, now, isNew, done }) => html`
  <li class="claim ask" data-ask=${ask.ask} data-new=${isNew ? "" : null}>
    <${Head} table=${ask.table} part=${`Round ${ask.round}`} at=${ask.at} now=${now} isNew=${isNew}>
      <span class="chip" data-state="pending">To confirm</span>
    <//>
    <div class="what">
      <p class="hand-name">${corrections.kind(ask)}</p>
      ${ask.reason && html`<p class="share">${`Reason: ${ask.reason}`}</p>`}
      <p class="order">${`Asset ${ask.asset} · the table waits`}</p>
    </div>
    <div class="won"><${corrections.Changes} ask=${ask} /></div>
    <${corrections.CorrectionActs} ask=${ask} me=${me} done=${done} />
  </li>`;

export const Waiting = ({ me, waiting: { found, arrivedAt, read: done } }) => {
  const now = useNow();
  const isNew = (id) => now - (arrivedAt.get(id) ?? -NEW_MS) < NEW_MS;
  return html`
    <h1 class="sr" tabindex="-1">Waiting for a floorperson</h1>
    <p class="nothing" hidden=${found?.length}>${found ? "Nothing waits." : "Reading the list…"}</p>
    <ol class="claims" hidden=${!found?.length}>
      ${found?.map(({ id, ask, claim }) => (ask
        ? html`<${WaitingCorrection} key=${id} ask=${ask} me=${me} now=${now} isNew=${isNew(id)} done=${done} />`
        : html`<${WaitingClaim} key=${id} claim=${claim} me=${me} now=${now} isNew=${isNew(id)} done=${done} />`))}
    </ol>
    <${AlertSwitches} />`;
};
