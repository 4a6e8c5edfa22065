/* Lists of past acts, latest first, read page by page. */

import * as api from "./floor_api.js";
import * as format from "./floor_format.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";
import { say } from "./say.js";

const DONE = {
  seed: say("Meter started"), hidden_value: say("Hidden value drawn"), validate: say("Win validated"), reject: say("Win rejected"), pay: say("Win paid"),
  request_reject: say("Rejection requested"), request_reopen: say("Reopening requested"), withdraw_request: say("Request withdrawn"),
  reopen: say("Win reopened"), correct_slip: say("Slip number corrected"),
  pay_envy: say("Envy Bonuses paid"), reject_envy: say("Envy Bonuses not due"),
  close: say("Link closed"), open: say("Link opened"), propose: say("Change proposed"),
  withdraw: say("Proposal withdrawn"), parameter: say("Parameter changed"), adjust: say("Meter adjusted"),
  promotion: say("Promotion added"),
  inoperable: say("Link was inoperable"),
  approve_first: say("Floor file approved by the first of two"), approve: say("Floor file approved"),
  restore: say("Store restored"), reading: say("Meters read"), archive: say("Day archived"),
  expire: say("Archived days deleted"),
  void: say("Round void after cards were entered"), result: say("Hand entered again"),
  correct_wager: say("Wager added or taken back"),
  confirm_correction: say("Correction confirmed"), refuse_correction: say("Correction refused"),
};

/* What an act was, in words. */
export const doneText = (what) => DONE[what] ?? format.capital(format.plain(what));

export const Entry = ({ at, what, by, about }) => html`
  <li>
    <span class="when">${format.moment(at)}</span>
    <span class="main">${what}</span>
    <span class="by">${by}</span>
    <span class="about">${about}</span>
  </li>`;

/* The rows of a path. The latest page is read again whenever `changed` changes. `entry` makes the
   properties of an entry. */
export const Entries = ({ path, limit, entry, changed, empty = "" }) => {
  const [{ rows, more, status }, setFound] = useState({ rows: [], more: false, status: "" });
  const asked = useRef(0);
  const read = async (before = null) => {
    const number = (asked.current += 1);
    try {
      const page = await api.get(path, { before, limit });
      if (number !== asked.current) return;
      const all = before === null ? page : [...rows, ...page];
      setFound({ rows: all, more: page.length === limit, status: all.length ? "" : empty });
    } catch (error) {
      setFound({ rows, more, status: api.refusal(error).message });
    }
  };
  useLayoutEffect(() => { read(); }, [changed]);
  return html`
    <p class="of" role="status">${status}</p>
    <ol class="entries">${rows.map((row) => html`<${Entry} key=${row.entry} ...${entry(row)} />`)}</ol>
    <button type="button" hidden=${!more} onClick=${() => read(rows.at(-1).entry)}>${say("Earlier")}</button>`;
};
