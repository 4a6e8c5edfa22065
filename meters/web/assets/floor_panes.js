/* Panes next to each other, or one in place of the other on a phone, and what all of them show. */

import * as format from "./floor_format.js";
import { Icon } from "./floor_icons.js";
import { useNow } from "./floor_reading.js";
import { money } from "./money.js";
import { html, useLayoutEffect, useRef } from "./preact.js";
import { say } from "./say.js";

export const LATE_MS = 180000;

/* A list, what is open of it, and on a desk something beside both. `opened` says if somebody opened
   what is shown: on a phone, it then takes the place of the list. */
export const Panes = ({ opened, list, shown, beside }) => html`
  <div class=${beside ? "panes three" : "panes"} data-opened=${opened ? "" : null}>
    <section class="pane list" aria-label=${say("List")}>${list}</section>
    ${shown}
    ${beside && html`<aside class="pane beside" aria-label=${say("Floor")}>${beside}</aside>`}
  </div>`;

/* Note the height of the bar of acts: a receipt stands above the bar and covers no act. If a refusal
   makes the bar higher, the field that the refusal is about stays in sight. */
const useHeight = (bar, isShown) => useLayoutEffect(() => {
  if (!isShown) return undefined;
  const note = (px) => document.documentElement.style.setProperty("--acts-bar", `${px}px`);
  const observer = new ResizeObserver(() => {
    note(bar.current.offsetHeight);
    bar.current.parentNode.querySelector(".body .field:focus-within, .body fieldset:focus-within")?.scrollIntoView({ block: "nearest" });
  });
  observer.observe(bar.current);
  return () => {
    observer.disconnect();
    note(0);
  };
}, [isShown]);

const BackLink = ({ href }) => html`<a class="back" href=${href}><${Icon} name="back" />${say("Back")}</a>`;

/* A pane with a body that scrolls, and with acts that stay in sight. */
export const Pane = ({ kind, of = {}, back, acts, children }) => {
  const bar = useRef();
  useHeight(bar, Boolean(acts));
  return html`
    <article class=${`pane detail ${kind}`} ...${of}>
      <div class="body" tabindex="0" role="region" aria-label=${say("Details")}>
        ${back && html`<${BackLink} href=${back} />`}
        ${children}
      </div>
      ${acts && html`<div ref=${bar} class="acts-bar">${acts}</div>`}
    </article>`;
};

export const Nothing = ({ text, back }) => html`
  <article class="pane detail empty"><div class="nothing"><p>${text}</p>${back && html`<${BackLink} href=${back} />`}</div></article>`;

export const Tag = ({ look, icon, children }) => html`
  <span class=${`tag ${look}`}><${Icon} name=${icon} />${children}</span>`;

/* An amount in large type, with raised cents. */
export const Amount = ({ cents }) => {
  const [whole, rest] = money(cents).split(".");
  return html`<p class="amount">${whole}<sup>.${rest}</sup></p>`;
};

/* How long something has waited; after three minutes with a mark and weight. */
export const Waited = ({ at, isTold = false }) => {
  const ms = useNow() - Date.parse(at);
  return html`
    <span class="waited" data-long=${ms >= LATE_MS ? "" : null}>
      <span class=${isTold ? "of" : "sr"}>${say("Waiting")} </span><span class="span" data-at=${at}>${format.span(ms)}</span></span>`;
};
