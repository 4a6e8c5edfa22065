/* The settlement, turn by turn in paying order: position, amount, source, and reasons. */

import { card, cards, make } from "./elements.js";
import { money } from "./money.js";
import { press, untoast } from "./panel_connection.js";
import { button, byId, drawFrom } from "./panel_drawing.js";

const open = new Set();
const SIGNS = { envy: "Envy", magic_card: "Magic Card", lucky: "Lucky" };

/* The subsections for a line, shown when the dealer presses Why. Open texts stay open when the
   settlement is drawn again. */
const why = (line, id) => {
  const reasons = make("div.reasons", { id, hidden: !open.has(id) },
    line.why.map((text) => make("p", {}, text)));
  const toggle = button(`${id}-why`, ".small.why", "Why", () => {
    reasons.hidden = !reasons.hidden;
    toggle.setAttribute("aria-expanded", String(!reasons.hidden));
    if (reasons.hidden) open.delete(id); else open.add(id);
  }, {
    "aria-expanded": String(open.has(id)), "aria-controls": id,
    "aria-label": `Why: position ${line.position} ${line.item}`,
  });
  return [toggle, reasons];
};

const lineOf = (line, id) => {
  const cause = line.envy_of ? `for the hand of position ${line.envy_of}` : line.hand;
  return make("li.line", { "data-state": line.state, "data-kind": line.kind },
    make("p.who", {}, make("span.sr", {}, "Position "), String(line.position)),
    make("div.what", {},
      make("p.item", {},
        line.kind === "wager" ? null : make("b.sign", {}, SIGNS[line.kind]), line.item),
      make("p.cause", {}, [cause, line.percent ? `${line.percent}% of the meter` : ""]
        .filter(Boolean).join(" · "))),
    make("div.pays", {},
      make("p.act", {}, line.act),
      line.amount ? make("p.amount", {}, money(line.amount)) : null,
      line.source ? make("p.source", {}, line.source) : null),
    why(line, id));
};

const turnOf = (settled, turn, at) => make("li.turn", {},
  make("h3", {}, `Position ${turn.position}`, turn.cards ? cards(turn.cards) : null),
  make("ul", {}, turn.lines.map((line, index) =>
    lineOf(line, `line-${settled.round}-${at}-${index}`))));

export const drawView = (draw) => {
  if (draw === null || (draw.magic_card === null && draw.lucky_position === null)) return null;
  const lucky = draw.lucky_position === "dealer" ? "the dealer's hand"
    : `position ${draw.lucky_position}`;
  return make("div.draw", {},
    draw.magic_card ? make("p", {}, "Magic Card ", card(draw.magic_card)) : null,
    draw.lucky_position === null ? null : make("p", {}, `★ Lucky: ${lucky}`));
};

const board = (settled) => {
  const rows = [];
  if (settled.dealer) rows.push(make("p", {}, "Dealer ", cards(settled.dealer)));
  if (settled.community) rows.push(make("p", {}, "Community ", cards(settled.community)));
  return make("div.board", {}, rows, drawView(settled.draw));
};

/* A settlement stays until the dealer closes it, even if devices already send wagers for the next
   round. */
export const showsSettled = (view) =>
  view.settled !== null && (view.phase === "held" || view.phase === "open");

export const isBetting = (view) => view.phase === "open" && !showsSettled(view);

export const heldList = (view) => make("section.held.notice.wait", { role: "status" },
  make("h2", {}, "HELD: the cards stay on the table"),
  make("ul", {}, view.held.map((claim) => make("li", {
    "data-claim": claim.claim, "data-validated": String(claim.validated),
  },
  make("b", {}, claim.position === null ? claim.item
    : `Position ${claim.position}: ${claim.item}, ${money(claim.amount)}`),
  ` ${claim.told}. Claim ${claim.claim}, ${claim.rule}.`))),
  make("p", {}, "Play continues when all their documents are done."));

export const settledView = (settled) =>
  make("section.settled", { "aria-labelledby": "settled-title" },
    make("div.over", {},
      make("h2", { id: "settled-title" }, `Settlement of round ${settled.round}`),
      board(settled)),
    settled.turns.length
      ? make("ol.turns", {}, settled.turns.map((turn, at) => turnOf(settled, turn, at)))
      : make("p", {}, "No progressive wager is paid."));

const STATE_TEXTS = {
  pay: (line) => `PAY ${money(line.amount)}`,
  credit: (line) => `CREDIT ${money(line.amount)}`,
  wait: (line) => `wait for floorperson, ${money(line.amount)}`,
  hand_pay: (line) => `do not pay: hand pay, ${money(line.amount)}`,
  paid: (line) => `paid by hand, ${money(line.amount)}`,
  rejected: () => "DO NOT PAY: rejected",
  ask: (line) => `ask the floorperson: the win was rejected, ${money(line.amount)}`,
  done: (line) => `paid, ${money(line.amount)}`,
  nothing: () => "nothing",
};
/* Names of the buttons with which the dealer completes a line. The dealer has paid the line, or
   knows that it must not be paid. */
const TICKS = { pay: "Paid", credit: "Credited", rejected: "Seen", ask: "Done" };

/* The state that the page showed for each line at the press. If a state has changed since then, the
   agent completes none of these lines. */
const asShown = (lines) => Object.fromEntries(lines.map((line) => [line.line, line.state]));

const payer = (line) => line.state === "rejected" || !line.payer ? null
  : make("span.payer", {}, `: ${line.state === "wait" ? "then " : ""}${line.payer}`);

const earlier = (settled) => make("li.earlier", { "data-round": settled.round },
  make("h2", {}, settled.round),
  make("ul", {}, settled.open.map((line) => make("li",
    { "data-state": line.state, "data-line": line.line },
    make("p", {}, `Position ${line.position}: `, make("b", {}, STATE_TEXTS[line.state](line)),
      make("span.item", {}, ` ${line.item}`), payer(line)),
    TICKS[line.state] ? make("button.small", {
      id: `done-${settled.round}-${line.line}`, type: "button",
      "aria-label": `Round ${settled.round}, position ${line.position}, ${line.item}${
        line.envy_of ? ` for position ${line.envy_of}` : ""}: ${TICKS[line.state].toLowerCase()}`,
      onclick: () => press({ event: "done", round: settled.round, lines: asShown([line]) }),
    }, TICKS[line.state]) : null))),
  settled.undecided || settled.open.length < 2 ? null : make("button.small", {
    id: `done-${settled.round}`, type: "button", "aria-label": `Round ${settled.round} done`,
    onclick: () => press({ event: "done", round: settled.round, lines: asShown(settled.open) }),
  }, "Done"));

const REFUSED = { lockout: "the wagers", settle: "the result", void: "the void" };

const refusal = (found) => found === null ? null
  : make("div.notice.bad", { role: "alert", id: "refusal" },
    make("h2", {}, `The service refused ${REFUSED[found.event] ?? found.event}`),
    make("p", {}, `${found.message}.`));

const returned = (found) => found === null ? null
  : make("div.notice.wait", { role: "status", id: "returned" },
    make("h2", {}, "Give back ", make("span", {}, `${found.reason}.`)),
    found.others ? make("p", {}, found.others) : null,
    make("ul", {}, found.positions.map((place) => make("li", {},
      make("b", {}, `Position ${place.position}: `), place.items.join(", ")))));

/* Sections that stay visible in every phase: refusals, returned wagers, and earlier rounds. */
const section = (id, label, role) => {
  const found = make("section", { id, role, "aria-label": label, hidden: true });
  byId("main").insertBefore(found, byId("positions"));
  return found;
};
const notices = section("notices", "Refusals and returned wagers");
const waiting = section("earlier", "Earlier rounds", "status");

const show = (where, data, contents) => {
  drawFrom(data, where, contents);
  where.hidden = !where.children.length;
};

export const drawOwed = (view) => {
  if (view.refusal !== null) untoast(view.refusal.message);
  /* While hands are entered, the positions show the returned wagers, so the pad has more space. */
  const back = view.phase === "dealt" ? null : view.returned;
  const refused = view.refusal?.event === "lockout" && view.returned ? null : view.refusal;
  show(notices, [refused, back], () => [refusal(refused), returned(back)]);
  show(waiting, view.waiting, () => view.waiting.length
    ? [make("ul.rounds", {}, view.waiting.map(earlier))] : []);
};
