/* The service worker of patron pages. A display that starts while the service is down shows the
   house's message, and not the error page of the browser. It keeps only the files of this message, in
   the version VERSION: PAGE and FILES, and for each language that the address of a display names
   (?lang=...), the page and the OWN_FILES of the language. The server writes the values of these names
   above. The worker keeps no page with an amount, and no data. */

const NAME = "patrons-";
const CACHE = `${NAME}${VERSION}`;
const WAIT_MS = 8000;
const DOWN = [502, 503, 504]; // answers of a proxy for a service that does not run

const pageOf = (lang) => (lang ? `${PAGE}?lang=${lang}` : PAGE);
const langOf = (url) => new URL(url).searchParams.get("lang") ?? "";
const isKept = (path) => [FILES, ...Object.values(OWN_FILES)].some((files) => files.includes(path));

const keep = async (lang) => {
  const cache = await caches.open(CACHE);
  await cache.addAll([...new Set([pageOf(lang), ...FILES, ...OWN_FILES[lang]])]);
};

/* The languages that were kept before. */
const kept = async () => {
  const found = new Set([""]);
  for (const name of await caches.keys()) {
    if (!name.startsWith(NAME)) continue;
    for (const { url } of await (await caches.open(name)).keys()) if (langOf(url) in OWN_FILES) found.add(langOf(url));
  }
  return [...found];
};

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(kept().then((langs) => Promise.all(langs.map(keep))));
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name !== CACHE) await caches.delete(name);
    await self.clients.claim();
  })());
});

/* If the address of a page names a language, the page sends this language. */
self.addEventListener("message", (event) => {
  if (Object.hasOwn(OWN_FILES, event.data)) event.waitUntil(keep(event.data));
});

const message = async (lang) => {
  for (const page of [pageOf(lang), PAGE]) {
    const found = await caches.match(page, { cacheName: CACHE });
    if (found) return found;
  }
  return Response.error();
};

/* A page always comes from the service. */
const page = async (request) => {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), WAIT_MS);
  const lang = langOf(request.url);
  try {
    const answer = await fetch(request, { signal: limit.signal });
    return DOWN.includes(answer.status) ? await message(lang) : answer;
  } catch {
    return await message(lang);
  } finally {
    clearTimeout(timer);
  }
};

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (request.mode === "navigate") event.respondWith(page(request));
  else if (isKept(pathname)) {
    event.respondWith(caches.match(pathname, { cacheName: CACHE }).then((found) => found ?? fetch(request)));
  }
});
