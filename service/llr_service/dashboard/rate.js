/** Samples a second, from what t was when. */

const WINDOW = 5000;

/** Notes t as it moves; `value` is the speed over the last seconds, null while unknown. */
export class Rate {
  #seen = [];

  /** t is now so. A t that went back starts anew. */
  note(t, now = performance.now()) {
    const last = this.#seen.at(-1);
    if (last && t < last.t) this.#seen = [];
    this.#seen.push({ t, now });
    while (this.#seen.length > 2 && this.#seen[1].now < now - WINDOW) this.#seen.shift();
  }

  /** The speed as of now. */
  value(now = performance.now()) {
    const [first, last] = [this.#seen[0], this.#seen.at(-1)];
    if (!first || (last === first && now - first.now < 1000)) return null;
    if (now - last.now > WINDOW) return 0;
    return ((last.t - first.t) * 1000) / Math.max(1, now - first.now);
  }
}
