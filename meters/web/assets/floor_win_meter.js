/* The meter that a win was a part of, over 30 days, with its wins. */

import * as api from "./floor_api.js";
import { MeterPlot } from "./floor_charts.js";
import { useAnswer } from "./floor_reading.js";
import { show } from "./floor_route.js";
import { money } from "./money.js";
import { html } from "./preact.js";
import { say, sayCount } from "./say.js";

const HEIGHT_PX = 160;
/* If less time is known of the meter, the picture would say nothing, and is not shown. */
const LEAST_S = 86400;

export const MeterPanel = ({ claim }) => {
  const { found } = useAnswer(() => api.get(
    `/api/v1/links/${encodeURIComponent(claim.link)}/meters/${encodeURIComponent(claim.meter)}/history`,
  ), [claim.link, claim.meter]);
  const times = found?.month.times_s ?? [];
  if (times.length < 2 || times.at(-1) - times[0] < LEAST_S) return null;
  const { month, hour, reseed, break_even: [even] } = found;
  const title = say("{meter}, 30 days", { meter: claim.meter_name || claim.meter });
  const told = [hour !== null && say("+{amount} an hour", { amount: money(hour) }),
    sayCount("{count} win", "{count} wins", month.hit_count)].filter(Boolean).join(" · ");
  return html`
    <section class="panel">
      <h3>${title} <span>${told}</span></h3>
      <${MeterPlot} picture=${month} reseed=${reseed} even=${even?.amount ?? null} isMonth height=${HEIGHT_PX}
        label=${`${title}: ${told}`} onHit=${({ entry }) => show("find", `${claim.link}/${entry}`)} />
    </section>`;
};

/* A win at odds leaves its meter as it was. */
export const hasMeter = (claim) => claim.percent !== null && !claim.only_envy;
