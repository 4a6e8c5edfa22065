/* The floor as a picture: a tile for each table, the meters, and what happens in the open day. */

import { keep } from "./expiry.js";
import * as api from "./floor_api.js";
import { CountPlot, Spark, hourText } from "./floor_charts.js";
import * as claims from "./floor_claims.js";
import * as format from "./floor_format.js";
import { Icon } from "./floor_icons.js";
import { LATE_MS } from "./floor_panes.js";
import { useAnswer, useNow, useTurn } from "./floor_reading.js";
import { hrefOf } from "./floor_route.js";
import { money } from "./money.js";
import { html, useLayoutEffect, useRef } from "./preact.js";
import { number, say, sayCount } from "./say.js";

const AMOUNTS_EVERY_MS = 5000;
const DAY_EVERY_MS = 15000;
const MINUTE_S = 60;
const OUTLINE = "M3 3H97V16C97 46 74 63 50 63S3 46 3 16Z";
const WORDS = {
  betting: say("betting"), locked: say("locked"), dealing: say("dealing"), settling: say("settling"), held: say("held"),
  locked_out: say("no wagers"), offline: say("offline"), closed: say("closed"), inoperable: say("inoperable"),
};
/* The links by their ids, in the order of the floor file. */
const LINKS = JSON.parse(document.documentElement.dataset.links);
const { compare } = new Intl.Collator("en", { numeric: true });
const ICONS = { held: "octagon", offline: "broken", closed: "lock", inoperable: "broken", locked_out: "lock" };

/* The tables as the service last said; a later answer has only those that changed since. */
const useTables = (sees, ...changes) => {
  const known = useRef({ count: 0, rows: new Map() }).current;
  return useAnswer(async () => {
    if (!sees) return null;
    let answer = await api.get("/api/v1/floor/tables", { since: known.count });
    /* Another service, or a service that started again, has a different count. */
    if (answer.count < known.count) answer = await api.get("/api/v1/floor/tables");
    for (const row of answer.tables) known.rows.set(`${row.link} ${row.table}`, row);
    known.count = answer.count;
    return { rows: [...known.rows.values()], links: answer.links };
  }, changes);
};

/* The tables, and the open gaming day, for people who may see wins. */
export const useFloor = (me, changes, moved) => {
  const sees = me.rights.includes("wins");
  const turn = useTurn(DAY_EVERY_MS);
  const tables = useTables(sees, changes, moved, turn);
  const day = useAnswer(async () => (sees ? api.get("/api/v1/floor/day") : null), [changes, turn]);
  return { tables, day: day.found && { ...day.found, isRead: !day.error && !day.found.unread } };
};

/* The state of a table, or of its link if the link does not operate. A table that is held or offline
   keeps its own state. */
const stateOf = (table, links) => {
  const link = links[table.link];
  return link === "operable" || ["held", "offline"].includes(table.state) ? table.state : link;
};

/* What a touch on a table opens: the win that waits there, or its last round. */
const hrefFor = (table, win) => {
  if (win) return hrefOf("inbox", win.id);
  return table.round_entry ? hrefOf("find", `${table.link}/${table.round_entry}`) : hrefOf("find", table.table);
};

/* The wins of a table among the rows of the inbox; and the first of the wins that hold the table. */
const winsAt = (table, rows) => (rows ?? []).filter(({ claim }) => claim?.link === table.link && claim.table === table.table);
const holding = (wins) => wins.filter(({ claim }) => claims.holdsTable(claim))
  .sort((one, other) => Date.parse(one.claim.at) - Date.parse(other.claim.at))[0];

/* A table that is offline stays held by its hand pay. */
const isHeld = (state, hold) => state === "held" || (state === "offline" && Boolean(hold));

const Tile = ({ table, links, wins, now }) => {
  const state = stateOf(table, links);
  const hold = holding(wins);
  const win = hold ?? wins[0];
  const held = isHeld(state, hold);
  const heldMs = now - Date.parse(hold?.claim.at ?? table.since);
  const told = held ? format.span(heldMs) : WORDS[state];
  const long = held && heldMs >= LATE_MS;
  const label = !held ? told : state === "held" ? say("held {time}", { time: told }) : say("offline, held {time}", { time: told });
  return html`
    <li>
      <a class="tile" data-state=${state} data-held=${held ? "" : null} data-long=${long ? "" : null} data-table=${table.table} href=${hrefFor(table, win)}
        aria-label=${`${table.table}, ${label}`}>
        <svg viewBox="0 0 100 66" preserveAspectRatio="none" aria-hidden="true"><path d=${OUTLINE} /></svg>
        <b>${table.table}</b>
        <span>${ICONS[state] && html`<${Icon} name=${ICONS[state]} />`}${told}</span>
        ${win && html`<small class="sum">${money(win.cents)}</small>`}
      </a>
    </li>`;
};

const tableCounts = ({ rows, links }, waiting) => {
  const offline = rows.filter((table) => stateOf(table, links) === "offline").length;
  const held = rows.filter((table) => isHeld(stateOf(table, links), holding(winsAt(table, waiting)))).length;
  return { tables: rows.length, held, offline, online: rows.length - offline };
};

/* The tables of each link, with the state of the link if it does not operate. */
const byLink = ({ rows, links }) => Object.entries(LINKS).map(([link, name]) => ({
  link, name, state: links[link] === "operable" ? "" : WORDS[links[link]],
  tables: rows.filter((table) => table.link === link).sort((one, other) => compare(one.table, other.table)),
})).filter(({ tables }) => tables.length);

/* The map. `rows` are those of the inbox: a table with a win leads to it. */
const FloorMap = ({ tables: { found, error }, rows }) => {
  const now = useNow();
  if (!found) return html`<p class="of" role="status">${error || say("Reading…")}</p>`;
  const { tables, held, offline } = tableCounts(found, rows);
  return html`
    <h2>${sayCount("{count} table", "{count} tables", tables)}
      <span class="told">${[held && say("{count} held", { count: held }), offline && say("{count} offline", { count: offline })].filter(Boolean).join(" · ")}</span></h2>
    <svg class="defs" aria-hidden="true"><defs>
      <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V7" /></pattern>
    </defs></svg>
    ${byLink(found).map(({ link, name, state, tables: own }) => html`
      <section key=${link} class="pit-of" aria-label=${name}>
        <h3>${name} <span>${state}</span></h3>
        <ul class="pit">${own.map((table) => html`
          <${Tile} key=${table.table} table=${table} links=${found.links} wins=${winsAt(table, rows)} now=${now} />`)}</ul>
      </section>`)}`;
};

/* Each meter with its last 24 hours, its amount, and what wagers added in the last hour. */
const Meters = ({ changes, links }) => {
  const turn = useTurn(AMOUNTS_EVERY_MS);
  const slow = useTurn(DAY_EVERY_MS);
  const { found: meters, error, answers } = useAnswer(() => api.get("/api/v1/meters"), [changes, turn]);
  const { current: sparks } = useAnswer(() => api.get("/api/v1/meters/sparks"), [changes, slow]);
  const list = useRef();
  useLayoutEffect(() => { if (!error) keep(list.current); }, [answers]);
  const order = Object.keys(LINKS);
  const rows = [...meters ?? []].sort((one, other) => order.indexOf(one.link) - order.indexOf(other.link));
  const sparkOf = ({ link, meter }) => sparks?.find((one) => one.link === link && one.meter === meter);
  return html`
    <section class="panel">
      <h3>${say("Meters")} <span>${say("24 hours")}</span></h3>
      <ul class="mini" ref=${list}>${rows.map((meter, at) => {
        const spark = sparkOf(meter);
        return html`
          ${meter.link !== rows[at - 1]?.link && html`<li key=${meter.link} class="of">${LINKS[meter.link]}</li>`}
          <li key=${`${meter.link} ${meter.meter}`}>
            <a href=${hrefOf("history", `${meter.link}/${meter.meter}`)}>${meter.name}
              <small>${spark && say("+{amount}/h", { amount: money(spark.hour) })}</small></a>
            <${Spark} spark=${spark} />
            <b class="expires">${links?.[meter.link] === "inoperable" ? "—" : money(meter.amount)}</b>
          </li>`;
      })}</ul>
    </section>`;
};

const waitText = (seconds) => (seconds === null ? "—" : format.span(seconds * 1000));

/* A gaming day: wagers, waits, wins by shift, payments. The open day has the wagers of each minute of the
   last hour. A past day has the wagers of each ten minutes. */
export const DayPanels = ({ day }) => {
  const isLive = day.wagers_s === MINUTE_S;
  const last = day.wagers.at(-2) ?? 0;
  const wagers = sayCount("{count} wager", "{count} wagers", day.wagers_in_all);
  const label = isLive ? say("Wagers a minute in the last hour: {count} in the last one", { count: last })
    : say("Wagers in ten minutes: {wagers} in all", { wagers });
  return html`
    <section class="panel">
      <h3>${isLive
        ? html`${say("Wagers a minute")} <span class="told">${say("{count} in the last one", { count: html`<b>${last}</b>` })}</span>`
        : html`${say("Wagers in ten minutes")} <span class="told">${wagers}</span>`}</h3>
      <${CountPlot} counts=${day.wagers} fromMs=${day.begins_s * 1000} everyMs=${day.wagers_s * 1000} isLive=${isLive} label=${label} />
    </section>
    <section class="panel">
      <h3>${say("Gaming day")} <span>${day.day ?? ""}</span></h3>
      <dl class="facts">
        <div><dt>${say("Time to validate, median")}</dt><dd>${waitText(day.wait_s)}</dd></div>
        <div><dt>${say("Wins decided")}</dt><dd>${day.validated}</dd></div>
        <div><dt>${say("Of these past three minutes")}</dt><dd>${day.late}</dd></div>
        ${day.shifts.map((shift) => html`
          <div key=${shift.begins}><dt>${say("Wins {from} to {to}", { from: hourText(shift.begins), to: hourText(shift.ends) })}</dt>
            <dd>${shift.wins ? `${shift.wins}, ${money(shift.won)}` : "0"}</dd></div>`)}
        <div><dt>${say("Paid")}</dt><dd>${money(day.paid)}</dd></div>
      </dl>
      <p class="of">${say("Wins that wait are counted; rejected wins are not.")}</p>
    </section>`;
};

/* The numbers of the whole floor, for the head of the page. */
export const FloorCounts = ({ floor: { tables, day }, rows }) => {
  const counts = tables.found && tableCounts(tables.found, rows);
  return html`
    <ul class="floor-counts">
      ${counts && html`
        <li data-alarm=${counts.held ? "" : null}><${Icon} name="octagon" />${say("{count} held", { count: html`<b>${counts.held}</b>` })}</li>
        <li data-alarm=${counts.offline ? "" : null}>${say("{count} of {tables} online", { count: html`<b>${counts.online}</b>`, tables: counts.tables })}</li>`}
      ${day && html`<li>${say("{amount} paid today", { amount: html`<b>${day.isRead ? money(day.paid) : "–"}</b>` })}</li>`}
    </ul>`;
};

export const FloorPicture = ({ changes, floor, inbox }) => html`
  <div class="floor-picture">
    <section><${FloorMap} tables=${floor.tables} rows=${inbox?.rows} /></section>
    <${Meters} changes=${changes} links=${floor.tables.found?.links} />
    ${floor.day?.isRead && html`<${DayPanels} day=${floor.day} />`}
  </div>`;

export const FloorView = (props) => html`
  <h1 class="sr" tabindex="-1">${say("Floor")}</h1><${FloorPicture} ...${props} />`;
