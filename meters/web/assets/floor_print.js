/* The view on paper: in the light look, because paper is white. floor_print.css leaves out what
   only a screen needs. */

import * as api from "./floor_api.js";
import * as format from "./floor_format.js";
import { Icon } from "./floor_icons.js";
import * as session from "./floor_session.js";
import { html, useState, useLayoutEffect } from "./preact.js";
import { say } from "./say.js";

addEventListener("beforeprint", () => { document.documentElement.dataset.mode = "light"; });
addEventListener("afterprint", () => dispatchEvent(new Event("theme")));

export const PrintButton = () => html`
  <button type="button" class="print" onClick=${() => print()}><${Icon} name="print" />${say("Print")}</button>`;

/* What the paper shows, when it was printed, and by whom. */
export const PaperTitle = ({ title }) => {
  const [at, setAt] = useState(api.now);
  useLayoutEffect(() => {
    const note = () => setAt(api.now());
    addEventListener("beforeprint", note);
    return () => removeEventListener("beforeprint", note);
  }, []);
  return html`
    <p class="on-paper"><b>${title}</b> <span>${say("Printed {time} by {name}", { time: format.moment(at), name: session.userName() })}</span></p>`;
};
