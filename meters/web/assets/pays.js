/* Keeps the page of paytables current. The page is reloaded when the link has new paytables. */

import { readPage } from "./requests.js";

const CHECK_MS = 5000;
const terms = `data-terms="${document.documentElement.dataset.terms}"`;

setInterval(async () => {
  /* While the service does not answer, the shown paytables remain. */
  const text = await readPage().catch(() => null);
  if (text !== null && !text.includes(terms)) location.reload();
}, CHECK_MS);
