/** A session in one sentence or two: what it predicts, how well, and whether its data changed. */

import { ago, count, isNumber, plural } from "./format.js";
import { metricOf } from "./metrics.js";

const STABLE = 0.1; // recent and overall differ by less than this share

/** The sentence. */
export function summary(state, model) {
  const quality = state.t ? ` ${qualityOf(state)}` : " It has learnt no sample yet.";
  return `${subject(state, model)}${quality}${drift(state.drift)}`;
}

function subject({ dim, features }, { features: some, summary: words }) {
  if (!some) return `Estimates ${words}.`;
  const [target] = words.split(" from features");
  return `Predicts ${target} from ${width(dim, features)}.`;
}

function width(dim, features) {
  if (features) return plural(features.known, "named feature", "named features");
  return isNumber(dim) ? plural(dim, "feature", "features") : "features";
}

function qualityOf({ model, metrics }) {
  const { id, label, baseline, write, better } = metricOf(model);
  const { recent, overall } = metrics?.[id] ?? {};
  if (!isNumber(recent)) return "Its quality is not known yet.";
  const near = Math.abs(recent - overall) <= STABLE * Math.abs(overall);
  const word = better(recent, overall) ? "better" : "worse";
  const trend = near ? "stable" : `${word} than overall (${write(overall)})`;
  const other = metrics.baseline?.[id]?.recent;
  const beside = isNumber(other) ? ` ${baseline} would give ${write(other)}.` : "";
  return `Recent ${label} ${write(recent)}, ${trend}.${beside}`;
}

function drift(found) {
  if (!found?.alarms) return "";
  const often = ["", "once", "twice"][found.alarms] ?? `${count(found.alarms)} times`;
  const time = found.time?.at(-1);
  const last = time ? ago(time) : `at t ${count(found.at.at(-1))}`;
  return ` Drift ${often}, last ${last}.`;
}
