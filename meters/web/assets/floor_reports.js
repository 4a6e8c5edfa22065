/* The reports that accountants sign, as `pitlink report` prints them: its titles, lists and notes are in
   English. They are chosen by gaming day or month, printed, and saved as a spreadsheet. */

import { Facts } from "./floor_claims.js";
import * as api from "./floor_api.js";
import { Field, Select } from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { Icon } from "./floor_icons.js";
import { PaperTitle, PrintButton } from "./floor_print.js";
import { useAnswer, useCurrent } from "./floor_reading.js";
import { show } from "./floor_route.js";
import { html, useLayoutEffect, useState } from "./preact.js";
import { say } from "./say.js";

const NAMES = [["day", say("Gaming day")], ["month", say("Month")], ["jackpots", say("Wins")], ["table", say("Tables")]];
const MONTH = format.named({ year: "numeric", month: "long", timeZone: "UTC" });
/* A list with more columns needs the whole width. */
const FEW = 4;

const pathOf = (asked) => `/api/v1/reports/${asked.map(encodeURIComponent).join("/")}`;
const monthOf = (day) => day.slice(0, 7);
const dayBefore = (day) => new Date(Date.parse(day) - 86400000).toISOString().slice(0, 10);

/* The report in the address, such as `month/2026-11`; at first that of the last closed day. */
const askedBy = (of, { first, open }) => {
  const [name, days = ""] = of.split("/");
  return name ? [name, days] : ["day", first < open ? dayBefore(open) : open];
};

/* The months with a gaming day, the last one first. */
const monthsOf = ({ first, open }) => {
  const months = [];
  for (let month = monthOf(open); month >= monthOf(first); month = monthOf(dayBefore(`${month}-01`))) months.push(month);
  return months.map((month) => [month, MONTH.format(Date.parse(month))]);
};

const Tools = ({ known, asked, done }) => {
  const [[name, days], choose] = useState(asked);
  useLayoutEffect(() => choose(asked), asked);
  const setName = ({ target: { value } }) => choose([value, value === "day" && days.length < 10 ? askedBy("", known)[1] : days]);
  const setDays = ({ target }) => choose([name, target.value]);
  const submit = (event) => {
    event.preventDefault();
    show("reports", `${name}/${event.target.elements.days.value}`);
    done();
  };
  return html`
    <form class="tools" onSubmit=${submit}>
      <${Select} label=${say("Report")} name="report" options=${NAMES} chosen=${name} onChange=${setName} />
      ${name === "day" ? html`
        <${Field} key="day" label=${say("Gaming day")} name="days" type="date" required min=${known.first} max=${known.open} value=${days} onInput=${setDays} />`
        : html`<${Select} key="month" label=${say("Month")} name="days" options=${monthsOf(known)} chosen=${monthOf(days)} onChange=${setDays} />`}
      <button class="go" type="submit">${say("Show")}</button>
    </form>`;
};

const List = ({ section: { columns, rows, sums, note } }) => html`
  ${rows.length > 0 && html`
    <table class=${columns.length > FEW ? "listed spread" : "listed"}>
      <thead><tr>${columns.map(({ title, right }, at) => html`
        <${title ? "th" : "td"} key=${at} class=${right ? "right" : null}>${title}<//>`)}</tr></thead>
      <tbody>${rows.map((row, at) => html`
        <tr key=${at} data-sum=${at >= rows.length - sums ? "" : null}>${row.map((cell, place) => html`
          <${place ? "td" : "th"} key=${place} ...${place ? {} : { scope: "row" }} class=${columns[place].right ? "right" : null}
            data-title=${columns[place].title}>${cell}<//>`)}</tr>`)}</tbody>
    </table>`}
  ${!rows.length && !note && html`<p class="of">none</p>`}
  ${note && html`<p class="of">${note}</p>`}`;

/* A list without a title belongs to the list before it. */
const panelsOf = (sections) => sections.reduce((panels, section) => {
  if (section.title || !panels.length) panels.push([section]);
  else panels.at(-1).push(section);
  return panels;
}, []);

const Lists = ({ sections }) => html`
  <div class="lists">${panelsOf(sections).map((panel, at) => html`
    <section key=${at} class="panel" data-spread=${panel.some(({ columns }) => columns.length > FEW) ? "" : null}>
      <h3>${panel[0].title}</h3>
      ${panel.map((section, place) => html`<${List} key=${place} section=${section} />`)}
    </section>`)}
  </div>`;

const Part = ({ part }) => html`
  <section class="part">
    <h2>${part.title}</h2>
    <${Facts} pairs=${part.facts} />
    <${Lists} sections=${part.sections} />
  </section>`;

const ofDays = ([name]) => name.startsWith("Gaming day");

const Report = ({ path, report: { document: made, problems, closing, signers, has_sheet: hasSheet } }) => {
  const [, days] = made.facts.find(ofDays);
  return html`
    <article class="report" lang="en" data-mark=${made.unsigned || null}>
      <${PaperTitle} title=${`${made.title} · ${days}`} />
      <header class="win-title">
        <div>
          <h2 tabindex="-1">${days}</h2>
          <p>${made.title}${made.unsigned && html` <span class="chip" data-state=${problems.length ? "rejected" : "pending"}>${made.unsigned}</span>`}</p>
        </div>
        <div class="acts" lang=${document.documentElement.lang}>
          ${hasSheet ? html`<a class="button" href=${`${path}/rows.csv`} download><${Icon} name="doc" />CSV</a>`
            : html`<p class="of">${say("The spreadsheet is too long for this page.")}</p>`}
          <${PrintButton} />
        </div>
      </header>
      ${problems.length > 0 && html`<ul class="notice bad">${problems.map((problem) => html`<li key=${problem}>${problem}</li>`)}</ul>`}
      ${made.unsigned && html`<p class="strong">${closing}</p>`}
      <${Facts} pairs=${made.facts.filter((fact) => !ofDays(fact))} />
      ${made.summary.length > 0 && html`<${Lists} sections=${made.summary} />`}
      ${made.parts.map((part) => html`<${Part} key=${part.link} part=${part} />`)}
      ${signers.length > 0 && html`
        <footer class="signing"><p>${closing}</p>${signers.map((signer) => html`<p key=${signer} class="signer">${signer}</p>`)}</footer>`}
    </article>`;
};

/* A service that still makes the report, or does not answer, is asked again. */
const read = async (path) => {
  try {
    return { report: await api.get(path) };
  } catch (refused) {
    const { status, code, message } = api.refusal(refused);
    if (!status || code === "busy") throw refused;
    return { message };
  }
};

const Shown = ({ path }) => {
  const { found } = useCurrent(() => read(path), []);
  const status = found ? found.message : say("The report is being made…");
  return html`
    <p class="nothing" role="status" hidden=${!status}>${status}</p>
    ${found?.report && html`<${Report} path=${path} report=${found.report} />`}`;
};

export const Reports = ({ of }) => {
  const { found: known, error } = useAnswer(() => api.get("/api/v1/reports"), [of]);
  const [shows, setShows] = useState(0);
  const asked = known && askedBy(of, known);
  const path = asked && pathOf(asked);
  return html`
    <h1 class="sr" tabindex="-1">${say("Reports")}</h1>
    <div class="reports">
      ${known && html`<${Tools} known=${known} asked=${asked} done=${() => setShows(shows + 1)} />`}
      ${known ? html`<${Shown} key=${`${path} ${shows}`} path=${path} />`
        : html`<p class="nothing" role="status">${error || say("Reading…")}</p>`}
    </div>`;
};
