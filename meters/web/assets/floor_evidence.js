/* The evidence of a win: its cards, the wagers at lock-out, the facts, and what happened. */

import * as api from "./floor_api.js";
import * as claims from "./floor_claims.js";
import * as format from "./floor_format.js";
import { useAnswer } from "./floor_reading.js";
import { money } from "./money.js";
import { Card, dealerWords } from "./playing_cards.js";
import { html } from "./preact.js";
import { say, sayCount, sayList } from "./say.js";

const CORRECTED = {
  result: say("Hand entered again"), correct_wager: say("Wager corrected"), confirm_correction: say("Correction confirmed"),
  refuse_correction: say("Correction refused"),
};

const markOf = (claim, name) => (claim.winning.length ? claim.winning.includes(name) ? "in" : "out" : null);

const Hand = ({ claim, title, names }) => {
  const counts = !claim.counted.length || names.some((name) => claim.counted.includes(name));
  return html`
    <div class=${counts ? "hand" : "hand apart"}>
      <p class="of">${counts ? title : html`${title}<span class="sr">: </span><span class="below">${say("not in this wager")}</span>`}</p>
      <span class="cards">${names.map((name) => html`<${Card} key=${name} name=${name} mark=${markOf(claim, name)} />`)}</span>
    </div>`;
};

/* All cards of the round that decide the win, by who holds them. Those that form the winning
   hand are ringed, as the settlement found them; cards that do not count are pale and named. */
export const Hands = ({ claim }) => {
  const hands = [
    [claim.hand_table ? say("Table {table}, position {position}", { table: claim.hand_table, position: claim.hand_of })
      : say("Position {position}", { position: claim.hand_of || claim.position }), claim.cards], [say("Community"), claim.community],
    [claim.dealer.length > 0 && dealerWords(claim.dealer), claim.dealer],
  ].filter(([, names]) => names.length);
  const isApart = ([, names]) => claim.counted.length > 0 && !names.some((name) => claim.counted.includes(name));
  return html`
    <div class="hands">
      ${[...hands.filter((hand) => !isApart(hand)), ...hands.filter(isApart)].map(([title, names]) => html`
        <${Hand} key=${title} claim=${claim} title=${title} names=${names} />`)}
    </div>`;
};

const NUMBERS = ["", say("one"), say("two"), say("three"), say("four"), say("five"), say("six")];

export const CardsPanel = ({ claim }) => !claims.isMustHitBy(claim) && html`
  <section class="panel cards-of">
    <h3>${claims.hasCards(claim) ? say("Cards") : say("Result")} ${claims.hasCards(claim) && claim.winning.length > 0 && html`
      <span>${say("the winning {count} are ringed", { count: NUMBERS[claim.winning.length] })}</span>`}</h3>
    <${Hands} claim=${claim} />
  </section>`;

/* The chips that the table counted: it takes no card before the count agrees. A must-hit-by win is older
   than the count. */
export const chipsText = (claim) => {
  if (claims.isMustHitBy(claim)) return "";
  const electronic = claim.electronic.map(format.item);
  return [
    sayCount("{count} value chip for {count} accepted wager, counted before the cards",
      "{count} value chips for {count} accepted wagers, counted before the cards", claim.chips),
    electronic.length > 0 && say("electronic: {wagers}", { wagers: electronic.join(", ") }),
  ].filter(Boolean).join(" · ");
};

const amountsOf = (claim) => new Set(claim.wagers.flatMap(({ wagers }) => Object.values(wagers)));

export const WagersPanel = ({ claim }) => {
  if (!claim.wagers.length) return null;
  const names = format.inOrder([...new Set(claim.wagers.flatMap(({ wagers }) => Object.keys(wagers)))]);
  const amounts = amountsOf(claim);
  const envyOf = (position) => claim.envy.filter((owed) => owed.position === position)
    .reduce((cents, owed) => cents + owed.amount, 0);
  const cell = (row, name) => row.wagers[name] !== undefined && (amounts.size === 1
    ? html`<i role="img" aria-label=${money(row.wagers[name])} />`
    : money(row.wagers[name]));
  return html`
    <section class="panel">
      <h3>${say("Wagers at lock-out")} ${amounts.size === 1 && html`<span>${say("{amount} each", { amount: money([...amounts][0]) })}</span>`}</h3>
      <div class="scroll" tabindex="0" role="region" aria-label=${say("Wagers at lock-out")}>
      <table class="wagers">
        <thead><tr>
          <th scope="col">${say("Position#alone")}</th>
          ${names.map((name) => html`<th scope="col" key=${name}><abbr title=${format.item(name)}>${format.short(name)}</abbr></th>`)}
          ${claim.envy.length > 0 && html`<th scope="col">${say("Envy")}</th>`}
        </tr></thead>
        <tbody>${claim.wagers.map((row) => html`
          <tr key=${row.position} data-own=${row.position === claim.position ? "" : null}>
            <th scope="row">${row.position}${row.position === claim.position ? ` ${say("wins")}` : ""}
              ${row.patron && html`<small>${row.patron}</small>`}
              ${(claim.no_win ?? []).includes(row.position) && html`<small>${say("declared to win nothing")}</small>`}</th>
            ${names.map((name) => html`
              <td key=${name} data-won=${row.position === claim.position && name === (claim.wager || claim.item) ? "" : null}>${cell(row, name)}</td>`)}
            ${claim.envy.length > 0 && html`<td class="owed">${envyOf(row.position) > 0 && money(envyOf(row.position))}</td>`}
          </tr>`)}
        </tbody>
      </table>
      </div>
      ${!claims.isMustHitBy(claim) && html`<p class="foot"><span>${chipsText(claim)}</span></p>`}
      ${claim.envy.length > 0 && html`<p class="foot envy-foot"><span>${claims.envyTitle(claim)}</span> <b>${money(claim.envy_amount)}</b></p>`}
    </section>`;
};

/* The meter before the first win of the round. */
const meterAt = (claim, round) => {
  const meter = claim.percent !== null && !claims.isMustHitBy(claim) && round?.meters.find((one) => one.meter === claim.meter);
  return meter && meter.at_result !== null ? money(meter.at_result) : "";
};

/* The round of a win, as the ledger has it; null until it has been read. */
export const useRound = (claim, me) => {
  const isSeen = me.rights.includes("wins");
  const { found } = useAnswer(async () => (isSeen
    ? api.get(`/api/v1/links/${encodeURIComponent(claim.link)}/rounds/${claim.order}`) : null), [claim.claim, claim.state]);
  return found;
};

export const FactsPanel = ({ claim, round }) => html`
  <section class="panel">
    <h3>${say("Evidence")}</h3>
    <${claims.Facts} pairs=${[
      [say("Won"), format.moment(claim.at)],
      [say("Asset number"), claim.asset],
      [say("Round#alone"), claim.round],
      [say("Order"), claims.order(claim)],
      [say("Patron"), claim.patron],
      [say("Wager"), `${claim.wager_name || claims.itemName(claim)}, ${money(claim.wagered)}`],
      [say("Meter"), `${claim.meter_name || claim.meter} · ${claim.link_name || claim.link}`],
      [say("Share"), claims.share(claim)],
      [say("Meter at the settlement"), meterAt(claim, round)],
      [say("Meter after this win"), claim.percent === null ? "" : money(claim.meter_after)],
      [say("Paid from"), format.paidFrom(claim.paid_from)],
      [say("Slip number"), claim.slip],
      [say("Rule"), claim.rule],
      [say("Claim#alone"), claim.claim],
    ]} />
  </section>`;

/* What happened with a win, and when. `round` is null until the service has answered, or if the round is
   archived. */
const story = (claim, round) => [
  [round?.row.at, round && sayCount("Lock-out: {count} wager accepted", "Lock-out: {count} wagers accepted", round.row.wagers)],
  ...(round?.acts ?? []).filter(({ what }) => CORRECTED[what]).map(({ at, by, what, told }) =>
    [at, by.startsWith("table:") ? `${CORRECTED[what]}: ${told}` : say("{what} by {by}: {told}", { what: CORRECTED[what], by, told })]),
  [claim.at, claims.isHandPay(claim) && !claims.isMustHitBy(claim) ? say("Win recorded, table held") : say("Win recorded"), true],
  [claim.validated_at, claim.validated_by && say("Validated by {by}", { by: claim.validated_by })],
  [claim.state === "rejected" && claim.decided_at, claim.state === "rejected" && claims.rejection(claim)],
  [claim.state === "pending" && claim.decided_at, claim.decided_by
    && say("Reopened by {who}", { who: sayList([claim.requested_by, claim.decided_by].filter(Boolean)) })],
  [claim.request?.at, claim.request && claims.requested(claim)],
  [claim.paid_at, claim.paid_by && (claim.slip
    ? say("Paid by {by}, slip {slip}", { by: claim.paid_by, slip: claim.slip }) : say("Paid by {by}", { by: claim.paid_by }))],
  [claim.slip_corrected_at, claim.slip_corrected_by && say("Slip number corrected by {by}", { by: claim.slip_corrected_by })],
  [claim.envy_at, claim.envy_by && claims.envyTitle(claim)],
].filter(([at, text]) => at && text).sort(([one], [other]) => Date.parse(one) - Date.parse(other));

export const StoryPanel = ({ claim, round }) => html`
  <section class="panel">
    <h3>${say("What happened")}</h3>
    <ol class="story">${story(claim, round).map(([at, text, isWin]) => html`
      <li key=${text} data-win=${isWin ? "" : null}><b>${format.time(at)}</b> ${text}</li>`)}
    </ol>
  </section>`;
