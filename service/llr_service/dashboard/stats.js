/** The numbers of a session as they stand, side by side. */

import { el, say, set } from "./dom.js";
import { Facts } from "./facts.js";
import { count, number, perSecond } from "./format.js";

const SHOWN = [
  ["t", "t", "samples learnt"],
  ["rate", "samples/s", "over the last seconds"],
  ["eta", "η", ""],
  ["loss", "mean loss", ""],
  ["ml", "regret", "against the best so far"],
  ["fixed", "regret", "against the best fixed θ"],
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
    this.#say("t", count(state.t));
    this.#say("rate", perSecond(rate));
    const log = `log η ${number(state.log_eta ?? Math.log(state.eta))}`;
    const status = state.eta_status;
    this.#say("eta", number(state.eta), status ? `${log}, ${status.state}` : log);
    set(this.advice, { hidden: !status });
    say(this.advice, status ? `η is ${status.state}: ${status.advice}.` : "");
    this.#say("loss", number(state.loss.mean), `total ${number(state.loss.total)}`);
    this.#say("ml", number(state.regret.ml));
    this.#say("fixed", number(state.regret.best_fixed));
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
  return { value, remark, element: el("div", {}, el("dt", {}, label), value, remark) };
}
