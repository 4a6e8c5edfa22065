/* Past wins: the latest of each progressive, and a search over all. */

import * as api from "./floor_api.js";
import * as claims from "./floor_claims.js";
import * as dialogs from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { Nothing, Panes } from "./floor_panes.js";
import { useAnswer } from "./floor_reading.js";
import { RoundHead, roundsOf } from "./floor_rounds.js";
import { hrefOf } from "./floor_route.js";
import { useClaim, Win } from "./floor_win.js";
import { money } from "./money.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";
import { say, sayCount } from "./say.js";

const LIMIT = 25;
const LAST_DAY = "9999-12-30";
const STATES = [["", say("Any")], ...Object.entries(claims.STATES)];

const queryOf = ({ elements }) => {
  const value = (name) => elements[name].value.trim();
  const [link, meter] = value("progressive").split(" ");
  return {
    link, meter, words: value("words"), table: value("table"), state: value("state"),
    since: value("from") && format.dayStart(value("from")),
    until: value("to") && format.dayStart(value("to"), 1),
    meter_awards: value("awards"), limit: LIMIT,
  };
};

/* The error in the dates, as text. */
const wrongDates = ({ elements: { from, to } }) => {
  if (!from.validity.valid || !to.validity.valid) return say("A date has a year of four digits.");
  return from.value && to.value && from.value > to.value ? say("From is after To: no day lies between.") : "";
};

const foundText = (wins, next) => (wins.length
  ? [sayCount("{count} win, the latest first", "{count} wins, the latest first", wins.length), next && say("there are more")]
    .filter(Boolean).join("; ")
  : say("No wins found."));

const Search = ({ form, search }) => {
  const { found: links } = useAnswer(() => api.get("/api/v1/links"));
  const text = { type: "search", enterkeyhint: "search" };
  const submit = (event) => {
    event.preventDefault();
    search();
  };
  const clear = () => {
    form.current.reset();
    search();
  };
  return html`
    <form ref=${form} class="search" role="search" novalidate onSubmit=${submit}>
      <div class="grid">
        <${dialogs.Select} label=${say("Progressive")} name="progressive" onChange=${search} options=${[["", say("All progressives")]]}>
          ${links?.map((link) => html`
            <optgroup label=${link.name}>
              ${link.meters.map(({ meter, name }) => html`<option value=${`${link.link} ${meter}`}>${name}</option>`)}
            </optgroup>`)}
        <//>
        <${dialogs.Select} label=${say("Which wins")} name="awards" onChange=${search}
          options=${[["", say("All")], ["true", say("From the meter only")]]} />
      </div>
      <details class="further">
        <summary>${say("Search")}</summary>
        <div class="grid">
          <${dialogs.Field} label=${say("Words")} name="words" maxlength="100" ...${text}
            hint=${say("A patron, a hand, an amount, a slip, a round, a name")} />
          <${dialogs.Field} label=${say("Table")} name="table" maxlength="32" ...${text} />
          <${dialogs.Select} label=${say("State")} name="state" options=${STATES} />
          <div class="dates">
            <${dialogs.Field} label=${say("From")} name="from" type="date" max=${LAST_DAY} />
            <${dialogs.Field} label=${say("To, that day included")} name="to" type="date" max=${LAST_DAY} />
          </div>
        </div>
        <div class="acts">
          <button class="go" type="submit">${say("Search")}</button>
          <button type="button" onClick=${clear}>${say("Clear")}</button>
        </div>
      </details>
    </form>`;
};

const Row = ({ claim, isOpen }) => html`
  <li class="row won" data-claim=${claim.claim}>
    <a href=${hrefOf("wins", claim.claim)} aria-current=${isOpen ? "true" : null}>
      <span class="one"><b>${claims.handName(claim)}${!claim.only_envy && claims.dueEnvy(claim) > 0
        && html`<span class="envy-sum">${` + ${say("Envy {amount}", { amount: money(claim.envy_amount) })}`}</span>`}</b>${" "}<span class="sum">${money(claims.sum(claim))}</span></span>
      <span class="what">
        ${[claims.place(claim), claims.itemName(claim), claim.patron].filter(Boolean).join(" · ")}</span>
      <span class="tags"><span class="when">${format.moment(claim.at)}</span><${claims.Chip} claim=${claim} /></span>
    </a>
  </li>`;

/* The win that is open, as the service has it now; until it has answered, as the list has it. */
const Shown = ({ id, wins, me, changes, done, back }) => {
  const { claim: now, error, read } = useClaim(id, null, changes);
  const claim = now ?? wins.find((one) => one.claim === id);
  const act = () => Promise.all([done(), read()]);
  if (claim) return html`<${Win} key=${id} claim=${claim} me=${me} done=${act} back=${back} />`;
  return html`<${Nothing} text=${id ? error || say("Reading…") : say("Choose a win to see its evidence.")} />`;
};

export const Wins = ({ me, changes, size, of }) => {
  const form = useRef();
  const asked = useRef(0);
  const [found, setFound] = useState({ query: null, wins: [], next: null });
  const [status, setStatus] = useState(say("Reading…"));
  const [busy, setBusy] = useState(false);

  /* Read the first page of a query, or the page after the wins that are shown. */
  const read = async (query, wins = [], before = null) => {
    const number = (asked.current += 1);
    setBusy(true);
    try {
      const page = await api.get("/api/v1/wins", { ...query, before });
      if (number !== asked.current) return;
      const all = [...wins, ...page.wins];
      setFound({ query, wins: all, next: page.next });
      setStatus(foundText(all, page.next));
    } catch (error) {
      const { message } = api.refusal(error);
      if (number !== asked.current) return;
      if (before === null) setFound({ query: null, wins: [], next: null });
      setStatus(message);
    } finally {
      setBusy(false);
    }
  };
  const search = () => {
    const wrong = wrongDates(form.current);
    if (!wrong) return void read(queryOf(form.current));
    asked.current += 1;
    setFound({ query: null, wins: [], next: null });
    setStatus(wrong);
  };
  useLayoutEffect(search, []);

  const before = useRef(of);
  useLayoutEffect(() => {
    if (before.current === of) return;
    const row = document.querySelector(`.row[data-claim="${CSS.escape(before.current)}"] a`);
    (of && size === "phone" ? document.querySelector(".detail h2") : of ? null : row)?.focus();
    before.current = of;
  });
  return html`
    <h1 class="sr" tabindex="-1">${say("Wins")}</h1>
    <${Panes} opened=${Boolean(of)} list=${html`
      <${Search} form=${form} search=${search} />
      <p class="nothing" role="status">${status}</p>
      <ol class="wins">${roundsOf(found.wins).map(({ id, wins }) => html`
        <li key=${id} class="round">
          <${RoundHead} wins=${wins} />
          <ol>${wins.map((claim) => html`<${Row} key=${claim.claim} claim=${claim} isOpen=${claim.claim === of} />`)}</ol>
        </li>`)}</ol>
      <button type="button" hidden=${found.next === null} disabled=${busy}
        onClick=${() => read(found.query, found.wins, found.next)}>${say("Earlier wins")}</button>`}
      shown=${html`<${Shown} id=${of} wins=${found.wins} me=${me} changes=${changes} done=${search} back=${size === "phone" ? "#wins" : null} />`} />`;
};
