/* Reasons from which people choose. The ledger has them in English, whatever the language of the
   page. */

import { say } from "./say.js";

const OTHER = say("Other#reason");
const EQUIPMENT = say("Equipment fault");

/* Each list has the texts in the language of the page by their English texts. */
export const VOID_REASONS = {
  Misdeal: say("Misdeal"),
  "Chip count differs": say("Chip count differs"),
  "Wrong number of cards in the deck": say("Wrong number of cards in the deck"),
  "Card exposed": say("Card exposed"),
  "Equipment fault": EQUIPMENT,
  "Table's machine replaced": say("Table's machine replaced"),
  Other: OTHER,
};
export const MISTAKES = {
  "Typed wrong": say("Typed wrong"),
  "Card misread": say("Card misread"),
  "Wrong position": say("Wrong position"),
  Other: OTHER,
};
export const WAGER_MISTAKES = {
  "Light without a chip": say("Light without a chip"),
  "Chip without a light": say("Chip without a light"),
  "Light at the wrong position": say("Light at the wrong position"),
  "Equipment fault": EQUIPMENT,
  Other: OTHER,
};
export const REJECTIONS = {
  "Hand misread": say("Hand misread"),
  "Cards entered wrongly": say("Cards entered wrongly"),
  "The light was out": say("The light was out"),
  "Card fouled": say("Card fouled"),
  "Wager not on the layout": say("Wager not on the layout"),
  "Deal out of turn": say("Deal out of turn"),
};
/* The reasons that a table records for wagers that it gives back. */
const OF_TABLE = {
  "The round is void": say("The round is void"),
  "The service refused the wagers": say("The service refused the wagers"),
  "The table is locked out": say("The table is locked out"),
};
const REASONS = { ...VOID_REASONS, ...MISTAKES, ...WAGER_MISTAKES, ...REJECTIONS, ...OF_TABLE };

/* A recorded reason in the language of the page. Its details follow a colon. */
export const reasonText = (reason) => reason.split(": ").map((part) => REASONS[part] ?? part).join(": ");
