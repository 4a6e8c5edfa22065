/* Keeps the page of paytables current: it is reloaded when the link has new ones. */

import { readPage } from "./requests.js";

const CHECK_MS = 5000;
const terms = `data-terms="${document.documentElement.dataset.terms}"`;

setInterval(async () => {
  /* While the service does not answer, the paytables do not change. */
  const text = await readPage().catch(() => null);
  if (text !== null && !text.includes(terms)) location.reload();
}, CHECK_MS);
