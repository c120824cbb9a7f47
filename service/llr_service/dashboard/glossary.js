/** Terms explained where they stand: a "?" that opens a sentence or two. */

import { button, el } from "./dom.js";

const EDGE = 8;

const TERMS = {
  t: "The number of samples learnt so far.",
  "samples/s": "Samples learnt per second while you look at this page.",
  "recent loss":
    "How wrong the last predictions were, each made before its sample was learnt: an " +
    "exponentially weighted mean over about the last 200 samples. It is in the unit of the " +
    "model's own loss, in which the baseline has no value: compare with the baseline by the " +
    "metric beside it.",
  "mean loss": "The loss averaged over all samples since the first.",
  loss: "How wrong the predictions were, in the unit of the model: smaller is better.",
  RMSE:
    "Root mean squared error: the typical size of an error, large errors counting more, in the " +
    "unit of the label. Smaller is better.",
  MAE: "Mean absolute error: how far a prediction is off on average, in the unit of the label.",
  accuracy: "The share of samples whose class was predicted right.",
  AUC:
    "The probability that a sample of class 1 was predicted to be likelier than one of class 0: " +
    "0.5 is chance, 1 is perfect.",
  coverage:
    "The share of labels that were within their 90 % interval or set of classes. It is right " +
    "when it is near 90 %.",
  metric:
    "RMSE, the typical size of an error, for numbers (smaller is better); accuracy, the share " +
    "predicted right, for classes (larger is better). Over about the last 200 samples.",
  recent: "An exponentially weighted mean over about the last 200 samples.",
  overall: "Over all samples since the first.",
  baseline:
    "What the simplest guess would reach on the same samples: always the mean of the labels so " +
    "far, or always the class that was most frequent. A session that does no better has learnt " +
    "nothing from the features.",
  drift:
    "The loss rose: the data changed. A test raises the alarm; by chance it would do so once in " +
    "100,000 samples. A dotted line in the charts marks when.",
  status:
    "ok; diverged: the last batch was refused because it would have left the finite numbers; " +
    "stopped: a what-if that could not learn all it was forked for. A dash: not in memory.",
  activity:
    "Learning: the last sample came at most 60 s ago. Drifting: learning, and at most 500 " +
    "samples since a drift alarm. Idle: neither, or not in memory.",
  "last sample": "How long ago the last sample was learnt.",
  trend: "The recent loss from the first sample to the last, scaled to its own range.",
  η: "The step size: how far one sample moves the parameters. It is learnt, not tuned.",
  eta0: "The step size of the first sample. Algorithms that learn the step size go on from there.",
  regret:
    "The total loss beyond that of the best parameters in hindsight. If it grows ever more " +
    "slowly, the session learns as well as it can.",
  "best fixed":
    "The total loss of the best parameters in hindsight, if they had been used from the first " +
    "sample on. Regret is what the session lost beyond that.",
  θ: "The parameters: the weight of each feature in the prediction.",
  intercept: "The part of the score that is there when all features are 0.",
  contribution: "The weight of a feature times its value: its part of the score.",
  score: "The sum of all contributions. Models of classes and counts turn it into a probability.",
  shadow:
    "Another algorithm that learns the same samples beside the session's own, the champion, and " +
    "answers nothing. It can be promoted.",
  lead:
    "The champion's mean loss minus the shadow's since the shadow was added: above 0 the shadow " +
    "is better.",
  algorithm: "How the parameters and the step size are moved by a sample.",
  "demo stream": "Made-up samples, 20 each quarter of a second, sent from this tab until you stop.",
};

/** What a term means. */
export function meaning(term) {
  return TERMS[term];
}

/** A "?" for a term, or null for a term that has no explanation. */
export function explain(term) {
  const text = TERMS[term];
  if (!text) return null;
  const note = el("span", { class: "why-note", popover: "auto", role: "note" }, text);
  const mark = button("?", null, { class: "why-mark", "aria-label": `What is ${term}?` });
  mark.popoverTargetElement = note;
  note.addEventListener("toggle", ({ newState }) => {
    if (newState !== "open") return;
    place(note, mark.getBoundingClientRect());
    window.addEventListener("scroll", () => note.hidePopover(), { once: true });
  });
  return el("span", { class: "why" }, mark, note);
}

/** A word with its "?". */
export function term(word, about = word) {
  return el("span", { class: "term" }, el("span", {}, word), explain(about));
}

/** Below the mark, and within the window. */
function place(note, { left, bottom, top }) {
  const { offsetWidth: width, offsetHeight: height } = note;
  const below = bottom + EDGE + height < innerHeight ? bottom + EDGE : top - EDGE - height;
  note.style.left = `${Math.max(EDGE, Math.min(left - width / 3, innerWidth - width - EDGE))}px`;
  note.style.top = `${Math.max(EDGE, below)}px`;
}
