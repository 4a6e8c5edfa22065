/* The text forms of times, durations, wagers and typed amounts for people on the floor. */

import { money } from "./money.js";
import { locale, say } from "./say.js";

const zone = document.documentElement.dataset.timezone;
export const named = (options, spoken = locale) =>
  new Intl.DateTimeFormat(spoken, { timeZone: zone, hourCycle: "h23", ...options });
const CLOCK = named({ hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
const CLOCK_S = named({ hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" });
const MOMENT = named({
  month: "short", day: "numeric", year: "numeric",
  hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
});
const DAY = named({ month: "numeric", day: "numeric", year: "numeric" });
const PARTS = named({
  year: "numeric", month: "numeric", day: "numeric",
  hour: "numeric", minute: "numeric", second: "numeric",
}, "en-US");

/* The titles of the wagers of games of the house, and of their bonuses and jackpots. */
const TITLES = JSON.parse(document.documentElement.dataset.titles);
/* The shortest names of wagers that feed a meter, as they are at the lights of the table. */
const SHORT = JSON.parse(document.documentElement.dataset.short);
const ITEMS = {
  five_of_six_progressive: "5 of 6 Progressive",
  five_card_progressive: "Five-Card Progressive",
  five_card_hand_bonus_dealer: "Five Card Hand Bonus (dealer)",
  five_of_six_envy: "5 of 6 Envy Bonus",
  five_card_envy: "Five-Card Envy Bonus",
  progressive_envy: "Envy Bonus",
};
const PAID_FROM = {
  hand_pay: say("Hand pay"),
  table_inventory: say("From the table inventory"),
  game_account: say("From the game account"),
};

export const plain = (name) => name.replaceAll("_", " ");
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
export const item = (name) => TITLES[name] ?? ITEMS[name] ?? plain(name).split(" ").map(capital).join(" ");
export const short = (name) => SHORT[name] ?? item(name);
/* Wagers in the order in which the games have them. */
export const inOrder = (names) => {
  const order = Object.keys(SHORT);
  return [...names].sort((one, other) => order.indexOf(one) - order.indexOf(other));
};
export const paidFrom = (name) => PAID_FROM[name] ?? capital(plain(name));
export const sentence = (text) => capital(text) + (/[.?!\u3002]$/.test(text) ? "" : ".");

/* The text of a duration: 4:12, or 1:04:12. */
export const span = (ms) => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
};

export const moment = (text) => (text ? MOMENT.format(new Date(text)) : "");
export const clock = (at) => CLOCK.format(at);
export const clockSeconds = (at) => CLOCK_S.format(at);
/* A time of today as a clock shows it, any other with its day. */
export const time = (text) => {
  const at = new Date(text);
  return DAY.format(at) === DAY.format(new Date()) ? CLOCK_S.format(at) : MOMENT.format(at);
};

/* The time at which a day begins in the facility's zone, or some minutes later by its clocks; `day`
   is a text such as 2026-11-20. The zone's offset from UTC depends on the result, so the result is
   calculated twice. */
export const dayStart = (day, later = 0, minutes = 0) => {
  const [year, month, date] = day.split("-").map(Number);
  const wanted = Date.UTC(year, month - 1, date + later, 0, minutes);
  let at = wanted;
  for (let round = 0; round < 2; round += 1) {
    const part = Object.fromEntries(
      PARTS.formatToParts(new Date(at)).map(({ type, value }) => [type, Number(value)]),
    );
    const there = Date.UTC(
      part.year, part.month - 1, part.day, part.hour, part.minute, part.second,
    );
    at += wanted - there;
  }
  return new Date(at).toISOString();
};

/* The cents of an amount that a person typed, such as 10, 1,234.5 or $0.25. Null if the text is
   not an amount. */
export const typedCents = (text) => {
  const found = /^\$?(\d{1,3}(?:,\d{3})+|\d{1,9})(?:\.(\d{0,2}))?$/.exec(text.trim());
  if (!found) return null;
  const dollars = found[1].replaceAll(",", "");
  return Number(dollars) * 100 + Number((found[2] ?? "").padEnd(2, "0") || "0");
};

/* Basis points as a rate: 825 is 8.25%. */
export const rate = (bps) => `${Math.floor(bps / 100)}${bps % 100 ? "." + String(bps % 100).padStart(2, "0").replace(/0$/, "") : ""}%`;
/* The rates of a meter that has others from an amount on; `cents` is null if it has none. */
export const changing = (low, cents, high) =>
  cents === null ? low : say("{low}, from {amount} on {high}", { low, amount: money(cents), high });

/* What a win gets of its meter: several players divide some parts. */
export const ofMeter = ({ item: name, percent }) => {
  if (/_(community_share|bad_beat_table)$/.test(name)) return say("an equal share of {percent}% of the meter", { percent });
  if (/_bad_beat_(loser|winner)$/.test(name)) return say("{percent}% of the meter (equal hands divide it)", { percent });
  return say("{percent}% of the meter", { percent });
};
export const who = (position, patron) =>
  patron ? say("Position {position} ({patron})", { position, patron }) : say("Position {position}", { position });
