"use strict";
/* What waits for a floorperson: corrections, for which a table stands still, then wins, each oldest
   first. It is kept current in whatever view is open, so that it is heard and counted everywhere. */
const waiting = (() => {
  const { make, money } = house;
  const LOUD_MS = 180000;
  const NEW_MS = 12000;
  const RETRY_MS = 2000;
  const isWide = window.matchMedia("(min-width: 64rem)");

  let me = null;
  let rows = null;
  let drawn = new Map();
  let arrived = new Map();
  let opened = new Map();
  let list = null;
  let told = null;
  let reading = null;
  let again = false;
  let retry = null;
  let onCount = () => {};
  let onRead = () => {};

  const arrivals = make("p.sr", { role: "status", "aria-live": "polite" });

  const read = async () => {
    const of = me;
    try {
      const [corrections, wins] = await Promise.all(
        [service.get("/api/v1/asks"), service.get("/api/v1/claims")]);
      const found = [
        ...corrections.map((ask) => ({ id: `ask ${ask.ask}`, ask })),
        ...wins.map((claim) => ({ id: claim.claim, claim })),
      ];
      if (of !== me) return;
      take(found);
      onRead(true);
    } catch (error) {
      if (!(error instanceof service.Refused)) throw error;
      if (of !== me || error.status === 401) return;
      onRead(false);
      clearTimeout(retry);
      retry = setTimeout(() => { refresh(); }, RETRY_MS);
    }
  };

  /* Read the list; what asks while it is read has it read once more, not many times. */
  const refresh = () => {
    if (!me) return Promise.resolve();
    if (reading) {
      again = true;
      return reading;
    }
    reading = read().finally(() => {
      reading = null;
      if (again) {
        again = false;
        refresh();
      }
    });
    return reading;
  };

  const take = (found) => {
    const known = rows && new Set(rows.map((row) => row.id));
    const come = known ? found.filter((row) => !known.has(row.id)) : [];
    rows = found;
    for (const row of come) arrived.set(row.id, service.now());
    if (come.length) {
      sound.ring();
      arrivals.textContent = come.map(({ ask, claim }) => (ask
        ? `To confirm: ${asks.place(ask)}, ${asks.kind(ask)}.`
        : `New win: ${claims.place(claim)}, ${money(claims.sum(claim))}.`)).join(" ");
    }
    onCount(rows.length, come.length);
    fingers.lifted(draw);
  };

  const card = (claim) => {
    const evidence = [claims.wagers(claim)].filter(Boolean);
    const details = evidence.length
      ? make("details", { open: opened.get(claim.claim) ?? isWide.matches },
        make("summary", { "data-focus": `evidence ${claim.claim}` },
          `Wagers at lock-out: ${words.count(claim.wagers.length, "position")}`),
        evidence)
      : null;
    details?.addEventListener("toggle", () => opened.set(claim.claim, details.open));
    return make("li.claim", { "data-claim": claim.claim, "data-state": claims.look(claim) },
      make("header", {},
        make("h2", {}, `${claim.table} `, make("span", {}, `Position ${claim.position}`)),
        make("p.tags", {}, claims.chip(claim), make("span.new", { hidden: true }, "New")),
        make("p.waited", {}, make("span.of", {}, "Waiting "), make("span.span", { "data-at": claim.at }, ""))),
      make("div.what", {},
        claims.taxNotice(claim),
        make("p.amount", {}, money(claims.sum(claim))),
        make("p.share", {}, `${claims.share(claim)} · ${words.paidFrom(claim.paid_from)}`),
        claims.waitsForPay(claim)
          ? make("p.by", {}, `Validated by ${claim.validated_by}, to be paid by another person`)
          : null,
        claims.onlyEnvy(claim)
          ? make("p.by", {}, `The table pays Envy Bonuses of ${money(claim.envy_amount)}`)
          : null),
      make("div.won", {},
        make("p.hand-name", {}, claims.handName(claim)),
        make("p.wager", {}, `${claims.itemName(claim)}, ${money(claim.wagered)}`),
        claims.hands(claim)),
      decide.acts(claim, me, refresh),
      make("div.more", {},
        make("p.order", {}, [claims.order(claim), `asset ${claim.asset}`, claim.patron && `patron ${claim.patron}`]
          .filter(Boolean).join(" · ")),
        claims.envy(claim), details));
  };

  /* Only what has changed is drawn anew: nothing moves under a thumb without a cause. */
  const draw = () => {
    if (!list || !rows) return;
    const had = document.activeElement;
    const kept = new Map();
    const nodes = rows.map((row) => {
      const text = JSON.stringify(row);
      const before = drawn.get(row.id);
      const node = () => (row.ask ? asks.card(row.ask, me, refresh) : card(row.claim));
      const now = before?.text === text ? before : { text, node: node() };
      kept.set(row.id, now);
      return now.node;
    });
    drawn = kept;
    const same = nodes.length === list.children.length
      && nodes.every((node, at) => list.children[at] === node);
    if (!same) {
      list.replaceChildren(...nodes);
      if (had && had !== document.activeElement) dialogs.refocus(had);
    }
    list.hidden = !rows.length;
    told.hidden = Boolean(rows.length);
    told.textContent = "Nothing waits.";
    tick();
  };

  const tick = () => {
    if (!list) return;
    const now = service.now();
    for (const node of list.querySelectorAll("[data-at]")) {
      const ms = now - Date.parse(node.dataset.at);
      node.textContent = words.span(ms);
      node.parentElement.toggleAttribute("data-long", ms >= LOUD_MS);
    }
    for (const [id, at] of arrived) {
      const fresh = now - at < NEW_MS;
      const node = drawn.get(id)?.node;
      node?.toggleAttribute("data-new", fresh);
      if (node) node.querySelector(".new").hidden = !fresh;
      if (!fresh) arrived.delete(id);
    }
  };

  const show = (root) => {
    told = make("p.nothing", {}, "Reading what waits…");
    list = make("ol.claims", { hidden: true });
    drawn = new Map();
    root.append(make("h1.sr", { tabindex: "-1" }, "Waiting for a floorperson"), told, list);
    draw();
  };

  const hide = () => {
    list = null;
    told = null;
    drawn = new Map();
  };

  setInterval(tick, 1000);

  return {
    arrivals, refresh, show, hide,
    name: "Waiting", right: "waiting", changed: () => {},
    begin: (who, { count, read: whenRead }) => {
      me = who;
      onCount = count;
      onRead = whenRead;
      return refresh();
    },
    end: () => {
      clearTimeout(retry);
      me = rows = null;
      drawn = new Map();
      arrived = new Map();
      opened = new Map();
      arrivals.textContent = "";
      hide();
    },
  };
})();
