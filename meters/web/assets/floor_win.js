/* A win in its pane: what it is, its steps, its evidence, and the acts on it. */

import * as api from "./floor_api.js";
import * as claims from "./floor_claims.js";
import { ClaimActs, Payment, usePayment } from "./floor_decisions.js";
import { CardsPanel, FactsPanel, StoryPanel, useRound, WagersPanel } from "./floor_evidence.js";
import { overtake } from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { Icon } from "./floor_icons.js";
import { Amount, Pane, Tag, Waited } from "./floor_panes.js";
import { useAnswer } from "./floor_reading.js";
import { hasMeter, MeterPanel } from "./floor_win_meter.js";
import { money } from "./money.js";
import { html, useLayoutEffect, useRef } from "./preact.js";
import { say, sayCount } from "./say.js";

/* The steps of a win until nothing is left to do: title, who or what, and whether it is done. */
const stepsOf = (claim, me) => {
  const { state, validated_by: first } = claim;
  const validated = Boolean(first) && state !== "pending";
  const byHand = claims.isHandPay(claim);
  const own = first === me.name;
  if (claim.request?.act === "reject") {
    const can = me.rights.includes("decide") && claim.request.by !== me.name && !claim.barred_by;
    return [[say("Confirm rejection"), can ? say("you can") : claim.barred_by ? claims.barStep(claim, me) : say("another person"), false]];
  }
  const steps = claim.only_envy ? [] : state === "rejected" ? [[say("Rejected"), claims.whoRejected(claim), true]] : [
    [say("Validate"), validated ? `${first}, ${format.time(claim.validated_at)}` : say("a floorperson"), validated || state === "paid"],
    ...(byHand
      ? [
        [say("Slip"), claim.slip ?? say("print, sign"), Boolean(claim.slip)],
        [say("Pay by hand"), claim.paid_by ? `${claim.paid_by}, ${format.time(claim.paid_at)}`
          : !validated ? say("another person") : own ? say("another person: you validated it")
          : claim.barred_by ? claims.barStep(claim, me) : say("you can"), state === "paid"],
      ]
      : [[say("Pay#step"), format.paidFrom(claim.paid_from).toLowerCase(), validated || state === "paid"]]),
  ];
  const envy = claim.envy.length > 0 && claim.envy_state
    ? [[say("Envy {amount}", { amount: html`<span class="sum">${money(claim.envy_amount)}</span>` }), claim.envy_state === "rejected" ? say("not due")
      : sayCount("the table pays {count} player", "the table pays {count} players", claim.envy.length), ["paid", "rejected"].includes(claim.envy_state)]]
    : [];
  return [...steps, ...envy];
};

const Steps = ({ claim, me }) => {
  const steps = stepsOf(claim, me);
  const next = claim.state === "rejected" && !claims.owesEnvy(claim) ? -1 : steps.findIndex(([, , isDone]) => !isDone);
  return steps.length > 0 && html`
    <ol class="steps">${steps.map(([title, who, isDone], at) => html`
      <li key=${at} data-step=${isDone ? "done" : at === next ? "now" : "next"} aria-current=${at === next ? "step" : null}>
        <i aria-hidden="true">${isDone ? html`<${Icon} name="check" />` : at + 1}</i>
        <b>${title}</b> <span>${who}${isDone && html`<span class="sr">, ${say("done")}</span>`}</span></li>`)}
    </ol>`;
};

const isWaiting = (claim) =>
  ["pending", "validated"].includes(claim.state) && (claim.state === "pending" || claims.waitsForPay(claim))
  || claims.owesEnvy(claim) || Boolean(claim.request);

const Title = ({ claim }) => html`
  <div class="win-title">
    <div>
      <h2 tabindex="-1">${claims.shortPlace(claim)} <span>${say("· {link_name} · asset {asset}", { link_name: claim.link_name || claim.link, asset: claim.asset })}</span></h2>
      <${Amount} cents=${claims.due(claim)} />
      ${claims.onlyEnvy(claim) && !claim.only_envy && !claim.request
        ? html`<p><b>${say("Envy Bonuses")}</b>${` · ${say("owed since {time}", { time: format.time(claims.since(claim)) })} · ${claims.handName(claim)}, ${money(claim.amount)}`}</p>`
        : html`<p><b>${claims.handName(claim)}</b>${` · ${claims.itemName(claim)}, ${money(claim.wagered)} · ${claims.share(claim)}`}</p>`}
    </div>
    <p class="tags">
      ${isWaiting(claim) && html`<${Waited} at=${claims.since(claim)} isTold />`}
      <${claims.Chip} claim=${claim} />
      ${claims.isHandPay(claim) && !claims.onlyEnvy(claim) && html`<${Tag} look="handpay" icon="handpay">${say("Hand pay")}<//>`}
      ${claims.needsTaxDocuments(claim) && html`<${Tag} look="pending" icon="doc">${say("Tax documents needed")}<//>`}
    </p>
  </div>`;

/* The evidence is for people with the right to see wins. */
export const Win = ({ claim, me, done, back }) => {
  const sees = me.rights.includes("wins");
  const round = useRound(claim, me);
  const payment = usePayment(claim, me, done);
  /* An open dialog about the win must not outlive a colleague's decision. */
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    if (!isFirst.current) overtake(claim.claim);
    isFirst.current = false;
  }, [claim.state, claim.request?.entry, claim.envy_state]);
  return html`
    <${Pane} kind="win" of=${{ "data-claim": claim.claim, "data-state": claims.look(claim) }} back=${back}
      acts=${sees && html`<${ClaimActs} claim=${claim} me=${me} done=${done} payment=${payment} isPhone=${Boolean(back)} />`}>
      <${Title} claim=${claim} />
      <${Steps} claim=${claim} me=${me} />
      <${claims.RequestNotice} claim=${claim} />
      ${claim.state === "rejected" && html`<p class="notice bad">${claims.rejection(claim)}</p>`}
      <div class="evidence">
        <div>
          <${CardsPanel} claim=${claim} />
          <${Payment} claim=${claim} payment=${payment} />
          <${WagersPanel} claim=${claim} />
        </div>
        ${sees && html`<div><${FactsPanel} claim=${claim} round=${round} /><${StoryPanel} claim=${claim} round=${round} /></div>`}
      </div>
      ${sees && hasMeter(claim) && html`<${MeterPanel} claim=${claim} />`}
    <//>`;
};

/* A win by its id: as a list has it (`row`), or else as the service has it. What was shown stays
   until the answer has come. */
export const useClaim = (id, row, changes) => {
  const { found, error, read } = useAnswer(
    async () => (id && !row ? api.get(`/api/v1/claims/${encodeURIComponent(id)}`) : null), [id, changes, !row],
  );
  const last = useRef(null);
  const claim = row ?? (found?.claim === id ? found : null);
  if (claim) last.current = claim;
  return { claim: claim ?? (last.current?.claim === id ? last.current : null), error, read };
};
