/** The numbers of a session as they stand, side by side. */

import { el, say, set } from "./dom.js";
import { Facts } from "./facts.js";
import { ago, count, number, perSecond } from "./format.js";
import { explain } from "./glossary.js";
import { metricOf } from "./metrics.js";

const SHOWN = [
  ["t", "t", "samples learnt"],
  ["rate", "samples/s", "over the last seconds"],
  ["metric", "RMSE", ""],
  ["loss", "recent loss", ""],
  ["eta", "η", ""],
  ["ml", "regret", ""],
];

/** A strip of figures, a line below it on how η does, and what else is to be known. */
export class Stats {
  constructor() {
    this.parts = new Map(SHOWN.map(([id, label, note]) => [id, part(id, label, note)]));
    const figures = [...this.parts.values()].map((one) => one.element);
    this.advice = el("p", { class: "hint", "data-stat": "advice", hidden: true });
    this.facts = new Facts();
    const parts = [el("dl", { class: "stats" }, figures), this.advice, this.facts.element];
    this.element = el("div", {}, parts);
  }

  /** Show a state, and how fast t moves. */
  show(state, rate) {
    this.facts.show(state);
    const last = state.last_sample_at ? `last ${ago(state.last_sample_at)}` : "samples learnt";
    this.#say("t", count(state.t), last);
    this.#metric(state);
    this.#say("rate", perSecond(rate));
    const log = `log η ${number(state.log_eta ?? Math.log(state.eta))}`;
    const status = state.eta_status;
    this.#say("eta", number(state.eta), status ? `${log}, ${status.state}` : log);
    set(this.advice, { hidden: !status });
    say(this.advice, status ? `η is ${status.state}: ${status.advice}.` : "");
    this.#say("loss", number(state.loss.recent), `mean of all ${number(state.loss.mean)}`);
    const fixed = `best fixed θ: ${number(state.regret.best_fixed)}`;
    this.#say("ml", number(state.regret.ml), fixed);
  }

  #metric({ model, metrics }) {
    const { id, label, write } = metricOf(model);
    const part = this.parts.get("metric");
    if (part.label.textContent !== label) {
      say(part.label, label);
      part.why.replaceWith((part.why = explain(label)));
    }
    const baseline = write(metrics?.baseline?.[id]?.recent);
    this.#say("metric", write(metrics?.[id]?.recent), `baseline ${baseline}`);
  }

  #say(id, text, note) {
    const { value, remark } = this.parts.get(id);
    say(value, text);
    if (note !== undefined) say(remark, note);
  }
}

function part(id, label, note) {
  const value = el("dd", { "data-stat": id }, "–");
  const remark = el("dd", { class: "remark" }, note);
  const [word, why] = [el("span", {}, label), explain(label)];
  const term = el("dt", { class: "term" }, word, why);
  return { value, remark, label: word, why, element: el("div", {}, term, value, remark) };
}
