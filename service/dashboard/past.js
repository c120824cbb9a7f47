/**
 * The past of one session as columns: the service's thinned history, then the states seen live.
 * When more happened between two states than a chart can leave out, it asks for the history anew.
 */

import { readHistory } from "./history.js";
import { coordinates, largest } from "./theta.js";

const [MOST_POINTS, MOST_COORDINATES, APART] = [1000, 6, 1000];

/** Columns t, eta, loss, regret, and theta (a column a coordinate). */
export class Past {
  #asked = -Infinity;
  #wanted = [];
  #stale = false;

  constructor(api, name) {
    Object.assign(this, { api, name, t: [], eta: [], loss: [], regret: null });
    Object.assign(this, { theta: [], labels: [] });
  }

  /** Read the history; θ's coordinates are those that are largest in `state`. */
  async load(state, signal) {
    this.#asked = performance.now();
    this.#stale = false;
    this.#wanted = largest(state.theta, MOST_COORDINATES);
    const asked = { points: 500, theta: this.#wanted, signal };
    const past = await readHistory(this.api, this.name, asked);
    const known = coordinates(state.theta);
    const { t, eta, loss, regret } = past;
    Object.assign(this, { t, eta, loss, regret });
    this.theta = past.coordinates.map((_, k) => past.theta.map((row) => row[k]));
    this.labels = past.coordinates.map((i) => known[i]?.label ?? `θ[${i}]`);
  }

  /** Add a state as it came. */
  add(state) {
    const last = this.t.at(-1) ?? -1;
    if (state.t <= last) return;
    const known = coordinates(state.theta);
    const spacing = Math.max(1, last / this.t.length);
    this.t.push(state.t);
    this.eta.push(state.eta);
    this.loss.push(state.loss.mean);
    this.regret?.push(state.regret.ml);
    this.theta.forEach((column, k) => column.push(known[this.#wanted[k]]?.value ?? null));
    const grown = known.length > 0 && this.theta.length === 0;
    const compared = this.regret === null && state.regret.ml !== null;
    const leapt = state.t - last > 3 * spacing;
    this.#stale ||= grown || compared || leapt || this.t.length > MOST_POINTS;
  }

  /** Whether it is time to load the history anew: something is missing, and not too often. */
  get due() {
    return this.#stale && performance.now() - this.#asked > APART;
  }
}
