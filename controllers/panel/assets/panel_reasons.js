/* Dialogs that ask the dealer for a reason: to void a round, to take back entered cards, or to
   correct a wager. */

import { money } from "./money.js";
import { html } from "./preact.js";
import { press } from "./panel_connection.js";
import { button } from "./panel_elements.js";
import { current, update } from "./panel_state.js";
import { MISTAKES, VOID_REASONS, WAGER_MISTAKES } from "./reasons.js";
import { say } from "./say.js";

const show = (dialog) => dialog?.showModal();
const closed = () => update({ asks: null });
const change = (changes) => update({ asks: { ...current().asks, ...changes } });

/* The wagers from which the dealer chooses: those with a light, and those without. */
const Choices = ({ name, choices, choice }) => html`
  <label for="${name}-which">${say("Which wager?")}</label>
  <select id="${name}-which" onchange=${({ target }) => change({ choice: target.value })}>
    ${!choice && html`<option value="">${say("Choose the wager")}</option>`}
    ${choices.map(({ label, of }) => html`<optgroup key=${label} label=${label}>
      ${of.map(({ key, text }) => html`<option key=${key} value=${key} selected=${key === choice}>${text}</option>`)}
    </optgroup>`)}
  </select>`;

/* The dialog in which the dealer gives the reason of an event; the ledger records it. */
export const Reason = ({ name, title, message, choices, choice, reasons, reason, keep, confirm, act }) => {
  const close = () => document.getElementById(name).close();
  const confirmed = () => {
    const words = document.getElementById(`${name}-words`).value.trim();
    close();
    const chosen = choices?.flatMap(({ of }) => of).find(({ key }) => key === choice)?.act;
    press({ ...act, ...chosen, reason: [reason, words].filter(Boolean).join(": ") }, { quiet: ["unconfirmed"] });
  };
  return html`<dialog id=${name} aria-labelledby="${name}-title" ref=${show} onclose=${closed}>
    <h2 id="${name}-title">${title}</h2>
    <p>${message}</p>
    ${choices && html`<${Choices} name=${name} choices=${choices} choice=${choice} />`}
    <div class="why-of" role="group" aria-label=${say("Reason")}>
      ${Object.entries(reasons).map(([each, words], at) =>
        button(`${name}-why-${at}`, words, () => change({ reason: each }), { "aria-pressed": each === reason }))}
    </div>
    <label for="${name}-words">${say("In your own words")}</label>
    <input id="${name}-words" type="text" maxlength="120" autocomplete="off" />
    <div class="bar">
      ${button(`${name}-keep`, keep, close)}
      ${button(`${name}-confirm`, confirm, confirmed, { class: "stop big", disabled: !reason || (choices && !choice) })}
    </div>
  </dialog>`;
};

export const askVoid = () => update({ asks: {
  name: "void",
  title: say("Void this round?"),
  message: say("All its wagers go back to the players. This cannot be undone."),
  reasons: VOID_REASONS, reason: "", keep: say("Keep the round"), confirm: say("Void the round"),
  act: { event: "void" },
} });

/* If a wager can have several amounts, its name is followed by the amount, and each can be added. */
const choice = (action, position, { wager, name, amounts }, amount) => ({
  key: `${action} ${position} ${wager} ${amount}`,
  text: say("Position {position}: {wager}", { position, wager: amounts.length > 1 ? `${name} ${money(amount)}` : name }),
  act: { action, position, wager, ...(action === "add" && amounts.length > 1 && { amount }) },
});

export const askCorrection = ({ positions, wagers }) => {
  const correctable = wagers.filter((wager) => wager.correctable);
  const of = (action, isLit) => positions.flatMap(({ position, amounts: placed }) =>
    correctable.filter(({ wager }) => wager in placed === isLit).flatMap((each) =>
      (isLit ? [placed[each.wager]] : each.amounts).map((amount) => choice(action, position, each, amount))));
  update({ asks: {
    name: "correct",
    title: say("Correct a wager?"),
    message: say("The round goes on with its other wagers. A floorperson must confirm the correction: deal no card until then. If a light is at the wrong position, add the right wager first."),
    choices: [
      { label: say("Take back: its light is on"), of: of("take_back", true) },
      { label: say("Add: its light is off"), of: of("add", false) },
    ],
    choice: "",
    reasons: WAGER_MISTAKES, reason: "", keep: say("Keep the wagers"), confirm: say("Ask the floorperson"),
    act: { event: "correct_wager" },
  } });
};

const CARDS = {
  message: say("If you enter different cards, the ledger records both entries and the reason."), keep: say("Keep the cards"),
};
const RESULT = {
  message: say("If you enter another result, the ledger records both entries and the reason."), keep: say("Keep the result"),
};

export const askUndo = (act, title) => update({ asks: {
  name: "undo",
  title,
  ...(current().view.results.length ? RESULT : CARDS),
  reasons: MISTAKES, reason: "Typed wrong", confirm: say("Take back"),
  act,
} });
