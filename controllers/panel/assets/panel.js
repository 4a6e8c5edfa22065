/* The panel of one table: the page as a function of its state. */

import { LanguageChoice } from "./language_choice.js";
import { html, render } from "./preact.js";
import { connect } from "./panel_connection.js";
import { DealerTask } from "./panel_task.js";
import { EarlierRounds, Notices } from "./panel_owed.js";
import { Reason } from "./panel_reasons.js";
import { Settlement } from "./panel_settled.js";
import { onUpdate, update } from "./panel_state.js";
import { Meters, Positions, Shut, standing } from "./panel_table.js";
import { language, say } from "./say.js";

const { table } = document.documentElement.dataset;
document.title = say("{table} · table panel", { table });

/* In English, the page shows the agent's own words, which say more. */
const refusedText = (refused) => (language === "en"
  ? refused : say("This tablet has no access to the panel. Ask a technician for the panel's address, and open it."));

const lostText = ({ refused }) => (refused
  ? `${say("Nothing on this page is current.")} ${refusedText(refused)}`
  : say("This tablet has lost its connection to the table. Nothing on this page is current. It reconnects automatically."));

const Page = (state) => html`
  <header>
    ${state.view?.demonstration && html`<p class="demonstration" id="demonstration">${say("Demonstration: simulated play, no real money")}</p>`}
    <div class="head">
      <h1 id="table">${table}</h1>
      <p class="of" id="of">${state.view && [state.view.linked && state.view.link, state.view.game]
        .filter(Boolean).join(" · ")}</p>
      <a class="by-hand" href="/settle">${say("Settle by hand")}</a>
      <${LanguageChoice} />
      <p class="standing" id="standing" role="status" data-ok=${standing(state).ok}>${standing(state).text}</p>
    </div>
    ${state.lost && html`<p class="lost notice bad" id="lost" role="alert">${lostText(state)}</p>`}
    ${state.toast && html`<p class="toast bad" id="toast" role="alert"
      onclick=${() => update({ toast: "" })}>${state.toast}</p>`}
  </header>
  <main id="main" inert=${state.lost} data-lost=${state.lost} data-mode=${state.mode}
    data-stage=${state.stage}
    data-links=${String(state.links || state.view?.phase !== "dealt")}>
    ${state.view && html`
      <${Meters} ...${state} /><${EarlierRounds} ...${state} />
      <div class="table"><${Shut} ...${state} /><${Notices} ...${state} /><${Positions} ...${state} />
        ${state.looksBack && state.view.last && html`<${Settlement} settled=${state.view.last} isLast />`}</div>
      <${DealerTask} ...${state} />`}
  </main>
  ${state.asks && html`<${Reason} ...${state.asks} />`}`;

/* If the focused element is gone, a person with a keyboard continues with the next action. The focus
   moves to a field only from a field, because a field opens the tablet's keyboard. */
const focusNext = (gone) => {
  const find = (what) => document.querySelector(what);
  const next = (gone.matches("input") && find("#dealer-task input")) || find("#dealer-task [data-next]:enabled") || find("#task");
  next?.focus({ preventScroll: true });
};

onUpdate((state) => {
  const focused = document.activeElement;
  render(html`<${Page} ...${state} />`, document.body);
  if (!focused.isConnected) focusNext(focused);
});
update();
connect();
