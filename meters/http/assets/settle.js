/* The page on which a whole round is settled by hand. The server settles it, and stores nothing. */

import { html, render, useEffect, useRef, useState } from "./preact.js";
import { say } from "./say.js";
import { followSession, readRound, readSession, settle } from "./settle_access.js";
import { disputeOf, nameOf, notKnown, othersOf } from "./settle_dispute.js";
import { Form, Problem } from "./settle_form.js";
import { Pad } from "./settle_pad.js";
import { Result } from "./settle_result.js";
import {
  cardsOf, emptyRound, fieldKey, hands, inWords, nextHand, played, together, withPositions, written,
} from "./settle_round.js";

const host = document.getElementById("settle");
const page = host.dataset;
const forms = JSON.parse(page.forms);
const asked = new URLSearchParams(location.search);

const tableOf = (id) => forms.tables.find((each) => each.table === id) ?? forms.tables[0];
const gameOf = (table) => forms.games[table.form];

const SignIn = () => html`
  <section class="notice wait sign-in">
    <h2>${say("Sign in to settle a round")}</h2>
    <p><a class="button" href="/floor" target="_blank" rel="noopener">${say("Sign in at the floor page")}</a></p>
    <p>${say("This page continues when you have signed in.")}</p>
  </section>`;

const Tables = ({ table, choose }) => html`
  <div class="field tables">
    <label for="table">${say("Table")}</label>
    <select id="table" onChange=${({ currentTarget }) => choose(currentTarget.value)}>
      ${forms.tables.map((each) => html`
        <option key=${each.table} value=${each.table} selected=${each === table}>
          ${each.table} · ${gameOf(each).title}</option>`)}
    </select>
    <p class="hint">${gameOf(table).title} · ${table.link}</p>
  </div>`;

/* Return the dispute that the address names, or its problem, or null if the address names none; and a
   function that leaves the dispute. */
const useDispute = (open, start) => {
  const [dispute, setDispute] = useState(null);
  useEffect(() => {
    if (!open || !asked.has("entry")) return;
    readRound(asked.get("link"), asked.get("entry")).then(({ ok, reply, error }) => {
      if (!ok) return void setDispute({ problem: say("The round cannot be read: {reason}.", { reason: error.message }) });
      const table = forms.tables.find((each) => each.table === reply.row.table);
      if (!table) return void setDispute({ problem: say("The table {table} is not in the floor file.", reply.row) });
      const found = disputeOf(reply, table, asked.get("position"));
      setDispute(found);
      start(found.round);
    });
  }, [open]);
  return [dispute, () => setDispute(null)];
};

const Known = ({ dispute, round, game, others, addOthers }) => {
  if (dispute.problem) return html`<section class="notice wait known"><p>${dispute.problem}</p></section>`;
  return html`
    <section class="notice wait known">
      <h2>${say("From round {round}", dispute.view.row)}</h2>
      ${notKnown(dispute, round, game).map((text) => html`<p key=${text}>${text}</p>`)}
      ${others.length > 0 && html`<button type="button" onClick=${addOthers}>
        ${say("Add the other positions: {positions}", { positions: others.join(", ") })}</button>`}
    </section>`;
};

const Page = ({ open }) => {
  const [round, setRound] = useState(() => emptyRound(tableOf(asked.get("table"))));
  const [target, setTarget] = useState("dealer");
  const [padOpen, setPadOpen] = useState(false);
  const [errors, setErrors] = useState({});
  const [result, setResult] = useState(null);
  const [sending, setSending] = useState(false);
  const latest = useRef(round);
  latest.current = round;
  const put = (next) => {
    latest.current = next;
    setRound(next);
    setResult(null);
  };
  const start = (next) => {
    put(next);
    setErrors({});
    setTarget(nextHand(next, gameOf(tableOf(next.table)), null) ?? "dealer");
    setPadOpen(false);
  };
  const [dispute, leaveDispute] = useDispute(open, start);
  /* The next round at the same table has the Pair Bonus card in the same way. */
  const startAgain = (next) => {
    leaveDispute();
    start(next.table === latest.current.table
      ? { ...next, oneFourthCard: latest.current.oneFourthCard } : next);
  };
  const table = tableOf(round.table);
  const game = gameOf(table);
  const known = dispute?.known;
  const others = known ? othersOf(dispute, round) : [];
  const addOthers = () => {
    put(withPositions(latest.current, others, known));
    goOn();
  };

  /* A wager can need a card that was not asked for before. If the hand on the pad is complete or
     gone, or nothing of it is entered, the pad shows the first hand that is missing. */
  const goOn = () => setTarget((shown) => {
    const hand = hands(latest.current, game).find((each) => each.id === shown);
    const begun = hand ? cardsOf(latest.current, shown).length : 0;
    if (hand && begun > 0 && begun < hand.size) return shown;
    return nextHand(latest.current, game, null) ?? shown;
  });
  const change = (key, next) => {
    put(next(latest.current));
    goOn();
    setErrors(({ [key]: gone, "": whole, ...rest }) => rest);
  };
  const enter = (id, names) => {
    change(id, (before) => ({ ...before, cards: { ...before.cards, [id]: names } }));
    return latest.current;
  };
  const choose = (id, { open: opens = true } = {}) => {
    setTarget(id);
    if (opens) setPadOpen(true);
  };
  useEffect(() => {
    if (padOpen) document.querySelector(`[data-hand="${target}"]`)?.scrollIntoView({ block: "nearest" });
  }, [padOpen, target]);
  const refuse = (found) => {
    setErrors(found);
    const first = Object.keys(found)[0];
    requestAnimationFrame(() => document.querySelector(`[data-field="${first}"]`)
      ?.scrollIntoView({ block: "center" }));
  };
  const send = async () => {
    setPadOpen(false);
    if (!played(round).length) return refuse({ "": say("Choose the positions in this round.") });
    const { body, errors: own } = written(round, game);
    setSending(true);
    const { ok, reply, error } = await settle(body);
    setSending(false);
    const found = (error?.all ?? [error]).filter(Boolean).reverse();
    const servers = Object.fromEntries(found.map((each) => [keyOf(each), inWords(each.message, game)]));
    if (!ok || Object.keys(own).length) return refuse(together(own, servers));
    setErrors({});
    setResult({ settled: reply, body, at: new Date() });
  };
  /* An error of a field that the page does not show belongs to the round. */
  const keyOf = (error) => {
    const key = fieldKey(round, error.field);
    return /^\d|^(dealer|community|all_six_card|pair_bonus_community_card|draw|meters)\b/.test(key)
      ? key : "";
  };
  useEffect(() => {
    const title = document.getElementById("result-title");
    title?.focus({ preventScroll: true });
    title?.scrollIntoView({ block: "start" });
  }, [result]);

  const parts = { round, game, table, known, errors, target, change, enter, choose };
  return html`
    <div class="ask">
      <${Tables} table=${table} choose=${(id) => startAgain(emptyRound(tableOf(id)))} />
      <button type="button" class="empty" onClick=${() => startAgain(emptyRound(table))}>${say("Empty the form")}</button>
    </div>
    ${dispute && html`<${Known} dispute=${dispute} round=${round} game=${game} others=${others} addOthers=${addOthers} />`}
    ${game.missing ? html`<p class="notice wait">${game.missing}</p>` : html`
      <div class="work">
        <${Form} ...${parts} />
        <aside data-open=${String(padOpen)}>
          <${Pad} ...${parts} close=${() => setPadOpen(false)} />
          <div class="send">
            <${Problem} of="" errors=${errors} />
            ${Object.keys(errors).some(Boolean) && html`
              <p class="problem">${say("The round cannot be settled yet. The marked fields say why.")}</p>`}
            <button type="button" class="go big" id="send" disabled=${sending} onClick=${send}>${say("Settle")}</button>
          </div>
        </aside>
      </div>`}
    ${result && html`<${Result} ...${result} round=${round} game=${game} table=${table} page=${page}
      about=${known ? nameOf(dispute, round) : ""} />`}`;
};

const App = () => {
  const signsIn = page.signsIn === "yes";
  const [session, setSession] = useState(signsIn ? "" : "open");
  useEffect(() => {
    if (!signsIn) return undefined;
    const read = () => readSession().then(setSession);
    read();
    return followSession(read);
  }, []);
  if (session === "signed out") return html`<${SignIn} />`;
  if (session && session !== "open") return html`<p class="notice bad" role="alert">${session}</p>`;
  return html`<${Page} open=${session === "open"} />`;
};

/* The words that the page shows before its scripts run. */
const put = (where, text) => { for (const element of document.querySelectorAll(where)) element.textContent = text; };
put("header h1", say("Settle a round"));
put("header .demonstration", say("Demonstration: simulated play, no real money"));
put("header .button", page.signsIn === "yes" ? say("Floor page") : say("Panel"));
document.title = `${say("Settle a round")} · ${page.facility}`;
render(html`<${App} />`, host);
