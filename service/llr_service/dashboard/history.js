/** The past of a session as the service tells it, with the mean loss worked out. */

import { sessionPath } from "./api.js";

/** Columns t, eta, loss (the mean), regret or null, theta (rows), coordinates; shadows alike. */
export async function readHistory(api, name, { points, theta = [], signal }) {
  const names = theta.some((one) => typeof one === "string");
  const query = new URLSearchParams({ points, theta: names ? JSON.stringify(theta) : theta });
  const past = await api.get(sessionPath(name, `/history?${query}`), { signal });
  const beside = Object.entries(past.shadows).map(([shadow, one]) => [shadow, withMean(one)]);
  return { ...withMean(past), shadows: Object.fromEntries(beside) };
}

/** Who came later has judged the samples since. */
function withMean(past) {
  const start = past.t[0];
  const mean = (total, i) => (past.t[i] > start ? total / (past.t[i] - start) : null);
  return { ...past, loss: past.loss.map(mean) };
}
