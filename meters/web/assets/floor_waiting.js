/* The waiting list of a floorperson. Correction requests are first, because they stop a table. The
   wins of each round follow, the round with the largest win first. The list is kept current in every
   view, so a new entry is heard and counted in each of them. */

import { AlertSwitches, announce } from "./floor_alerts.js";
import * as api from "./floor_api.js";
import * as claims from "./floor_claims.js";
import * as corrections from "./floor_corrections.js";
import { Action } from "./floor_dialog.js";
import { ClaimActs, nextStep } from "./floor_decisions.js";
import * as format from "./floor_format.js";
import { useCurrent, useNow } from "./floor_reading.js";
import { RoundHead, matches, waitingRounds } from "./floor_rounds.js";
import { money } from "./money.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";

const LOUD_MS = 180000;
const NEW_MS = 12000;
/* A longer list has a search, and each win that arrives is one line until it is opened. */
const FEW = 4;
const ROW_HEAD = "h2 > button, h2[tabindex]";
const STATES = ["To validate", "Rejection to confirm", "Reopening to confirm", "To be paid", "Envy to be paid"];
const isWide = window.matchMedia("(min-width: 64rem)");

const read = async () => {
  const [asks, wins] = await Promise.all([api.get("/api/v1/asks"), api.get("/api/v1/claims")]);
  return [
    ...asks.map((ask) => ({ id: `ask ${ask.ask}`, ask })),
    ...wins.map((claim) => ({ id: claim.claim, claim })),
  ];
};

/* A request about a win arrives after the win, and is announced too. */
const eventOf = ({ id, claim }) => (claim?.request ? `${id} ${claim.request.entry}` : id);
const arrivalText = ({ ask, claim }) => {
  if (ask) return `To confirm: ${corrections.place(ask)}, ${corrections.kind(ask)}.`;
  const win = `${claims.place(claim)}, ${money(claims.sum(claim))}`;
  return claim.request ? `${claims.stateText(claim)}: ${win}.` : `New win: ${win}.`;
};

/* The rows of the waiting list, the time at which each new row arrived, and the last arrivals as
   text. */
export const useWaiting = (changes) => {
  const answer = useCurrent(read, [changes]);
  const [arrivals, setArrivals] = useState("");
  const seen = useRef(null);
  const arrivedAt = useRef(new Map()).current;
  useLayoutEffect(() => {
    if (!answer.found) return;
    const come = answer.found.filter((row) => seen.current && !seen.current.has(eventOf(row)));
    seen.current = new Set(answer.found.flatMap((row) => [row.id, eventOf(row)]));
    if (!come.length) return;
    for (const { id } of come) arrivedAt.set(id, api.now());
    const text = come.map(arrivalText).join(" ");
    setArrivals(text);
    announce(text);
  }, [answer.found]);
  return { ...answer, arrivals, arrivedAt };
};

const Waited = ({ at, now }) => {
  const ms = now - Date.parse(at);
  return html`
    <span class="waited" data-long=${ms >= LOUD_MS ? "" : null}>
      <span class="of">Waiting </span><span class="span" data-at=${at}>${format.span(ms)}</span></span>`;
};

/* The head of a row: the place, the state, and how long the row has waited. */
const Head = ({ table, part, at, now, isNew, children }) => html`
  <header>
    <h2 tabindex="-1">${table} <span>${part}</span></h2>
    <p class="tags">${children}<span class="new" hidden=${!isNew}>New</span></p>
    <${Waited} at=${at} now=${now} />
  </header>`;

/* A win in one line, with the button for its next step. */
const ClosedClaim = ({ claim, me, now, isNew, done, open }) => {
  const [kind, label, act, cents, off] = nextStep(claim, me) ?? [];
  const envy = claim.envy_amount > 0 && !claim.only_envy && ["pending", "validated"].includes(claim.envy_state);
  return html`
    <h2><button type="button" class="line-open" aria-expanded="false" onClick=${open}>
      <span class="place">${`${claim.table} · P${claim.position}`}</span>
      <span class="sum">${money(claims.sum(claim))}</span>
      <span class="what-won">${`${claims.handName(claim)} · ${claims.itemName(claim)}`}
        ${envy && html`<span class="envy-sum">${` + Envy ${money(claim.envy_amount)}`}</span>`}</span>
      <span class="facts-line"><${claims.Chip} claim=${claim} /><span class="new" hidden=${!isNew}>New</span>
        <${Waited} at=${claims.since(claim)} now=${now} />
        ${off && html`<span class="of">${off}</span>`}</span>
    </button></h2>
    ${act && html`<${Action} kind=${kind} label=${label} about=${`${claims.place(claim)}, ${money(cents)}`} off=${off}
      onClick=${() => act(claim, done)} />`}`;
};

const WaitingClaim = ({ claim, isFew, ...row }) => {
  const [isOpen, setIsOpen] = useState(isFew);
  const item = useRef();
  const hasTurned = useRef(false);
  const turn = (next) => {
    hasTurned.current = true;
    setIsOpen(next);
  };
  /* The button that opened or closed the row is gone, so the head of the row has the focus. */
  useLayoutEffect(() => {
    if (hasTurned.current) item.current.querySelector(ROW_HEAD).focus();
  }, [isOpen]);
  return html`
    <li ref=${item} class=${isOpen ? "claim" : "claim closed"} data-claim=${claim.claim} data-state=${claims.look(claim)}
      data-new=${row.isNew ? "" : null}>
      ${isOpen
        ? html`<${OpenClaim} claim=${claim} close=${isFew ? null : () => turn(false)} ...${row} />`
        : html`<${ClosedClaim} claim=${claim} open=${() => turn(true)} ...${row} />`}
    </li>`;
};

const OpenClaim = ({ claim, me, now, isNew, done, close }) => html`
    <${Head} table=${claim.table} part=${`Position ${claim.position}`} at=${claims.since(claim)} now=${now} isNew=${isNew}>
      <${claims.Chip} claim=${claim} />
    <//>
    <div class="what">
      <${claims.TaxNotice} claim=${claim} />
      <${claims.RequestNotice} claim=${claim} />
      <p class="amount">${money(claims.sum(claim))}</p>
      <p class="share">${`${claims.share(claim)} · ${format.paidFrom(claim.paid_from)}`}</p>
      ${claim.state === "rejected"
        && html`<p class="by">${claims.rejection(claim)}</p>`}
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
      ${close && html`<button type="button" aria-expanded="true" onClick=${close}>Show less</button>`}
    </div>`;

const Round = ({ wins, ...row }) => html`
  <li class="round">
    <${RoundHead} wins=${wins} />
    <ol class="claims">
      ${wins.map((claim) => html`<${WaitingClaim} key=${claim.claim} claim=${claim} ...${row}
        isNew=${row.isNew(claim.claim)} />`)}
    </ol>
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

const Filter = ({ state, setState, setWords }) => html`
  <form class="filter" role="search" onSubmit=${(event) => event.preventDefault()}>
    <input type="search" aria-label="Search the list" placeholder="Table, hand, patron" maxlength="100"
      onInput=${(event) => setWords(event.target.value.trim())} />
    <select aria-label="State" onChange=${(event) => setState(event.target.value)}>
      ${[["", "All states"], ...STATES.map((each) => [each, each])].map(([value, label]) => html`
        <option value=${value} selected=${value === state}>${label}</option>`)}
    </select>
  </form>`;

const emptyText = (found, isFiltered) => {
  if (!found) return "Reading the list…";
  return isFiltered && found.length ? "Nothing in the list matches." : "Nothing waits.";
};

export const Waiting = ({ me, waiting: { found, arrivedAt, read: done } }) => {
  const now = useNow();
  const [state, setState] = useState("");
  const [words, setWords] = useState("");
  const list = useRef();
  const isNew = (id) => now - (arrivedAt.get(id) ?? -NEW_MS) < NEW_MS;
  const isFiltered = Boolean(state || words);
  const isFew = (found?.length ?? 0) <= FEW;
  const asks = isFiltered ? [] : found?.filter(({ ask }) => ask) ?? [];
  const rounds = waitingRounds((found ?? []).flatMap(({ claim }) => claim ?? [])
    .filter((claim) => matches(claim, state, words)));
  const shown = asks.length + rounds.length;
  /* After the sign-in, the focus is nowhere. It goes to the first row. */
  const isRead = found !== null;
  useLayoutEffect(() => {
    if (!isRead || document.activeElement !== document.body) return;
    list.current.querySelector(ROW_HEAD)?.focus({ preventScroll: true });
  }, [isRead]);
  return html`
    <h1 class="sr" tabindex="-1">Waiting for a floorperson</h1>
    ${(!isFew || isFiltered) && html`<${Filter} state=${state} setState=${setState} setWords=${setWords} />`}
    <p class="nothing" hidden=${shown}>${emptyText(found, isFiltered)}</p>
    <ol class="claims" ref=${list} hidden=${!shown}>
      ${asks.map(({ id, ask }) => html`
        <${WaitingCorrection} key=${id} ask=${ask} me=${me} now=${now} isNew=${isNew(id)} done=${done} />`)}
      ${rounds.map((round) => html`
        <${Round} key=${round.id} ...${round} me=${me} now=${now} isNew=${isNew} isFew=${isFew} done=${done} />`)}
    </ol>
    <${AlertSwitches} />`;
};
