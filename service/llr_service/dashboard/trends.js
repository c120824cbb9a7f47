/** The recent past of the sessions on a page, asked for when one moved, a few at a time. */

import { readHistory } from "./history.js";

const [AT_ONCE, APART, POINTS] = [3, 3000, 48];

/** Keeps `{t, recent, metric}` by name. */
export class Trends {
  #known = new Map();

  constructor(api) {
    this.api = api;
  }

  /** What is known of a session, or null. */
  of(name) {
    return this.#known.get(name) ?? null;
  }

  /** Bring those up to date that moved; `tell(name)` after each. */
  async follow(rows, signal, tell) {
    const waiting = rows.filter((row) => this.#isDue(row));
    const work = async () => {
      for (let row = waiting.shift(); row; row = waiting.shift()) {
        await this.#load(row.name, signal);
        tell(row.name);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  #isDue({ name, t }) {
    const known = this.of(name);
    return !known || (known.t !== t && performance.now() - known.asked > APART);
  }

  async #load(name, signal) {
    const asked = performance.now();
    const past = await readHistory(this.api, name, { points: POINTS, signal }).catch(() => null);
    if (signal.aborted) return;
    if (past === null) this.#known.set(name, { t: null, asked, recent: [], metric: null });
    else this.#known.set(name, { asked, ...summary(past) });
  }
}

function summary({ t, recent, metric }) {
  return { t: t.at(-1), recent, metric: metric.at(-1) ?? null };
}
