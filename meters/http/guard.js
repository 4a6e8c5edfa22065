/* A page without one of its scripts or style sheets is not usable. So the page is loaded again if a
   file fails, if a file does not come, or if a script has an error while the page loads. This script
   is part of the page itself, because its own file could fail too. */
(() => {
  const WAIT_MS = 5000;
  const LIMIT_MS = 8000;
  const LOADED_MS = 60000;
  let isBroken = false;
  const again = async () => {
    const limit = new AbortController();
    setTimeout(() => limit.abort(), LIMIT_MS);
    const answer = await fetch(location.href, { cache: "no-store", signal: limit.signal }).catch(() => null);
    if (answer?.ok) location.reload();
    else setTimeout(again, WAIT_MS);
  };
  const isLoaded = () => document.readyState === "complete";
  const loadAgain = () => {
    if (isBroken) return;
    isBroken = true;
    setTimeout(again, WAIT_MS);
  };
  addEventListener("error", ({ target }) => {
    const isScript = target === window && !isLoaded();
    if (isScript || (target instanceof Element && target.matches("script, link[rel=stylesheet]"))) loadAgain();
  }, { capture: true });
  setTimeout(() => isLoaded() || loadAgain(), LOADED_MS);
})();
