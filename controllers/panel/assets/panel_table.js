"use strict";
/* The table as it lies before the dealer: its head, its meters, and the positions in their arc. */
(() => {
  const { make, money, cards } = house;
  const { byId, press, replace } = panel;
  const drawn = { meters: "", shut: "", layout: "" };
  const seats = [];
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
    const wanted = JSON.stringify(shown);
    if (wanted === drawn.meters) return;
    drawn.meters = wanted;
    replace(byId("meters"), shown.map((meter) =>
      make("div.meter", { "data-meter": meter.meter, "data-current": String(meter.amount !== null) },
        make("p.name", {}, meter.name, make("span", {}, ` ${meter.wager}`)),
        make("p.amount", {}, meter.amount === null ? "Not available" : money(meter.amount)),
        meter.amount !== null && meter.pending ? make("p.pending", {}, "A win is pending") : null)));
  };

  const shut = (view) => {
    const wanted = JSON.stringify(view.shut);
    if (wanted === drawn.shut) return;
    drawn.shut = wanted;
    const where = byId("shut");
    where.hidden = view.shut === null;
    if (view.shut === null) { replace(where); return; }
    replace(where,
      make("h2", {}, `SHUT: ${view.shut.title}`),
      make("p.what", {}, "No progressive wager is accepted."),
      make("p", {}, `${view.shut.reason}. ${view.shut.then}`));
  };

  const lightOf = (position, wager) => {
    const id = `light-${position}-${wager.wager}`;
    const event = () => {
      const lit = byId(id).getAttribute("aria-pressed") === "true";
      if (lit) return { event: "withdraw", position, wager: wager.wager };
      return { event: "wager", position, wager: wager.wager, amount: wager.amount };
    };
    return make("button.light", {
      id, type: "button", "aria-pressed": "false",
      "aria-label": `Position ${position} ${wager.name}`,
      onclick: () => press(event()),
    }, make("i.lamp", { "aria-hidden": "true" }), make("span", {}, wager.short));
  };

  /* Seats are made once: a light that changes elsewhere must not pull another from under a thumb. */
  const build = (view) => {
    const wanted = JSON.stringify([view.table, view.positions.length, view.wagers, view.linked]);
    if (wanted === drawn.layout) return;
    drawn.layout = wanted;
    const middle = (view.positions.length - 1) / 2;
    seats.length = 0;
    for (const [at, { position }] of view.positions.entries()) {
      const seat = {
        marks: make("div.marks"),
        lights: make("div.lights", {}, view.wagers.map((wager) => lightOf(position, wager))),
        deal: make("div.deal"),
        signature: "",
      };
      seat.root = make("div.seat", {
        role: "group", "aria-label": `Position ${position}`, "data-position": position,
      }, make("p.number", { "aria-hidden": "true" }, String(position)),
      seat.marks, seat.lights, seat.deal);
      const away = middle ? Math.abs(at - middle) / middle : 0;
      seat.root.style.setProperty("--lift", (away * away).toFixed(3));
      seats.push(seat);
    }
    byId("positions").style.setProperty("--seats", String(view.positions.length));
    replace(byId("positions"), seats.map((seat) => seat.root));
    byId("positions").hidden = !view.linked;
  };

  const mark = (text, kind) => make(`span.mark.${kind}`, {}, text);

  const marks = (place, due) => {
    const found = [];
    if (place.lucky) found.push(mark("★ Lucky", "lucky"));
    if (place.folded) found.push(mark("Folded", "folded"));
    if (due?.pay) found.push(mark(`Pay ${money(due.pay)}`, "pay"));
    if (due?.credit) found.push(mark(`Credit ${money(due.credit)}`, "pay"));
    if (due?.wait) found.push(mark(`Wait ${money(due.wait)}`, "wait"));
    if (due?.hand_pay) found.push(mark(`Hand pay ${money(due.hand_pay)}`, "hand-pay"));
    return found;
  };

  const does = (place, what, label, event, kind = "") =>
    make(`button.small${kind}`, {
      id: `seat-${place.position}-${what.replace(" ", "-")}`, type: "button",
      "aria-label": `Position ${place.position} ${label.toLowerCase()}`,
      onclick: event,
    }, label.split(" ")[0]);

  const deal = (view, place, target) => {
    const lit = view.wagers.filter((wager) => place.lit.includes(wager.wager));
    const { position } = place;
    const found = [make("ul.lit", { "aria-label": "Lights lit" },
      lit.map((wager) => make("li", {}, make("i.lamp", { "aria-hidden": "true" }), wager.short)))];
    if (place.cards) found.push(cards(place.cards));
    const acts = [];
    if (place.can.includes("hand")) {
      const kind = target === String(position) ? ".chosen" : place.needs ? ".needs" : "";
      acts.push(does(place, "hand", "Hand", () => panel.choose(String(position)), kind));
    }
    if (place.can.includes("fold")) {
      acts.push(does(place, "fold", "Fold", () => press({ event: "fold", position })));
    }
    for (const what of ["fold", "hand"]) {
      if (!place.can.includes(`retract ${what}`)) continue;
      const event = { event: "retract", what, position };
      acts.push(does(place, `undo ${what}`, `Undo ${what}`, () => press(event), ".undo"));
    }
    found.push(make("div.acts", {}, acts));
    if (place.stays && place.needs) found.push(make("p.hint", {}, "To fold, enter its hand first"));
    return found;
  };

  const positions = (view, lost) => {
    build(view);
    if (!view.linked) return;
    const betting = panel.isBetting(view);
    const settled = panel.showsSettled(view);
    byId("main").dataset.mode = betting ? "betting" : settled ? "settled" : "deal";
    const dues = new Map(settled ? view.settled.due.map((due) => [due.position, due]) : []);
    const target = panel.target(view);
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
      const wanted = JSON.stringify([place, betting, dues.get(place.position), settled,
        target === String(place.position), lost]);
      if (wanted === seat.signature) continue;
      seat.signature = wanted;
      seat.root.dataset.lit = String(place.lit.length > 0);
      replace(seat.marks, marks(place, dues.get(place.position)));
      replace(seat.deal, betting || settled ? [] : deal(view, place, target));
    }
  };

  panel.drawers.push((view, lost) => {
    head(view);
    standing(view, lost);
    meters(view, lost);
    shut(view);
    positions(view, lost);
  });
})();
