/* Pictures of meters and of the floor as SVG, drawn in the pixels of their place on the screen, so
   that their words have the size of other words. Beside each picture, a list or a text has the
   same figures: a picture is one image for a screen reader. */

import { named } from "./floor_format.js";
import { money } from "./money.js";
import { html, useLayoutEffect, useRef, useState } from "./preact.js";
import { say, sayHand } from "./say.js";

const HOUR = named({ hour: "2-digit", minute: "2-digit" });
const DAY = named({ month: "short", day: "numeric" });
const MINUTE_MS = 60000;
const HOUR_MS = 60 * MINUTE_MS;
const EVERY_MS = [1, 2, 5, 10, 15, 30, 60, 180, 360, 720].map((minutes) => minutes * MINUTE_MS);
/* The room for the amounts at the left of a picture, and for the times below it. */
const LEFT = 64;
const NARROW_LEFT = 52;
const BELOW = 26;
const TOP = 14;
const RIGHT = 12;
const STEPS = [1, 2, 2.5, 5, 10];
const CHAR = 7.2;
const BAR_MOST = 48;
/* If a picture of a month shows less than this time of a meter, the times below it are hours, not days. */
const SHORT_MS = 36 * HOUR_MS;

export const hourText = (ms) => HOUR.format(new Date(ms));
export const dayText = (ms) => DAY.format(new Date(ms));
export const whenText = (ms) => `${dayText(ms)}, ${hourText(ms)}`;

const fixed = (number) => Math.round(number * 10) / 10;

/* A short text of an amount at a line: $1,200, $450k, $1.2M. */
const short = (cents) => {
  const dollars = cents / 100;
  if (dollars >= 1e6) return `$${fixed(dollars / 1e5) / 10}M`;
  if (dollars >= 1e5) return `$${fixed(dollars / 1e3)}k`;
  return money(cents).replace(/\.00$/, "");
};

/* The distance between lines with which about `count` lines reach `most`. */
const stepFor = (most, count) => {
  const rough = Math.max(most, 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  return Math.max(1, STEPS.map((factor) => factor * power).find((step) => step >= rough));
};

const useWidth = () => {
  const box = useRef();
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([{ contentRect }]) => setWidth(Math.floor(contentRect.width)));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return [box, width];
};

/* A place for a picture; `draw` gets its width, and is called again when this changes. */
const Plot = ({ height, label, draw }) => {
  const [box, width] = useWidth();
  return html`
    <div class="plot-box" ref=${box} style=${`height: ${height}px`}>
      ${width > 0 && html`
        <svg class="plot" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${label}>${draw(width)}</svg>`}
    </div>`;
};

const path = (points) => points.map(([x, y], at) => `${at ? "L" : "M"}${fixed(x)} ${fixed(y)}`).join("");

const Lines = ({ left, right, y, step, top }) => {
  const count = Math.round(top / step);
  return Array.from({ length: count + 1 }, (_, at) => at * step).map((cents) => html`
    <path class="grid" key=${cents} d=${`M${left} ${fixed(y(cents))}H${right}`} />
    <text x=${left - 8} y=${fixed(y(cents)) + 4} text-anchor="end">${short(cents)}</text>`);
};

/* The round times to write below a picture of hours, each with its text: about `count`, which have room. */
const hourTicks = (fromMs, toMs, count) => {
  const every = EVERY_MS.find((ms) => (toMs - fromMs) / ms <= count) ?? EVERY_MS.at(-1);
  const minutes = (at) => Number(hourText(at).slice(0, 2)) * 60 + Number(hourText(at).slice(3));
  const found = [];
  const step = Math.min(every, HOUR_MS);
  for (let at = Math.ceil(fromMs / step) * step; at < toMs; at += step) {
    if (minutes(at) % (every / MINUTE_MS) === 0) found.push([at, hourText(at)]);
  }
  return found;
};
const dayTicks = (bars, every) =>
  bars.filter((_, at) => (bars.length - 1 - at) % every === 0).map((bar) => [bar.begins_s * 1000, dayText(bar.begins_s * 1000)]);

/* The labels of wins that have room, the largest first: none covers another one or the edge. */
const labelsOf = (hits, place, right) => {
  const taken = [];
  const found = [];
  for (const hit of [...hits].sort((one, other) => other.amount - one.amount)) {
    const [x, y] = place(hit);
    const text = `${money(hit.amount)} · ${hit.table}`;
    const width = text.length * CHAR;
    const from = x + 8 + width < right ? x + 8 : x - 8 - width;
    const box = [from, y - 22, from + width, y - 2];
    if (from < LEFT || taken.some(([l, t, r, b]) => box[0] < r && l < box[2] && box[1] < b && t < box[3])) continue;
    taken.push(box);
    found.push(html`<text class="hit-text" key=${hit.claim} x=${fixed(from)} y=${fixed(y) - 7}>${text}</text>`);
    if (found.length === 6) break;
  }
  return found;
};

/* A picture begins with the first amount that is known: a new meter has no earlier one. */
export const beginOf = ({ begins_s: from, times_s: [first] }) => Math.max(from, first ?? from);

/* The bars of a picture from this beginning on. */
export const barsOf = (picture) => picture.bars.filter(({ ends_s: ends }) => ends > beginOf(picture));

/* A meter over time: its line with wins as diamonds, the reseed, and the amount without a house
   edge as a dashed line, or as an arrow if it is above the picture. */
export const MeterPlot = ({ picture, reseed, even, isMonth, height, label, onHit }) => html`
  <${Plot} height=${height} label=${label} draw=${(width) => {
    const left = width < 500 ? NARROW_LEFT : LEFT;
    const right = width - RIGHT;
    const most = Math.max(reseed, ...picture.amounts);
    const isEvenShown = even !== null && even <= most * 1.25;
    const step = stepFor(Math.max(most, isEvenShown ? even : 0) * 1.04, 4);
    const top = Math.ceil(Math.max(most, isEvenShown ? even : 0) * 1.04 / step) * step;
    const base = height - BELOW;
    const y = (cents) => base - (base - TOP) * cents / top;
    const fromMs = beginOf(picture) * 1000;
    const toMs = picture.ends_s * 1000;
    const x = (ms) => left + (right - left) * (ms - fromMs) / Math.max(1, toMs - fromMs);
    const points = picture.times_s.map((at, index) => [x(at * 1000), y(picture.amounts[index])]);
    const isShort = toMs - fromMs < SHORT_MS;
    const ticks = isMonth && !isShort
      ? dayTicks(barsOf(picture), width < 500 ? 7 : 3)
      : hourTicks(fromMs, toMs, width < 500 ? 4 : 8);
    const place = (hit) => [x(hit.at_s * 1000), y(hit.before)];
    return html`
      <${Lines} left=${left} right=${right} y=${y} step=${step} top=${top} />
      ${ticks.filter(([at]) => x(at) > left + 14 && x(at) < right - 14).map(([at, text]) => html`
        <text key=${at} x=${fixed(x(at))} y=${height - 6} text-anchor="middle">${text}</text>`)}
      ${points.length > 1 && html`
        <path class="area" d=${`${path(points)}L${fixed(points.at(-1)[0])} ${base}L${fixed(points[0][0])} ${base}Z`} />
        <path class="line-of" d=${path(points)} />`}
      <path class="reseed" d=${`M${left} ${fixed(y(reseed))}H${right}`} />
      <text x=${right} y=${fixed(y(reseed)) + 14} text-anchor="end">${say("reseed {amount}", { amount: money(reseed) })}</text>
      ${isEvenShown && html`
        <path class="even" d=${`M${left} ${fixed(y(even))}H${right}`} />
        <text class="even-text" x=${right} y=${fixed(y(even)) - 6} text-anchor="end">${say("break-even {amount}", { amount: money(even) })}</text>`}
      ${even !== null && !isEvenShown && html`
        <path class="even up" d=${`M${left + 14} ${TOP + 14}v-11m-4 4 4-4 4 4`} />
        <text class="even-text" x=${left + 24} y=${TOP + 13}>${say("break-even {amount}", { amount: money(even) })}</text>`}
      ${picture.hits.map((hit) => {
        const [at, high] = place(hit);
        return html`
          <path class="hit" key=${hit.claim} d=${`M${fixed(at)} ${fixed(high - 7)}l7 7-7 7-7-7Z`} onClick=${() => onHit?.(hit)}>
            <title>${`${money(hit.amount)} · ${sayHand(hit.hand_name)} · ${hit.table}`}</title></path>`;
      })}
      ${labelsOf(picture.hits, place, right)}`;
  }} />`;

/* A bar for each hour or day. The last bar still grows if the picture ends now. */
export const BarPlot = ({ bars, height = 76, label, isLive }) => html`
  <${Plot} height=${height} label=${label} draw=${(width) => {
    const left = width < 500 ? NARROW_LEFT : LEFT;
    const right = width - RIGHT;
    const most = Math.max(1, ...bars.map(({ added }) => added));
    const step = stepFor(most, 1);
    const base = height - 8;
    const y = (cents) => base - (base - 10) * Math.max(0, cents) / step;
    const from = bars[0].begins_s;
    const x = (at) => left + (right - left) * (at - from) / Math.max(1, bars.at(-1).ends_s - from);
    return html`
      <${Lines} left=${left} right=${right} y=${y} step=${step} top=${step} />
      ${bars.map((bar, at) => {
        const begin = x(bar.begins_s);
        const wide = x(bar.ends_s) - begin;
        const own = Math.min(BAR_MOST, Math.max(1, wide * 0.76));
        return html`
          <rect key=${bar.begins_s} class=${isLive && at === bars.length - 1 ? "bar on" : "bar"} rx="2"
            x=${fixed(begin + (wide - own) / 2)} width=${fixed(own)} y=${fixed(y(bar.added))}
            height=${fixed(base - y(bar.added))}><title>${money(bar.added)}</title></rect>`;
      })}`;
  }} />`;

/* Counts in equal intervals, such as the wagers of each minute. */
export const CountPlot = ({ counts, fromMs, everyMs, height = 92, label, isLive }) => html`
  <${Plot} height=${height} label=${label} draw=${(width) => {
    const base = height - 20;
    const most = Math.max(1, ...counts);
    const wide = width / counts.length;
    const y = (count) => base - (base - 4) * count / most;
    const end = fromMs + counts.length * everyMs;
    return html`
      ${[0, 0.5, 1].map((part) => html`<path class="grid" key=${part} d=${`M0 ${fixed(y(most * part))}H${width}`} />`)}
      ${counts.map((count, at) => html`
        <rect key=${at} class=${isLive && at === counts.length - 1 ? "bar on" : "bar"} rx="1.2" x=${fixed(at * wide + wide * 0.12)}
          width=${fixed(Math.max(0.8, wide * 0.76))} y=${fixed(y(count))} height=${fixed(base - y(count))} />`)}
      <text x="0" y=${height - 4}>${hourText(fromMs)}</text>
      <text x=${width} y=${height - 4} text-anchor="end">${hourText(end)}</text>`;
  }} />`;

const SPARK_WIDE = 92;
const SPARK_HIGH = 26;

/* A meter's last 24 hours in a row of a table: its shape between its lowest and highest amount. */
export const Spark = ({ spark }) => {
  if (!spark || spark.times_s.length < 2) return html`<span class="spark" />`;
  const { ends_s: to, times_s: times, amounts } = spark;
  const from = beginOf(spark);
  const low = Math.min(...amounts);
  const range = Math.max(1, Math.max(...amounts) - low);
  const points = times.map((at, index) =>
    [SPARK_WIDE * (at - from) / Math.max(1, to - from), SPARK_HIGH - 3 - (SPARK_HIGH - 6) * (amounts[index] - low) / range]);
  return html`
    <svg class="spark" viewBox=${`0 0 ${SPARK_WIDE} ${SPARK_HIGH}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="area" d=${`${path(points)}L${SPARK_WIDE} ${SPARK_HIGH}L${fixed(points[0][0])} ${SPARK_HIGH}Z`} />
      <path class="line-of" d=${path(points)} /></svg>`;
};
