/* The server-sent events of one address. The connection is opened again whenever it ends, cannot
   be opened, or is silent for too long: a dead connection can look open for minutes. */

import { now, since } from "./clock.js";

const CHECK_MS = 500;
const RETRY_MIN_MS = 500;

export class EventStream {
  /* `events` has one function for each event name; it is called with the event's data. `heard`
     is called before it at every event, and `lost` whenever the connection is lost. The server
     must send something at least every `silentMs`. */
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
    if (this.source !== null && since(this.lastEvent) > this.silentMs) this.reconnect();
  }

  stop() {
    clearInterval(this.checking);
    this.disconnect();
  }
}
