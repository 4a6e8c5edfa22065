"use strict";
/* What is done with a link and its meters: opened and closed by one person, changed by two. */
const changes = (() => {
  const { make, money } = house;
  /* What the tables read in their floor file as well. */
  const OF_TABLES = ["wager", "paytable"];
  const PARAMETERS = {
    wager: "Wager",
    paytable: "Paytable",
    magic_card_every: "Magic Card: one round in",
    lucky_every: "Lucky Bonus: one round in",
    limit: "Limit",
    contribution_max: "Largest contribution at once",
  };

  const path = (link, rest) => `/api/v1/links/${encodeURIComponent(link.link)}/${rest}`;

  const reasonField = (label = "Reason") => {
    const input = make("input", { type: "text", name: "reason", maxlength: "200" });
    const value = () => {
      const text = input.value.trim();
      if (!text) throw dialogs.wrong("A reason is needed.", input);
      return text;
    };
    return { node: dialogs.field(label, input), value };
  };

  const close = (link, done) => {
    const reason = reasonField();
    dialogs.open({
      title: `Close ${link.name}?`,
      content: [
        make("p", {}, "Its tables take no new progressive wager. Rounds in hand are finished."),
        reason.node,
      ],
      confirm: "Close the link",
      kind: "stop",
      act: () => service.post(path(link, "close"), { reason: reason.value() }),
      done,
    });
  };

  const open = (link, done) => dialogs.open({
    title: `Open ${link.name}?`,
    content: [
      make("p", {}, link.reason ? `It was closed: ${words.sentence(link.reason)}` : "It is closed."),
      make("p", {}, "Its tables take progressive wagers again."),
    ],
    confirm: "Open the link",
    act: () => service.post(path(link, "open")),
    done,
  });

  const approve = (link, done) => dialogs.open({
    title: `Approve the floor file for ${link.name}?`,
    content: [
      make("ul", {}, link.unapproved.changed.map((one) => make("li.strong", {}, words.capital(one)))),
      make("p", {}, "The link is played under it from then on. A service that runs on another floor "
        + "file stops until it is started anew with this one."),
      make("p.of", {}, `SHA-256 ${link.unapproved.digest}`),
    ],
    confirm: "Approve",
    act: () => service.post(path(link, "approve"), { digest: link.unapproved.digest }),
    done,
  });

  const bound = (cents) => (cents === null ? "none" : money(cents));

  const every = (number) => (number ? `one round in ${number.toLocaleString("en-US")}` : "never");

  /* The parameters of a meter that can be changed, each with its value in words, and the control
     and the reading of a new one. */
  const parameters = (meter) => {
    const found = [];
    const any = meter.kind === "five_card_hand_bonus";
    const wager = any
      ? make("input", { type: "text", inputmode: "decimal", name: "value", maxlength: "12" })
      : make("select", { name: "value" }, [100, 500].map((cents) =>
        make("option", { value: String(cents), selected: cents === meter.wager }, money(cents))));
    found.push(["wager", money(meter.wager), wager, () => {
      const cents = any ? words.typedCents(wager.value) : Number(wager.value);
      if (!cents) throw dialogs.wrong("An amount such as 2.50 is needed.", wager);
      return cents;
    }]);
    if (meter.paytables.length) {
      const control = make("select", { name: "value" }, meter.paytables.map((letter) =>
        make("option", { value: letter, selected: letter === meter.paytable }, `Paytable ${letter}`)));
      found.push(["paytable", `paytable ${meter.paytable}`, control, () => control.value]);
    }
    for (const name of ["magic_card_every", "lucky_every"]) {
      if (meter[name] === null) continue;
      const control = make("input", { type: "text", inputmode: "numeric", name: "value", maxlength: "7" });
      found.push([name, every(meter[name]), control, () => {
        if (!/^\d{1,7}$/.test(control.value.trim())) {
          throw dialogs.wrong("A whole number is needed; 0 is never.", control);
        }
        return Number(control.value);
      }]);
    }
    for (const name of ["limit", "contribution_max"]) {
      const control = make("input", { type: "text", inputmode: "decimal", name: "value", maxlength: "16", placeholder: "0.00" });
      found.push([name, bound(meter[name]), control, () => {
        const cents = words.typedCents(control.value);
        if (cents === null) throw dialogs.wrong("An amount is needed; 0 is none.", control);
        return cents;
      }]);
    }
    return found;
  };

  const parameter = (link, meter, done) => {
    const offered = parameters(meter);
    const place = make("div", {});
    let chosen = offered[0];
    const show = () => place.replaceChildren(
      make("p", {}, `Now: ${chosen[1]}`),
      dialogs.field(`New: ${PARAMETERS[chosen[0]].toLowerCase()}`, chosen[2]));
    const which = dialogs.choice("Which parameter?", "parameter",
      offered.map(([name]) => [name, PARAMETERS[name].split(":")[0]]),
      { chosen: chosen[0], onchange: (event) => {
        chosen = offered.find(([name]) => name === event.target.value);
        show();
      } });
    show();
    dialogs.open({
      title: `Change ${meter.name}`,
      content: [which, place, make("p", {}, "Another person must confirm it before it holds.")],
      confirm: "Propose",
      act: () => service.post(path(link, "proposals"),
        { kind: "parameter", meter: meter.meter, parameter: chosen[0], value: chosen[3]() }),
      done,
    });
  };

  const adjust = (link, meter, done) => {
    const amount = make("input", { type: "text", inputmode: "decimal", name: "amount", maxlength: "16", placeholder: "0.00" });
    const preview = make("output.preview", { role: "status" }, "");
    const reason = reasonField("What went wrong?");
    const way = dialogs.choice("Which way?", "way",
      [["1", "+ Add to the meter"], ["-1", "− Take off the meter"]], { onchange: () => show() });
    const signed = () => {
      const cents = words.typedCents(amount.value);
      const chosen = way.querySelector("input:checked");
      return cents && chosen ? cents * Number(chosen.value) : null;
    };
    const show = () => {
      const cents = signed();
      const after = meter.amount + (cents ?? 0);
      preview.textContent = cents === null
        ? `${money(meter.amount)} now`
        : after < 0
          ? `The meter holds ${money(meter.amount)}, no more`
          : `${money(meter.amount)} → ${money(after)}`;
    };
    amount.addEventListener("input", show);
    show();
    dialogs.open({
      title: `Adjust ${meter.name}`,
      content: [
        make("p", {}, "To correct a malfunction or an error, and for nothing else."),
        way, dialogs.field("Dollars and cents", amount), preview, reason.node,
        make("p", {}, "Another person must confirm it before it holds."),
      ],
      confirm: "Propose",
      act: () => {
        if (!way.querySelector("input:checked")) {
          throw dialogs.wrong("Say whether it is added or taken off.", way.querySelector("input"));
        }
        const cents = signed();
        if (!cents) throw dialogs.wrong("An amount such as 1,234.50 is needed.", amount);
        return service.post(path(link, "proposals"),
          { kind: "adjustment", meter: meter.meter, amount: cents, reason: reason.value() });
      },
      done,
    });
  };

  /* A proposal in words: what, from what to what. */
  const told = (link, proposal) => {
    const meter = link.meters.find((each) => each.meter === proposal.meter);
    const name = meter?.name ?? proposal.meter;
    if (proposal.kind === "adjustment") {
      return `${name}, adjusted by ${proposal.after}; it held ${proposal.before} when proposed`;
    }
    const what = PARAMETERS[proposal.parameter].split(":")[0].toLowerCase();
    return `${name}, ${what}: ${proposal.before} → ${proposal.after}`;
  };

  const settle = (act, title, confirm, kind) => (link, proposal, done) => dialogs.open({
    title,
    content: [
      make("p.strong", {}, told(link, proposal)),
      proposal.reason ? make("p", {}, `Reason: ${words.sentence(proposal.reason)}`) : null,
      OF_TABLES.includes(proposal.parameter)
        ? make("p", {}, "Then set it in the floor file of the tables too, and start their agents anew: "
          + "until then their wagers are refused at lock-out.")
        : null,
      make("p", {}, `Proposed by ${proposal.by}, ${words.moment(proposal.at)}.`),
    ],
    confirm,
    kind,
    act: () => service.post(path(link, `proposals/${encodeURIComponent(proposal.proposal)}/${act}`)),
    done,
  });
  const confirm = settle("confirm", "Confirm this change?", "Confirm", "go");
  const withdraw = settle("withdraw", "Withdraw this proposal?", "Withdraw", "stop");

  return { close, open, approve, parameter, adjust, confirm, withdraw, told, every };
})();
