/* The service worker of patron pages. A display that starts while the service is down shows the
   house's message, and not the error page of the browser. It keeps only VERSION's files of this
   message, PAGE and FILES, which the server writes above: no page with an amount, and no data. */

const CACHE = `patrons-${VERSION}`;
const WAIT_MS = 8000;
const DOWN = [502, 503, 504]; // answers of a proxy for a service that does not run

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll([PAGE, ...FILES])));
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name !== CACHE) await caches.delete(name);
    await self.clients.claim();
  })());
});

const message = async () => {
  const kept = await caches.match(PAGE, { cacheName: CACHE });
  return kept ?? Response.error();
};

/* A page always comes from the service. */
const page = async (request) => {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), WAIT_MS);
  try {
    const answer = await fetch(request, { signal: limit.signal });
    return DOWN.includes(answer.status) ? await message() : answer;
  } catch {
    return await message();
  } finally {
    clearTimeout(timer);
  }
};

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (request.mode === "navigate") event.respondWith(page(request));
  else if (FILES.includes(pathname)) {
    event.respondWith(caches.match(pathname, { cacheName: CACHE }).then((kept) => kept ?? fetch(request)));
  }
});
