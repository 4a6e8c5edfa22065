/* The server-sent events of one address. The connection is opened again whenever it ends, cannot
   be opened, or is silent for too long: a dead connection can look open for minutes. */

import { now, since } from "./clock.js";

const CHECK_MS = 500;
const RETRY_MIN_MS = 500;
const STAY_MS = 30000;
const WORKER = new URL("./stream_worker.js", import.meta.url);

/* When the browser last failed to load the shared worker, and the time until it is tried again. */
let failedAt = null;
let aloneMs = 60000;

const canShare = () => "SharedWorker" in window && (failedAt === null || since(failedAt) > aloneMs);

/* Open a stream for this page alone. */
const openAlone = (path, names, take) => {
  const source = new EventSource(path);
  for (const name of [...names, "error"]) source.addEventListener(name, ({ data }) => take(name, data, 0));
  return { stay: () => {}, close: () => source.close(), isAlone: true };
};

/* Follow the stream that all pages of this browser share. An event can wait while the page is
   frozen, so it has an age. */
const openShared = (path, names, take) => {
  const worker = new SharedWorker(WORKER);
  const { port } = worker;
  const listening = new AbortController();
  const { signal } = listening;
  const stay = () => port.postMessage({ path, names });
  const close = () => {
    listening.abort();
    port.postMessage(null);
    port.close();
  };
  worker.addEventListener("error", () => {
    if (failedAt !== null) aloneMs *= 2;
    failedAt = now();
    take("error");
  }, { signal });
  port.addEventListener("message", ({ data: { name, data, at } }) => take(name, data, Math.max(0, Date.now() - at)), { signal });
  port.start();
  stay();
  return { stay, close };
};

export class EventStream {
  /* `events` has one function for each event name. At each event, `heard` is called, and then the
     function of the event with the event's data and its age in milliseconds. `lost` is called
     whenever the connection is lost. The server must send an event at least every `silentMs`. */
  constructor(path, { events, heard = () => {}, lost, silentMs, retryMaxMs }) {
    Object.assign(this, { path, events, heard, lost, silentMs, retryMaxMs });
    this.failures = 0;
    this.checking = setInterval(() => this.check(), CHECK_MS);
    window.addEventListener("pagehide", () => this.source?.close());
    this.connect();
  }

  connect() {
    this.disconnect();
    this.lastEvent = this.stayed = now();
    const source = (canShare() ? openShared : openAlone)(this.path, Object.keys(this.events), (name, data, age) => {
      if (source !== this.source) return;
      if (name === "error") this.reconnect();
      else {
        this.lastEvent = now();
        this.failures = 0;
        this.heard();
        this.events[name](JSON.parse(data), age);
      }
    });
    this.source = source;
  }

  disconnect() {
    clearTimeout(this.retry);
    this.source?.close();
    this.source = null;
  }

  /* A browser does not reconnect after an error response, so the stream does it. The wait is
     random, so not all pages of a floor reconnect at the same time. */
  reconnect() {
    this.disconnect();
    const longest = Math.min(this.retryMaxMs, RETRY_MIN_MS * 2 ** this.failures);
    this.failures += 1;
    this.retry = setTimeout(() => this.connect(), longest / 2 + (Math.random() * longest) / 2);
    this.lost();
  }

  check() {
    if (this.source === null) return;
    if (since(this.lastEvent) > this.silentMs) this.reconnect();
    else if (since(this.stayed) > STAY_MS) {
      this.stayed = now();
      // A browser opens six connections to a server, so six pages with own streams use all of them.
      if (this.source.isAlone && canShare()) this.connect();
      else this.source.stay();
    }
  }

  stop() {
    clearInterval(this.checking);
    this.disconnect();
  }
}
