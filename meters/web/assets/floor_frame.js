/* The frame of every view: the ways to the views, the head with its numbers and the account, and
   the bars that warn. */

import { Account } from "./floor_account.js";
import * as api from "./floor_api.js";
import { Counts } from "./floor_inbox.js";
import { openPin } from "./floor_dialog.js";
import * as format from "./floor_format.js";
import { Icon, Logo } from "./floor_icons.js";
import { Inoperable } from "./floor_inoperable.js";
import { FloorCounts } from "./floor_map.js";
import { Menu } from "./floor_menu.js";
import { useNow } from "./floor_reading.js";
import { hrefOf } from "./floor_route.js";
import * as session from "./floor_session.js";
import { html, useLayoutEffect, useState } from "./preact.js";
import { say } from "./say.js";

const WIDE = window.matchMedia("(min-width: 75rem)");
const TWO = window.matchMedia("(min-width: 47.5rem)");
/* How many views have a place of their own. The others are under "More". */
const PLACES = { phone: 4, tablet: 5, desk: 9 };

const sizeNow = () => (WIDE.matches ? "desk" : TWO.matches ? "tablet" : "phone");

/* How many panes the screen has room for: three on a desk, two on a tablet, one on a phone. */
export const useSize = () => {
  const [size, setSize] = useState(sizeNow);
  useLayoutEffect(() => {
    const changed = () => setSize(sizeNow());
    for (const each of [WIDE, TWO]) each.addEventListener("change", changed);
    return () => { for (const each of [WIDE, TWO]) each.removeEventListener("change", changed); };
  }, []);
  return size;
};

const Count = ({ count }) => count > 0 && html`<span class="count">${count}</span>`;

const Way = ({ view: { name, label, icon }, isShown, count }) => html`
  <a href=${hrefOf(name)} aria-current=${isShown ? "page" : null}>
    <${Icon} name=${icon} /><span>${label}</span>${name === "inbox" && html`<${Count} count=${count} />`}
  </a>`;

export const Nav = ({ views, shown, count, size }) => {
  if (views.length < 2) return null;
  const places = PLACES[size];
  const own = views.length > places ? views.slice(0, places - 1) : views;
  const others = views.slice(own.length);
  const way = (view) => html`<${Way} key=${view.name} view=${view} isShown=${view.name === shown} count=${count} />`;
  const hidden = others.find(({ name }) => name === shown);
  return html`
    <nav aria-label=${say("Views")}>
      <${Logo} />
      ${own.map(way)}
      ${others.length > 0 && html`
        <${Menu} id="more" kind=${hidden ? "more shown" : "more"} label=${say("More views")} button=${html`
          <${Icon} name="more" /><span>${hidden?.label ?? say("More")}</span>`}>${others.map(way)}<//>`}
    </nav>`;
};

const Clock = ({ isLive }) => html`
  <p class="clock" data-live=${isLive ? "" : null}>${format.clockSeconds(useNow())}</p>`;

export const Head = ({ me, label, isInbox, inbox, floor, isLive, size }) => html`
  <section class="head" aria-label=${say("Signed in")}>
    ${size === "desk" && isInbox ? html`<${Counts} inbox=${inbox} />` : html`<p class="title" aria-hidden="true">${label}</p>`}
    ${size === "desk" && floor && html`<${FloorCounts} floor=${floor} rows=${inbox.rows} />`}
    <${Clock} isLive=${isLive} />
    <${Account} me=${me} />
  </section>`;

const Lapsed = () => session.useLapsed() && html`
  <div class="lapsed notice wait" role="status">
    <p>${say("You can watch. To act, enter your PIN.")}</p>
    <button type="button" onClick=${() => openPin()}>${say("Enter PIN")}</button>
  </div>`;

export const Bars = ({ changes, isOld, at }) => html`
  <div class="bars">
    <p class="line bad" role="status" hidden=${!isOld}>
      ${isOld && say("Reconnecting. What you see may be old: as of {time}.", { time: format.clockSeconds(at ?? api.now()) })}</p>
    ${changes !== undefined && html`<${Inoperable} changes=${changes} />`}
    <${Lapsed} />
  </div>`;
