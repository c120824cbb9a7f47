/** The numbers of a session as they stand, side by side. */

import { el, say, set } from "./dom.js";
import { ago, count, number, perSecond } from "./format.js";
import { explain } from "./glossary.js";
import { metricOf } from "./metrics.js";
import { Notes } from "./notes.js";
import { intercept } from "./theta.js";

/** The strip above the tabs, with a line below it on labels, kept samples and a what-if. */
export class Stats {
  constructor() {
    this.strip = new Strip([
      ["t", "t"],
      ["rate", "samples/s"],
      ["metric", "RMSE"],
      ["loss", "recent loss"],
    ]);
    this.notes = new Notes();
    this.element = el("div", {}, this.strip.element, this.notes.element);
  }

  /** Show a state, and how fast t moves. */
  show(state, rate) {
    this.notes.show(state);
    const { model, metrics, loss, last_sample_at: last } = state;
    const { id, label, write } = metricOf(model);
    this.strip.show("t", count(state.t), last ? `last sample ${ago(last)}` : "no sample yet");
    this.strip.show("rate", perSecond(rate), "over the last seconds");
    this.strip.name("metric", label);
    const baseline = write(metrics?.baseline?.[id]?.recent);
    this.strip.show("metric", write(metrics?.[id]?.recent), `baseline ${baseline}`);
    this.strip.show("loss", number(loss.recent), `mean of all ${number(loss.mean)}`);
  }
}

/** How a session learns: step size, regret, intercept, with what they say in words. */
export class LearningStats {
  constructor() {
    this.strip = new Strip([
      ["eta", "η"],
      ["ml", "regret"],
      ["best", "best fixed"],
      ["intercept", "intercept"],
    ]);
    this.advice = el("p", { class: "hint", "data-stat": "advice", hidden: true });
    const title = el("h2", { class: "section" }, "How it learns");
    this.element = el("div", { class: "learning" }, title, this.advice, this.strip.element);
  }

  /** Show a state. */
  show(state) {
    const log = `log η ${number(state.log_eta ?? Math.log(state.eta))}`;
    const status = state.eta_status;
    this.strip.show("eta", number(state.eta), status ? `${log}, ${status.state}` : log);
    set(this.advice, { hidden: !status });
    say(this.advice, status ? `η is ${status.state}: ${status.advice}.` : "");
    const { ml, best_fixed: best } = state.regret;
    this.strip.show("ml", number(ml), ml === null ? "off, or has no exact form" : "total loss");
    this.strip.show("best", number(best), "total loss in hindsight");
    const numbers = intercept(state);
    this.strip.show("intercept", numbers.text || "–", numbers.note);
  }
}

/** Figures side by side, each with its name, a "?" and a remark. */
class Strip {
  constructor(shown) {
    this.parts = new Map(shown.map(([id, label]) => [id, part(id, label)]));
    const figures = [...this.parts.values()].map((one) => one.element);
    this.element = el("dl", { class: "stats" }, figures);
  }

  show(id, text, remark) {
    say(this.parts.get(id).value, text);
    say(this.parts.get(id).remark, remark);
  }

  /** Give a figure another name. */
  name(id, label) {
    const named = this.parts.get(id);
    if (named.label.textContent === label) return;
    say(named.label, label);
    named.why.replaceWith((named.why = explain(label)));
  }
}

function part(id, label) {
  const value = el("dd", { "data-stat": id }, "–");
  const remark = el("dd", { class: "remark" });
  const [word, why] = [el("span", {}, label), explain(label)];
  const term = el("dt", { class: "term" }, word, why);
  return { value, remark, label: word, why, element: el("div", {}, term, value, remark) };
}
