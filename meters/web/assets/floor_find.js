/* Find one round, with or without a win, of today or of an archived day: by its table and its name
   or time, or by a claim. The address has what is searched, or the round that is open. */

import * as api from "./floor_api.js";
import * as claims from "./floor_claims.js";
import { Field, open, wrong } from "./floor_dialog.js";
import { doneText } from "./floor_entries.js";
import * as format from "./floor_format.js";
import { Amount, Nothing, Pane, Panes } from "./floor_panes.js";
import { PaperTitle, PrintButton } from "./floor_print.js";
import { useAnswer } from "./floor_reading.js";
import { give } from "./floor_receipts.js";
import { disputeOf, hrefOf, show } from "./floor_route.js";
import { money } from "./money.js";
import { Cards, dealerWords, isCard } from "./playing_cards.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";
import { reasonText } from "./reasons.js";
import { say, sayCount, sayHand } from "./say.js";

const LIMIT = 25;
const LAST_DAY = "9999-12-30";
const STATES = { open: say("Open#round"), settled: say("Settled"), void: say("Void") };
const OUTCOMES = { returned: say("Returned"), collected: say("Collected") };
const LINE_STATES = {
  pending: say("Waits for a floorperson"), validated: say("Validated, to be paid"), paid: say("Paid"), rejected: say("Rejected"),
};

const FIELDS = ["table", "round", "day", "time", "claim"];

/* What the form asks for, without its empty fields. */
const askedIn = ({ elements }) =>
  Object.fromEntries(FIELDS.map((name) => [name, elements[name].value.trim()]).filter(([, value]) => value));

const isRound = (of) => of.includes("/") && !of.startsWith("?");

/* What an address asks for: `?table=TCP-03&round=R9`, or only a table. The address of a round that is
   open has a slash. */
const askedBy = (of) => {
  if (of.startsWith("?")) return Object.fromEntries(new URLSearchParams(of));
  return of && !isRound(of) ? { table: of } : null;
};

/* Nobody remembers a time to the minute: rounds are shown from some minutes before it. */
const BEFORE_MS = 600000;

/* The query for the service. A time of a day is one of the facility's clock; without a time, the day
   is a gaming day. */
const queryOf = ({ table, round, claim, day = "", time = "" }) => {
  const [hours, minutes] = time.split(":").map(Number);
  const since = day && time
    ? new Date(Date.parse(format.dayStart(day, 0, hours * 60 + minutes)) - BEFORE_MS).toISOString() : "";
  return { table, round, claim, since, day: since ? "" : day, limit: LIMIT };
};

const nothingText = ({ table, day, time }) =>
  say("No round of {what}.", { what: [table, day && say("on {day}", { day }), time && say("since {time}, nor in the ten minutes before", { time })].filter(Boolean).join(" ") });

const check = ({ elements }) => {
  const { table, claim, day, time } = elements;
  if (!table.value.trim() && !claim.value.trim()) throw wrong(say("Give a table, or a claim."), table);
  if (!day.validity.valid) throw wrong(say("A date has a year of four digits."), day);
  if (time.value && !day.value) throw wrong(say("Give the day of this time too."), day);
};

/* The address of a round for a colleague: its table and name are for people, the rest for the page. */
const addressOf = ({ table, round, link, entry }) =>
  `${location.origin}/floor?${new URLSearchParams({ table, round, link, entry })}`;

const copyAddress = async (row) => {
  const address = addressOf(row);
  try {
    await navigator.clipboard.writeText(address);
    give(say("Copied: the address of {table} · Round {round}", row));
  } catch {
    /* A page without HTTPS has no clipboard. */
    open({
      title: say("Copy the address of this round"),
      content: html`<${Field} label=${say("Address")} name="address" value=${address} maxlength="2000" readonly />`,
    });
  }
};

const Search = ({ form, search }) => {
  const text = { type: "search", enterkeyhint: "search" };
  return html`
    <form ref=${form} class="search" role="search" novalidate onSubmit=${(event) => { event.preventDefault(); search(); }}>
      <div class="grid">
        <${Field} label=${say("Table")} name="table" maxlength="32" autocapitalize="characters" ...${text} />
        <${Field} label=${say("Round#alone")} name="round" maxlength="64" ...${text} />
        <div class="dates">
          <${Field} label=${say("Day")} name="day" type="date" max=${LAST_DAY} />
          <${Field} label=${say("About#time")} name="time" type="time" />
        </div>
        <${Field} label=${say("Claim#alone")} name="claim" maxlength="200" hint=${say("Of a win, instead of a table")} ...${text} />
      </div>
      <div class="acts"><button class="go" type="submit">${say("Find")}</button></div>
    </form>`;
};

const Chip = ({ row }) => html`<span class="chip" data-round=${row.state}>${STATES[row.state]}</span>`;

/* What was won but is not paid: the sum that waits, and the sum that was rejected. */
const notPaid = ({ won, paid, rejected }) => [
  won > paid + rejected && say("{amount} waits", { amount: money(won - paid - rejected) }),
  rejected > 0 && say("{amount} rejected", { amount: money(rejected) }),
];

const paidText = (row) => [
  sayCount("paid for {count} progressive wager of {amount}", "paid for {count} progressive wagers of {amount}",
    row.wagers, { amount: money(row.wagered) }),
  row.won !== row.paid && say("{amount} won at the settlement", { amount: money(row.won) }), ...notPaid(row),
].filter(Boolean).join(" · ");

/* What became of a line, and by whom. */
const stateText = (line) => LINE_STATES[line.state] ?? OUTCOMES[line.outcome] ?? line.outcome;
const byText = (line) => line.by && line.state !== "pending"
  && (line.slip ? say("by {by}, slip {slip}", line) : say("by {by}", line));

const Row = ({ row, isOpen }) => html`
  <li class="row won" data-round=${row.entry}>
    <a href=${hrefOf("find", `${row.link}/${row.entry}`)} aria-current=${isOpen ? "true" : null}>
      <span class="one"><b>${`${row.table} · ${row.round}`}</b>${" "}<span class="sum">${row.won ? money(row.paid) : ""}</span></span>
      <span class="what">${[sayCount("{count} wager", "{count} wagers", row.wagers),
        row.wins && sayCount("{count} win", "{count} wins", row.wins),
        ...notPaid(row), row.corrected && say("corrected")].filter(Boolean).join(" · ")}</span>
      <span class="tags"><span class="when">${format.moment(row.at)}</span><${Chip} row=${row} /></span>
    </a>
  </li>`;

const HandsPanel = ({ round }) => html`
  <section class="panel">
    <h3>${say("Cards and wagers")} <span>${say("wagers at lock-out, after corrections")}</span></h3>
    <ul class="dealt">
      ${round.hands.map((hand) => html`
        <li key=${hand.position} data-position=${hand.position}>
          <p><b>${format.who(hand.position, hand.patron)}</b>
            <small>${Object.entries(hand.wagers).map(([name, cents]) => `${format.item(name)} ${money(cents)}`).join(" · ") || say("no progressive wager")}</small></p>
          ${hand.cards.length ? html`<${Cards} names=${hand.cards} />`
            : html`<small>${hand.folded ? say("folded, cards collected") : hand.no_win ? say("declared to win nothing") : say("no cards")}</small>`}
        </li>`)}
      ${[[round.dealer.length > 0 && dealerWords(round.dealer), round.dealer], [say("Community"), round.community]].filter(([, names]) => names.length).map(([title, names]) => html`
        <li key=${title}><p><b>${title}</b></p><${Cards} names=${names} /></li>`)}
    </ul>
    ${round.draw && (round.draw.magic_card || round.draw.lucky_position) && html`
      <p class="foot"><span>${[round.draw.magic_card && `${say("Magic Card")} ${round.draw.magic_card}`,
        round.draw.lucky_position && `${say("Lucky position")} ${round.draw.lucky_position === "dealer" ? say("dealer") : round.draw.lucky_position}`].filter(Boolean).join(" · ")}</span></p>`}
  </section>`;

const LinesPanel = ({ round }) => round.lines.length > 0 && html`
  <section class="panel">
    <h3>${say("Settlement")} <span>${say("in the order of payment")}</span></h3>
    <div class="scroll" tabindex="0" role="region" aria-label=${say("Settlement")}>
      <table class="settled">
        <thead><tr><th scope="col">${say("Position#alone")}</th><th scope="col">${say("Wager, hand")}</th><th scope="col">${say("Outcome")}</th>
          <th scope="col">${say("Won")}</th><th scope="col" class="apart">${say("Rule")}</th></tr></thead>
        <tbody>${round.lines.map((line, at) => html`
          <tr key=${at} data-won=${line.won ? "" : null} data-state=${line.state}>
            <th scope="row">${line.position}</th>
            <td>${line.on === "dealer" && isCard(round.dealer[0]) ? say("{wager} on the dealer", { wager: line.item_name }) : line.item_name}
              ${(line.envy_of || line.hand_of) && html`<small>${say("for the hand of position {position}", { position: line.envy_of || line.hand_of })}</small>`}
              ${line.hand_name && html`<small>${sayHand(line.hand_name)}</small>`}<small class="within">${line.rule}</small></td>
            <td>${stateText(line)}${byText(line) && html`<small>${byText(line)}</small>`}
              ${line.paid_from && html`<small>${format.paidFrom(line.paid_from)}</small>`}</td>
            <td class="won">${money(line.won)}${line.percent !== null && html`<small>${format.ofMeter(line)}</small>`}</td>
            <td class="apart">${line.rule}</td>
          </tr>`)}</tbody>
      </table>
    </div>
  </section>`;

const known = (cents) => (cents === null ? "—" : money(cents));

/* What moved the meter between lock-out and settlement, besides this round. A difference of one cent can
   come from rounding, because a meter has fractions of cents. */
const meanwhile = ({ before, added, at_result: at }) => {
  const others = at === null ? 0 : at - before - added;
  if (Math.abs(others) < 2) return "";
  return say("{amount} by other tables meanwhile", { amount: `${others < 0 ? "−" : "+"}${money(Math.abs(others))}` });
};

const MetersPanel = ({ round }) => round.meters.length > 0 && html`
  <section class="panel">
    <h3>${say("Meters")} <span>${say("before and after")}</span></h3>
    <div class="scroll" tabindex="0" role="region" aria-label=${say("Meters")}>
      <table class="settled">
        <thead><tr><th scope="col">${say("Meter")}</th><th scope="col">${say("Before")}</th><th scope="col">${say("Added")}</th>
          <th scope="col">${say("At its settlement")}</th><th scope="col" class="apart">${say("After")}</th></tr></thead>
        <tbody>${round.meters.map((meter) => html`
          <tr key=${meter.meter}>
            <th scope="row">${meter.name}</th><td>${money(meter.before)}</td><td>${money(meter.added)}</td>
            <td>${known(meter.at_result)}${meanwhile(meter) && html`<small>${meanwhile(meter)}</small>`}
              <small class="within">${`→ ${known(meter.after)}`}</small></td>
            <td class="apart">${known(meter.after)}</td>
          </tr>`)}</tbody>
      </table>
    </div>
  </section>`;

const FactsPanel = ({ round: { row, table_at: at, ended_table_at: ended, void_reason: why, entries } }) => html`
  <section class="panel">
    <h3>${say("Round#alone")}</h3>
    <${claims.Facts} pairs=${[
      [say("Link"), row.link_name],
      [say("Asset number"), row.asset],
      [say("Lock-out, service"), format.moment(row.at)],
      [say("Lock-out, table"), format.moment(at)],
      [row.state === "void" ? say("Void, service") : say("Settled, service"), row.ended_at && format.moment(row.ended_at)],
      [row.state === "void" ? say("Void, table") : say("Settled, table"), ended && format.moment(ended)],
      [say("Reason of the void"), why && reasonText(why)],
      [say("Ledger entries"), entries.join(", ")],
    ]} />
  </section>`;

const actText = (act) => (act.told ? say("{what} by {by}: {told}", act) : say("{what} by {by}", act));

const story = (round) => [
  [round.row.at, sayCount("Lock-out, {count} wager", "Lock-out, {count} wagers", round.row.wagers)],
  ...round.acts.filter(({ what }) => what !== "void").map((act) =>
    [act.at, actText({ ...act, what: doneText(act.what) })]),
  ...(round.row.ended_at ? [[round.row.ended_at, round.row.state === "void" ? say("Void: {reason}", { reason: reasonText(round.void_reason) }) : say("Settled"), round.wins.length > 0]] : []),
].sort(([one], [other]) => Date.parse(one) - Date.parse(other));

const StoryPanel = ({ round }) => html`
  <section class="panel">
    <h3>${say("What happened")}</h3>
    <ol class="story">${story(round).map(([at, text, isWin]) => html`
      <li key=${at + text} data-win=${isWin ? "" : null}><b>${format.time(at)}</b> ${text}</li>`)}</ol>
  </section>`;

const WinsPanel = ({ round }) => round.wins.length > 0 && html`
  <section class="panel">
    <h3>${say("Wins")}</h3>
    <ul class="round-wins">${round.wins.map((win) => html`
      <li key=${win.claim}><a href=${hrefOf("wins", win.claim)}>${`${win.table ? claims.place(win) : say("Position {position}", win)} · ${win.item_name}`}</a>
        <b>${money(win.amount)}</b>${win.state && html`<span class="chip" data-state=${win.state}>${claims.STATES[win.state]}</span>`}</li>`)}</ul>
  </section>`;

export const Round = ({ round, back }) => html`
  <${Pane} kind="found-round" of=${{ "data-entry": round.row.entry }} back=${back} acts=${html`
    <div class="acts">
      <button type="button" onClick=${() => copyAddress(round.row)}>${say("Copy the address")}</button>
      <${PrintButton} />
      ${round.row.state !== "open" && html`
        <a class="button" href=${disputeOf(round.row.link, round.row.entry)} target="_blank" rel="noopener">${say("Dispute")}</a>`}
    </div>`}>
    <${PaperTitle} title=${say("{table} · Round {round}", round.row)} />
    <div class="win-title">
      <div>
        <h2 tabindex="-1">${say("{table} · Round {round}", round.row)} <span>${`· ${round.row.link_name}`}</span></h2>
        <${Amount} cents=${round.row.paid} />
        <p>${paidText(round.row)}</p>
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
  return html`<${Nothing} text=${entry ? error || say("Reading…") : say("Find a round to see its cards, wagers and settlement.")} />`;
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
    setStatus(say("Reading…"));
    const more = page && (page.latest_first ? { before: page.next } : { after: page.next });
    try {
      const next = await api.get("/api/v1/rounds", { ...queryOf(query), ...more });
      if (number !== asked.current) return;
      const all = [...rows, ...next.rounds];
      setFound({ last, rows: all, page: next });
      setStatus(!all.length ? nothingText(query) : next.latest_first
        ? sayCount("{count} round, the latest first", "{count} rounds, the latest first", all.length)
        : sayCount("{count} round, the earliest first", "{count} rounds, the earliest first", all.length));
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
      setFound({ last: "", rows: [], page: null });
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
    <h1 class="sr" tabindex="-1">${say("Find a round")}</h1>
    <${Panes} opened=${isOpen} list=${html`
      <${Search} form=${form} search=${search} />
      <p class="nothing" role="status">${status}</p>
      <ol class="wins">${rows.map((row) => html`<${Row} key=${`${row.link} ${row.entry}`} row=${row} isOpen=${of === `${row.link}/${row.entry}`} />`)}</ol>
      <button type="button" hidden=${!page?.next} onClick=${() => read(last, rows, page)}>${page?.latest_first ? say("Earlier rounds") : say("Later rounds")}</button>`}
      shown=${html`<${Shown} of=${isOpen ? of : ""} changes=${changes} back=${size === "phone" ? hrefOf("find", last) : null} />`} />`;
};
