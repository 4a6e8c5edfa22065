/* The dealer's next task: lock-out, the count, the hands, the settlement, or a void. */

import { cards, make } from "./elements.js";
import { money } from "./money.js";
import { draw, press } from "./panel_connection.js";
import { button, byId, drawFrom } from "./panel_drawing.js";
import { choose, pad, padState, targetOf } from "./panel_pad.js";
import { askUndo, askVoid } from "./panel_reasons.js";
import { drawView, heldList, settledView, showsSettled } from "./panel_settled.js";
import { linkBoxes } from "./panel_table.js";

const WHOSE = { dealer: "the dealer's hand", community: "the community cards" };
let counted = "";
let looksBack = false;

const lockout = (view) => button("lockout", ".stop.big", "Lock-out: no more bets",
  () => press({ event: "lockout" }),
  { disabled: !view.can.includes("lockout"), "data-next": true });

const repeat = (view) => button("repeat", "", "Same as last round",
  () => press({ event: "repeat" }), { disabled: !view.can.includes("repeat") });

const voids = () => button("void-ask", ".stop", "Void the round…", askVoid);

const accepted = (view) => {
  const lit = view.positions.flatMap((place) => place.lit);
  const amounts = new Map(view.wagers.map((each) => [each.wager, each.amount]));
  const sum = lit.reduce((total, wager) => total + amounts.get(wager), 0);
  return `${lit.length} ${lit.length === 1 ? "wager" : "wagers"} accepted, ${money(sum)}`;
};

/* Button that shows or hides the settlement that was closed last. */
const lookBack = (view) => view.last === null ? null
  : button("last-settlement", ".small", "Last settlement", () => {
    looksBack = !looksBack;
    draw();
    if (looksBack) byId("settled-title")?.scrollIntoView({ block: "start" });
  }, { "aria-expanded": String(looksBack) });

const before = (view) => looksBack && view.last !== null ? settledView(view.last) : null;

const betting = (view) => [
  before(view),
  make("div.bar", {},
    make("p.tally", {}, accepted(view)), lookBack(view), repeat(view), lockout(view)),
];

const settled = (view) => [
  view.phase === "held" ? heldList(view) : null,
  view.phase === "held" ? null : make("div.bar", {},
    make("p.tally", {}, view.settled.told,
      view.positions.some((place) => place.lit.length)
        ? ` For the next round: ${accepted(view)}.` : null),
    button("next-round", ".go.big", "Next round", () => press({
      event: "next", round: view.settled.round, done: view.settled.seen,
    }),
      { disabled: !view.can.includes("next"), "data-next": true })),
  settledView(view.settled),
];

const count = async (event) => {
  event.preventDefault();
  const asked = Number(counted);
  if (!counted) return;
  counted = "";
  await press({ event: "chips", count: asked }, { quiet: ["chips_differ"] });
  draw();
};

const type = (digit) => {
  counted = digit === "⌫" ? counted.slice(0, -1) : (counted + digit).slice(0, 3);
  draw();
};

const wrongCount = (view) => make("div.notice.bad.differs", { role: "alert" },
  make("h2", {}, `You counted ${view.differs.counted}. ${view.chips} chip ${
    view.chips === 1 ? "wager was" : "wagers were"} accepted.`),
  make("p", {}, "Compare the chips with the lights and count again, or call a floorperson and void the round."),
  make("ul", {}, view.lit.map((place) => make("li", {},
    make("b", {}, `Position ${place.position}: ${place.wagers.length}`),
    ` (${place.wagers.join(", ")})`))));

const looking = (view) => view.last === null ? null
  : make("div.looking", {}, lookBack(view), before(view));

const counting = (view) => {
  const field = make("input", {
    id: "count", type: "text", inputmode: "numeric", autocomplete: "off", maxlength: "3",
    pattern: "[0-9]*", "aria-label": "Chips counted",
    oninput: () => { counted = field.value.replace(/\D/g, ""); },
  });
  field.value = counted;
  return [
    drawView(view.draw),
    view.differs === null ? null : wrongCount(view),
    make("form.count", { onsubmit: count },
      make("h2", {}, view.chips_returned ? "Count the returned chips" : "Count the value chips"),
      make("p", {}, "Five Card Hand Bonus wagers are electronic and have no chips."),
      make("div.entry", {}, field,
        make("button.go.big", { id: "count-confirm", type: "submit" }, "Confirm count"), voids()),
      make("div.digits", { role: "group", "aria-label": "Digits" }, [..."1234567890⌫"].map((digit) =>
        button(`digit-${digit}`, "", digit, () => type(digit),
          { "aria-label": digit === "⌫" ? "Delete a digit" : digit })))),
    looking(view),
  ];
};

const pile = (view, what, name, size) => {
  const found = view[what];
  const chosen = targetOf(view) === what ? ".chosen" : "";
  return make("div.pile", { role: "group", "aria-label": name },
    make("h2", {}, name),
    found ? cards(found) : button(`${what}-hand`, `.small${chosen}`, `Enter ${size} cards`,
      () => choose(what), { "aria-label": `${name} enter` }),
    view.can.includes(`retract ${what}`) ? button(`${what}-undo`, ".small.undo", "Undo",
      () => askUndo({ event: "retract", what }, WHOSE[what]), { "aria-label": `${name} undo` }) : null);
};

const dealing = (view) => [
  make("div.piles", {},
    pile(view, "dealer", "Dealer", view.dealer_cards),
    view.needs_community ? pile(view, "community", "Community", 2) : null,
    drawView(view.draw),
    button("link-boxes", ".small", "Same player…", linkBoxes,
      { "aria-expanded": byId("main").dataset.links })),
  pad(view),
  make("div.bar", {},
    make("p.tally", {}, view.missing.length ? `Missing: ${view.missing.join("; ")}`
      : "All required cards are entered. Also enter hands without a progressive wager: "
        + "they may bring Envy Bonuses."),
    view.can.includes("retract chips") ? button("undo-chips", ".undo", "Count again",
      () => press({ event: "retract", what: "chips" })) : null,
    voids(),
    button("settle", ".go.big", "Settle the round", () => press({ event: "settle" }, { quiet: ["unconfirmed"] }),
      { disabled: !view.can.includes("settle"), "data-next": true })),
  looking(view),
];

const WAITING = {
  lockout: "The wagers were sent to the service. Deal no card until it answers.",
  settle: "The result was sent to the service. Leave the cards on the table until it answers.",
  void: "The void was sent to the service.",
};

const waiting = (view) => [make("div.notice.wait.waiting", { role: "status" },
  make("h2", {}, "Waiting for the service"),
  make("p", {}, `${WAITING[view.unanswered] ?? ""} `
    + "It is repeated until the service answers, and it counts only once."))];

const ASKED = {
  settle: "Hands were entered differently before. The result is settled after a floorperson confirms it.",
  void: "Cards were entered. The round is void after a floorperson confirms it.",
};

/* A correction request: the table waits until a floorperson has decided it. */
const asking = (view) => [
  make("div.notice.wait.asking", { role: "status" },
    make("h2", {}, "Waiting for a floorperson"),
    make("p", {}, ASKED[view.asking.event]),
    view.asking.reason ? make("p", {}, `Reason: ${view.asking.reason}`) : null,
    make("p", {}, `Asked at ${new Date(view.asking.since).toLocaleTimeString("en-US", { hourCycle: "h23" })}. `
      + "The table continues automatically. Do not move the cards.")),
  make("div.bar", {}, button("withdraw-correction", "", "Withdraw",
    () => press({ event: "withdraw_correction" }), { disabled: !view.can.includes("withdraw") })),
];

const unlinked = (view) => [make("div.notice", {},
  make("h2", {}, "No linked progressive wager at this table"),
  make("p", {}, `${view.game} has no such wager here, so there is nothing to enter on this panel.`))];

const lockedOut = (view) => [
  make("p", {}, `${view.reason}.`),
  make("div.bar", {}, voids()),
];

const content = (view) => {
  if (!view.linked) return unlinked(view);
  if (view.asking) return asking(view);
  if (view.unanswered) return waiting(view);
  if (showsSettled(view)) return settled(view);
  const parts = { open: betting, locked: counting, dealt: dealing, locked_out: lockedOut };
  if (view.phase === "held") return [heldList(view)];
  return parts[view.phase]?.(view) ?? waiting(view);
};

export const drawDesk = (view) => {
  if (view.phase !== "locked") counted = "";
  if (showsSettled(view)) looksBack = false;
  const { meters, shut, controller, waiting: earlier, returned, refusal, ...rest } = view;
  const data = [rest, counted, looksBack, targetOf(view), padState(), byId("main").dataset.links];
  byId("desk").dataset.phase = view.phase;
  drawFrom(data, byId("desk"), () => content(view));
  if (!view.can.includes("void")) byId("void").close();
  if (view.phase !== "dealt") byId("undo").close();
};
