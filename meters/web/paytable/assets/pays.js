/* Keeps the page true: where the paytables of the link are others now, it is loaded anew. */
const EVERY_MS = 5000;
const terms = `data-terms="${document.documentElement.dataset.terms}"`;

setInterval(async () => {
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    if (answer.ok && !(await answer.text()).includes(terms)) location.reload();
  } catch {
    /* The service is away: the paytables change only where it says so. */
  }
}, EVERY_MS);
