/* The event streams of all pages of one browser. A browser opens only six connections to a server,
   so its pages share one stream of each kind, and the other connections stay free for requests. */

const GONE_MS = 150000; // a hidden page can be slow to say that it is there

const pages = new Map(); // for each page, by its port: the path of its stream, and when it spoke last
const streams = new Map(); // by the path without its query

const kindOf = (path) => path.split("?")[0];

const pagesOf = (kind) => [...pages].filter(([, { path }]) => kindOf(path) === kind);

const send = (kind, message) => {
  for (const [port, { at }] of pagesOf(kind)) {
    if (Date.now() - at > GONE_MS) pages.delete(port);
    else port.postMessage({ ...message, at: Date.now() });
  }
};

/* A stream begins with the current state, so it is opened again for each page that joins. If pages
   follow different links, they share the stream of all links. */
const open = (kind) => {
  streams.get(kind)?.close();
  streams.delete(kind);
  const followers = pagesOf(kind).map(([, page]) => page);
  if (!followers.length) return;
  const paths = new Set(followers.map(({ path }) => path));
  const source = new EventSource(paths.size === 1 ? followers[0].path : kind);
  streams.set(kind, source);
  for (const name of followers[0].names) {
    source.addEventListener(name, ({ data }) => send(kind, { name, data }));
  }
  source.addEventListener("error", () => {
    source.close();
    streams.delete(kind);
    const left = pagesOf(kind);
    for (const [port] of left) pages.delete(port);
    for (const [port] of left) port.postMessage({ name: "error" });
  });
};

const leave = (port) => {
  const page = pages.get(port);
  pages.delete(port);
  if (page && !pagesOf(kindOf(page.path)).length) open(kindOf(page.path));
};

self.addEventListener("connect", ({ ports: [port] }) => {
  port.addEventListener("message", ({ data }) => {
    if (data === null) leave(port);
    else {
      const isNew = !pages.has(port);
      pages.set(port, { ...data, at: Date.now() });
      if (isNew) open(kindOf(data.path));
    }
  });
  port.start();
});
