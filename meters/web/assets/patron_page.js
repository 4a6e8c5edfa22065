/* What every patron page does besides its amounts: it registers the service worker, which keeps the
   message that the service is down; it moves by a few pixels over hours; and it is darker at night. */

const page = document.documentElement;
const TICK_MS = 60000;
const WAY = [[0, 0], [2, 0], [4, 1], [4, 3], [2, 4], [0, 4], [-2, 4], [-4, 3], [-4, 1], [-2, 0], [-2, -2], [0, -3], [2, -2]];
const TICKS_OF_STEP = 10;

const lang = new URLSearchParams(location.search).get("lang");
if (navigator.serviceWorker) {
  addEventListener("load", () => {
    navigator.serviceWorker.register("/signage/worker.js", { scope: "/signage", updateViaCache: "none" })
      .then(() => navigator.serviceWorker.ready)
      .then(({ active }) => { if (lang) active.postMessage(lang); })
      .catch(() => {}); // in a private window, for example; the page works without it
  });
}

/* The minute of the day at the facility, by the clock of the server when it made the page. */
const behindMs = Date.parse(page.dataset.instant) - Date.now();
const clock = new Intl.DateTimeFormat("en-GB", { timeZone: page.dataset.timezone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const minutes = (text) => text.split(":").reduce((hours, part) => hours * 60 + Number(part), 0);

export const isWithin = (now, from, until) => (from <= until ? now >= from && now < until : now >= from || now < until);

const { nightFrom, nightUntil, nightPercent } = page.dataset;

let ticks = 0;
const tick = () => {
  const [x, y] = WAY[Math.floor(ticks / TICKS_OF_STEP) % WAY.length];
  page.style.setProperty("--shift-x", x);
  page.style.setProperty("--shift-y", y);
  ticks += 1;
  if (nightFrom) {
    const now = minutes(clock.format(Date.now() + behindMs));
    page.style.setProperty("--night", isWithin(now, minutes(nightFrom), minutes(nightUntil)) ? nightPercent / 100 : 0);
  }
};
tick();
setInterval(tick, TICK_MS);
