/* The table from the dealer's side: its meters, and the positions in an arc. */

import { money } from "./money.js";
import { press } from "./panel_connection.js";
import { button } from "./panel_elements.js";
import { choose } from "./panel_pad.js";
import { askUndo } from "./panel_reasons.js";
import { told } from "./panel_words.js";
import { Cards } from "./playing_cards.js";
import { html } from "./preact.js";
import { say, sayCount } from "./say.js";

const WORDS = {
  open: say("Betting open"), locked: say("No more bets: count the chips"), dealt: say("Hands"),
  settling: say("Settling"), held: say("Held"), locked_out: say("Locked out"),
};
const LINKS = {
  operable: say("Link operable"), inoperable: say("Link inoperable"), closed: say("Link closed"),
  "not reached": say("Link not reached"),
};

/* The state of the link and of the round, in words. */
export const standing = ({ view, lost, refused }) => {
  if (refused) return { ok: false, text: say("No access") };
  if (!view) return { ok: false, text: say("Connecting") };
  if (lost) return { ok: false, text: say("Connection lost") };
  const ok = view.controller === "operable";
  if (!view.linked) return { ok, text: "" };
  const parts = [LINKS[view.controller], WORDS[view.phase],
    view.round && say("Round {round}", view), view.phase !== "held" && view.held.length && say("then held")];
  return { ok, text: parts.filter(Boolean).join(" · ") };
};

const meterOf = (meter, current) => html`<div class="meter" key=${meter.meter} data-meter=${meter.meter}
  data-current=${String(current)}>
  <p class="name">${meter.name}<span> ${told(meter.wager)}</span></p>
  <div class="amount">${current
    ? html`<p class="expires">${money(meter.amount)}</p><p class="expired" data-text=${say("Not available")}></p>`
    : say("Not available")}</div>
  ${current && meter.pending && html`<p class="pending">${say("A win is pending")}</p>`}
</div>`;

export const Meters = ({ view, lost }) => html`<section class="meters" id="meters" aria-label=${say("Meters")}>
  ${view.meters.map((meter) => meterOf(meter, !lost && meter.amount !== null))}</section>`;

export const Shut = ({ view: { shut } }) => shut && html`<section class="shut bad" id="shut" role="alert">
  <h2>${say("SHUT: {title}", { title: told(shut.title) })}</h2>
  <p class="what">${say("No new progressive wager is accepted.")}</p>
  <p>${told(shut.reason)}. ${told(shut.then)}</p>
</section>`;

/* A wager as a chip shows it: $5, or $2.50. */
const chip = (cents) => money(cents).replace(/\.00$/, "");

/* A touch places the largest amount, each next touch a smaller one, and the last takes the wager back. */
const lightOf = ({ phase, shut }, { position, lit, amounts: placed }, { wager, name, short, amounts }) => {
  const isLit = lit.includes(wager);
  const next = isLit && (shut || phase !== "open") ? undefined : amounts[amounts.indexOf(placed[wager]) + 1];
  const amount = placed[wager] ?? amounts[0];
  return button(`light-${position}-${wager}`,
    html`<i class="lamp" aria-hidden="true"></i><span>${short}</span> <small>${chip(amount)}</small>`,
    () => press(next ? { event: "wager", position, wager, amount: next } : { event: "withdraw", position, wager }), {
      class: "light", "aria-pressed": isLit, "aria-label": say("Position {position} {wager}, {amount}", { position, wager: name, amount: chip(amount) }),
      /* A table that is held after a reopening can have lit wagers. */
      disabled: isLit ? phase !== "open" && phase !== "held" : phase !== "open" || shut !== null,
    });
};

/* A link marks two positions of one player, who gets no Envy Bonus for their own hand. */
const chainOf = ({ position, joined_next: joined, can }) => button(`chain-${position}`,
  html`<i aria-hidden="true"></i>${position}–${position + 1}`,
  () => press({ event: "same_player", position, same: !joined }), {
    class: "small chain", "aria-pressed": joined, disabled: !can.includes(joined ? "part" : "join"),
    "aria-label": say("Positions {position} and {next}: same player", { position, next: position + 1 }),
  });

/* Return a text with all positions of this position's player; empty if there is only one. */
const oneOf = ({ positions }, position) => {
  let first = position;
  let last = position;
  while (first > 1 && positions[first - 2].joined_next) first -= 1;
  while (positions[last - 1].joined_next) last += 1;
  return last > first ? say("Player of {first}–{last}", { first, last }) : "";
};

const DUE = {
  pay: [(amount) => say("Pay {amount}", { amount }), "good"],
  credit: [(amount) => say("Credit {amount}", { amount }), "good"],
  wait: [(amount) => say("Wait {amount}", { amount }), "wait"],
  ask: [(amount) => say("Ask floor {amount}", { amount }), "wait"],
  hand_pay: [(amount) => say("Hand pay {amount}", { amount }), "bad"],
};

const marksOf = (view, place, mode) => {
  const at = ({ position }) => position === place.position;
  const back = view.returned?.positions.find(at);
  const due = mode === "settled" && view.settled.due.find(at);
  const marks = [
    [oneOf(view, place.position), "player"],
    [back?.chips > 0 && sayCount("Back: {count} chip", "Back: {count} chips", back.chips), "wait"],
    [back?.credit_cents > 0 && DUE.credit[0](money(back.credit_cents)), "wait"],
    [place.lucky && say("★ Lucky"), "lucky"],
    [place.folded && say("Folded"), "folded"],
    [place.no_win && say("No win"), "folded"],
    ...Object.entries(DUE).map(([sum, [words, kind]]) => [due && due[sum] > 0 && words(money(due[sum])), kind]),
  ];
  return marks.map(([text, kind]) => text && html`<span class="mark ${kind}">${text}</span>`);
};

const act = (position, what, shown, label, onclick, kind = "") =>
  button(`seat-${position}-${what}`, shown, onclick, { class: `small ${kind}`, "aria-label": label });

const dealOf = ({ wagers, results }, place, target) => {
  const words = results.length ? {
    enter: say("Result"), name: say("Result of position {position}", place), undo: say("Undo the result of position {position}", place),
    takeBack: say("Take back the result?"),
  } : {
    enter: say("Hand#enter"), name: say("Position {position} hand", place), undo: say("Undo the hand of position {position}", place),
    takeBack: say("Take back the hand of position {position}?", place),
  };
  const { position, can } = place;
  const kind = target === String(position) ? "chosen" : place.needs ? "needs" : "";
  const take = (what) => ({ event: "retract", what, position });
  const acts = {
    hand: () => act(position, "hand", words.enter, words.name, () => choose(String(position)), kind),
    fold: () => act(position, "fold", html`${say("Fold#act")} <small>${say("collected")}</small>`,
      say("Position {position} fold", place), () => press({ event: "fold", position, cards: "collected" }), "fold"),
    "fold stay": () => act(position, "fold-stay", html`${say("Fold#act")} <small>${say("stay")}</small>`,
      say("Position {position} fold, cards stay", place), () => press({ event: "fold", position, cards: "stay" }), "fold"),
    "retract fold": () => act(position, "undo-fold", say("Undo"), say("Undo the fold of position {position}", place),
      () => press(take("fold")), "undo"),
    "retract no_win": () => act(position, "undo-no-win", say("Undo"), say("Undo the no win of position {position}", place),
      () => press(take("no_win")), "undo"),
    "retract hand": () => act(position, "undo-hand", say("Undo"), words.undo,
      () => askUndo(take("hand"), words.takeBack), "undo"),
  };
  return html`<div class="deal">
    <ul class="lit" aria-label=${say("Lights lit")}>${wagers.filter(({ wager }) => place.lit.includes(wager)).map((each) =>
      html`<li key=${each.wager}><i class="lamp" aria-hidden="true"></i>${each.short}${each.amounts.length > 1 && ` ${chip(place.amounts[each.wager])}`}</li>`)}</ul>
    ${place.cards && html`<${Cards} names=${place.cards} />`}
    <div class="acts">${Object.keys(acts).map((what) => can.includes(what) && acts[what]())}</div>
    ${place.stays && place.needs && html`<p class="hint">${say("To fold, enter its hand first")}</p>`}
  </div>`;
};

const seatOf = ({ view, mode, target }, place, at) => {
  const middle = (view.positions.length - 1) / 2;
  const away = middle && Math.abs(at - middle) / middle;
  return html`<div class="seat" key=${place.position} role="group" aria-label=${say("Position {position}", place)}
    data-position=${place.position} data-lit=${place.lit.length > 0} style=${{ "--lift": (away * away).toFixed(3) }}>
    <p class="number" aria-hidden="true">${place.position}</p>
    <div class="marks">${marksOf(view, place, mode)}</div>
    ${mode === "betting" && html`<div class="lights">${view.wagers.map((wager) => lightOf(view, place, wager))}</div>`}
    ${mode === "deal" && dealOf(view, place, target)}
  </div>`;
};

/* While hands are entered, the links are hidden until the dealer opens them: the pad needs the space. */
export const Positions = (state) => state.view.linked && html`<section class="positions" id="positions"
  aria-label=${say("Positions")} style=${{ "--seats": state.view.positions.length }}>
  ${state.view.positions.map((place, at) => seatOf(state, place, at))}
  <div class="chains" role="group" aria-label=${say("One player at two positions")}>
    <p aria-hidden="true">${say("Same player")}</p>${state.view.positions.slice(0, -1).map(chainOf)}
  </div>
</section>`;
