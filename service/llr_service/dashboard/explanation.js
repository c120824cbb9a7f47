/** A prediction in words, and how it came about: each feature's contribution to the score. */

import { el } from "./dom.js";
import { count, isNumber, number, percent } from "./format.js";
import { term } from "./glossary.js";
import { contributions } from "./inputs.js";
import { metricOf } from "./metrics.js";
import { isNamed, parts } from "./theta.js";

/** The level of the interval that is asked for. */
export const LEVEL = 0.9;
const MOST_LINES = 50;

/** The state whose θ explains a prediction: the one at hand if it is whole and of the same t. */
export async function weightsFor(state, said, load) {
  const { features, theta } = state;
  const whole = !features || Object.keys(theta).length >= features.known;
  return whole && state.t === said.t ? state : load();
}

/** A box with the prediction, and what each feature contributed by the weights of `state`. */
export function explanation(said, x, state) {
  const { intercept: constant = null, theta } = state;
  const several = Array.isArray(said.predictions) || Array.isArray(Object.values(theta ?? {})[0]);
  const row = several ? likeliest(said, state) : null;
  const found = x === undefined ? [] : contributions(x, theta, row);
  const words = el("p", {}, ...wordsOf(said, state));
  if (!found.length) return el("div", { class: "answer" }, words);
  const base = { label: "intercept", part: parts(constant)[row ?? 0] ?? 0 };
  const all = constant === null ? found : [base, ...found];
  const score = all.reduce((sum, { part }) => sum + part, 0);
  return el("div", { class: "answer" }, words, tableOf(all), sum(score, all, said, state));
}

/** The prediction, with its interval or its set of classes. */
function wordsOf({ predictions: made, probabilities, lower, upper, set: within }, { model }) {
  const classes = metricOf(model).id === "accuracy";
  const chance = probabilities ? Math.max(...Object.values(probabilities)) : null;
  const value = Array.isArray(made) ? `class ${most(made)} (${percent(Math.max(...made))})`
    : typeof made === "string" ? `${made} (${percent(chance)})`
      : classes ? `${percent(made)} for class 1` : number(made);
  const range = isNumber(lower) && isNumber(upper)
    ? `${percent(LEVEL)} of labels are between ${number(lower)} and ${number(upper)}.`
    : within ? `${percent(LEVEL)} sure that it is among: ${within.join(", ")}.`
      : "It is too early for an interval.";
  return [el("strong", { "data-stat": "prediction" }, value), ` · ${range}`];
}

function tableOf(all) {
  const top = Math.max(...all.map(({ part }) => Math.abs(part)), Number.MIN_VALUE);
  const sorted = [...all].sort((a, b) => Math.abs(b.part) - Math.abs(a.part));
  const heads = ["feature", "weight", "value", term("contribution")];
  const head = el("tr", {}, heads.map((one) => el("th", { scope: "col" }, one)));
  const lines = sorted.slice(0, MOST_LINES).map((one) => line(one, top));
  return el("table", {}, el("thead", {}, head), el("tbody", {}, lines));
}

function line({ label, weight, value, part }, top) {
  const share = el("meter", { min: 0, max: 1, "aria-hidden": "true" });
  share.value = Math.abs(part) / top;
  const cells = [weight, value].map((one) => {
    return el("td", { class: "figure" }, isNumber(one) ? number(one) : "");
  });
  const last = el("td", { class: "figure part" }, number(part), share);
  return el("tr", {}, el("th", { scope: "row", class: "name" }, label), cells, last);
}

/** The sum, and what would make it differ from what was predicted. */
function sum(score, all, said, { t, features, theta }) {
  const hidden = all.length - MOST_LINES;
  const rest = hidden > 0 ? ` The ${MOST_LINES} largest of ${count(all.length)} are shown.` : "";
  const moved = t === said.t ? "" : ` The weights are of t ${count(t)}, the prediction of t ` +
    `${count(said.t)}: samples arrived in between.`;
  const known = ({ label }) => label === "intercept" || label in theta;
  const shared = features?.hashing && isNamed(theta) && !all.every(known)
    ? " A name that shares its place has no weight of its own here, so this sum leaves it out."
    : "";
  const text = `Score, the sum of all contributions: ${number(score)}.`;
  return el("p", { class: "hint" }, `${text}${rest}${moved}${shared}`);
}

function likeliest({ predictions, probabilities }, { config }) {
  if (Array.isArray(predictions)) return most(predictions);
  const names = config.classes ?? Object.keys(probabilities ?? {});
  return Math.max(0, names.indexOf(String(predictions)));
}

function most(values) {
  return values.indexOf(Math.max(...values));
}
