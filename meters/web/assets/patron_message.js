/* The message that the service is down, which the service worker keeps (patron_worker.js). The page that
   the display shows at other times is loaded as soon as the service has it. */

import { reload } from "./requests.js";

reload();

/* The message is in one language after another. */
const page = document.documentElement;
const said = document.querySelectorAll("body > [lang]");
let at = 0;
const next = () => {
  said[at].hidden = true;
  at = (at + 1) % said.length;
  said[at].hidden = false;
  page.lang = said[at].lang;
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) said[at].animate([{ opacity: 0 }, { opacity: 1 }], { duration: 600 });
};
if (said.length > 1) setInterval(next, Number(page.dataset.seconds) * 1000);
