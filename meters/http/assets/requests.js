/* Requests to the server that the page came from. */

const PAGE_LIMIT_MS = 8000;
const RELOAD_RETRY_MS = 2000;

/* Fetch the answer and its text within a time limit; throw if there is none by then. `signal` can
   cancel the request earlier. */
export const fetchText = async (path, limitMs, { signal, ...options } = {}) => {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  signal?.addEventListener("abort", () => limit.abort());
  try {
    const answer = await fetch(path, { cache: "no-store", ...options, signal: limit.signal });
    return { answer, text: await answer.text() };
  } finally {
    clearTimeout(timer);
  }
};

/* Read this page from its server; null if the server no longer has it. */
export const readPage = async () => {
  const { answer, text } = await fetchText(location.href, PAGE_LIMIT_MS);
  return answer.ok ? text : null;
};

/* Reload the page as soon as its server has it; otherwise a browser's error page would stay.
   `failed` is called each time the server does not answer. */
let reloading = false;
export const reload = async (failed = () => {}) => {
  if (reloading) return;
  reloading = true;
  while ((await readPage().catch(failed) ?? null) === null) {
    await new Promise((done) => { setTimeout(done, RELOAD_RETRY_MS); });
  }
  location.reload();
};

/* A page that the browser restores from its memory shows old data. */
window.addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
