/* Menus over the page. */

import { html, useRef } from "./preact.js";

/* A button with a menu over the page. A touch on a link of the menu, or outside the menu, closes the menu
   first. So a dialog that opens then gives the focus back to the button. */
export const Menu = ({ id, kind, label, button, children }) => {
  const menu = useRef();
  const touched = ({ target }) => { if (target.closest("a, [data-closes]")) menu.current.hidePopover(); };
  return html`
    <button type="button" class=${kind} popovertarget=${id} aria-label=${label}>${button}</button>
    <div id=${id} ref=${menu} class="menu" popover="auto" role="group" aria-label=${label} onClickCapture=${touched}>${children}</div>`;
};
