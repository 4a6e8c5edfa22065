/* Dialogs that ask the dealer for a reason: to void a round, or to take entered cards back. */

import { make, select } from "./elements.js";
import { press } from "./panel_connection.js";
import { button, byId } from "./panel_drawing.js";
import { guarded } from "./panel_guard.js";

const REASONS = [
  "Misdeal", "Chip count differs", "Wrong number of cards in the deck", "Card exposed",
  "Equipment fault", "Other",
];
const MISTAKES = ["Typed wrong", "Card misread", "Wrong position", "Other"];

/* Ask for the reason in a dialog; the ledger records it. */
const askWhy = (name, { title, message, reasons, keep, confirm }, act) => {
  const dialog = byId(name);
  const why = select({ id: `${name}-why` }, reasons.map((reason) => [reason, reason]));
  const words = make("input", { id: `${name}-words`, type: "text", maxlength: "120", autocomplete: "off" });
  const confirmed = async () => {
    const reason = [why.value, words.value.trim()].filter(Boolean).join(": ");
    dialog.close();
    await press({ ...act, reason }, { quiet: ["unconfirmed"] });
  };
  dialog.replaceChildren(
    make("h2", { id: `${name}-title` }, title),
    make("p", {}, message),
    make("label", { for: `${name}-why` }, "Reason"), why,
    make("label", { for: `${name}-words` }, "In your own words"), words,
    make("div.bar", {},
      button(`${name}-keep`, "", keep, () => dialog.close()),
      button(`${name}-confirm`, ".stop.big", confirm, confirmed)));
  guarded(() => dialog.showModal());
};

export const askVoid = () => askWhy("void", {
  title: "Void this round?",
  message: "All its wagers go back to the players. This cannot be undone.",
  reasons: REASONS, keep: "Keep the round", confirm: "Void the round",
}, { event: "void" });

export const askUndo = (act, whose) => askWhy("undo", {
  title: `Take back ${whose}?`,
  message: "If you enter different cards, the ledger records both entries and the reason.",
  reasons: MISTAKES, keep: "Keep the cards", confirm: "Take back",
}, act);
