/* The event stream, which comes back by itself for ever. */

const SILENT_MS = 15000;
const RETRY_LEAST_MS = 500;
const RETRY_MOST_MS = 10000;

/* Neither clock is enough alone: one may be set, the other may stand still in a sleeping machine.
   What either takes for old is old. */
export const now = (age = 0) => ({ steady: performance.now() - age, wall: Date.now() - age });
export const since = (then) => {
  const at = now();
  return Math.max(at.steady - then.steady, at.wall - then.wall);
};

export class Stream {
  /* `handlers` are called with an event's data, by its name; `lost` when the stream is. */
  constructor(address, handlers, lost) {
    this.address = address;
    this.handlers = handlers;
    this.lost = lost;
    this.retries = 0;
    this.connect();
  }

  connect() {
    this.lastEvent = now();
    const source = new EventSource(this.address);
    this.source = source;
    for (const [name, handle] of Object.entries(this.handlers)) {
      source.addEventListener(name, (event) => {
        if (source !== this.source) return;
        this.lastEvent = now();
        this.retries = 0;
        handle(JSON.parse(event.data));
      });
    }
    source.addEventListener("error", () => {
      if (source === this.source) this.reconnect();
    });
  }

  /* A browser gives up where the answer is an error, so the page tries again itself; not all
     displays of a floor at once. */
  reconnect() {
    this.source.close();
    this.source = null;
    this.lost();
    const most = Math.min(RETRY_MOST_MS, RETRY_LEAST_MS * 2 ** this.retries);
    this.retries += 1;
    setTimeout(() => this.connect(), most / 2 + (Math.random() * most) / 2);
  }

  /* To be called now and then: a connection may be dead without saying so. */
  check() {
    if (this.source !== null && since(this.lastEvent) > SILENT_MS) this.reconnect();
  }
}
