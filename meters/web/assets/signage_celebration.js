/* The celebration of a win, in three sizes: a ribbon in the place of the bar; the ribbon, with light
   on the meter that was won; the whole screen, for a whole meter, a fixed jackpot, or a part of the top
   meter. */

import { keep } from "./expiry.js";
import { money } from "./money.js";
import { draw, label } from "./signage_odometer.js";
import { handText, lengthOf, marked, percentText, plain } from "./signage_words.js";

const SHOWN_MS = { whole: 20000, tier: 8000, ribbon: 8000 };
const SHOWN_IF_MORE_MS = { whole: 10000, tier: 5000, ribbon: 5000 };
const BEAT_MS = 6000; // the second beat: the win is verified
const LEAVING_MS = 500;
const KNOWN_WITHIN_MS = 30000; // a display shows each win within half a minute (duty D18)
const CELEBRATED_MAX = 200;
const WHOLE_PERCENT = 100;
const TITLE_MOST = 24; // characters

/* The seconds at which the parts of the celebration of the whole screen begin. */
export const beats = (cards) => {
  const turns = Array.from({ length: cards }, (_, at) => 1 + 0.62 * at + (at > 0 && at === cards - 1 ? 0.5 : 0));
  const hand = cards ? turns.at(-1) + 0.62 : 1;
  const amount = hand + 0.7;
  return { turns, hand, amount, table: amount + 1.7, state: amount + 2 };
};

const isWhole = ({ percent, fixed_jackpot: fixed }) => percent === WHOLE_PERCENT || Boolean(fixed);

/* The size of a win's celebration. A win below `from` has only the ribbon. `isTop` says that the meter
   is the top meter of its link. */
export const sizeOf = (hit, { from, isTop }) => {
  if (hit.amount < from) return "ribbon";
  return isWhole(hit) || isTop ? "whole" : "tier";
};

const amountShownMs = ({ size, hit }) => (size === "whole" ? beats(hit.cards.length).table * 1000 : 0);

/* The waiting wins in the order in which they are celebrated: the largest first, without those whose
   amount could not be shown in time. `freeMs` is the time until the first of them can begin. */
export const inOrder = (waiting, freeMs, now) => {
  let at = now + freeMs;
  return [...waiting].sort((one, other) => other.hit.amount - one.hit.amount).filter((each) => {
    if (at + amountShownMs(each) > each.knownAt + KNOWN_WITHIN_MS) return false;
    at += SHOWN_IF_MORE_MS[each.size] + LEAVING_MS;
    return true;
  });
};

const part = (name, className, ...children) => {
  const made = document.createElement(name);
  made.className = className;
  made.append(...children);
  return made;
};

const at = (element, seconds) => {
  element.style.setProperty("--s", seconds.toFixed(2));
  return element;
};

const RANKS = "23456789TJQKA";
const LOW_ACE = -1;

const JOKER = "Jk";

/* The cards of a hand in the order in which people read them. A straight is in the order of its ranks;
   any other hand begins with its most frequent rank. A joker is where the card is that it stands for. */
export const readingOrder = (cards) => {
  if (!cards.includes(JOKER)) return inOrderOfRanks(cards);
  const others = cards.filter((name) => name !== JOKER);
  const ranks = others.map(([rank]) => RANKS.indexOf(rank));
  const completes = [...RANKS].reverse().find((rank) => !ranks.includes(RANKS.indexOf(rank)) && isStraight([...ranks, RANKS.indexOf(rank)]));
  const stand = (completes ?? "A") + JOKER[1];
  return inOrderOfRanks([...others, stand]).map((name) => (name === stand ? JOKER : name));
};

const isRow = (row) => row.every((rank, place) => place === 0 || rank === row[place - 1] + 1);
const ascending = (ranks) => [...ranks].sort((one, other) => one - other);
const lowered = (ranks) => ascending(ranks.map((rank) => (rank === RANKS.length - 1 ? LOW_ACE : rank)));
const isStraight = (ranks) => isRow(ascending(ranks)) || isRow(lowered(ranks));

const inOrderOfRanks = (cards) => {
  const counts = new Map();
  for (const [rank] of cards) counts.set(rank, (counts.get(rank) ?? 0) + 1);
  const ranks = cards.map(([rank]) => RANKS.indexOf(rank));
  const isLow = !isRow(ascending(ranks)) && isRow(lowered(ranks));
  const value = ([rank]) => (isLow && rank === "A" ? LOW_ACE : RANKS.indexOf(rank));
  if (isStraight(ranks)) return [...cards].sort((one, other) => value(one) - value(other));
  return [...cards].sort((one, other) => counts.get(other[0]) - counts.get(one[0]) || value(other) - value(one));
};

const begun = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/* A joker has a star in the place of a suit, and no rank. */
const card = (name, className) => {
  const [rank, suit] = name === JOKER ? ["", JOKER[1]] : name;
  const made = part("span", className, part("b", "", rank === "T" ? "10" : rank));
  made.dataset.suit = suit;
  made.dataset.rank = rank;
  return made;
};

/* An amount whose drums turn from blank to their digits, left to right. No other amount appears. */
const dealt = (cents, from) => {
  const amount = part("p", "amount dealt");
  const text = money(cents);
  draw(amount, text);
  label(amount, text);
  amount.setAttribute("role", "img");
  amount.dataset.room = String(Math.floor(cents / 100)).length;
  amount.querySelectorAll(".digit").forEach((drum, place) => {
    drum.firstChild.dataset.d = drum.dataset.d;
    at(drum, from + 0.13 * place);
  });
  for (const mark of amount.querySelectorAll(".comma, .point")) at(mark, from + 0.5);
  at(amount.querySelector(".dollar"), from - 0.15);
  return amount;
};

/* Numbers that only look random, so each celebration is the same. */
const scattered = (count) => Array.from({ length: count }, (_, number) =>
  (salt) => Math.abs(Math.sin(number * 12.9898 + salt * 78.233) * 43758.5453) % 1,
);

const confetti = (from) => scattered(36).map((of, number) => {
  const piece = at(document.createElement("i"), from + 5 * of(1));
  const side = of(2) * 40;
  piece.style.setProperty("--x", `${(of(3) > 0.5 ? side : 100 - side).toFixed(1)}%`);
  piece.style.setProperty("--f", `${(4.2 + 2.4 * of(4)).toFixed(1)}s`);
  piece.style.setProperty("--z", (0.6 + 0.7 * of(5)).toFixed(2));
  piece.style.setProperty("--r", `${Math.round(180 * of(6))}deg`);
  piece.dataset.c = [1, 1, 2, 3][number % 4];
  return piece;
});

const marquee = () => {
  const rim = part("div", "marquee");
  const ring = (kind) => `<rect class="${kind}" pathLength="150" stroke-dasharray="0 1"/>`;
  rim.innerHTML = `<i class="tube"></i><svg class="bulbs" aria-hidden="true">${ring("glow")}${ring("on")}</svg>`;
  return rim;
};

/* A part of a bad beat. */
const isBadBeat = ({ item }) => /_bad_beat_(loser|winner|table)$/.test(item);

/* What a table has won, as a sentence with marks. */
const sentenceOf = (hit, words) => {
  if (isBadBeat(hit)) return words.bad_beat_at;
  if (isWhole(hit)) return words.won_meter;
  return hit.percent === null || hit.percent === undefined ? words.won_table : words.won_share;
};
const valuesOf = (hit, title) => ({
  table: hit.table, meter: title, percent: percentText(hit.percent ?? 0), hand: handText(hit.hand_name), amount: money(hit.amount),
});

/* A share of a meter for a player whose hand did not bring it, or for each player. */
const isShare = ({ hand_of: holder }) => holder !== null && holder !== undefined;

/* All claims of a round have one name, except their numbers. A hand can also win besides its bad beat. */
const handOf = (hit) => {
  const { link, claim, hand_of: holder, position } = hit;
  return `${link} ${claim.replace(/-\d+$/, "")} ${holder ?? position} ${isBadBeat(hit)}`;
};

/* The shares that a hand brings to players, as a sentence with marks: how many, and of which amounts. */
const sharesText = ({ hit, shares }, words) => {
  if (!shares.length) return [];
  const counts = new Map();
  for (const { amount } of isShare(hit) ? [hit, ...shares] : shares) counts.set(amount, (counts.get(amount) ?? 0) + 1);
  const sums = [...counts].sort(([one], [other]) => other - one).map(([amount, count]) => `${count} × ${money(amount)}`);
  return marked(words.shares, { shares: sums.join(" + ") });
};

/* The parts of the celebration of the whole screen. */
export const wholeScreen = (hit, title, words) => {
  const cards = readingOrder(hit.cards);
  const { turns, hand, amount, table, state } = beats(cards.length);
  const values = valuesOf(hit, title);
  const fan = part("div", "fan", ...cards.map((name, number) => {
    const flip = at(part("span", "flip", card(name, "face"), part("span", "back")), turns[number]);
    flip.style.setProperty("--i", number - (cards.length - 1) / 2);
    return flip;
  }));
  fan.style.setProperty("--cards", Math.max(5, cards.length));
  const total = part("div", "total", dealt(hit.amount, amount));
  const { preview } = document.documentElement.dataset;
  if (preview) total.append(at(part("span", "example", preview), amount));
  const where = at(part("p", "celebration-where", ...marked(sentenceOf(hit, words), values), part("span", "shares")), table);
  const states = part("div", "celebration-state", at(part("p", "pending", begun(words.pending)), state),
    part("p", "verified", begun(words.validated)));
  const decoration = part("div", "decoration",
    part("div", "ground"), at(part("div", "beams"), 0.2), at(part("div", "halo"), amount - 0.1),
    part("div", "dim"), marquee(), part("div", "ring"));
  const fall = part("div", "fall", ...confetti(amount - 0.5));
  fall.setAttribute("aria-hidden", "true");
  decoration.setAttribute("aria-hidden", "true");
  const word = at(part("p", "celebration-word", part("span", "", words.jackpot)), 0.35);
  word.style.setProperty("--chars", Math.max(7, lengthOf(words.jackpot)));
  return [
    decoration,
    word,
    fan,
    at(part("p", "celebration-hand", handText(hit.hand_name)), hand),
    total,
    part("div", "celebration-end", where, states),
    fall,
  ];
};

const ribbonWords = (hit, words) => {
  if (isBadBeat(hit)) return words.bad_beat_at;
  return hit.hand_name ? words.hand_at : words.at_table;
};

/* The parts of the ribbon. Its text is as large as its length allows. */
export const ribbon = (hit, title, words) => {
  const cards = readingOrder(hit.cards).map((name) => card(name, "card"));
  const text = plain(ribbonWords(hit, words), valuesOf(hit, title));
  const amount = money(hit.amount);
  const isNamed = lengthOf(title) <= TITLE_MOST;
  return [
    ...(isNamed ? [part("span", "ribbon-tier", title)] : []),
    ...(cards.length ? [part("span", "hand", ...cards)] : []),
    part("span", "ribbon-text", text),
    part("b", "ribbon-amount", amount),
    part("span", "shares"),
  ];
};

/* The width of a ribbon in its own size. */
const widthOf = (hit, title, words, shares) => {
  const text = plain(ribbonWords(hit, words), valuesOf(hit, title));
  const tier = lengthOf(title) <= TITLE_MOST ? lengthOf(title) * 0.85 : 0;
  return tier + hit.cards.length * 1.35 + lengthOf(text) * 0.5 + money(hit.amount).length * 0.72 + 3
    + (shares ? lengthOf(shares) * 0.5 + 0.6 : 0);
};

export class Celebration {
  /* `screen` and `band` are the elements of the whole screen and of the ribbon; `sound` is an address
     or empty. */
  constructor(screen, band, words, sound = "") {
    Object.assign(this, { screen, band, words });
    this.sound = sound ? new Audio(sound) : null;
    this.waiting = [];
    this.shown = null;
    this.timer = null;
    this.celebrated = new Map();
  }

  /* Celebrate a win of a meter in its size, when the celebrations before it are over. A hand is
     celebrated once, for its holder: the shares that it brings to players are told beside this win. */
  celebrate(hit, meter, size) {
    const win = { hit, meter, size, knownAt: performance.now(), lasts: 0, shares: [] };
    const ofHand = [this.shown, ...this.waiting].filter((each) => each && handOf(each.hit) === handOf(hit));
    const first = ofHand.find((each) => !isShare(each.hit)) ?? ofHand[0];
    if (first && isShare(hit)) {
      first.shares.push(hit);
      if (first === this.shown) this.tellShares();
      return;
    }
    if (first && isShare(first.hit)) {
      win.shares.push(first.hit, ...first.shares);
      this.waiting = this.waiting.filter((each) => each !== first);
      if (first === this.shown) {
        this.clear();
        this.shown = null;
      }
    }
    this.waiting.push(win);
    this.arrange();
  }

  tellShares() {
    const { hit, meter, size } = this.shown;
    const element = size === "whole" ? this.screen : this.band;
    const said = element.querySelector(".shares");
    said.replaceChildren(...sharesText(this.shown, this.words));
    if (size !== "whole") element.style.setProperty("--em", widthOf(hit, meter.title, this.words, said.textContent).toFixed(1));
  }

  /* A win was validated. If the win has the whole screen, or had it, a second beat shows this. */
  verify(hit) {
    for (const each of this.waiting) if (each.hit.claim === hit.claim) each.hit = hit;
    const was = this.celebrated.get(hit.claim);
    this.celebrated.delete(hit.claim);
    if (!was || was.size !== "whole" || was.hit.event !== "hit") return;
    if (this.shown === was) this.stamp(hit);
    else this.waiting.push({ ...was, hit, knownAt: performance.now(), lasts: BEAT_MS });
    this.arrange();
  }

  arrange() {
    const now = performance.now();
    if (this.shown !== null && this.waiting.length) this.end(this.soonest(now) - now);
    const freeMs = this.shown === null ? 0 : Math.max(0, this.soonest(now) - now) + LEAVING_MS;
    this.waiting = inOrder(this.waiting, freeMs, now);
    if (this.shown === null) this.next();
  }

  /* The time at which the celebration of the shown win can end if other wins wait. */
  soonest(now) {
    const { size, lasts, startedAt, stampedAt } = this.shown;
    const shownMs = lasts || SHOWN_IF_MORE_MS[size];
    return Math.max(now, startedAt + shownMs, (stampedAt ?? -BEAT_MS) + BEAT_MS);
  }

  end(inMs) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.leave(), inMs);
  }

  next() {
    clearTimeout(this.timer);
    this.clear();
    this.shown = this.waiting.shift() ?? null;
    if (this.shown === null) return;
    const { hit, meter, size, lasts } = this.shown;
    this.shown.startedAt = performance.now();
    const element = size === "whole" ? this.screen : this.band;
    element.replaceChildren(...(size === "whole" ? wholeScreen : ribbon)(hit, meter.title, this.words));
    this.tellShares();
    element.dataset.tier = meter.element.dataset.tier ?? 1;
    element.dataset.size = size;
    element.dataset.state = "pending";
    /* The second beat begins where the first has ended. */
    element.style.setProperty("--skip", lasts ? beats(hit.cards.length).state + 1 : 0);
    element.hidden = false;
    document.documentElement.toggleAttribute("data-celebrates", size === "whole");
    if (size === "tier") meter.element.classList.add("lit");
    if (size === "whole" && !lasts && this.sound) {
      this.sound.currentTime = 0;
      this.sound.play().catch(() => {}); // a browser can forbid it
    }
    meter.bring();
    if (size === "whole" && hit.event === "hit") this.remember(this.shown);
    if (size === "whole" && hit.event !== "hit") this.stamp(hit);
    this.end(lasts || (this.waiting.length ? SHOWN_IF_MORE_MS : SHOWN_MS)[size]);
  }

  remember(shown) {
    this.celebrated.set(shown.hit.claim, shown);
    if (this.celebrated.size > CELEBRATED_MAX) this.celebrated.delete(this.celebrated.keys().next().value);
  }

  /* Show on the whole screen that its win is verified, after the amount is there. */
  stamp(hit) {
    const { startedAt, lasts } = this.shown;
    const now = performance.now();
    const earliest = lasts ? startedAt : startedAt + beats(hit.cards.length).state * 1000 + 300;
    const stampedAt = Math.max(now, earliest);
    this.shown.hit = hit;
    this.shown.stampedAt = stampedAt;
    this.screen.style.setProperty("--stamp", ((stampedAt - now) / 1000).toFixed(2));
    this.screen.dataset.state = "verified";
    this.end(Math.max(this.soonest(now), startedAt + (lasts || SHOWN_MS.whole)) - now);
  }

  leave() {
    document.documentElement.removeAttribute("data-celebrates");
    this.screen.classList.add("leaving");
    this.band.classList.add("leaving");
    this.timer = setTimeout(() => this.next(), LEAVING_MS);
  }

  clear() {
    for (const element of [this.screen, this.band]) {
      element.hidden = true;
      element.classList.remove("leaving");
      element.replaceChildren();
    }
    document.documentElement.removeAttribute("data-celebrates");
    this.shown?.meter.element.classList.remove("lit");
    this.sound?.pause();
  }

  /* A rejected win is not celebrated. */
  drop(claim) {
    this.celebrated.delete(claim);
    this.waiting = this.waiting.filter(({ hit }) => hit.claim !== claim);
    for (const each of [this.shown, ...this.waiting]) {
      if (each) each.shares = each.shares.filter((share) => share.claim !== claim);
    }
    if (this.shown?.hit.claim === claim) this.next();
    else if (this.shown) this.tellShares();
  }

  /* A celebration must not cover a meter whose amount is no longer current. And a win can be rejected
     while the stream is lost: after that, its meter does not list the win. */
  dropStale() {
    keep(this.screen);
    keep(this.band);
    const isCurrent = ({ hit, meter }) => meter.link.live() && meter.hits.has(hit.claim);
    this.waiting = this.waiting.filter(isCurrent);
    if (this.shown !== null && !isCurrent(this.shown)) this.next();
  }
}
