/* Dialogs that ask the dealer for a reason: to void a round, or to take entered cards back. */

import { html } from "./preact.js";
import { press } from "./panel_connection.js";
import { button } from "./panel_elements.js";
import { current, update } from "./panel_state.js";

const REASONS = [
  "Misdeal", "Chip count differs", "Wrong number of cards in the deck", "Card exposed",
  "Equipment fault", "Table's machine replaced", "Other",
];
const MISTAKES = ["Typed wrong", "Card misread", "Wrong position", "Other"];

const show = (dialog) => dialog?.showModal();
const closed = () => update({ asks: null });
const choose = (reason) => update({ asks: { ...current().asks, reason } });

/* The dialog in which the dealer gives the reason of an event; the ledger records it. */
export const Reason = ({ name, title, message, reasons, reason, keep, confirm, act }) => {
  const close = () => document.getElementById(name).close();
  const confirmed = () => {
    const words = document.getElementById(`${name}-words`).value.trim();
    close();
    press({ ...act, reason: [reason, words].filter(Boolean).join(": ") }, { quiet: ["unconfirmed"] });
  };
  return html`<dialog id=${name} aria-labelledby="${name}-title" ref=${show} onclose=${closed}>
    <h2 id="${name}-title">${title}</h2>
    <p>${message}</p>
    <label for="${name}-why">Reason</label>
    <select id="${name}-why" onchange=${({ target }) => choose(target.value)}>
      ${!reason && html`<option value="">Choose the reason</option>`}
      ${reasons.map((each) => html`<option key=${each} value=${each} selected=${each === reason}>${each}</option>`)}
    </select>
    <label for="${name}-words">In your own words</label>
    <input id="${name}-words" type="text" maxlength="120" autocomplete="off" />
    <div class="bar">
      ${button(`${name}-keep`, keep, close)}
      ${button(`${name}-confirm`, confirm, confirmed, { class: "stop big", disabled: !reason })}
    </div>
  </dialog>`;
};

export const askVoid = () => update({ asks: {
  name: "void",
  title: "Void this round?",
  message: "All its wagers go back to the players. This cannot be undone.",
  reasons: REASONS, reason: "", keep: "Keep the round", confirm: "Void the round",
  act: { event: "void" },
} });

export const askUndo = (act, whose) => update({ asks: {
  name: "undo",
  title: `Take back ${whose}?`,
  message: "If you enter different cards, the ledger records both entries and the reason.",
  reasons: MISTAKES, reason: MISTAKES[0], keep: "Keep the cards", confirm: "Take back",
  act,
} });
