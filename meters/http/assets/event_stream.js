/* The server-sent events of one address, over a connection that is opened again whenever it ends,
   cannot be opened, or is silent for too long: a dead connection can look open for minutes. */

import { now, since } from "./clock.js";

const CHECK_MS = 500;
const RETRY_MIN_MS = 500;

export class EventStream {
  /* `events` has a function for each event's name, which is called with the event's data. `heard`
     is called before it at every event, and `lost` whenever there is no connection any more. A
     server sends something at least each `silentMs`. */
  constructor(path, { events, heard = () => {}, lost, silentMs, retryMaxMs }) {
    Object.assign(this, { path, events, heard, lost, silentMs, retryMaxMs });
    this.failures = 0;
    this.checking = setInterval(() => this.check(), CHECK_MS);
    this.connect();
  }

  connect() {
    this.disconnect();
    const source = new EventSource(this.path);
    this.source = source;
    this.lastEvent = now();
    for (const [name, handle] of Object.entries(this.events)) {
      source.addEventListener(name, ({ data }) => {
        if (source !== this.source) return;
        this.lastEvent = now();
        this.failures = 0;
        this.heard();
        handle(JSON.parse(data));
      });
    }
    source.addEventListener("error", () => {
      if (source === this.source) this.reconnect();
    });
  }

  disconnect() {
    clearTimeout(this.retry);
    this.source?.close();
    this.source = null;
  }

  /* A browser gives up after an error response, so the stream tries again itself. The wait is
     random, so that not all pages of a floor come back at once. */
  reconnect() {
    this.disconnect();
    const longest = Math.min(this.retryMaxMs, RETRY_MIN_MS * 2 ** this.failures);
    this.failures += 1;
    this.retry = setTimeout(() => this.connect(), longest / 2 + (Math.random() * longest) / 2);
    this.lost();
  }

  check() {
    if (this.source !== null && since(this.lastEvent) > this.silentMs) this.reconnect();
  }

  stop() {
    clearInterval(this.checking);
    this.disconnect();
  }
}
