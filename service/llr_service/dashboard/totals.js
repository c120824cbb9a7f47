/** What all sessions come to, in a line above the list. */

import { count, plural, size } from "./format.js";
import { parseMetrics } from "./system.js";

const EVERY = 20_000;

/** Asks for the totals now and then: to count many sessions takes the store its time. */
export class Totals {
  #at = -Infinity;
  #known = { total: null, metrics: new Map() };

  constructor(api) {
    this.api = api;
  }

  /** `{total, metrics}`; total is null and metrics are empty if the key may not read them. */
  async read(signal) {
    const now = performance.now();
    if (now - this.#at < EVERY) return this.#known;
    const counted = this.api.get("/v1/sessions?limit=1&total=true", { signal });
    const { total = null } = await counted.catch(() => ({}));
    const none = () => new Map();
    const metrics = await this.api.text("/metrics", { signal }).then(parseMetrics, none);
    if (signal.aborted) return this.#known;
    this.#at = total === null ? now - EVERY / 2 : now;
    return (this.#known = { total, metrics });
  }
}

/** The line: of the rows on the page if they are all there are, or else of the service. */
export function totalsWords(sessions, all, { metrics }) {
  const words = all ? ofRows(sessions) : ofService(metrics);
  const bytes = metrics.get("llr_store_bytes");
  const stored = bytes === undefined ? "" : `store ${size(bytes)}`;
  return [words, stored].filter(Boolean).join(" · ");
}

function ofRows(sessions) {
  const samples = sessions.reduce((sum, { t }) => sum + t, 0);
  const of = (wanted) => sessions.filter(({ activity }) => activity === wanted).length;
  const broken = sessions.filter(({ status }) => status && status !== "ok").length;
  const drifting = of("drifting");
  return [
    `${plural(samples, "sample", "samples")} learnt`,
    `${count(of("learning") + drifting)} learning now`,
    drifting && `${count(drifting)} drifting`,
    broken && `${count(broken)} diverged or stopped`,
  ].filter(Boolean).join(" · ");
}

function ofService(metrics) {
  if (!metrics.size) return "";
  const learnt = plural(metrics.get("llr_samples_total") ?? 0, "sample", "samples");
  const loaded = count(metrics.get("llr_sessions_loaded"));
  return `${learnt} learnt since the service started · ${loaded} sessions in memory`;
}
