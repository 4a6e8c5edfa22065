/* The payout slip of a win. */

import { openPin } from "./floor_dialog.js";
import { Icon } from "./floor_icons.js";
import * as session from "./floor_session.js";
import { html } from "./preact.js";
import { say } from "./say.js";

/* The print of a slip is recorded with the name of the user. So it needs the PIN if the session has
   lapsed. */
export const SlipLink = ({ claim, label, kind = "" }) => {
  const path = `/api/v1/claims/${encodeURIComponent(claim.claim)}/slip.pdf`;
  const ask = (event) => {
    if (!session.hasLapsed()) return;
    event.preventDefault();
    openPin(() => window.open(path, "_blank", "noopener"));
  };
  return html`
    <a class=${`button slip ${kind}`} href=${path} target="_blank" rel="noopener" onClick=${ask}>
      <${Icon} name="print" />${label}<span class="sr"> ${say("(payout slip, PDF)")}</span></a>`;
};
