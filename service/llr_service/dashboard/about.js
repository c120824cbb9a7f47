/** What a session is, in a line: its model, its algorithm, its size, and whether it diverged. */

import { el } from "./dom.js";
import { day, NOTHING, plural } from "./format.js";

const BADGES = {
  diverged: "diverged: the last batch was refused",
  stopped: "stopped: it did not learn all it was forked for",
};

/** The parts of the line. An algorithm without a base has no use for a first step size. */
export function aboutSession(state, { models, algorithms }) {
  const { model, algorithm, status, config, created_at: at } = state;
  const size = named(models, model).features ? sizeOf(state) : null;
  const step = named(algorithms, algorithm).needs_eta0 ? `eta0 ${config.eta0}` : null;
  const created = at ? `created ${day(at)}` : null;
  const facts = [model, algorithm, size, step, created].filter(Boolean).join(" · ");
  const words = BADGES[status];
  return [facts, " ", words ? el("strong", { class: "badge" }, words) : null];
}

/** How many features it has, in words. */
export function sizeOf({ dim, features }) {
  if (features) return plural(features.known, "named feature", "named features");
  return `dim ${dim ?? NOTHING}`;
}

/** The entry of a name among those of the catalogue. */
export function named(entries, name) {
  return entries.find((one) => one.name === name);
}
