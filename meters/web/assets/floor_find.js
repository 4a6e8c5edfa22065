/* Find one round, with or without a win, of today or of an archived day: by its table and its name
   or time, or by a claim. The address has what is searched, or the round that is open. */

import * as api from "./floor_api.js";
import * as claims from "./floor_claims.js";
import { Field, open, wrong } from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { Amount, Nothing, Pane, Panes } from "./floor_panes.js";
import { PaperTitle, PrintButton } from "./floor_print.js";
import { useAnswer } from "./floor_reading.js";
import { give } from "./floor_receipts.js";
import { hrefOf, show } from "./floor_route.js";
import { money } from "./money.js";
import { Cards } from "./playing_cards.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";

const LIMIT = 25;
const LAST_DAY = "9999-12-30";
const STATES = { open: "Open", settled: "Settled", void: "Void" };
const DONE = {
  validate: "Win validated", reject: "Win rejected", pay: "Win paid", request_reject: "Rejection requested",
  request_reopen: "Reopening requested", reopen: "Win reopened", correct_slip: "Slip number corrected",
  pay_envy: "Envy Bonuses paid", reject_envy: "Envy Bonuses not due", void: "Round void after cards were entered",
  result: "Hand entered again", correct_wager: "Wager added or taken back",
  confirm_correction: "Correction confirmed", refuse_correction: "Correction refused",
};
const WIN_STATES = { pending: "To validate", validated: "Validated", paid: "Paid", rejected: "Rejected" };
const OUTCOMES = { paid: "Paid", returned: "Returned", collected: "Collected" };
const MINUTE_MS = 60000;

const FIELDS = ["table", "round", "day", "time", "claim"];

/* What the form asks for, without its empty fields. */
const askedIn = ({ elements }) =>
  Object.fromEntries(FIELDS.map((name) => [name, elements[name].value.trim()]).filter(([, value]) => value));

const isRound = (of) => of.includes("/") && !of.startsWith("?");

/* What an address asks for: `?table=TCP-03&round=R9`, or only a table. That of an open round has a
   slash. */
const askedBy = (of) => {
  if (of.startsWith("?")) return Object.fromEntries(new URLSearchParams(of));
  return of && !isRound(of) ? { table: of } : null;
};

/* The query for the service. A time of a day is one of the facility's clock; without a time, the day
   is a gaming day. */
const queryOf = ({ table, round, claim, day = "", time = "" }) => {
  const [hours, minutes] = time.split(":").map(Number);
  const since = day && time
    ? new Date(Date.parse(format.dayStart(day)) + (hours * 60 + minutes) * MINUTE_MS).toISOString() : "";
  return { table, round, claim, since, day: since ? "" : day, limit: LIMIT };
};

const nothingText = ({ table, day, time }) =>
  `No round of ${[table, day && `on ${day}`, time && `from ${time} on`].filter(Boolean).join(" ")}.`;

const check = ({ elements }) => {
  const { table, claim, day, time } = elements;
  if (!table.value.trim() && !claim.value.trim()) throw wrong("Give a table, or a claim.", table);
  if (!day.validity.valid) throw wrong("A date has a year of four digits.", day);
  if (time.value && !day.value) throw wrong("Give the day of this time too.", day);
};

/* The address of a round for a colleague: its table and name are for people, the rest for the page. */
const addressOf = ({ table, round, link, entry }) =>
  `${location.origin}/floor?${new URLSearchParams({ table, round, link, entry })}`;

const copyAddress = async (row) => {
  const address = addressOf(row);
  try {
    await navigator.clipboard.writeText(address);
    give(`Copied: the address of ${row.table} · Round ${row.round}`);
  } catch {
    /* A page without HTTPS has no clipboard. */
    open({
      title: "Copy the address of this round",
      content: html`<${Field} label="Address" name="address" value=${address} maxlength="2000" readonly />`,
    });
  }
};

const Search = ({ form, search }) => {
  const text = { type: "search", enterkeyhint: "search" };
  return html`
    <form ref=${form} class="search" role="search" novalidate onSubmit=${(event) => { event.preventDefault(); search(); }}>
      <div class="grid">
        <${Field} label="Table" name="table" maxlength="32" autocapitalize="characters" ...${text} />
        <${Field} label="Round" name="round" maxlength="64" ...${text} />
        <div class="dates">
          <${Field} label="Day" name="day" type="date" max=${LAST_DAY} />
          <${Field} label="From" name="time" type="time" />
        </div>
        <${Field} label="Claim" name="claim" maxlength="200" hint="Of a win, instead of a table" ...${text} />
      </div>
      <div class="acts"><button class="go" type="submit">Find</button></div>
    </form>`;
};

const Chip = ({ row }) => html`<span class="chip" data-round=${row.state}>${STATES[row.state]}</span>`;

const Row = ({ row, isOpen }) => html`
  <li class="row won" data-round=${row.entry}>
    <a href=${hrefOf("find", `${row.link}/${row.entry}`)} aria-current=${isOpen ? "true" : null}>
      <span class="one"><b>${`${row.table} · ${row.round}`}</b>${" "}<span class="sum">${row.paid ? money(row.paid) : ""}</span></span>
      <span class="what">${[format.count(row.wagers, "wager"), row.wins && format.count(row.wins, "win"),
        row.corrected && "corrected"].filter(Boolean).join(" · ")}</span>
      <span class="tags"><span class="when">${format.moment(row.at)}</span><${Chip} row=${row} /></span>
    </a>
  </li>`;

const HandsPanel = ({ round }) => html`
  <section class="panel">
    <h3>Cards and wagers <span>wagers at lock-out, after corrections</span></h3>
    <ul class="dealt">
      ${round.hands.map((hand) => html`
        <li key=${hand.position} data-position=${hand.position}>
          <p><b>${format.who(hand.position, hand.patron)}</b>
            <small>${Object.entries(hand.wagers).map(([name, cents]) => `${format.item(name)} ${money(cents)}`).join(" · ") || "no progressive wager"}</small></p>
          ${hand.cards.length ? html`<${Cards} names=${hand.cards} />`
            : html`<small>${hand.folded ? "folded, cards collected" : hand.no_win ? "declared to win nothing" : "no cards"}</small>`}
        </li>`)}
      ${[["Dealer", round.dealer], ["Community", round.community]].filter(([, names]) => names.length).map(([title, names]) => html`
        <li key=${title}><p><b>${title}</b></p><${Cards} names=${names} /></li>`)}
    </ul>
    ${round.draw && (round.draw.magic_card || round.draw.lucky_position) && html`
      <p class="foot"><span>${[round.draw.magic_card && `Magic Card ${round.draw.magic_card}`,
        round.draw.lucky_position && `Lucky position ${round.draw.lucky_position}`].filter(Boolean).join(" · ")}</span></p>`}
  </section>`;

const LinesPanel = ({ round }) => round.lines.length > 0 && html`
  <section class="panel">
    <h3>Settlement <span>in the order of payment</span></h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Settlement">
      <table class="settled">
        <thead><tr><th scope="col">Position</th><th scope="col">Wager, hand</th><th scope="col">Outcome</th><th scope="col">Paid</th><th scope="col">Rule</th></tr></thead>
        <tbody>${round.lines.map((line, at) => html`
          <tr key=${at} data-paid=${line.paid ? "" : null}>
            <th scope="row">${line.position}</th>
            <td>${line.item_name}${line.on === "dealer" && " on the dealer"}${line.envy_of !== null && html`<small>${`for the hand of position ${line.envy_of}`}</small>`}
              ${line.hand_name && html`<small>${line.hand_name}</small>`}</td>
            <td>${OUTCOMES[line.outcome] ?? line.outcome}${line.paid_from && html`<small>${format.paidFrom(line.paid_from)}</small>`}</td>
            <td>${money(line.paid)}${line.percent !== null && html`<small>${`${line.percent}% of the meter`}</small>`}</td>
            <td>${line.rule}</td>
          </tr>`)}</tbody>
      </table>
    </div>
  </section>`;

const MetersPanel = ({ round }) => round.meters.length > 0 && html`
  <section class="panel">
    <h3>Meters <span>before and after</span></h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Meters">
      <table class="settled">
        <thead><tr><th scope="col">Meter</th><th scope="col">Before</th><th scope="col">Added</th><th scope="col">At its settlement</th><th scope="col">After</th></tr></thead>
        <tbody>${round.meters.map((meter) => html`
          <tr key=${meter.meter}>
            <th scope="row">${meter.name}</th><td>${money(meter.before)}</td><td>${money(meter.added)}</td>
            <td>${meter.at_result === null ? "—" : money(meter.at_result)}</td><td>${meter.after === null ? "—" : money(meter.after)}</td>
          </tr>`)}</tbody>
      </table>
    </div>
  </section>`;

const FactsPanel = ({ round: { row, table_at: at, ended_table_at: ended, void_reason: why, entries } }) => html`
  <section class="panel">
    <h3>Round</h3>
    <${claims.Facts} pairs=${[
      ["Link", row.link_name],
      ["Asset number", row.asset],
      ["Lock-out, service", format.moment(row.at)],
      ["Lock-out, table", format.moment(at)],
      [row.state === "void" ? "Void, service" : "Settled, service", row.ended_at && format.moment(row.ended_at)],
      [row.state === "void" ? "Void, table" : "Settled, table", ended && format.moment(ended)],
      ["Reason of the void", why],
      ["Ledger entries", entries.join(", ")],
    ]} />
  </section>`;

const story = (round) => [
  [round.row.at, `Lock-out, ${format.count(round.row.wagers, "wager")}`],
  ...round.acts.filter(({ what }) => what !== "void").map((act) =>
    [act.at, `${DONE[act.what] ?? format.capital(format.plain(act.what))} by ${act.by}${act.told ? `: ${act.told}` : ""}`]),
  ...(round.row.ended_at ? [[round.row.ended_at, round.row.state === "void" ? `Void: ${round.void_reason}` : "Settled", round.wins.length > 0]] : []),
].sort(([one], [other]) => Date.parse(one) - Date.parse(other));

const StoryPanel = ({ round }) => html`
  <section class="panel">
    <h3>What happened</h3>
    <ol class="story">${story(round).map(([at, text, isWin]) => html`
      <li key=${at + text} data-win=${isWin ? "" : null}><b>${format.time(at)}</b> ${text}</li>`)}</ol>
  </section>`;

const WinsPanel = ({ round }) => round.wins.length > 0 && html`
  <section class="panel">
    <h3>Wins</h3>
    <ul class="round-wins">${round.wins.map((win) => html`
      <li key=${win.claim}><a href=${hrefOf("wins", win.claim)}>${`Position ${win.position} · ${win.item_name}`}</a>
        <b>${money(win.amount)}</b><span class="chip" data-state=${win.state}>${WIN_STATES[win.state]}</span></li>`)}</ul>
  </section>`;

export const Round = ({ round, back }) => html`
  <${Pane} kind="found-round" of=${{ "data-entry": round.row.entry }} back=${back} acts=${html`
    <div class="acts">
      <button type="button" onClick=${() => copyAddress(round.row)}>Copy the address</button>
      <${PrintButton} />
    </div>`}>
    <${PaperTitle} title=${`${round.row.table} · Round ${round.row.round}`} />
    <div class="win-title">
      <div>
        <h2 tabindex="-1">${`${round.row.table} · Round ${round.row.round}`} <span>${`· ${round.row.link_name}`}</span></h2>
        <${Amount} cents=${round.row.paid} />
        <p>${`paid for ${format.count(round.row.wagers, "progressive wager")} of ${money(round.row.wagered)}`}</p>
      </div>
      <p class="tags"><${Chip} row=${round.row} /></p>
    </div>
    <div class="evidence">
      <div><${HandsPanel} round=${round} /><${LinesPanel} round=${round} /><${MetersPanel} round=${round} /></div>
      <div><${WinsPanel} round=${round} /><${FactsPanel} round=${round} /><${StoryPanel} round=${round} /></div>
    </div>
  <//>`;

/* The round that is open in the address: `LINK/ENTRY`. */
const Shown = ({ of, changes, back }) => {
  const [link, entry] = of.split("/");
  const { found, error } = useAnswer(
    async () => (entry ? api.get(`/api/v1/links/${encodeURIComponent(link)}/rounds/${encodeURIComponent(entry)}`) : null), [of, changes],
  );
  const round = found?.row.link === link && found.entries.includes(Number(entry)) ? found : null;
  if (round) return html`<${Round} key=${of} round=${round} back=${back} />`;
  return html`<${Nothing} text=${entry ? error || "Reading…" : "Find a round to see its cards, wagers and settlement."} />`;
};

export const Find = ({ changes, size, of }) => {
  const form = useRef();
  const asked = useRef(0);
  const isFirst = useRef(true);
  const [found, setFound] = useState({ last: "", rows: [], page: null });
  const [status, setStatus] = useState("");
  const read = async (last, rows = [], page = null) => {
    const query = askedBy(last);
    const number = (asked.current += 1);
    setStatus("Reading…");
    const more = page && (page.latest_first ? { before: page.next } : { after: page.next });
    try {
      const next = await api.get("/api/v1/rounds", { ...queryOf(query), ...more });
      if (number !== asked.current) return;
      const all = [...rows, ...next.rounds];
      setFound({ last, rows: all, page: next });
      setStatus(all.length ? `${format.count(all.length, "round")}, ${next.latest_first ? "the latest" : "the earliest"} first` : nothingText(query));
      if (isFirst.current && query.round && all.length === 1) show("find", `${all[0].link}/${all[0].entry}`, { replace: true });
      isFirst.current = false;
    } catch (error) {
      if (number !== asked.current) return;
      if (!page) setFound({ last, rows: [], page: null });
      setStatus(api.refusal(error).message);
    }
  };
  const search = () => {
    try {
      check(form.current);
    } catch (error) {
      setStatus(api.refusal(error).message);
      return;
    }
    const next = `?${new URLSearchParams(askedIn(form.current))}`;
    if (next === of) read(next);
    else show("find", next);
  };
  useLayoutEffect(() => {
    const query = askedBy(of);
    if (!query || of === found.last) return;
    for (const name of FIELDS) form.current.elements[name].value = query[name] ?? "";
    read(of);
  }, [of]);
  const { rows, page, last } = found;
  const isOpen = isRound(of);
  return html`
    <h1 class="sr" tabindex="-1">Find a round</h1>
    <${Panes} opened=${isOpen} list=${html`
      <${Search} form=${form} search=${search} />
      <p class="nothing" role="status">${status}</p>
      <ol class="wins">${rows.map((row) => html`<${Row} key=${`${row.link} ${row.entry}`} row=${row} isOpen=${of === `${row.link}/${row.entry}`} />`)}</ol>
      <button type="button" hidden=${!page?.next} onClick=${() => read(last, rows, page)}>${page?.latest_first ? "Earlier rounds" : "Later rounds"}</button>`}
      shown=${html`<${Shown} of=${isOpen ? of : ""} changes=${changes} back=${size === "phone" ? hrefOf("find", last) : null} />`} />`;
};
