/* A meter over 24 hours and 30 days: its wins, what wagers add, and from where the house has no edge. */

import { keep } from "./expiry.js";
import * as api from "./floor_api.js";
import { BarPlot, MeterPlot, barsOf, beginOf, whenText } from "./floor_charts.js";
import { Field, Select } from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { Icon } from "./floor_icons.js";
import { DayPanels } from "./floor_map.js";
import { PaperTitle, PrintButton } from "./floor_print.js";
import { useAnswer, useTurn } from "./floor_reading.js";
import { hrefOf, show } from "./floor_route.js";
import { money } from "./money.js";
import { html, useLayoutEffect, useRef } from "./preact.js";

const READ_EVERY_MS = 10000;
/* While the service still reads past days, the page asks more often. */
const UNREAD_EVERY_MS = 2000;
const LISTED = 25;
const DAY_S = 86400;

/* What is shown: `LINK/METER`, or with a gaming day `LINK/METER/2026-11-20`. */
const partsOf = (of) => {
  const [link = "", meter = "", day = ""] = of.split("/");
  return { link, meter, day };
};

const pathOf = (link, meter) => `/api/v1/links/${encodeURIComponent(link)}/meters/${encodeURIComponent(meter)}/history`;

const spanText = (picture) => `${whenText(beginOf(picture) * 1000)} to ${whenText(picture.ends_s * 1000)}`;

/* The lowest amount without a house edge; the picture has this one if several wagers feed the meter. */
const evenOf = ({ break_even: [first] }) => first ?? null;

const Tools = ({ links, link, meter, day }) => {
  const choose = (event) => show("history", [event.target.value, day].filter(Boolean).join("/"));
  const chooseDay = (event) => show("history", [link, meter, event.target.value].filter(Boolean).join("/"));
  const now = `${link}/${meter}`;
  return html`
    <form class="tools" onSubmit=${(event) => event.preventDefault()}>
      <${Select} label="Meter" name="meter" options=${[]} onChange=${choose}>
        ${links.map((one) => html`
          <optgroup key=${one.link} label=${one.name}>${one.meters.map((each) => {
            const value = `${one.link}/${each.meter}`;
            return html`<option key=${value} value=${value} selected=${value === now}>${`${each.name} · ${one.name}`}</option>`;
          })}</optgroup>`)}
      <//>
      <${Field} label="Gaming day" name="day" type="date" value=${day} onChange=${chooseDay} />
      ${day && html`<a class="button" href=${hrefOf("history", now)}>Now</a>`}
      ${meter && html`
        <a class="button" href=${`${pathOf(link, meter)}.csv${day && `?day=${day}`}`} download><${Icon} name="doc" />CSV</a>
        <${PrintButton} />`}
    </form>`;
};

const Stats = ({ history, amounts }) => {
  const { last_day: today, month, hour, day } = history;
  const even = evenOf(history);
  const [last] = month.hits;
  const amount = today.amounts.at(-1) ?? null;
  const mean = month.hit_count ? Math.round(month.won / month.hit_count) : null;
  return html`
    <dl class="stats">
      <div class="big"><dt>${day ? "At its close" : "Now"}</dt><dd ref=${amounts}>
        <span class=${day ? null : "expires"}>${amount === null ? "—" : money(amount)}</span>
        ${!day && html`<span class="expired">Not current</span>`}</dd></div>
      <div><dt>${last ? `Since ${whenText(last.at_s * 1000)}` : "Since its last win"}</dt>
        <dd>${last && amount !== null ? `+${money(Math.max(0, amount - last.after))}` : "—"}</dd></div>
      <div><dt>${day ? "Added on the day" : "Last 60 minutes"}</dt><dd>${`+${money(hour ?? today.added)}`}</dd></div>
      <div><dt>Wins in 30 days</dt><dd>${month.hit_count}</dd></div>
      <div><dt>Mean win</dt><dd>${mean === null ? "—" : money(mean)}</dd></div>
      <div class="even"><dt>${`Break-even, ${money(history.wager).replace(/\.00$/, "")} wager`}</dt>
        <dd>${even ? money(even.amount) : "…"}</dd></div>
    </dl>`;
};

const wordsOf = ({ hit_count: count, won, added }, name) =>
  `${name}: ${format.count(count, "win")}, ${money(won)} won, ${money(added)} added by wagers`;

/* A meter that is younger than the picture: there is nothing before its first day. */
const youngText = (picture) => {
  if (!picture.times_s.length) return "The meter has no amount in this time.";
  return beginOf(picture) - picture.begins_s < DAY_S ? "" : `The meter began ${whenText(beginOf(picture) * 1000)}: there is nothing before.`;
};

const Picture = ({ title, picture, history, isMonth, height, barsTitle, open }) => html`
  <section class="panel picture">
    <h2>${title} <span>${spanText(picture)}</span>
      <span class="told">${`${format.count(picture.hit_count, "win")}, ${money(picture.won)}`}</span></h2>
    ${picture.unread > 0 && html`<p class="of" role="status">${`Reading ${format.count(picture.unread, "more day")}…`}</p>`}
    ${isMonth && !picture.unread && !picture.missing.length && youngText(picture) && html`<p class="of">${youngText(picture)}</p>`}
    ${picture.missing.map(({ first, last }) => html`
      <p class="of" key=${first}>${`Not on this machine: ${first === last ? first : `${first} to ${last}`}.`}</p>`)}
    <${MeterPlot} picture=${picture} reseed=${history.reseed} even=${evenOf(history)?.amount ?? null} isMonth=${isMonth}
      height=${height} label=${wordsOf(picture, title)} onHit=${open} />
    <p class="sub"><span>${barsTitle}</span> <b>${money(picture.added)}</b></p>
    ${barsOf(picture).length > 0 && html`<${BarPlot} bars=${barsOf(picture)} isLive=${!history.day} label=${`${barsTitle}: ${money(picture.added)}`} />`}
  </section>`;

/* What happened on the whole floor on a past gaming day; that of today is beside the map. */
const FloorOfDay = ({ day }) => {
  const unread = useRef(true);
  const turn = useTurn(UNREAD_EVERY_MS);
  const { found, error } = useAnswer(() => api.get("/api/v1/floor/day", { day }), [day, unread.current && turn]);
  const shown = found?.day === day ? found : null;
  unread.current = !shown || shown.unread > 0;
  const status = error || (unread.current ? "Reading the floor's day…" : shown.missing.length ? "Not on this machine." : "");
  return html`
    <section class="of-floor" aria-label="The whole floor">
      <h2>The whole floor</h2>
      <p class="of" role="status" hidden=${!status}>${status}</p>
      ${shown && !shown.missing.length && html`<${DayPanels} day=${shown} />`}
    </section>`;
};

const Wins = ({ history }) => {
  const { month } = history;
  const even = evenOf(history);
  const over = ({ before }) => even && before >= even.amount;
  return html`
    <h2>Last wins <span>${`${Math.min(LISTED, month.hit_count)} of ${month.hit_count}`}</span></h2>
    <table class="hits" hidden=${!month.hits.length}>
      <thead><tr><th scope="col">Won</th><th scope="col">Table</th><th scope="col">Amount</th></tr></thead>
      <tbody>${month.hits.slice(0, LISTED).map((hit) => html`
        <tr key=${hit.claim} data-over=${over(hit) ? "" : null}>
          <td><a href=${hrefOf("find", `${history.link}/${hit.entry}`)}>${whenText(hit.at_s * 1000)}</a></td>
          <td>${`${hit.table} · P${hit.position}`}</td>
          <td>${over(hit) && html`<span class="sr">above break-even </span>`}${money(hit.amount)}${hit.percent < 100 && html`<small>${` ${hit.percent}%`}</small>`}</td>
        </tr>`)}</tbody>
    </table>
    ${!month.hits.length && html`<p class="of">No win of the meter in these 30 days.</p>`}
    ${month.hits.some(over) && html`<p class="of">▲ The meter was above break-even when it was won.</p>`}
    ${even && html`
      <details class="of"><summary>What break-even leaves out</summary>
        ${history.break_even.map((one) => html`
          <p key=${one.game + one.wager}>${`${one.wager_name}, ${money(one.amount)}: ${one.notes}`}</p>`)}
      </details>`}
    <a class="button" href=${hrefOf("wins")}>All wins</a>`;
};

export const History = ({ changes, of }) => {
  const asked = partsOf(of);
  const { found: links, error: failed } = useAnswer(() => api.get("/api/v1/links"));
  const first = links?.[0];
  const link = asked.link || first?.link || "";
  const meter = asked.meter || first?.meters[0]?.meter || "";
  const unread = useRef(0);
  const turn = useTurn(unread.current ? UNREAD_EVERY_MS : READ_EVERY_MS);
  const { found, error, answers } = useAnswer(
    async () => (link && meter ? api.get(pathOf(link, meter), { day: asked.day }) : null),
    [link, meter, asked.day, changes, asked.day ? 0 : turn],
  );
  const history = found?.link === link && found.meter === meter && (found.day ?? "") === asked.day ? found : null;
  unread.current = history ? history.last_day.unread + history.month.unread : 0;
  const amounts = useRef();
  useLayoutEffect(() => { if (!error && amounts.current) keep(amounts.current); }, [answers]);
  const open = ({ entry }) => show("find", `${link}/${entry}`);
  const status = failed || error || (history ? "" : "Reading…");
  return html`
    <h1 class="sr" tabindex="-1">History</h1>
    <div class="panes history">
      <section class="pane charts" aria-label="Pictures">
        <${Tools} links=${links ?? []} link=${link} meter=${meter} day=${asked.day} />
        <p class="nothing" role="status" hidden=${!status}>${status}</p>
        ${history && html`
          <${PaperTitle} title=${`${history.name} · ${history.link_name}`} />
          <${Stats} history=${history} amounts=${amounts} />
          <${Picture} title=${asked.day ? `Gaming day ${asked.day}` : "24 hours"} picture=${history.last_day} history=${history}
            height=${230} open=${open} barsTitle=${`Contributions an hour, ${format.rate(history.primary_bps)} of accepted wagers`} />
          <${Picture} title="30 days" picture=${history.month} history=${history} isMonth height=${290} open=${open}
            barsTitle="Contributions a gaming day" />
          ${asked.day && html`<${FloorOfDay} key=${asked.day} day=${asked.day} />`}`}
      </section>
      <aside class="pane beside" aria-label="Last wins">${history && html`<${Wins} history=${history} />`}</aside>
    </div>`;
};
