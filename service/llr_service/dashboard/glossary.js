/** Terms explained where they stand: a "?" that opens a sentence. */

import { el } from "./dom.js";

const TERMS = {
  t: "The number of samples learnt so far.",
  "samples/s": "Samples learnt per second while you look at this page.",
  "recent loss":
    "How wrong the last predictions were, each made before its sample was learnt: an " +
    "exponentially weighted mean over about the last 200 samples.",
  "mean loss": "The loss averaged over all samples since the first.",
  RMSE:
    "Root mean squared error over about the last 200 samples, in the unit of what is predicted. " +
    "The baseline always predicts the mean of the labels so far.",
  accuracy:
    "The share of the last 200 samples or so whose class was predicted right. The baseline " +
    "always predicts the most frequent class so far.",
  η: "The step size: how far one sample moves the parameters. It is learnt, not tuned.",
  regret:
    "The total loss beyond that of the best parameters in hindsight. If it grows ever more " +
    "slowly, the session learns as well as it can.",
  θ: "The parameters: the weight of each feature in the prediction.",
  contribution: "The weight of a feature times its value: its part of the score.",
};

/** A "?" for a term, or null for a term that has no explanation. */
export function explain(term) {
  const text = TERMS[term];
  if (!text) return null;
  const mark = el("summary", { "aria-label": `What is ${term}?` }, "?");
  return el("details", { class: "why" }, mark, el("p", { role: "note" }, text));
}
