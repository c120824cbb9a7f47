/** The past of a session as the service tells it, with the mean loss worked out. */

import { sessionPath } from "./api.js";

/** Columns t, time (ms), eta, loss (the mean), regret or null, theta (rows); shadows alike. */
export async function readHistory(api, name, { points, theta = [], signal }) {
  const names = theta.some((one) => typeof one === "string");
  const query = new URLSearchParams({ points, theta: names ? JSON.stringify(theta) : theta });
  const past = await api.get(sessionPath(name, `/history?${query}`), { signal });
  const beside = Object.entries(past.shadows).map(([shadow, one]) => [shadow, withMean(one)]);
  const time = (past.time ?? []).map((at) => Date.parse(at));
  const marks = driftMarks(past.drift ?? [], past.drift_time ?? []);
  return { ...withMean(past), time, marks, shadows: Object.fromEntries(beside) };
}

/** Drift alarms as marks of a chart: `{t, time}`, time in ms, NaN where it is not known. */
export function driftMarks(at, times) {
  return at.map((t, k) => ({ t, time: Date.parse(times[k]) }));
}

/** When a t was reached, in ms, between the points that are known; NaN beyond them. */
export function timeAt({ t, time }, wanted) {
  const k = t.findIndex((one) => one >= wanted);
  if (k <= 0 || t[k] === wanted) return time[k] ?? NaN;
  const share = (wanted - t[k - 1]) / (t[k] - t[k - 1]);
  return time[k - 1] + share * (time[k] - time[k - 1]);
}

/** A shadow that was added later has its loss of the samples since. */
function withMean(past) {
  const start = past.t[0];
  const mean = (total, i) => (past.t[i] > start ? total / (past.t[i] - start) : null);
  return { ...past, loss: past.loss.map(mean) };
}
