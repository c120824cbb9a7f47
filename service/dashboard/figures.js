/** The charts of a page: which there are, what each shows, and whether its axis is logarithmic. */

import { Chart } from "./chart.js";
import { button, el, set } from "./dom.js";
import { isNumber, NOTHING, number } from "./format.js";

/** What can be drawn of one or several sessions. */
export const KINDS = {
  eta: {
    title: "Step size η",
    log: true,
    empty: "Nothing learnt yet: send a first sample.",
    describe: (v) => (isNumber(v) && v > 0 ? `${number(v)} (log η ${number(Math.log(v))})` : number(v)),
  },
  regret: {
    title: "Regret",
    log: false,
    empty: "No regret to show: it is off, or it has no exact form for this model.",
    describe: (v) => number(v),
  },
  loss: {
    title: "Mean loss",
    log: false,
    empty: "Nothing learnt yet: send a first sample.",
    describe: (v) => number(v),
  },
  theta: {
    title: "θ, largest coordinates",
    log: false,
    empty: "θ is not known before the first sample.",
    describe: (v) => number(v),
  },
};

/** Charts by kind, with a switch each, and one for the axis of t in `timeSwitch`. */
export class Figures {
  #t = "linear";
  #shown = new Map();

  constructor(kinds) {
    this.charts = new Map(kinds.map((kind) => [kind, this.#figure(kind)]));
    this.element = el("div", { class: "charts" }, [...this.charts.values()].map((one) => one.element));
    this.timeSwitch = toggle("log t", "The axis of t is logarithmic", false, (on) => {
      this.#t = on ? "log" : "linear";
      for (const kind of this.charts.keys()) this.#draw(kind);
    });
  }

  /** Draw the series of a kind, each `{name, t, values}`. */
  show(kind, series) {
    this.#shown.set(kind, series);
    this.#draw(kind);
  }

  /** Leave the page. */
  close() {
    for (const { chart } of this.charts.values()) chart.close();
  }

  #figure(kind) {
    const { title, log, ...rest } = KINDS[kind];
    const chart = new Chart({ title, ...rest });
    const figure = { chart, log };
    const logarithmic = toggle("log", `${title}: logarithmic axis`, log, (on) => {
      figure.log = on;
      this.#draw(kind);
    });
    figure.now = el("span", { class: "chart-now" });
    const head = el("div", { class: "card-head" }, el("h2", {}, title), figure.now, logarithmic);
    figure.element = el("section", { class: "card", "data-chart": kind, "aria-label": title }, head, chart.element);
    return figure;
  }

  #draw(kind) {
    const { chart, log, now } = this.charts.get(kind);
    const series = this.#shown.get(kind) ?? [];
    chart.draw(series, { t: this.#t, y: log ? "log" : "linear" });
    const last = series.length === 1 ? series[0].values.at(-1) : null;
    now.textContent = isNumber(last) ? number(last) : series.length === 1 ? NOTHING : "";
  }
}

function toggle(label, title, on, change) {
  const flip = () => {
    const pressed = made.getAttribute("aria-pressed") !== "true";
    set(made, { "aria-pressed": String(pressed) });
    change(pressed);
  };
  const made = button(label, flip, { class: "toggle", "aria-pressed": String(on), "aria-label": title, title });
  return made;
}
