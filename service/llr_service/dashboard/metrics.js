/** Metrics that people know: the main one of a model, and all of them in a table. */

import { el, fill, set } from "./dom.js";
import { isNumber, number, percent } from "./format.js";
import { term } from "./glossary.js";

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
const ROWS = [
  ["rmse", "RMSE", RMSE.write],
  ["mae", "MAE", RMSE.write],
  ["accuracy", "accuracy", percent],
  ["auc", "AUC", RMSE.write],
  ["coverage", "coverage", percent],
];
const ABOUT_90 = "should be near 90 %";

/** `{id, label, baseline, write, better}` of the main metric for a model's name. */
export function metricOf(model) {
  return CLASSES.has(model) ? ACCURACY : RMSE;
}

/** A card with each metric, recent and overall, beside the baseline's. */
export class MetricsCard {
  constructor() {
    const heads = ["recent", "overall", "baseline, recent", "baseline, overall"].map((word) => {
      const about = word.startsWith("baseline") ? "baseline" : word;
      return el("th", { scope: "col", class: "figure" }, term(word, about));
    });
    const first = el("th", { scope: "col" }, "metric");
    this.rows = el("tbody");
    const columns = el("thead", {}, el("tr", {}, first, heads));
    const table = el("table", { class: "standing" }, columns, this.rows);
    const head = el("div", { class: "card-head" }, el("h2", {}, "How good the predictions are"));
    const attributes = { class: "card metrics", "aria-label": "Metrics", hidden: true };
    this.element = el("section", attributes, head, table);
  }

  /** Show a state. The rows stay the same elements, so that a "?" that is open stays open. */
  show({ metrics = {}, t }) {
    const known = ROWS.filter(([id]) => metrics[id]);
    set(this.element, { hidden: !t || !known.length });
    if (this.made?.join() !== known.map(([id]) => id).join()) this.#make(known);
    for (const [id, , write] of known) this.#fill(id, write, metrics);
  }

  #make(known) {
    this.made = known.map(([id]) => id);
    this.cells = {};
    fill(this.rows, known.map(([id, label]) => this.#row(id, label)));
  }

  #row(id, label) {
    const cell = (head) => el("td", { class: "figure", "data-label": head });
    const own = ["recent", "overall"].map(cell);
    const beside = id === "coverage" ? [el("td", { class: "figure words", colspan: 2 }, ABOUT_90)]
      : ["baseline, recent", "baseline, overall"].map(cell);
    this.cells[id] = [...own, ...beside];
    const name = el("th", { scope: "row" }, term(label));
    return el("tr", { "data-metric": id }, name, this.cells[id]);
  }

  #fill(id, write, { [id]: own, baseline = {} }) {
    const beside = id === "coverage" ? null : baseline[id];
    const values = [own.recent, own.overall, beside?.recent, beside?.overall];
    values.forEach((value, k) => {
      const cell = this.cells[id][k];
      if (id === "coverage" && k > 1) return;
      cell.textContent = isNumber(value) ? write(value) : "–";
    });
  }
}
