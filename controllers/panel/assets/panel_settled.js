"use strict";
/* The settlement, turn by turn as the dealer pays it: whom, how much, from where, and why. */
(() => {
  const { make, money, card, cards } = house;
  const open = new Set();
  const SIGNS = { envy: "Envy", magic_card: "Magic Card", lucky: "Lucky" };

  /* The subsections, on demand; what is open stays open when the settlement is drawn anew. */
  const why = (line, id) => {
    const reasons = make("div.reasons", { id, hidden: !open.has(id) },
      line.why.map((text) => make("p", {}, text)));
    const button = make("button.small.why", {
      id: `${id}-why`, type: "button", "aria-expanded": String(open.has(id)), "aria-controls": id,
      "aria-label": `Why: position ${line.position} ${line.item}`,
      onclick: () => {
        reasons.hidden = !reasons.hidden;
        button.setAttribute("aria-expanded", String(!reasons.hidden));
        if (reasons.hidden) open.delete(id); else open.add(id);
      },
    }, "Why");
    return [button, reasons];
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

  panel.drawn = (draw) => {
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
    return make("div.board", {}, rows, panel.drawn(settled.draw));
  };

  panel.heldList = (view) => make("section.held.notice.wait", { role: "status" },
    make("h2", {}, "HELD: the cards stay on the table"),
    make("ul", {}, view.held.map((claim) => make("li", {
      "data-claim": claim.claim, "data-validated": String(claim.validated),
    },
    make("b", {}, claim.position === null ? claim.item
      : `Position ${claim.position}: ${claim.item}, ${money(claim.amount)}`),
    ` ${claim.told}. Claim ${claim.claim}, ${claim.rule}.`))),
    make("p", {}, "Play goes on when the documents of every one are done."));

  panel.settledView = (view) => {
    const { settled } = view;
    return make("section.settled", { "aria-labelledby": "settled-title" },
      make("div.over", {},
        make("h2", { id: "settled-title" }, `Settlement of round ${settled.round}`),
        board(settled)),
      settled.turns.length
        ? make("ol.turns", {}, settled.turns.map((turn, at) => turnOf(settled, turn, at)))
        : make("p", {}, "No progressive wager is paid."));
  };

  /* While the next round begins, what a floorperson has not decided stays in sight. */
  panel.undecided = (view) => {
    const waiting = view.settled.turns.flatMap((turn) => turn.lines)
      .filter((line) => line.state === "wait" || line.state === "hand_pay");
    return make("section.undecided.notice.wait", {},
      make("h2", {}, `Round ${view.settled.round}: wait for floorperson`),
      make("ul", {}, waiting.map((line) => make("li", {},
        `Position ${line.position}: ${line.item}, ${money(line.amount)}`))));
  };
})();
