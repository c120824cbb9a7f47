/** The metric people know for a model: accuracy where it predicts classes, RMSE for numbers. */

import { number, percent } from "./format.js";

const CLASSES = new Set(["logistic", "softmax", "bernoulli"]);
const ACCURACY = {
  id: "accuracy",
  label: "accuracy",
  baseline: "Always predicting the most frequent class",
  write: percent,
  better: (recent, overall) => recent > overall,
};
const RMSE = {
  id: "rmse",
  label: "RMSE",
  baseline: "Always predicting the mean of the labels",
  write: (value) => number(value, 3),
  better: (recent, overall) => recent < overall,
};

/** `{id, label, baseline, write, better}` for a model's name. */
export function metricOf(model) {
  return CLASSES.has(model) ? ACCURACY : RMSE;
}
