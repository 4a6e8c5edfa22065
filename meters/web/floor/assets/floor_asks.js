"use strict";
/* A correction that a table asks a floorperson to confirm: a void after cards were entered, or a
   hand entered differently. The table stands still until somebody has decided. */
const asks = (() => {
  const { make } = house;
  const KINDS = { void: "Void after cards", result: "Hand entered differently" };

  const path = (ask, act) => `/api/v1/asks/${encodeURIComponent(ask.ask)}/${act}`;
  const place = (ask) => `Table ${ask.table}, round ${ask.round}`;

  const whose = (cards) => {
    if (cards.what === "hand") return `Position ${cards.position}`;
    return cards.what === "dealer" ? "Dealer" : "Community";
  };

  const then = (ask, cards) => {
    if (cards.after.length) return make("div.hand", {}, make("p.of", {}, "To be settled"), house.cards(cards.after));
    return make("p.of", {}, ask.what === "void" ? "Not settled: the round is void" : "Settled without cards");
  };

  /* What was entered and what is to be settled in its place, one row for each hand. */
  const changes = (ask) =>
    make("ul.changes", {}, ask.cards.map((cards) =>
      make("li", {},
        make("div.hand", {}, make("p.of", {}, `${whose(cards)}, entered`), house.cards(cards.before)),
        then(ask, cards),
        cards.taken_back || cards.reason
          ? make("p.why", {}, `Taken back${cards.reason ? `: ${cards.reason}` : ""}`) : null)));

  const again = (ask) => [
    make("div.again", {}, make("p.place", {}, place(ask)),
      make("p", {}, [KINDS[ask.what], ask.reason].filter(Boolean).join(": "))),
    changes(ask),
  ];

  const confirm = (ask, done) => dialogs.open({
    title: ask.what === "void" ? "Confirm this void?" : "Confirm this result?",
    content: again(ask),
    confirm: "Confirm",
    act: () => service.post(path(ask, "confirm")),
    done,
  });

  const refuse = (ask, done) => {
    const text = make("input", { type: "text", name: "words", maxlength: "200" });
    dialogs.open({
      title: ask.what === "void" ? "Refuse this void?" : "Refuse this result?",
      content: [...again(ask), dialogs.field("Why? The dealer reads it", text),
        make("p", {}, "Nothing changes at the table: the round goes on.")],
      confirm: "Refuse",
      kind: "stop",
      act: () => {
        const reason = text.value.trim();
        if (!reason) throw dialogs.wrong("Say why.", text);
        return service.post(path(ask, "refuse"), { reason });
      },
      done,
    });
  };

  const acts = (ask, me, done) => {
    if (!me.rights.includes("decide")) return null;
    const button = (kind, label, act) =>
      make(`button.${kind}`, {
        type: "button", "data-focus": `${label} ${ask.ask}`, "aria-label": `${label}: ${place(ask)}`,
        onclick: () => act(ask, done),
      }, label);
    return make("div.acts", {}, button("go", "Confirm", confirm), button("stop", "Refuse", refuse));
  };

  const card = (ask, me, done) =>
    make("li.claim.ask", { "data-ask": ask.ask },
      make("header", {},
        make("h2", {}, `${ask.table} `, make("span", {}, `Round ${ask.round}`)),
        make("p.tags", {}, make("span.chip", { "data-state": "pending" }, "To confirm"),
          make("span.new", { hidden: true }, "New")),
        make("p.waited", {}, make("span.of", {}, "Waiting "), make("span.span", { "data-at": ask.at }, ""))),
      make("div.what", {},
        make("p.hand-name", {}, KINDS[ask.what]),
        ask.reason ? make("p.share", {}, `Reason: ${ask.reason}`) : null,
        make("p.order", {}, `Asset ${ask.asset} · the table waits`)),
      make("div.won", {}, changes(ask)),
      acts(ask, me, done));

  return { card, place, kind: (ask) => KINDS[ask.what] };
})();
