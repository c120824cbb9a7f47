/** The charts of a page: which there are, what each shows, and whether its axis is logarithmic. */

import { Chart } from "./chart.js";
import { button, el, say, set } from "./dom.js";
import { number } from "./format.js";

const FRESH = "Nothing learnt yet: send a first sample.";

/** What can be drawn of one or several sessions. */
export const KINDS = {
  eta: {
    title: "Step size η",
    log: true,
    describe: (v) => (v > 0 ? `${number(v)} (log η ${number(Math.log(v))})` : number(v)),
  },
  regret: {
    title: "Regret",
    log: false,
    absent: "No regret to show: it is off, or it has no exact form for this model.",
    describe: (v) => number(v),
  },
  loss: {
    title: "Mean loss",
    log: false,
    describe: (v) => number(v),
  },
  theta: {
    title: "θ, largest coordinates",
    log: false,
    describe: (v) => number(v),
  },
};

/** Charts by kind, with a switch each, and one for the axis of t in `timeSwitch`. */
export class Figures {
  #t = "linear";
  #shown = new Map();

  constructor(kinds) {
    this.charts = new Map(kinds.map((kind) => [kind, this.#figure(kind)]));
    const elements = [...this.charts.values()].map((one) => one.element);
    this.element = el("div", { class: "charts" }, elements);
    this.timeSwitch = toggle("log t", "The axis of t is logarithmic", false, (on) => {
      this.#t = on ? "log" : "linear";
      for (const kind of this.charts.keys()) this.#draw(kind);
    });
  }

  /** Draw the series of a kind, each `{name, t, values}`; null if there is no such thing. */
  show(kind, series, marks = []) {
    this.#shown.set(kind, series);
    this.charts.get(kind).marks = marks;
    this.#draw(kind);
  }

  /** Say something beside the title of a kind, in place of its last value. */
  note(kind, text) {
    this.charts.get(kind).note = text;
  }

  /** Leave the page. */
  close() {
    for (const { chart } of this.charts.values()) chart.close();
  }

  #figure(kind) {
    const { title, log, describe } = KINDS[kind];
    const chart = new Chart({ title, describe });
    const figure = { chart, log };
    const logarithmic = toggle("log", `${title}: logarithmic axis`, log, (on) => {
      figure.log = on;
      this.#draw(kind);
    });
    figure.now = el("span", { class: "chart-now" });
    const head = el("div", { class: "card-head" }, el("h2", {}, title), figure.now, logarithmic);
    const attributes = { class: "card", "data-chart": kind, "aria-label": title };
    figure.element = el("section", attributes, head, chart.element);
    return figure;
  }

  #draw(kind) {
    const { chart, log, now, note, marks = [] } = this.charts.get(kind);
    const shown = this.#shown.get(kind);
    const series = shown ?? [];
    const word = shown === null ? KINDS[kind].absent : FRESH;
    chart.draw(series, { t: this.#t, y: log ? "log" : "linear" }, word, marks);
    const last = series.length === 1 ? series[0].values.at(-1) : null;
    say(now, note || (series.length === 1 ? number(last) : ""));
  }
}

function toggle(label, title, on, change) {
  const flip = () => {
    const pressed = made.getAttribute("aria-pressed") !== "true";
    set(made, { "aria-pressed": String(pressed) });
    change(pressed);
  };
  const attributes = { class: "toggle", "aria-pressed": String(on), "aria-label": title, title };
  const made = button(label, flip, attributes);
  return made;
}
