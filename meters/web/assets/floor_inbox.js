/* The inbox: all that waits for a person, in one list, with the details of the open row beside it. The
   list is kept current in every view, so a new row is heard and counted in each of them. */

import { announce } from "./floor_alerts.js";
import * as api from "./floor_api.js";
import { describe } from "./floor_changes.js";
import * as claims from "./floor_claims.js";
import * as corrections from "./floor_corrections.js";
import * as format from "./floor_format.js";
import { Icon } from "./floor_icons.js";
import { useKeys } from "./floor_keys.js";
import { FloorPicture } from "./floor_map.js";
import { LATE_MS, Nothing, Panes, Tag, Waited } from "./floor_panes.js";
import { Change } from "./floor_proposals.js";
import { useCurrent, useNow } from "./floor_reading.js";
import { matches } from "./floor_rounds.js";
import { hrefOf, show } from "./floor_route.js";
import { useClaim, Win } from "./floor_win.js";
import { money } from "./money.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";
import { reasonText } from "./reasons.js";
import { say, sayCount } from "./say.js";

const NEW_MS = 12000;
/* How long the list says that a new row is above the rows that it shows. */
const ABOVE_MS = 60000;
/* If there are more rows of Envy Bonuses, they are one line until somebody opens it. */
const ENVY_ROWS = 3;

/* The groups in their order. First is what a table waits for: corrections, and hand pays. */
const GROUPS = [
  { name: "correction", title: say("Corrections"), word: say("corrections"), icon: "proposal", look: "proposal" },
  { name: "validate", title: say("Hand pays to validate"), word: say("hand pays"), icon: "half", look: "pending" },
  { name: "second", title: say("Second person"), word: say("second person"), icon: "two", look: "rejected" },
  { name: "pay", title: say("Pay#step"), word: say("pay"), icon: "handpay", look: "pay" },
  { name: "other", title: say("Other wins to validate"), word: say("other wins"), icon: "half", look: "pending" },
  { name: "proposal", title: say("Proposals"), word: say("proposals"), icon: "proposal", look: "proposal" },
  { name: "envy", title: say("Envy owed by tables"), word: say("Envy"), icon: "diamond", look: "envy" },
];

const groupOf = (claim) => {
  if (claim.request) return "second";
  if (claim.state === "pending") return claims.isHandPay(claim) ? "validate" : "other";
  return claims.waitsForPay(claim) ? "pay" : "envy";
};

const ownText = (claim, me) => {
  const { request } = claim;
  if (request) {
    if (request.by === me.name) return say("You requested it: another person confirms");
    const values = { by: request.by, reason: reasonText(request.reason) };
    return request.act === "reject" ? say("Rejection by {by}: {reason}", values) : say("Reopening by {by}: {reason}", values);
  }
  if (claims.waitsForPay(claim)) {
    return claim.validated_by === me.name ? say("You validated: another person pays")
      : `${claims.itemName(claim)} · ${say("Validated by {by}", { by: claim.validated_by })}`;
  }
  return "";
};

const envyText = ({ envy, position }) => {
  const each = new Set(envy.map(({ amount }) => amount));
  return [each.size === 1 && say("{amount} each", { amount: money([...each][0]) }), say("hand of position {position}", { position })].filter(Boolean).join(" · ");
};

const rowOfClaim = (claim, me) => {
  const group = groupOf(claim);
  const isEnvy = group === "envy";
  return {
    id: claim.claim, claim, group, at: claims.since(claim), cents: claims.due(claim),
    place: isEnvy && claim.envy.length ? `${claim.table} · ${sayCount("{count} player", "{count} players", claim.envy.length)}` : claims.shortPlace(claim),
    what: isEnvy ? envyText(claim) : ownText(claim, me) || `${claims.handName(claim)} · ${claims.itemName(claim)}`,
    isOthers: Boolean(claim.barred_by) || claim.request?.by === me.name || (group === "pay" && claim.validated_by === me.name),
  };
};

const rowOfAsk = (ask) => ({
  id: `ask ${ask.ask}`, ask, group: "correction", at: ask.at, cents: null, isOthers: false,
  place: say("{table} · Round {round}", ask), what: corrections.summary(ask),
});

const rowsOfLink = (link, me) => [
  ...link.proposals.map((proposal) => ({
    id: `proposal ${link.link} ${proposal.proposal}`, proposal, link, group: "proposal", at: proposal.at, cents: null,
    place: link.name, what: describe(link, proposal), isOthers: proposal.by === me.name || Boolean(proposal.barred_by),
  })),
  ...(link.unapproved ? [{
    id: `file ${link.link}`, link, group: "proposal", at: null, cents: null, isOthers: link.unapproved.first_by === me.name,
    place: link.name, what: say("The floor file waits for approval"),
  }] : []),
];

/* The row that has waited longest is first. What another person must do comes last. */
const inOrder = (rows) => [...rows].sort((one, other) => one.isOthers - other.isOthers
  || Date.parse(one.at ?? 0) - Date.parse(other.at ?? 0));

const read = (me) => async () => {
  const [asks, wins, links] = await Promise.all([
    api.get("/api/v1/asks"), api.get("/api/v1/claims"), me.rights.includes("links") ? api.get("/api/v1/links") : [],
  ]);
  const rows = [
    ...asks.map(rowOfAsk), ...wins.map((claim) => rowOfClaim(claim, me)), ...links.flatMap((link) => rowsOfLink(link, me)),
  ];
  return GROUPS.flatMap(({ name }) => inOrder(rows.filter(({ group }) => group === name)));
};

/* A request about a win arrives after the win, and is announced too, but not to the person who made
   it. */
const eventOf = ({ id, claim }) => (claim?.request ? `${id} ${claim.request.entry}` : id);
const arrivalText = ({ ask, claim, place, what }) => {
  if (ask) return say("To confirm: {place}, {kind}.", { place: corrections.place(ask), kind: corrections.kind(ask) });
  if (!claim) return say("Proposal: {place}, {what}", { place, what: format.sentence(what) });
  const win = `${claims.place(claim)}, ${money(claims.due(claim))}`;
  return claim.request ? `${claims.stateText(claim)}: ${win}.` : say("New win: {win}.", { win });
};

/* The rows of the inbox, the time at which each new row arrived, the last arrivals as text, and what
   the list leaves out: `only` a group, and rows without the `words`. */
export const useInbox = (me, changes) => {
  const answer = useCurrent(read(me), [changes]);
  const [arrivals, setArrivals] = useState("");
  const [only, setOnly] = useState("");
  const [words, setWords] = useState("");
  const seen = useRef(null);
  const arrivedAt = useRef(new Map()).current;
  useLayoutEffect(() => {
    if (!answer.found) return;
    const come = answer.found.filter((row) => seen.current && !row.isOthers && !seen.current.has(eventOf(row)));
    seen.current = new Set(answer.found.flatMap((row) => [row.id, eventOf(row)]));
    if (!come.length) return;
    for (const { id } of come) arrivedAt.set(id, api.now());
    const text = come.map(arrivalText).join(" ");
    setArrivals(text);
    announce(text);
  }, [answer.found]);
  return { ...answer, rows: answer.found, arrivals, arrivedAt, only, setOnly, words, setWords };
};

/* What waits, in numbers. Each is a switch that leaves only its rows in the list. */
export const Counts = ({ inbox: { rows, only, setOnly } }) => {
  const now = useNow();
  const late = (rows ?? []).filter(({ at }) => at && now - Date.parse(at) >= LATE_MS).length;
  const told = (count) => (rows ? count : "–");
  const counted = GROUPS.map((group) => ({ ...group, count: (rows ?? []).filter((row) => row.group === group.name).length }))
    .filter(({ name, count }) => count > 0 || name === "validate" || name === "pay");
  return html`
    <div class="counts" role="group" aria-label=${say("Show only")}>
      <button type="button" aria-pressed=${String(!only)} onClick=${() => setOnly("")}><b>${told(rows?.length)}</b> <span>${say("all")}</span></button>
      ${counted.map(({ name, word, icon, count }) => html`
        <button key=${name} type="button" aria-pressed=${String(only === name)} onClick=${() => setOnly(only === name ? "" : name)}>
          <${Icon} name=${icon} /><b>${told(count)}</b> <span>${word}</span></button>`)}
      ${late > 0 && html`
        <button type="button" class="late" aria-pressed=${String(only === "late")} onClick=${() => setOnly(only === "late" ? "" : "late")}>
          <${Icon} name="clock" /><b>${late}</b> <span>${say("past 3 min")}</span></button>`}
    </div>`;
};

const Search = ({ inbox: { words, setWords } }) => html`
  <form class="find" role="search" onSubmit=${(event) => event.preventDefault()}>
    <${Icon} name="search" />
    <input type="search" aria-label=${say("Search the list")} placeholder=${say("Table, hand, patron")} maxlength="100" value=${words}
      onInput=${(event) => setWords(event.target.value)} />
    <kbd aria-hidden="true">/</kbd>
  </form>`;

const textOfRow = ({ place, what, claim }) => [place, what, claim && claims.handName(claim), claim && claims.itemName(claim)].join(" ");

const isShown = (row, { only, words }, now) => {
  if (only === "late" ? !(row.at && now - Date.parse(row.at) >= LATE_MS) : only && row.group !== only) return false;
  const asked = words.trim();
  if (!asked) return true;
  if (row.claim) return matches(row.claim, asked);
  return asked.toLowerCase().split(/\s+/).every((word) => textOfRow(row).toLowerCase().includes(word));
};

/* A narrow list has only the first letter of "Position"; the word stays for screen readers. */
const Place = ({ row: { claim, group, place } }) => (claim && group !== "envy"
  ? html`${claim.table} · <span class="position">${say("Position#alone")} </span>${claim.position}` : place);

/* Enter on the open row leads to its details. */
const toOpened = () => document.querySelector(".detail h2")?.focus();

/* A row that is new, but above what the list shows now, in words; a press leads to it. */
const Above = ({ rows, isNew }) => {
  const [above, setAbove] = useState([]);
  const line = useRef();
  useLayoutEffect(() => {
    const top = line.current.getBoundingClientRect().top;
    const hidden = rows.filter(({ id }) => isNew(id) && rowOf(id)?.getBoundingClientRect().bottom < top + 8).map(({ id }) => id);
    if (hidden.join() !== above.map(({ id }) => id).join()) setAbove(rows.filter(({ id }) => hidden.includes(id)));
  });
  return html`
    <div ref=${line} class="above">${above.length > 0 && html`
      <button type="button" onClick=${() => rowOf(above[0].id)?.scrollIntoView({ block: "start" })}>
        ${say("{count} new above: {place}", { count: above.length, place: above[0].place })}</button>`}</div>`;
};

const rowOf = (id) => document.querySelector(`.row a[href="${CSS.escape(hrefOf("inbox", id))}"]`);

const Row = ({ row, group, isOpen, isNew }) => {
  const { claim, ask, proposal } = row;
  const envy = claim && claim.envy.length > 0 && row.group !== "envy" && ["pending", "validated"].includes(claim.envy_state);
  const tags = [
    row.group === "validate" && html`<${Tag} look="handpay" icon="handpay">${say("Hand pay")}<//>`,
    row.group === "second" && html`<${Tag} look="rejected" icon="two">${claims.stateText(claim)}<//>`,
    envy && html`<${Tag} look="envy" icon="diamond">${say("Envy {amount}", { amount: money(claim.envy_amount) })}<//>`,
    claim && claims.needsTaxDocuments(claim) && row.group !== "second" && html`<${Tag} look="closed" icon="doc">${say("Tax documents")}<//>`,
    isNew && html`<span class="new">${say("New")}</span>`,
  ].filter(Boolean);
  return html`
    <li class=${`row ${group.look}`} data-claim=${claim?.claim} data-ask=${ask?.ask} data-proposal=${proposal?.proposal}
      data-new=${isNew ? "" : null}>
      <a href=${hrefOf("inbox", row.id)} aria-current=${isOpen ? "true" : null} onClick=${isOpen ? toOpened : null}>
        <${Icon} name=${row.group === "second" ? "reject" : group.icon} />
        <span class="one"><b><${Place} row=${row} /></b>${" "}<span class="sum">${row.cents !== null && money(row.cents)}</span></span>
        <span class="two"><span class="what">${row.what}</span>${" "}${row.at && html`<${Waited} at=${row.at} />`}</span>
        ${tags.length > 0 && html`<span class="tags">${tags}</span>`}
      </a>
    </li>`;
};

const totalText = (group, rows) => (group.name === "envy"
  ? money(rows.reduce((cents, row) => cents + row.cents, 0)) : String(rows.length));

const Group = ({ group, rows, openId, isNew, isFolded, unfold }) => html`
  <section class="group" data-group=${group.name}>
    <h2>${group.title} <span>${totalText(group, rows)}</span></h2>
    ${isFolded
      ? html`<button type="button" class="fold" aria-expanded="false" onClick=${unfold}>
          ${say("{hands}, {players}: show", {
            hands: sayCount("{count} hand", "{count} hands", rows.length),
            players: sayCount("{count} player", "{count} players", rows.reduce((sum, { claim }) => sum + claim.envy.length, 0)),
          })}</button>`
      : html`<ul>${rows.map((row) => html`
          <${Row} key=${row.id} row=${row} group=${group} isOpen=${row.id === openId} isNew=${isNew(row.id)} />`)}</ul>`}
  </section>`;

const emptyText = (rows, isFiltered) => {
  if (!rows) return say("Reading the list…");
  return isFiltered && rows.length ? say("Nothing in the list matches.") : say("Nothing waits.");
};

const Shown = ({ id, row, me, changes, done, back }) => {
  const isOther = /^(ask|proposal|file) /.test(id);
  const { claim, error, read: again } = useClaim(isOther ? "" : id, row?.claim, changes);
  const act = () => Promise.all([done(), again()]);
  /* What is decided waits no longer: a phone then shows the list again. */
  const leave = () => {
    if (back) show("inbox");
    return done();
  };
  if (row?.ask) return html`<${corrections.Correction} key=${id} ask=${row.ask} me=${me} done=${leave} back=${back} />`;
  if (row?.link) return html`<${Change} key=${id} row=${row} me=${me} done=${done} back=${back} />`;
  if (claim) return html`<${Win} key=${id} claim=${claim} me=${me} done=${act} back=${back} />`;
  return html`<${Nothing} text=${id ? error || (isOther ? say("It waits no longer.") : say("Reading…")) : say("Nothing is selected.")} back=${id ? back : null} />`;
};

export const Inbox = ({ me, changes, floor, inbox, size, of }) => {
  const now = useNow();
  const [unfolded, setUnfolded] = useState(false);
  const isFiltered = Boolean(inbox.only || inbox.words.trim());
  const shown = (inbox.rows ?? []).filter((row) => isShown(row, inbox, now));
  const groups = GROUPS.map((group) => ({ group, rows: shown.filter((row) => row.group === group.name) })).filter(({ rows }) => rows.length);
  const isFolded = ({ name }, rows) => name === "envy" && rows.length > ENVY_ROWS && !unfolded && !isFiltered;
  /* Without a choice, the first row is open beside the list, and stays open: what arrives later, or
     what is decided, must not change what a person is about to press. */
  const first = useRef("");
  if (size !== "phone") first.current ||= shown[0]?.id ?? "";
  const openId = of || (size === "phone" ? "" : first.current);
  const order = groups.filter(({ group, rows }) => !isFolded(group, rows)).flatMap(({ rows }) => rows);
  /* The list around the open row, as it was before an act moved or removed this row. */
  const place = useRef({ id: "", group: "", ids: [] });
  const group = order.find(({ id }) => id === openId)?.group;
  if (place.current.id !== openId || place.current.group === group) {
    place.current = { id: openId, group, ids: order.map(({ id }) => id) };
  }
  const step = (by) => () => {
    const { ids } = place.current;
    const at = ids.indexOf(openId);
    const way = by > 0 ? ids.slice(at + 1) : ids.slice(0, Math.max(0, at)).reverse();
    const next = way.find((id) => order.some((row) => row.id === id));
    if (!next) return;
    show("inbox", next, { replace: Boolean(of) });
    rowOf(next)?.scrollIntoView({ block: "nearest" });
    rowOf(next)?.focus({ preventScroll: true });
  };
  const toKey = (name) => () => document.querySelector(`.detail [data-key="${name}"]`)?.focus();
  useKeys({
    j: step(1), k: step(-1),
    Enter: toOpened,
    v: toKey("v"),
    e: toKey("e"),
    "/": () => document.querySelector(".find input")?.focus(),
  });
  const list = useRef();
  /* After the sign-in, the focus is nowhere. It goes to the first row. */
  const isRead = inbox.rows !== null;
  useLayoutEffect(() => {
    if (!isRead || document.activeElement !== document.body) return;
    list.current.querySelector(".row a")?.focus({ preventScroll: true });
  }, [isRead]);
  /* On a phone, what is open takes the place of the list, and the list comes back as it was. */
  const before = useRef("");
  useLayoutEffect(() => {
    if (size !== "phone" || before.current === of) return;
    const target = of ? document.querySelector(".detail h2")
      : rowOf(before.current);
    target?.focus({ preventScroll: !of });
    before.current = of;
  });
  const isSince = (ms) => (id) => now - (inbox.arrivedAt.get(id) ?? -ms) < ms;
  const isNew = isSince(NEW_MS);
  return html`
    <h1 class="sr" tabindex="-1">${say("Inbox: what waits for a person")}</h1>
    <${Panes} opened=${Boolean(of)} list=${html`
      <div class="filter">
        ${size !== "desk" && html`<${Counts} inbox=${inbox} />`}
        <${Search} inbox=${inbox} />
      </div>
      <${Above} rows=${shown} isNew=${isSince(ABOVE_MS)} />
      <p class="nothing" hidden=${shown.length}>${emptyText(inbox.rows, isFiltered)}</p>
      <div ref=${list}>${groups.map(({ group, rows }) => html`
        <${Group} key=${group.name} group=${group} rows=${rows} openId=${openId} isNew=${isNew}
          isFolded=${isFolded(group, rows)} unfold=${() => setUnfolded(true)} />`)}</div>`}
      shown=${(size !== "phone" || of) && html`
        <${Shown} id=${openId} row=${inbox.rows?.find(({ id }) => id === openId)} me=${me} changes=${changes} done=${inbox.read}
          back=${size === "phone" ? "#inbox" : null} />`}
      beside=${size === "desk" && me.rights.includes("wins") && html`
        <${FloorPicture} changes=${changes} floor=${floor} inbox=${inbox} />`} />`;
};
