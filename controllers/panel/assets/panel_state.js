/* The state of the page: the table's view, and what the dealer has begun to enter. */

import { afterPress } from "./after_press.js";

const state = {
  view: null, // the last view of the table
  lost: false,
  refused: "", // what the agent says if this tablet no longer has access
  toast: "",
  asks: null, // the dialog that is open
  counted: "",
  chosen: null, // the hand that the dealer chose to enter
  target: null, // the hand that the pad enters: the chosen one, or the next
  picks: [],
  typed: "",
  links: false,
  looksBack: false,
  showsEarlier: false,
};
let draw = () => {};

export const onUpdate = (drawer) => { draw = drawer; };
export const current = () => state;

const entered = (view, target) => {
  if (target === "dealer" || target === "community") return view[target] !== null;
  return !view.positions[Number(target) - 1].can.includes("hand");
};

/* A settlement stays until the dealer closes it, even if devices send wagers for the next round. */
const settles = ({ phase, settled }) => settled !== null && (phase === "held" || phase === "open");

const stageOf = (view) => {
  if (!view.linked) return "unlinked";
  if (view.asking) return "asking";
  if (view.unanswered) return "waiting";
  return settles(view) ? "settled" : view.phase;
};

const modeOf = (view) => {
  if (settles(view)) return "settled";
  return view.phase === "open" || view.phase === "held" ? "betting" : "deal";
};

/* Events for which a dialog asks a reason even before cards are entered. */
const OF_ROUND = new Set(["void", "correct_wager"]);

/* Clear what the dealer began to enter when its step of the round ends, or the pad goes to another
   hand. So no card is sent for another hand. */
const follow = (view) => {
  const dealt = view.phase === "dealt";
  if (view.phase !== "locked") state.counted = "";
  if (settles(view)) state.looksBack = false;
  if (!dealt) state.links = false;
  if (!view.waiting.length) state.showsEarlier = false;
  if (!dealt || (state.chosen !== null && entered(view, state.chosen))) state.chosen = null;
  const target = dealt ? state.chosen ?? view.next : null;
  if (target !== state.target) Object.assign(state, { target, picks: [], typed: "" });
  if (state.asks && !(OF_ROUND.has(state.asks.act.event) ? view.can.includes(state.asks.act.event) : dealt)) state.asks = null;
  if (view.refusal?.message === state.toast) state.toast = "";
  Object.assign(state, { stage: stageOf(view), mode: modeOf(view) });
};

/* Change the state and draw the page. */
export const update = (changes = {}) => {
  Object.assign(state, changes);
  if (state.view) follow(state.view);
  draw(state);
};

/* A tap goes to the element that is under the finger when the finger is lifted. Until then, a new
   view is not drawn. */
export const receive = (view) => {
  state.view = view;
  afterPress(update);
};
