/**
 * The past of one session as columns: the service's thinned history, then the states seen live.
 * When more happened between two states than a chart can leave out, it asks for the history anew.
 */

import { driftMarks, readHistory } from "./history.js";
import { metricOf } from "./metrics.js";
import { active } from "./shadows.js";
import { coordinates, isNamed, largest } from "./theta.js";

const [MOST_POINTS, MOST_COORDINATES, APART] = [1000, 6, 1000];

/** Columns t, eta, loss, regret, and theta (a column a coordinate); those of shadows; drift. */
export class HistoryModel {
  #asked = -Infinity;
  #shown = [];
  #stale = false;

  constructor(api, name) {
    Object.assign(this, { api, name, t: [], eta: [], loss: [], recent: [], regret: null });
    Object.assign(this, { time: [], metric: [], baseline: [], marks: [], model: null });
    Object.assign(this, { theta: [], labels: [], shadows: {}, ranges: { theta: [] } });
  }

  /** The lines of a kind: the session's own first, then its shadows'; null if there is none. */
  series(kind) {
    if (this[kind] === null) return null;
    const others = Object.entries(this.shadows).filter(([, one]) => one[kind]);
    const lines = others.map(([name, { t, [kind]: values }]) => ({ name, t, values, clock: this }));
    const own = { name: this.name, t: this.t, values: this[kind], clock: this };
    return [{ ...own, ...this.ranges[kind] }, ...lines];
  }

  /** Read the history; θ's coordinates are those that are largest in `state`. */
  async load(state, signal) {
    this.#asked = performance.now();
    this.#stale = false;
    const wanted = largest(state.theta, MOST_COORDINATES);
    const past = await readHistory(this.api, this.name, { points: 500, theta: wanted, signal });
    const { t, time, eta, loss, recent, regret, shadows, marks, metric, baseline } = past;
    const learn = active(state.shadows).filter((name) => name in shadows);
    Object.assign(this, { t, time, eta, loss, recent, regret, marks, metric, baseline });
    this.model = state.model;
    this.shadows = Object.fromEntries(learn.map((name) => [name, shadows[name]]));
    this.#shown = past.coordinates.slice(0, MOST_COORDINATES);
    this.theta = this.#shown.map((_, k) => past.theta.map((row) => row[k]));
    this.ranges = ranges(past, this.#shown.length);
    this.labels = this.#shown.map((one) => find(state.theta)(one)?.label ?? `θ[${one}]`);
  }

  /** Add a state as it came. */
  add(state) {
    const last = this.t.at(-1) ?? -1;
    this.#stale ||= active(state.shadows).join() !== Object.keys(this.shadows).join();
    this.#stale ||= this.theta.length === 0 && coordinates(state.theta).length > 0;
    if (state.t <= last) return;
    const known = find(state.theta);
    const spacing = Math.max(1, last / this.t.length);
    this.t.push(state.t);
    this.time.push(Date.parse(state.last_sample_at));
    this.eta.push(state.eta);
    this.loss.push(state.loss.mean);
    this.recent.push(state.loss.recent);
    this.#addMetric(state);
    this.regret?.push(state.regret.ml);
    this.theta.forEach((column, k) => column.push(known(this.#shown[k])?.value ?? null));
    widen(this.ranges.eta, this.eta);
    this.theta.forEach((column, k) => widen(this.ranges.theta[k], column));
    const compared = this.regret === null && state.regret.ml !== null;
    const leapt = state.t - last > 3 * spacing;
    this.#stale ||= state.drift?.at.at(-1) !== this.marks.at(-1)?.t;
    this.marks = driftMarks(state.drift?.at ?? [], state.drift?.time ?? []);
    this.#addShadows(state);
    this.#stale ||= compared || leapt || this.t.length > MOST_POINTS;
  }

  #addMetric({ model, metrics }) {
    const { id } = metricOf(model);
    this.metric.push(metrics?.[id]?.recent ?? null);
    this.baseline.push(metrics?.baseline?.[id]?.recent ?? null);
  }

  /** Add what shadows came to. */
  #addShadows({ t, shadows }) {
    for (const [name, past] of Object.entries(this.shadows)) {
      const { eta, loss, regret } = shadows[name] ?? {};
      if (!loss) continue;
      past.t.push(t);
      past.eta.push(eta);
      past.loss.push(loss.mean);
      past.recent.push(loss.recent);
      past.regret?.push(regret.ml);
    }
  }

  /** Whether it is time to load the history anew: something is missing, and not too often. */
  get due() {
    return this.#stale && performance.now() - this.#asked > APART;
  }
}

/** Draw a history: a chart a kind, with the lines of shadows and marks where the loss rose. */
export function drawHistory(figures, past) {
  const { t, theta, labels, marks, ranges } = past;
  for (const kind of ["recent", "eta", "regret", "loss"]) {
    figures.show(kind, past.series(kind) ?? (t.at(-1) ? null : []), marks);
  }
  drawMetric(figures, past);
  const lines = theta.map((values, k) => {
    return { name: labels[k], t, values, clock: past, ...ranges.theta[k] };
  });
  figures.show("theta", lines, marks);
}

/** The metric people know, and the same of the baseline. */
function drawMetric(figures, past) {
  const { t, metric, baseline, model, marks } = past;
  if (model === null) return;
  const { label, write } = metricOf(model);
  const own = { name: label, t, values: metric, clock: past };
  const beside = { name: "baseline", t, values: baseline, clock: past, dashed: true };
  figures.rename("metric", label);
  figures.note("metric", write(metric.at(-1)));
  figures.show("metric", [own, beside], marks);
}

/** The range since the point before, of η and of each coordinate of θ. */
function ranges({ log_eta_low = [], log_eta_high = [], theta_low = [], theta_high = [] }, count) {
  const eta = { low: log_eta_low.map(Math.exp), high: log_eta_high.map(Math.exp) };
  const column = (rows, k) => rows.map((row) => row[k]);
  const each = (_, k) => ({ low: column(theta_low, k), high: column(theta_high, k) });
  return { eta, theta: Array.from({ length: count }, each) };
}

/** Give the last point a range: of a state seen live no more is known than where it moved. */
function widen(range, values) {
  if (!range?.low.length) return;
  const [before, now] = values.slice(-2);
  const known = Number.isFinite(before) && Number.isFinite(now) && range.low.at(-1) !== null;
  range.low.push(known ? Math.min(before, now) : null);
  range.high.push(known ? Math.max(before, now) : null);
}

/** How a coordinate of the past is found in the present: by its number, or by its name. */
function find(theta) {
  const known = coordinates(theta);
  if (!isNamed(theta)) return (place) => known[place];
  const byLabel = new Map(known.map((one) => [one.label, one]));
  return (name) => byLabel.get(name);
}
