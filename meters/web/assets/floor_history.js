/* A meter over 24 hours and 30 days: its wins, what wagers add, and the amount from which the house has
   no edge. */

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
import { say, sayCount } from "./say.js";

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

const spanText = (picture) => say("{from} to {to}",
  { from: whenText(beginOf(picture) * 1000), to: whenText(picture.ends_s * 1000) });

/* The amount without a house edge. If several wagers feed the meter, it is the lowest of theirs. */
const evenOf = ({ break_even: [first] }) => first ?? null;

/* While days are still read, there is no spreadsheet: it would not be whole. */
const Tools = ({ links, link, meter, day, isRead }) => {
  const choose = (event) => show("history", [event.target.value, day].filter(Boolean).join("/"));
  const chooseDay = (event) => show("history", [link, meter, event.target.value].filter(Boolean).join("/"));
  const now = `${link}/${meter}`;
  return html`
    <form class="tools" onSubmit=${(event) => event.preventDefault()}>
      <${Select} label=${say("Meter")} name="meter" options=${[]} onChange=${choose}>
        ${links.map((one) => html`
          <optgroup key=${one.link} label=${one.name}>${one.meters.map((each) => {
            const value = `${one.link}/${each.meter}`;
            return html`<option key=${value} value=${value} selected=${value === now}>${`${each.name} · ${one.name}`}</option>`;
          })}</optgroup>`)}
      <//>
      <${Field} label=${say("Gaming day")} name="day" type="date" value=${day} onChange=${chooseDay} />
      ${day && html`<a class="button" href=${hrefOf("history", now)}>${say("Now")}</a>`}
      ${meter && html`
        <a class="button" href=${`${pathOf(link, meter)}.csv${day && `?day=${day}`}`} download data-unread=${isRead ? null : ""}><${Icon} name="doc" />CSV</a>
        <${PrintButton} />`}
    </form>`;
};

const Stats = ({ history, amounts }) => {
  const { last_day: today, month, hour, day, closing } = history;
  const even = evenOf(history);
  const [last] = month.hits;
  const amount = day ? closing : today.amounts.at(-1) ?? null;
  const mean = month.hit_count ? Math.round(month.won / month.hit_count) : null;
  return html`
    <dl class="stats">
      <div class="big"><dt>${day ? say("At its close") : say("Now")}</dt><dd ref=${amounts}>
        <span class=${day ? null : "expires"}>${amount === null ? "—" : money(amount)}</span>
        ${!day && html`<span class="expired">${say("Not current")}</span>`}</dd></div>
      <div><dt>${last ? say("Since {time}", { time: whenText(last.at_s * 1000) }) : say("Since its last win")}</dt>
        <dd>${last && amount !== null ? `+${money(Math.max(0, amount - last.after))}` : "—"}</dd></div>
      <div><dt>${day ? say("Added on the day") : say("Last 60 minutes")}</dt><dd>${`+${money(hour ?? today.added)}`}</dd></div>
      <div><dt>${say("Wins in 30 days")}</dt><dd>${month.hit_count}</dd></div>
      <div><dt>${say("Mean win")}</dt><dd>${mean === null ? "—" : money(mean)}</dd></div>
      ${history.wager > 0 && html`<div class="even"><dt>${say("Break-even, {amount} wager", { amount: money(history.wager).replace(/\.00$/, "") })}</dt>
        <dd>${even ? money(even.amount) : "…"}</dd></div>`}
    </dl>`;
};

const wordsOf = ({ hit_count: count, won, added }, name) =>
  sayCount("{name}: {count} win, {won} won, {added} added by wagers", "{name}: {count} wins, {won} won, {added} added by wagers",
    count, { name, won: money(won), added: money(added) });

/* A meter that is younger than the picture: there is nothing before its first day. */
const youngText = (picture) => {
  if (!picture.times_s.length) return say("There are no amounts of this meter for this period.");
  return beginOf(picture) - picture.begins_s < DAY_S ? "" : say("The meter began {time}: there is nothing before.", { time: whenText(beginOf(picture) * 1000) });
};

const Picture = ({ title, picture, history, isMonth, height, barsTitle, open }) => html`
  <section class="panel picture">
    <h2>${title} <span>${spanText(picture)}</span>
      <span class="told">${`${sayCount("{count} win", "{count} wins", picture.hit_count)}, ${money(picture.won)}`}</span></h2>
    ${picture.unread > 0 && html`<p class="of" role="status">${sayCount("Reading {count} more day…", "Reading {count} more days…", picture.unread)}</p>`}
    ${isMonth && !picture.unread && !picture.missing.length && youngText(picture) && html`<p class="of">${youngText(picture)}</p>`}
    ${picture.missing.map(({ first, last }) => html`
      <p class="of" key=${first}>${say("Not on this machine: {days}.", { days: first === last ? first : say("{from} to {to}", { from: first, to: last }) })}</p>`)}
    <${MeterPlot} picture=${picture} reseed=${history.reseed} even=${evenOf(history)?.amount ?? null} isMonth=${isMonth}
      height=${height} label=${wordsOf(picture, title)} onHit=${open} />
    <p class="sub"><span>${barsTitle}</span> <b>${money(picture.added)}</b></p>
    ${barsOf(picture).length > 0 && html`<${BarPlot} bars=${barsOf(picture)} isLive=${!history.day} label=${`${barsTitle}: ${money(picture.added)}`} />`}
  </section>`;

/* What happened on the whole floor on a past gaming day. The open gaming day is shown beside the map. */
const FloorOfDay = ({ day }) => {
  const unread = useRef(true);
  const turn = useTurn(UNREAD_EVERY_MS);
  const { found, error } = useAnswer(() => api.get("/api/v1/floor/day", { day }), [day, unread.current && turn]);
  const shown = found?.day === day ? found : null;
  unread.current = !shown || shown.unread > 0;
  const status = error || (unread.current ? say("Reading the floor's day…") : shown.missing.length ? say("Not on this machine.") : "");
  return html`
    <section class="of-floor" aria-label=${say("The whole floor")}>
      <h2>${say("The whole floor")}</h2>
      <p class="of" role="status" hidden=${!status}>${status}</p>
      ${shown && !shown.missing.length && html`<${DayPanels} day=${shown} />`}
    </section>`;
};

const Wins = ({ history }) => {
  const { month } = history;
  const even = evenOf(history);
  const over = ({ before }) => even && before >= even.amount;
  return html`
    <h2>${say("Last wins")} <span>${say("{count} of {size}", { count: Math.min(LISTED, month.hit_count), size: month.hit_count })}</span></h2>
    <table class="hits" hidden=${!month.hits.length}>
      <thead><tr><th scope="col">${say("Won")}</th><th scope="col">${say("Table")}</th><th scope="col">${say("Amount")}</th></tr></thead>
      <tbody>${month.hits.slice(0, LISTED).map((hit) => html`
        <tr key=${hit.claim} data-over=${over(hit) ? "" : null}>
          <td><a href=${hrefOf("find", `${history.link}/${hit.entry}`)}>${whenText(hit.at_s * 1000)}</a></td>
          <td>${`${hit.table} · P${hit.position}`}</td>
          <td>${over(hit) && html`<span class="sr">${say("above break-even")} </span>`}${money(hit.amount)}${hit.percent < 100 && html`<small>${` ${hit.percent}%`}</small>`}</td>
        </tr>`)}</tbody>
    </table>
    <p class="of">${month.hits.length ? say("Wins that wait are counted; rejected wins are not.") : say("No win of the meter in these 30 days.")}</p>
    ${month.hits.some(over) && html`<p class="of">${say("▲ The meter was above break-even when it was won.")}</p>`}
    ${even && html`
      <details class="of"><summary>${say("What break-even leaves out")}</summary>
        ${history.break_even.map((one) => html`
          <p key=${one.game + one.wager}>${`${one.wager_name}, ${money(one.amount)}: ${one.notes}`}</p>`)}
      </details>`}
    <a class="button" href=${hrefOf("wins")}>${say("All wins")}</a>`;
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
  const status = failed || error || (history ? "" : say("Reading…"));
  return html`
    <h1 class="sr" tabindex="-1">${say("History")}</h1>
    <div class="panes history">
      <section class="pane charts" aria-label=${say("Pictures")}>
        <${Tools} links=${links ?? []} link=${link} meter=${meter} day=${asked.day}
          isRead=${history && !unread.current} />
        <p class="nothing" role="status" hidden=${!status}>${status}</p>
        ${history && html`
          <${PaperTitle} title=${`${history.name} · ${history.link_name}`} />
          <${Stats} history=${history} amounts=${amounts} />
          <${Picture} title=${asked.day ? say("Gaming day {day}", asked) : say("24 hours")} picture=${history.last_day} history=${history}
            height=${230} open=${open} barsTitle=${say("Contributions an hour, {rate} of accepted wagers", { rate: format.changing(format.rate(history.primary_bps), history.threshold, format.rate(history.primary_above_bps)) })} />
          <${Picture} title=${say("30 days")} picture=${history.month} history=${history} isMonth height=${290} open=${open}
            barsTitle=${say("Contributions a gaming day")} />
          ${asked.day && html`<${FloorOfDay} key=${asked.day} day=${asked.day} />`}`}
      </section>
      <aside class="pane beside" aria-label=${say("Last wins")}>${history && html`<${Wins} history=${history} />`}</aside>
    </div>`;
};
