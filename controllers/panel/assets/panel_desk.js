"use strict";
/* What the dealer does next: lock-out, the count, the hands, the settlement, or a void. */
(() => {
  const { make, money, cards } = house;
  const { byId, press, replace } = panel;
  const REASONS = [
    "Misdeal", "Chip count differs", "Wrong number of cards in the deck", "Card exposed",
    "Equipment fault", "Other",
  ];
  let passed = null;
  let counted = "";
  let differs = null;
  let signature = "";

  panel.showsSettled = (view) =>
    view.settled !== null && (view.phase === "held" || (view.phase === "open"
      && view.settled.round !== passed && view.positions.every((place) => !place.lit.length)));

  panel.isBetting = (view) => view.phase === "open" && !panel.showsSettled(view);

  const button = (id, kind, text, onclick, more = {}) =>
    make(`button${kind}`, { id, type: "button", onclick, ...more }, text);

  const lockout = (view) => button("lockout", ".stop.big", "Lock-out: no more bets",
    () => press({ event: "lockout" }), { disabled: !view.can.includes("lockout") });

  const repeat = (view) => button("repeat", "", "Same as last round", () => {
    const amounts = new Map(view.wagers.map((each) => [each.wager, each.amount]));
    for (const [position, wager] of view.last) {
      press({ event: "wager", position, wager, amount: amounts.get(wager) });
    }
  }, { disabled: !view.can.includes("repeat") });

  const voids = () => button("void-ask", ".stop", "Void the round…", askVoid);

  const betting = (view) => {
    const lit = view.positions.flatMap((place) => place.lit);
    const amounts = new Map(view.wagers.map((each) => [each.wager, each.amount]));
    const sum = lit.reduce((total, wager) => total + amounts.get(wager), 0);
    return [
      view.settled?.undecided ? panel.undecided(view) : null,
      make("div.bar", {},
        make("p.tally", {}, `${lit.length} wagers accepted, ${money(sum)}`),
        repeat(view), lockout(view)),
    ];
  };

  const settled = (view) => [
    view.phase === "held" ? panel.heldList(view) : null,
    view.phase === "held" ? null : make("div.bar", {},
      make("p.tally", {}, view.settled.undecided
        ? "A win waits for a floorperson." : "Pay, collect, then begin the next round."),
      lockout(view),
      button("next-round", ".go.big", "Next round", () => {
        passed = view.settled.round;
        if (view.can.includes("next")) press({ event: "next" });
        else panel.draw();
      })),
    panel.settledView(view),
  ];

  const count = async (event) => {
    event.preventDefault();
    const asked = Number(counted);
    if (!counted) return;
    const answer = await press({ event: "chips", count: asked }, { quiet: ["chips_differ"] });
    if (answer.ok) differs = null;
    else if (answer.error?.code === "chips_differ") differs = asked;
    counted = "";
    panel.draw();
  };

  const type = (digit) => {
    counted = digit === "⌫" ? counted.slice(0, -1) : (counted + digit).slice(0, 3);
    panel.draw();
  };

  const wrongCount = (view) => make("div.notice.bad.differs", { role: "alert" },
    make("h2", {}, `You counted ${differs}. ${view.chips} chip wagers were accepted.`),
    make("p", {}, "Compare with the lights, and recount; or call a floorperson and void the round."),
    make("ul", {}, view.lit.map((place) => make("li", {},
      make("b", {}, `Position ${place.position}: ${place.wagers.length}`),
      ` (${place.wagers.join(", ")})`))));

  const counting = (view) => {
    const field = make("input", {
      id: "count", type: "text", inputmode: "numeric", autocomplete: "off", maxlength: "3",
      pattern: "[0-9]*", "aria-label": "Chips counted",
      oninput: () => { counted = field.value.replace(/\D/g, ""); },
    });
    field.value = counted;
    return [
      panel.drawn(view.draw),
      view.chips_returned ? make("p.notice.wait", {},
        "The service refused the wagers: give the chips back, and count what goes back.") : null,
      differs === null ? null : wrongCount(view),
      make("form.count", { onsubmit: count },
        make("h2", {}, "Count the value chips"),
        make("p", {}, "Five Card Hand Bonus wagers are electronic, and are no chips."),
        make("div.entry", {}, field,
          make("button.go.big", { id: "count-confirm", type: "submit" }, "Confirm count"), voids()),
        make("div.digits", { role: "group", "aria-label": "Digits" }, [..."1234567890⌫"].map((digit) =>
          button(`digit-${digit}`, "", digit, () => type(digit),
            { "aria-label": digit === "⌫" ? "Delete a digit" : digit })))),
    ];
  };

  const pile = (view, what, name, size) => {
    const found = view[what];
    const chosen = panel.target(view) === what ? ".chosen" : "";
    return make("div.pile", { role: "group", "aria-label": name },
      make("h2", {}, name),
      found ? cards(found) : button(`${what}-hand`, `.small${chosen}`, `Enter ${size} cards`,
        () => panel.choose(what), { "aria-label": `${name} enter` }),
      view.can.includes(`retract ${what}`) ? button(`${what}-undo`, ".small.undo", "Undo",
        () => press({ event: "retract", what }), { "aria-label": `${name} undo` }) : null);
  };

  const dealing = (view) => [
    make("div.piles", {},
      pile(view, "dealer", "Dealer", view.dealer_cards),
      view.needs_community ? pile(view, "community", "Community", 2) : null,
      panel.drawn(view.draw)),
    panel.pad(view),
    make("div.bar", {},
      make("p.tally", {}, view.missing.length ? `Missing: ${view.missing.join("; ")}`
        : "All is in. A hand without a progressive wager may bring Envy Bonuses: enter it too."),
      view.can.includes("retract chips") ? button("undo-chips", ".undo", "Count again",
        () => press({ event: "retract", what: "chips" })) : null,
      voids(),
      button("settle", ".go.big", "Settle the round", () => press({ event: "settle" }),
        { disabled: !view.can.includes("settle") })),
  ];

  const WAITING = {
    lockout: "The wagers are with the service. No card is dealt before it has answered.",
    settle: "The result is with the service. The cards stay until it has answered.",
    void: "The void is with the service.",
  };

  const waiting = (view) => [make("div.notice.wait.waiting", { role: "status" },
    make("h2", {}, "Waiting for the service"),
    make("p", {}, `${WAITING[view.waiting] ?? ""} It is sent until it is answered, and counts once.`))];

  const unlinked = (view) => [make("div.notice", {},
    make("h2", {}, "No linked progressive wager at this table"),
    make("p", {}, `${view.game} has none here: there is nothing to enter on this panel.`))];

  const lockedOut = (view) => [
    make("p", {}, `${view.reason}.`),
    make("div.bar", {}, voids()),
  ];

  const content = (view) => {
    if (!view.linked) return unlinked(view);
    if (view.waiting) return waiting(view);
    if (panel.showsSettled(view)) return settled(view);
    const draw = { open: betting, locked: counting, dealt: dealing, locked_out: lockedOut };
    if (view.phase === "held") return [panel.heldList(view)];
    return draw[view.phase]?.(view) ?? waiting(view);
  };

  panel.drawers.push((view) => {
    if (view.phase !== "locked") { differs = null; counted = ""; }
    const { meters, shut, controller, ...rest } = view;
    const wanted = JSON.stringify(
      [rest, passed, counted, differs, panel.padSignature(), panel.target(view)]);
    if (wanted === signature) return;
    signature = wanted;
    byId("desk").dataset.phase = view.phase;
    const typed = byId("typed")?.value ?? "";
    replace(byId("desk"), content(view));
    if (byId("typed")) byId("typed").value = typed;
    if (!view.can.includes("void")) byId("void").close();
  });

  const askVoid = () => {
    const dialog = byId("void");
    const why = make("select", { id: "void-why" },
      REASONS.map((reason) => make("option", {}, reason)));
    const words = make("input", { id: "void-words", type: "text", maxlength: "120", autocomplete: "off" });
    const confirm = async () => {
      const reason = [why.value, words.value.trim()].filter(Boolean).join(": ");
      dialog.close();
      await press({ event: "void", reason });
    };
    dialog.replaceChildren(
      make("h2", { id: "void-title" }, "Void this round?"),
      make("p", {}, "All its wagers go back to the players. It cannot be taken back."),
      make("label", { for: "void-why" }, "Reason"), why,
      make("label", { for: "void-words" }, "In your own words"), words,
      make("div.bar", {},
        button("void-keep", "", "Keep the round", () => dialog.close()),
        button("void-confirm", ".stop.big", "Void the round", confirm)));
    dialog.showModal();
  };
})();
