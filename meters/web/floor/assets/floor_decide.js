"use strict";
/* The decisions on a win and on the Envy for its hand, each said again before it is sent. */
const decide = (() => {
  const { make, money } = house;
  const REASONS = [
    "Hand misread", "Cards entered wrongly", "The light was out", "Card fouled",
    "Wager not on the layout", "Deal out of turn",
  ];
  const OTHER = "other";

  const path = (claim, act) => `/api/v1/claims/${encodeURIComponent(claim.claim)}/${act}`;

  /* The win said again, so that nobody decides the one beside it. */
  const again = (claim) =>
    make("div.again", {},
      make("p.amount", {}, money(claims.sum(claim))),
      make("p.place", {}, claims.place(claim)),
      make("p", {}, `${claims.handName(claim)} · ${claims.itemName(claim)}`));

  const validate = (claim, done) => dialogs.open({
    title: "Validate this win?",
    content: [
      again(claim),
      make("p", {}, claim.paid_from === "hand_pay"
        ? "Then it is paid by hand, by another person."
        : `It is paid ${words.paidFrom(claim.paid_from).toLowerCase()}.`),
    ],
    confirm: `Validate ${money(claim.amount)}`,
    act: () => service.post(path(claim, "validate")),
    done,
  });

  const reject = (claim, done) => {
    const text = make("input", { type: "text", name: "words", maxlength: "200" });
    const own = dialogs.field("In your words", text);
    own.hidden = true;
    const reasons = dialogs.choice("Why?", "reason",
      [...REASONS.map((reason) => [reason, reason]), [OTHER, "Another reason"]],
      { short: true, onchange: (event) => {
        own.hidden = event.target.value !== OTHER;
        if (!own.hidden) text.focus();
      } });
    const owed = claim.envy.length
      ? [
        claims.envy(claim),
        dialogs.choice("And the Envy Bonuses?", "envy", [
          ["not_due", "The hand was not as entered: Envy Bonuses are not due either"],
          ["due", "The hand stands: Envy Bonuses are due"],
        ]),
      ]
      : [];
    dialogs.open({
      title: "Reject this win?",
      content: [
        again(claim), reasons, own, ...owed,
        make("p", {}, claim.percent === null
          ? "Nothing is paid for it."
          : "Nothing is paid for it; the amount goes back to the meter."
          + (claim.percent === 100
            ? " What the house reseeded it with stays there, until two supervisors adjust it."
            : "")),
      ],
      confirm: `Reject ${money(claim.amount)}`,
      kind: "stop",
      act: (form) => {
        const chosen = form.elements.reason.value;
        const reason = chosen === OTHER ? text.value.trim() : chosen;
        if (!chosen) throw dialogs.wrong("Say why.", form.elements.reason[0]);
        if (!reason) throw dialogs.wrong("Say why, in your words.", text);
        if (!owed.length) return service.post(path(claim, "reject"), { reason });
        const answer = form.elements.envy.value;
        if (!answer) {
          throw dialogs.wrong("Say whether the Envy Bonuses are due.", form.elements.envy[0]);
        }
        return service.post(path(claim, "reject"), { reason, envy_not_due: answer === "not_due" });
      },
      done,
    });
  };

  const pay = (claim, done) => {
    const slip = make("input", {
      type: "text", name: "slip", maxlength: "100", autocapitalize: "characters", enterkeyhint: "done",
    });
    const owes = claims.owesEnvy(claim);
    const envy = owes
      ? dialogs.choice(`And the Envy Bonuses of ${money(claim.envy_amount)}?`, "envy", [
        ["paid", "The table has paid them"],
        ["later", "Not yet"],
      ])
      : null;
    dialogs.open({
      title: "Pay this win?",
      content: [
        claims.taxNotice(claim),
        again(claim),
        make("p", {}, `Validated by ${claim.validated_by}.`),
        dialogs.field("Number of the payout slip", slip),
        envy,
      ],
      confirm: `Paid ${money(claim.amount)}`,
      act: (form) => {
        const number = slip.value.trim();
        if (!number) throw dialogs.wrong("The number of the slip is needed.", slip);
        if (!owes) return service.post(path(claim, "pay"), { slip: number });
        const answer = form.elements.envy.value;
        if (!answer) {
          throw dialogs.wrong("Say whether the Envy Bonuses are paid.", form.elements.envy[0]);
        }
        return service.post(path(claim, "pay"), { slip: number, envy_paid: answer === "paid" });
      },
      done,
    });
  };

  /* One press for all Envy Bonuses of a hand. */
  const payEnvy = (claim, done) => dialogs.open({
    title: "Has the table paid these Envy Bonuses?",
    content: [
      make("div.again", {},
        make("p.amount", {}, money(claim.envy_amount)),
        make("p.place", {}, `For the hand of ${claims.place(claim)}`)),
      claims.envy(claim),
    ],
    confirm: `Paid ${money(claim.envy_amount)}`,
    act: () => service.post(path(claim, "pay-envy")),
    done,
  });

  const rejectEnvy = (claim, done) => {
    const text = make("input", { type: "text", name: "words", maxlength: "200" });
    dialogs.open({
      title: "Are these Envy Bonuses not due?",
      content: [claims.envy(claim), dialogs.field("Why not?", text), make("p", {}, "Nothing is paid for them.")],
      confirm: `Not due ${money(claim.envy_amount)}`,
      kind: "stop",
      act: () => {
        const reason = text.value.trim();
        if (!reason) throw dialogs.wrong("Say why.", text);
        return service.post(path(claim, "reject-envy"), { reason });
      },
      done,
    });
  };

  /* The buttons of a win for who is signed in; where he may not, why not. */
  const acts = (claim, me, done) => {
    if (!me.rights.includes("wins")) return null;
    const slip = claims.slipLink(claim);
    if (!me.rights.includes("decide")) return make("div.acts", {}, slip);
    const button = (kind, label, act, cents = claim.amount) =>
      make(`button.${kind}`, {
        type: "button", "data-focus": `${label} ${claim.claim}`,
        "aria-label": `${label}: ${claims.place(claim)}, ${money(cents)}`,
        onclick: () => act(claim, done),
      }, label);
    if (claim.state === "pending") {
      return make("div.acts", {},
        button("go", "Validate", validate), button("stop", "Reject", reject), slip);
    }
    const envy = claims.owesEnvy(claim)
      ? [button("go", "Envy paid", payEnvy, claim.envy_amount),
        button("stop", "Envy not due", rejectEnvy, claim.envy_amount)]
      : [];
    if (!claims.waitsForPay(claim)) return make("div.acts", {}, envy, slip);
    if (claim.validated_by === me.name) {
      return make("div.acts", {},
        make("button.go", { type: "button", disabled: true }, "Pay"),
        envy, slip, make("p.why", {}, "You validated it: another person pays."));
    }
    return make("div.acts", {}, button("go", "Pay", pay), envy, slip);
  };

  return { acts };
})();
