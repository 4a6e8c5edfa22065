/* The table from the dealer's side: its heading, its meters, and the positions in an arc. */

import { cards, make } from "./elements.js";
import { money } from "./money.js";
import { draw, press } from "./panel_connection.js";
import { button, byId, drawFrom } from "./panel_drawing.js";
import { choose, targetOf } from "./panel_pad.js";
import { askUndo } from "./panel_reasons.js";
import { isBetting, showsSettled } from "./panel_settled.js";

const seats = [];
const chains = [];
let asked = false;
const WORDS = {
  open: "Betting open", locked: "No more bets: count the chips", dealt: "Hands",
  settling: "Settling", held: "Held", locked_out: "Locked out",
};

const head = (view) => {
  byId("demonstration").hidden = !view.demonstration;
  byId("table").textContent = view.table;
  byId("of").textContent = view.linked ? `${view.link} · ${view.game}` : view.game;
};

const standing = (view, lost) => {
  const parts = [];
  if (lost) parts.push("Connection lost");
  else if (view.linked) {
    const ok = view.controller === "operable";
    parts.push(ok ? "Link operable" : `Link ${view.controller}`);
    parts.push(WORDS[view.phase]);
    if (view.round) parts.push(`Round ${view.round}`);
  }
  const text = parts.join(" · ");
  if (byId("standing").textContent !== text) byId("standing").textContent = text;
  byId("standing").dataset.ok = String(!lost && view.controller === "operable");
};

const meters = (view, lost) => {
  const shown = view.meters.map((each) => (lost ? { ...each, amount: null } : each));
  drawFrom(shown, byId("meters"), () => shown.map((meter) =>
    make("div.meter", { "data-meter": meter.meter, "data-current": String(meter.amount !== null) },
      make("p.name", {}, meter.name, make("span", {}, ` ${meter.wager}`)),
      make("p.amount", {}, meter.amount === null ? "Not available" : money(meter.amount)),
      meter.amount !== null && meter.pending ? make("p.pending", {}, "A win is pending") : null)));
};

const shut = (view) => {
  byId("shut").hidden = view.shut === null;
  drawFrom(view.shut, byId("shut"), () => view.shut === null ? [] : [
    make("h2", {}, `SHUT: ${view.shut.title}`),
    make("p.what", {}, "No progressive wager is accepted."),
    make("p", {}, `${view.shut.reason}. ${view.shut.then}`),
  ]);
};

const lightOf = (position, wager) => {
  const id = `light-${position}-${wager.wager}`;
  const event = () => {
    const lit = byId(id).getAttribute("aria-pressed") === "true";
    if (lit) return { event: "withdraw", position, wager: wager.wager };
    return { event: "wager", position, wager: wager.wager, amount: wager.amount };
  };
  const content = [make("i.lamp", { "aria-hidden": "true" }), make("span", {}, wager.short)];
  return button(id, ".light", content, () => press(event()),
    { "aria-pressed": "false", "aria-label": `Position ${position} ${wager.name}` });
};

/* A link marks two positions of one player. A player is paid no Envy Bonus for their own hand. */
const chainOf = (position) => {
  const chain = button(`chain-${position}`, ".small.chain",
    [make("i", { "aria-hidden": "true" }), `${position}–${position + 1}`],
    () => {
      const same = chain.getAttribute("aria-pressed") !== "true";
      press({ event: "same_player", position, same });
    },
    { "aria-pressed": "false", "aria-label": `Positions ${position} and ${position + 1}: same player` });
  return chain;
};

/* While hands are entered, the links are hidden, so the pad has more space. The dealer can open the
   links. */
export const linkBoxes = () => {
  asked = !asked;
  draw();
};

const links = (view) => {
  if (view.phase !== "dealt") asked = false;
  byId("main").dataset.links = String(asked || view.phase !== "dealt");
  for (const [at, chain] of chains.entries()) {
    const place = view.positions[at];
    const joined = String(place.joined_next);
    if (chain.getAttribute("aria-pressed") !== joined) chain.setAttribute("aria-pressed", joined);
    chain.disabled = !place.can.includes(place.joined_next ? "part" : "join");
  }
};

/* Seats are created once. A light that changes must not move another light under a finger. */
const makeSeats = (view) => {
  const middle = (view.positions.length - 1) / 2;
  seats.length = 0;
  for (const [at, { position }] of view.positions.entries()) {
    const seat = {
      marks: make("div.marks"),
      lights: make("div.lights", {}, view.wagers.map((wager) => lightOf(position, wager))),
      deal: make("div.deal"),
    };
    seat.root = make("div.seat", {
      role: "group", "aria-label": `Position ${position}`, "data-position": position,
    }, make("p.number", { "aria-hidden": "true" }, String(position)),
    seat.marks, seat.lights, seat.deal);
    const away = middle ? Math.abs(at - middle) / middle : 0;
    seat.root.style.setProperty("--lift", (away * away).toFixed(3));
    seats.push(seat);
  }
  chains.length = 0;
  for (let position = 1; position < view.positions.length; position += 1) {
    chains.push(chainOf(position));
  }
  const group = { role: "group", "aria-label": "One player at two positions" };
  return [
    ...seats.map((seat) => seat.root),
    make("div.chains", group, make("p", { "aria-hidden": "true" }, "Same player"), chains),
  ];
};

const mark = (text, kind) => make(`span.mark.${kind}`, {}, text);

/* Return a text that names all positions of this position's player. The text is empty if the player
   has only one position. */
const oneOf = (view, position) => {
  let first = position;
  let last = position;
  while (first > 1 && view.positions[first - 2].joined_next) first -= 1;
  while (view.positions[last - 1].joined_next) last += 1;
  return last > first ? `Player of ${first}–${last}` : "";
};

const marks = (place, due, back, player) => {
  const found = [];
  if (player) found.push(mark(player, "player"));
  if (back?.chips === 1) found.push(mark("Back: 1 chip", "wait"));
  if (back?.chips > 1) found.push(mark(`Back: ${back.chips} chips`, "wait"));
  if (back?.credit_cents) found.push(mark(`Credit ${money(back.credit_cents)}`, "wait"));
  if (place.lucky) found.push(mark("★ Lucky", "lucky"));
  if (place.folded) found.push(mark("Folded", "folded"));
  if (due?.pay) found.push(mark(`Pay ${money(due.pay)}`, "good"));
  if (due?.credit) found.push(mark(`Credit ${money(due.credit)}`, "good"));
  if (due?.wait) found.push(mark(`Wait ${money(due.wait)}`, "wait"));
  if (due?.ask) found.push(mark(`Ask floor ${money(due.ask)}`, "wait"));
  if (due?.hand_pay) found.push(mark(`Hand pay ${money(due.hand_pay)}`, "bad"));
  return found;
};

const does = (place, what, label, event, kind = "", shown = label.split(" ")[0]) =>
  button(`seat-${place.position}-${what.replace(" ", "-")}`, `.small${kind}`, shown, event,
    { "aria-label": `Position ${place.position} ${label.toLowerCase()}` });

const FOLDS = [
  ["fold", "Fold", "collected", "collected"],
  ["fold stay", "Fold, cards stay", "stay", "stay"],
];

const deal = (view, place, target) => {
  const lit = view.wagers.filter((wager) => place.lit.includes(wager.wager));
  const { position } = place;
  const found = [make("ul.lit", { "aria-label": "Lights lit" },
    lit.map((wager) => make("li", {}, make("i.lamp", { "aria-hidden": "true" }), wager.short)))];
  if (place.cards) found.push(cards(place.cards));
  const acts = [];
  if (place.can.includes("hand")) {
    const kind = target === String(position) ? ".chosen" : place.needs ? ".needs" : "";
    acts.push(does(place, "hand", "Hand", () => choose(String(position)), kind));
  }
  for (const [what, label, kept, detail] of FOLDS) {
    if (!place.can.includes(what)) continue;
    acts.push(does(place, what, label, () => press({ event: "fold", position, cards: kept }),
      ".fold", ["Fold ", make("small", {}, detail)]));
  }
  for (const what of ["fold", "hand"]) {
    if (!place.can.includes(`retract ${what}`)) continue;
    const event = { event: "retract", what, position };
    const undo = () => (what === "hand" ? askUndo(event, `the hand of position ${position}`) : press(event));
    acts.push(does(place, `undo ${what}`, `Undo ${what}`, undo, ".undo"));
  }
  found.push(make("div.acts", {}, acts));
  if (place.stays && place.needs && !place.can.includes("fold stay")) found.push(make("p.hint", {}, "To fold, enter its hand first"));
  return found;
};

const positions = (view) => {
  const layout = [view.table, view.positions.length, view.wagers, view.linked];
  byId("positions").hidden = !view.linked;
  byId("positions").style.setProperty("--seats", String(view.positions.length));
  drawFrom(layout, byId("positions"), () => makeSeats(view));
  if (!view.linked) return;
  const betting = isBetting(view);
  const settled = showsSettled(view);
  byId("main").dataset.mode = betting ? "betting" : settled ? "settled" : "deal";
  links(view);
  const backs = new Map((view.returned?.positions ?? []).map((each) => [each.position, each]));
  const dues = new Map(settled ? view.settled.due.map((due) => [due.position, due]) : []);
  const target = targetOf(view);
  for (const [at, seat] of seats.entries()) {
    const place = view.positions[at];
    seat.lights.hidden = !betting;
    seat.deal.hidden = betting || settled;
    for (const [index, wager] of view.wagers.entries()) {
      const light = seat.lights.children[index];
      const lit = String(place.lit.includes(wager.wager));
      if (light.getAttribute("aria-pressed") !== lit) light.setAttribute("aria-pressed", lit);
      light.disabled = view.phase !== "open" || (lit === "false" && view.shut !== null);
    }
    const player = oneOf(view, place.position);
    const parts = [place, dues.get(place.position), backs.get(place.position), player];
    seat.root.dataset.lit = String(place.lit.length > 0);
    drawFrom(parts, seat.marks, () => marks(...parts));
    drawFrom([place, seat.deal.hidden, target === String(place.position)], seat.deal,
      () => (seat.deal.hidden ? [] : deal(view, place, target)));
  }
};

export const drawTable = (view, lost) => {
  head(view);
  standing(view, lost);
  meters(view, lost);
  shut(view);
  positions(view);
};
