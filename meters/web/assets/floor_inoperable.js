/* The bar of every view that names the inoperable links, with the reasons. */

import * as api from "./floor_api.js";
import * as format from "./floor_format.js";
import { useCurrent, useTurn } from "./floor_reading.js";
import { html } from "./preact.js";
import { say } from "./say.js";

const NAMED_MAX = 3;
const READ_EVERY_MS = 5000;
const NAMES = JSON.parse(document.documentElement.dataset.links);

const namesText = (ids) => {
  const names = ids.slice(0, NAMED_MAX).map((id) => NAMES[id] ?? id).join(", ");
  return ids.length > NAMED_MAX ? say("{names}, and {count} more", { names, count: ids.length - NAMED_MAX }) : names;
};

/* One line for each reason. If Redis or the broker fails, all links have the same reason. */
const linesOf = (reasons) => {
  const lines = new Map();
  for (const [id, reason] of Object.entries(reasons)) lines.set(reason, [...lines.get(reason) ?? [], id]);
  return [...lines];
};

/* The reasons are read again after each change, after each loss of the event stream, and every few
   seconds: the service that answers can be another than that of the stream, and notice a fault later. */
export const Inoperable = ({ changes }) => {
  const turn = useTurn(READ_EVERY_MS);
  const { found } = useCurrent(api.inoperable, [changes, turn]);
  const lines = linesOf(found ?? {});
  return html`
    <div class="inoperable notice bad" role="status" hidden=${!lines.length}>
      ${lines.map(([reason, ids]) => html`
        <p key=${reason}><strong>${say("Inoperable: {names}.", { names: namesText(ids) })}</strong>${` ${format.sentence(reason)}`}</p>`)}
    </div>`;
};
