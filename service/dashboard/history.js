/** The past of a session as the service tells it, with the mean loss worked out. */

import { sessionPath } from "./api.js";

/** Columns t, eta, loss (the mean), regret or null, theta (rows), coordinates. */
export async function readHistory(api, name, { points, theta = [], signal }) {
  const names = theta.some((one) => typeof one === "string");
  const query = new URLSearchParams({ points, theta: names ? JSON.stringify(theta) : theta });
  const past = await api.get(sessionPath(name, `/history?${query}`), { signal });
  return { ...past, loss: past.loss.map((total, i) => (past.t[i] ? total / past.t[i] : null)) };
}
