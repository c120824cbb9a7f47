/**
 * Pages of the list of sessions. The service lists them by name; another order or a filter needs
 * all of them. More than one request's worth is read once in 20 seconds, not at each poll.
 */

import { metricOf } from "./metrics.js";

const [STRIDE, MOST_STRIDES, KEEP] = [1000, 20, 20_000];
const VALUES = {
  loss: ({ loss }) => loss?.recent ?? null,
  last: ({ last_sample_at: at }) => at ?? null,
  metric: ({ model, metrics }) => metrics?.[metricOf(model).id]?.recent ?? null,
};

/** Reads pages, and keeps what took several requests for a while. */
export class Pages {
  #kept = { key: null, at: -Infinity, read: null };
  #seen = { at: 0, t: new Map() };

  constructor(api) {
    this.api = api;
  }

  /**
   * `{sessions, next, limited, at}`: rows after `cursor`, `next` null at the end; `limited` is how
   * many sessions were looked at if not all were, and `at` when an order was made that is kept.
   */
  async find({ filter, activity, order, cursor, size, signal }) {
    if (filter || activity || order.by !== "name" || order.down) {
      const { rows, limited, at } = await this.#everything(activity, signal);
      const wanted = filter.toLowerCase();
      const found = rows.filter(({ name }) => name.toLowerCase().includes(wanted));
      const from = Number(cursor) || 0;
      const next = from + size < found.length ? String(from + size) : null;
      const sorted = found.sort(comparing(order, VALUES[order.by]));
      return { sessions: sorted.slice(from, from + size), next, limited, at };
    }
    const found = await this.#page({ cursor, limit: size }, signal);
    return { ...found, limited: null, at: null };
  }

  async #everything(activity, signal) {
    const now = performance.now();
    const { key, at, read } = this.#kept;
    if (key === activity && read && now - at < KEEP) return read;
    const rows = [];
    let [next, strides] = ["", 0];
    for (; strides < MOST_STRIDES && next !== null; strides += 1) {
      const found = await this.#page({ cursor: next, limit: STRIDE, activity }, signal);
      rows.push(...found.sessions);
      next = found.next;
    }
    this.#rates(rows);
    const several = strides > 1;
    const limited = next === null ? null : rows.length;
    const made = { rows, limited, at: several ? Date.now() : null };
    this.#kept = several ? { key: activity, at: performance.now(), read: made } : { key: null };
    return made;
  }

  /** Samples per second since the time before, for those that were seen then. */
  #rates(rows) {
    const now = performance.now();
    const seconds = (now - this.#seen.at) / 1000;
    for (const row of rows) {
      const before = this.#seen.t.get(row.name);
      row.rate = before === undefined ? null : (row.t - before) / seconds;
    }
    this.#seen = { at: now, t: new Map(rows.map(({ name, t }) => [name, t])) };
  }

  #page({ cursor, limit, activity }, signal) {
    const asked = { limit, cursor: cursor ?? "", ...(activity ? { activity } : {}) };
    return this.api.get(`/v1/sessions?${new URLSearchParams(asked)}`, { signal });
  }
}

/** Rows without a value come last; metrics are sorted among those of one kind, accuracy first. */
function comparing({ by, down }, value = (row) => row[by] ?? null) {
  return (a, b) => {
    if (by === "metric") {
      const [left, right] = [metricOf(a.model).id, metricOf(b.model).id];
      if (left !== right) return left < right ? -1 : 1;
    }
    const [left, right] = [value(a), value(b)];
    if (left === right) return a.name < b.name ? -1 : 1;
    if (left === null || right === null) return left === null ? 1 : -1;
    return (left < right ? -1 : 1) * (down ? -1 : 1);
  };
}
