"use strict";
/* Hears from the service that something has changed, and knows within five seconds when it no
   longer would: what is on the screen may then be old. */
const stream = (() => {
  const PATH = "/api/v1/floor/stream";
  const QUIET_MS = 2500;
  const PROBE_MS = 1500;
  const SILENT_MS = 12000;
  const LOOK_MS = 500;
  const RETRY_LEAST_MS = 500;
  const RETRY_MOST_MS = 5000;

  let running = null;

  /* Neither clock is enough alone: one may be set, the other may stand still in a sleeping
     machine. */
  const now = () => ({ steady: performance.now(), wall: Date.now() });
  const since = (then) => Math.max(performance.now() - then.steady, Date.now() - then.wall);

  class Listening {
    constructor({ changed, heard, lost, ended }) {
      Object.assign(this, { changed, heard, lost, ended });
      this.stopped = false;
      this.live = null;
      this.last = now();
      this.probed = now();
      this.connection = null;
      this.wake = () => {};
      this.looking = setInterval(() => this.look(), LOOK_MS);
      this.onOffline = () => this.drop();
      this.onOnline = () => this.wake();
      window.addEventListener("offline", this.onOffline);
      window.addEventListener("online", this.onOnline);
      this.run();
    }

    async run() {
      let pause = RETRY_LEAST_MS;
      while (!this.stopped) {
        const began = now();
        await this.connect();
        if (this.stopped) return;
        this.say(false);
        pause = since(began) > 10000 ? RETRY_LEAST_MS : Math.min(pause * 2, RETRY_MOST_MS);
        await new Promise((done) => {
          this.wake = done;
          setTimeout(done, pause);
        });
      }
    }

    async connect() {
      this.connection = new AbortController();
      this.last = now();
      try {
        const answer = await fetch(PATH, {
          headers: { Accept: "text/event-stream" },
          signal: this.connection.signal,
          cache: "no-store",
        });
        if (answer.status === 401 && !this.stopped) this.ended();
        if (!answer.ok) return;
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        for (;;) {
          const { value, done } = await reader.read();
          if (done || this.stopped) return;
          this.last = now();
          this.say(true);
          const frames = (rest + value).split("\n\n");
          rest = frames.pop();
          if (frames.some((frame) => /^event: ?changed$/m.test(frame))) this.changed();
        }
      } catch {
        /* Cut off, or never reached: the loop tries again. */
      }
    }

    say(live) {
      if (this.stopped || this.live === live) return;
      this.live = live;
      if (live) this.heard();
      else this.lost();
    }

    drop() {
      this.connection?.abort();
      this.say(false);
    }

    /* A line that died without a word still looks open: who is quiet is asked. */
    look() {
      const quiet = since(this.last);
      if (quiet > SILENT_MS) this.drop();
      else if (quiet > QUIET_MS && this.live !== false && since(this.probed) > QUIET_MS) this.probe();
    }

    async probe() {
      this.probed = now();
      const bound = new AbortController();
      const timer = setTimeout(() => bound.abort(), PROBE_MS);
      const of = this.connection;
      try {
        const answer = await fetch("/healthz", { signal: bound.signal, cache: "no-store" });
        if (!answer.ok) throw new Error("not well");
      } catch {
        if (of === this.connection) this.drop();
      } finally {
        clearTimeout(timer);
      }
    }

    stop() {
      this.stopped = true;
      clearInterval(this.looking);
      window.removeEventListener("offline", this.onOffline);
      window.removeEventListener("online", this.onOnline);
      this.connection?.abort();
      this.wake();
    }
  }

  const stop = () => {
    running?.stop();
    running = null;
  };
  const start = (listeners) => {
    stop();
    running = new Listening(listeners);
  };
  return { start, stop, now, since };
})();
