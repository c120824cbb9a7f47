/**
 * Keeps a page's data coming: tries, tells how it stands, and tries again with growing patience.
 * An attempt reads once (a poll) or until the stream ends; it calls `alive()` when data came.
 */

import { Refused } from "./api.js";

const [FIRST, LONGEST] = [500, 10_000];
const PASSING = new Set([408, 429, 500, 502, 503, 504]);

/** States: connecting, live, lost (since, retryAt, error), paused, refused (error). */
export class Feed {
  #abort = null;
  #wake = null;
  #failures = 0;
  #paused = false;
  #lostSince = null;

  /** `every` is the pause between polls, or null for a stream; `tell` gets each new state. */
  constructor(attempt, { every = null, tell }) {
    Object.assign(this, { attempt, every, tell });
    this.watch = () => (document.hidden ? this.#abort?.abort() : this.now());
    document.addEventListener("visibilitychange", this.watch);
    window.addEventListener("online", this.watch);
    this.#run();
  }

  /** Hold still until `resume`. */
  pause() {
    this.#paused = true;
    this.#abort?.abort();
    this.tell({ kind: "paused" });
  }

  /** Go on. */
  resume() {
    this.#paused = false;
    this.tell({ kind: "connecting" });
    this.now();
  }

  /** Do not wait any longer: give up the attempt under way, and begin the next. */
  now() {
    this.#abort?.abort();
    this.#wake?.();
  }

  /** Stop for good. */
  close() {
    this.closed = true;
    this.now();
    document.removeEventListener("visibilitychange", this.watch);
    window.removeEventListener("online", this.watch);
  }

  async #run() {
    this.tell({ kind: "connecting" });
    while (!this.closed) {
      if (this.#paused || document.hidden) await this.#sleep(null);
      else await this.#once();
    }
  }

  async #once() {
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const started = performance.now();
    try {
      await this.attempt(signal, () => this.#alive(signal));
      if (this.every === null && !signal.aborted) throw new Error("the stream ended");
      this.#alive(signal);
      const taken = performance.now() - started;
      if (!signal.aborted) await this.#sleep(Math.max(this.every, 4 * taken));
    } catch (error) {
      if (!signal.aborted) await this.#failed(error);
    }
  }

  #alive(signal) {
    if (signal.aborted) return;
    this.#failures = 0;
    this.#lostSince = null;
    this.tell({ kind: "live" });
  }

  async #failed(error) {
    if (error instanceof Refused && !PASSING.has(error.status)) {
      this.tell({ kind: "refused", error });
      await this.#sleep(null);
      return;
    }
    this.#lostSince ??= new Date();
    const wait = Math.min(LONGEST, FIRST * 2 ** this.#failures) * (0.5 + Math.random() / 2);
    const patience = Math.max(wait, 1000 * (error.retryAfter ?? 0));
    this.#failures += 1;
    const retryAt = Date.now() + patience;
    this.tell({ kind: "lost", since: this.#lostSince, retryAt, error });
    await this.#sleep(patience);
  }

  #sleep(time) {
    return new Promise((done) => {
      const timer = time === null ? null : setTimeout(done, time);
      this.#wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }
}
