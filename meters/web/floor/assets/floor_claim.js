"use strict";
/* A win as people read it, in the list of what waits and in the history. */
const claims = (() => {
  const { make, money } = house;

  const STATES = {
    pending: "To validate",
    validated: "Validated",
    paid: "Paid",
    rejected: "Rejected",
  };
  const waitsForPay = (claim) => claim.state === "validated" && claim.paid_from === "hand_pay";
  const owesEnvy = (claim) => claim.envy_state === "validated";
  /* Whether nothing but its Envy Bonuses is left to be settled. */
  const onlyEnvy = (claim) => owesEnvy(claim) && claim.state !== "pending" && !waitsForPay(claim);
  const sum = (claim) => (claim.only_envy ? claim.envy_amount : claim.amount);
  const state = (claim) => {
    if (waitsForPay(claim)) return "To be paid";
    return onlyEnvy(claim) ? "Envy to be paid" : STATES[claim.state];
  };
  const place = (claim) => `Table ${claim.table}, position ${claim.position}`;
  const itemName = (claim) => claim.item_name || words.item(claim.item);
  const handName = (claim) => claim.hand_name || words.capital(words.plain(claim.hand));
  const share = (claim) => {
    if (claim.only_envy) return "Envy Bonuses alone: no win of this hand waits";
    return claim.percent === null ? "At odds, not off the meter" : `${claim.percent}% of the meter`;
  };
  const look = (claim) => (waitsForPay(claim) || onlyEnvy(claim) ? "unpaid" : claim.state);

  const chip = (claim) => make("span.chip", { "data-state": look(claim) }, state(claim));

  /* The cards that the wager is judged by: the position's, and the dealer's and the community's
     where they count. */
  const hands = (claim) =>
    make("div.hands", {}, [
      [`Position ${claim.position}`, claim.cards],
      ["Community", claim.community],
      ["Dealer", claim.dealer],
    ].filter(([, names]) => names.length).map(([title, names]) =>
      make("div.hand", {}, make("p.of", {}, title), house.cards(names))));

  const facts = (pairs) =>
    make("dl.facts", {}, pairs.filter(([, told]) => told).map(([name, told]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, told))));

  const envyTitle = (claim) => {
    const by = claim.envy_by ? ` by ${claim.envy_by}, ${words.moment(claim.envy_at)}` : "";
    switch (claim.envy_state) {
      case "pending": return "Envy Bonuses: owed once the win is decided";
      case "paid": return `Envy Bonuses: paid${by}`;
      case "rejected": return `Envy Bonuses: not due, ${claim.envy_reason ?? "the hand was not as entered"}`;
      default: return claim.envy_not_due
        ? "Envy Bonuses: not due, the hand was not as entered"
        : "Envy owed for this hand";
    }
  };

  const envy = (claim) => {
    if (!claim.envy.length) return null;
    const title = envyTitle(claim);
    return make("section.envy", {}, make("h3", {}, title),
      make("ul", {}, claim.envy.map((owed) =>
        make("li", {},
          make("span", {}, words.who(owed.position, owed.patron)),
          make("span.sum", {}, money(owed.amount))))));
  };

  const wagers = (claim) =>
    claim.wagers.length
      ? make("table.wagers", {},
        make("caption", {}, "Wagers accepted at lock-out"),
        make("tbody", {}, claim.wagers.map((one) =>
          make("tr", one.position === claim.position ? { "data-own": true } : {},
            make("th", { scope: "row" }, words.who(one.position, one.patron)),
            make("td", {}, make("ul", {}, Object.entries(one.wagers).map(([name, cents]) =>
              make("li", {}, `${words.item(name)} `, make("span.sum", {}, money(cents)))))))))) 
      : null;

  const order = (claim) =>
    claim.turns > 1
      ? `Win ${claim.turn} of ${claim.turns} of its round · entry ${claim.order}`
      : `Entry ${claim.order}`;

  const by = (name, at) => (name ? `${name}, ${words.moment(at)}` : "");

  const decisions = (claim) => facts([
    ["Validated by", by(claim.validated_by, claim.validated_at)],
    ["Paid by", by(claim.paid_by, claim.paid_at)],
    ["Slip number", claim.slip],
    ["Rejected by", claim.state === "rejected" ? by(claim.decided_by, claim.decided_at) : ""],
    ["Reason", claim.reason],
  ]);

  const taxNotice = (claim) =>
    claim.tax_documents && claim.state !== "rejected" && claim.state !== "paid"
      ? make("p.notice.wait.tax", {}, "Tax documents are needed before this is paid")
      : null;

  const slipLink = (claim) =>
    make("a.button", {
      href: `/api/v1/claims/${encodeURIComponent(claim.claim)}/slip.pdf`,
      target: "_blank", rel: "noopener", "data-focus": `slip ${claim.claim}`,
    }, "Payout slip (PDF)");

  /* Everything that is known of a win. */
  const whole = (claim) => [
    taxNotice(claim),
    make("div.sum-line", {}, make("p.amount", {}, money(sum(claim))), chip(claim)),
    make("p.hand-name", {}, handName(claim)),
    hands(claim),
    facts([
      ["Won", words.moment(claim.at)],
      ["Table", `${claim.table}, asset ${claim.asset}`],
      ["Position", String(claim.position)],
      ["Patron", claim.patron],
      ["Wager", `${itemName(claim)}, ${money(claim.wagered)}`],
      ["Progressive", `${claim.meter_name || claim.meter} · ${claim.link_name || claim.link}`],
      ["Share", share(claim)],
      ["Meter after it", claim.percent === null ? "" : money(claim.meter_after)],
      ["Paid from", words.paidFrom(claim.paid_from)],
      ["Order", order(claim)],
      ["Rule", claim.rule],
      ["Round", claim.round],
      ["Claim", claim.claim],
    ]),
    decisions(claim),
    envy(claim),
    wagers(claim),
  ];

  return {
    waitsForPay, owesEnvy, onlyEnvy, sum, look, state, place, itemName, handName, share, chip, hands, facts, envy, wagers, order,
    taxNotice, slipLink, whole, decisions,
  };
})();
