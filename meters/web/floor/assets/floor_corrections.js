/* A correction request: a void after cards were entered, or a hand entered differently. A
   floorperson confirms or refuses the request. The table waits until then. */

import { cards, make } from "./elements.js";
import * as api from "./floor_api.js";
import * as claims from "./floor_claims.js";
import * as dialogs from "./floor_dialog.js";

const KINDS = { void: "Void after cards", result: "Hand entered differently" };

const path = (ask, act) => `/api/v1/asks/${encodeURIComponent(ask.ask)}/${act}`;
export const place = (ask) => `Table ${ask.table}, round ${ask.round}`;

const whose = (hand) => {
  if (hand.what === "hand") return `Position ${hand.position}`;
  return hand.what === "dealer" ? "Dealer" : "Community";
};

const then = (ask, hand) => {
  if (hand.after.length) return make("div.hand", {}, make("p.of", {}, "To be settled"), cards(hand.after));
  return make("p.of", {}, ask.what === "void" ? "Not settled: the round is void" : "Settled without cards");
};

/* The entered cards of each hand, and the cards that replace them. */
const changes = (ask) =>
  make("ul.changes", {}, ask.cards.map((hand) =>
    make("li", {},
      make("div.hand", {}, make("p.of", {}, `${whose(hand)}, entered`), cards(hand.before)),
      then(ask, hand),
      hand.taken_back || hand.reason
        ? make("p.why", {}, `Taken back${hand.reason ? `: ${hand.reason}` : ""}`) : null)));

const again = (ask) => [
  make("div.again", {}, make("p.place", {}, place(ask)),
    make("p", {}, [KINDS[ask.what], ask.reason].filter(Boolean).join(": "))),
  changes(ask),
];

const confirm = (ask, done) => dialogs.open({
  title: ask.what === "void" ? "Confirm this void?" : "Confirm this result?",
  content: again(ask),
  confirm: "Confirm",
  act: () => api.post(path(ask, "confirm")),
  done,
});

const refuse = (ask, done) => {
  const reason = dialogs.line("Why? The dealer reads it", "Say why.");
  dialogs.open({
    title: ask.what === "void" ? "Refuse this void?" : "Refuse this result?",
    content: [...again(ask), reason.node,
      make("p", {}, "Nothing changes at the table: the round goes on.")],
    confirm: "Refuse",
    kind: "stop",
    act: () => api.post(path(ask, "refuse"), { reason: reason.value() }),
    done,
  });
};

const acts = (ask, me, done) => {
  if (!me.rights.includes("decide")) return null;
  const button = (kind, label, act) =>
    dialogs.action(label, place(ask), () => act(ask, done), { kind, id: ask.ask });
  return make("div.acts", {}, button("go", "Confirm", confirm), button("stop", "Refuse", refuse));
};

export const card = (ask, me, done) =>
  make("li.claim.ask", { "data-ask": ask.ask },
    claims.waitingHead(ask.table, `Round ${ask.round}`,
      make("span.chip", { "data-state": "pending" }, "To confirm"), ask.at),
    make("div.what", {},
      make("p.hand-name", {}, KINDS[ask.what]),
      ask.reason ? make("p.share", {}, `Reason: ${ask.reason}`) : null,
      make("p.order", {}, `Asset ${ask.asset} · the table waits`)),
    make("div.won", {}, changes(ask)),
    acts(ask, me, done));

export const kind = (ask) => KINDS[ask.what];
