/* The bar at the bottom: the last win of the top meter, and the validated wins of the gaming day. An
   upright screen lists some of them. */

import { keep } from "./expiry.js";
import { money } from "./money.js";
import { marked, percentText, plain } from "./signage_words.js";

const WHOLE_PERCENT = 100;
const LISTED = 2;

const part = (name, className, ...children) => {
  const made = document.createElement(name);
  made.className = className;
  made.append(...children);
  return made;
};

/* Texts of the bar from the rows of all shown links. `titleOf` is the title of a win's meter. */
export const barTexts = (rows, titleOf, words, day) => {
  const last = rows.map((row) => row.last).filter(Boolean).sort((one, other) => (one.at < other.at ? 1 : -1))[0];
  const counted = rows.length > 0 && rows.every((row) => row.count !== null);
  const count = counted ? rows.reduce((sum, row) => sum + row.count, 0) : 0;
  const amount = counted ? rows.reduce((sum, row) => sum + row.amount, 0) : 0;
  const title = last && shareTitle(last, titleOf, words);
  return {
    last: last && {
      label: plain(words.last_win, { meter: title }),
      text: words.last_at,
      values: { amount: money(last.amount), table: last.table, day: day(last.at) },
    },
    today: count > 0 ? {
      label: words.won_today,
      text: count === 1 ? words.won_one : words.won_many,
      values: { count, amount: money(amount) },
    } : null,
  };
};

const shareTitle = (win, titleOf, words) => {
  const meter = titleOf(win);
  const part_ = win.percent === WHOLE_PERCENT || win.percent === null;
  return part_ ? meter : plain(words.share_of_meter, { percent: percentText(win.percent), meter });
};

export class Bar {
  constructor(page, words, timezone) {
    this.words = words;
    this.last = page.querySelector(".fact.last");
    this.today = page.querySelector(".fact.today");
    this.list = page.querySelector(".won ol");
    this.rows = new Map();
    this.drawn = "";
    const format = (options) => (instant) =>
      new Intl.DateTimeFormat(document.documentElement.lang, { timeZone: timezone, ...options }).format(new Date(instant));
    this.day = format({ month: "short", day: "numeric" });
    this.time = format({ hour: "numeric", minute: "2-digit" });
  }

  update(row) {
    this.rows.set(row.link, row);
  }

  /* Show the wins of the links that are live and on the screen. */
  render(links) {
    const isShown = (link) => link?.live() && !link.element.hidden;
    const rows = [...this.rows.values()].filter(({ link }) => isShown(links.get(link)));
    const titles = new Map();
    for (const [id, link] of links) {
      for (const [meter, { title }] of link.meters) titles.set(`${id} ${meter}`, title);
    }
    const isPart = (row) => links.get(row.link).element.hasAttribute("data-part");
    const drawn = JSON.stringify([rows, this.day(Date.now()), document.documentElement.lang]);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.draw(rows.map((row) => ({ ...row, ...this.known(row, titles), ...(isPart(row) && { count: null }) })), titles);
    }
    for (const element of [this.last, this.today, this.list]) if (element) keep(element.closest(".expires"));
  }

  /* The wins of the meters that this page shows. */
  known(row, titles) {
    const mine = (win) => titles.has(`${row.link} ${win.meter}`);
    const named = (win) => ({ ...win, link: row.link });
    return {
      last: row.last && mine(row.last) ? named(row.last) : null,
      latest: row.latest.filter(mine).map(named),
    };
  }

  draw(rows, titles) {
    const titleOf = (win) => titles.get(`${win.link} ${win.meter}`);
    const texts = barTexts(rows, titleOf, this.words, this.day);
    for (const [element, fact] of [[this.last, texts.last], [this.today, texts.today]]) {
      if (!element) continue;
      element.replaceChildren(...(fact ? [part("span", "label", fact.label), " ", ...marked(fact.text, fact.values)] : []));
    }
    this.list?.replaceChildren(...rows.flatMap((row) => row.latest).slice(0, LISTED).map((win) => part("li", "",
      part("span", "", this.time(win.at)), part("span", "", win.table),
      part("span", "", shareTitle(win, titleOf, this.words)), part("b", "", money(win.amount)))));
  }
}
