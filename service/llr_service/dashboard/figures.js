/** The charts of a page: what each shows, its switches, one crosshair and one zoom for all. */

import { Chart } from "./chart.js";
import { button, el, say, set } from "./dom.js";
import { save, toCsv, toPng } from "./export.js";
import { number } from "./format.js";
import { explain } from "./glossary.js";
import { timeAt } from "./history.js";

const FRESH = "Nothing learnt yet: send a first sample.";
const etaWords = (v) => (v > 0 ? `${number(v)} (log η ${number(Math.log(v))})` : number(v));

/** What can be drawn of one or several sessions. */
export const KINDS = {
  recent: { title: "Recent loss", axis: "loss, about the last 200 samples", term: "recent loss" },
  metric: { title: "Recent RMSE", axis: "RMSE", term: "RMSE" },
  loss: { title: "Mean loss", axis: "loss, mean of all samples", term: "mean loss" },
  eta: { title: "Step size η", axis: "η", term: "η", log: true, describe: etaWords },
  regret: { title: "Regret", axis: "regret, total loss", term: "regret" },
  theta: { title: "θ, largest coordinates", axis: "θ", term: "θ" },
};

/** Charts by kind, with a switch each, and above them those for the axis of t. */
export class Figures {
  #t = "linear";
  #timed = false;
  #shown = new Map();

  /** `sections` are headings before a kind. */
  constructor(kinds, sections = {}) {
    this.charts = new Map(kinds.map((kind) => [kind, this.#figure(kind)]));
    const heading = (kind) => el("h2", { class: "section" }, sections[kind]);
    const elements = [...this.charts].map(([kind, { element }]) => {
      return [kind in sections ? heading(kind) : null, element];
    });
    this.whole = button("Show all of t", () => this.#zoom(null), { class: "quiet", hidden: true });
    this.log = toggle("log t", "The axis of t is logarithmic", false, (on) => {
      this.#t = on ? "log" : "linear";
      for (const kind of this.charts.keys()) this.#draw(kind);
    });
    const over = (id) => button(id, () => this.#over(id), { "data-over": id });
    this.overs = ["t", "time"].map(over);
    const group = { class: "switch", role: "group", "aria-label": "Charts over t or over time" };
    const tools = [this.whole, el("div", group, this.overs), this.log];
    const bar = el("div", { class: "chart-bar" }, tools);
    this.element = el("div", { class: "charts" }, bar, elements.flat());
    this.#over("t");
  }

  /**
   * Draw the series of a kind, each `{name, t, values}`; null hides it. `marks`
   * are drift alarms `{t, time, name}`; the name, if there are several sessions.
   */
  show(kind, series, marks = []) {
    this.#shown.set(kind, series);
    this.charts.get(kind).marks = marks;
    this.#draw(kind);
  }

  /** Put elements between the charts, before that of a kind. */
  before(kind, ...elements) {
    this.charts.get(kind).element.before(...elements);
  }

  /** Say something beside the title of a kind, in place of its last value. */
  note(kind, text) {
    this.charts.get(kind).note = text;
  }

  /** Name a kind after the metric that it shows. */
  rename(kind, term) {
    const figure = this.charts.get(kind);
    if (figure.term === term) return;
    figure.term = figure.chart.axis = term;
    say(figure.heading, `Recent ${term}`);
    set(figure.element, { "aria-label": `Recent ${term}` });
    figure.why.replaceWith((figure.why = explain(term)));
  }

  /** Leave the page. */
  close() {
    for (const { chart } of this.charts.values()) chart.close();
  }

  #figure(kind) {
    const { title, axis, term, log = false, describe = (v) => number(v) } = KINDS[kind];
    const moved = (t) => this.#follow(kind, t);
    const chart = new Chart({ title, axis, describe, moved, zoomed: (to) => this.#zoom(to) });
    const figure = { chart, log, term, why: explain(term), heading: el("h2", {}, title) };
    const logarithmic = toggle("log", `${title}: logarithmic axis`, log, (on) => {
      figure.log = on;
      this.#draw(kind);
    });
    figure.now = el("span", { class: "chart-now" });
    const label = el("div", { class: "term" }, figure.heading, figure.why);
    const tools = [logarithmic, ...this.#files(kind, title, chart)];
    const together = el("div", { class: "chart-tools" }, tools);
    const head = el("div", { class: "card-head" }, label, figure.now, together);
    const attributes = { class: "card", "data-chart": kind, "aria-label": title };
    figure.element = el("section", attributes, head, chart.element);
    return figure;
  }

  #files(kind, title, chart) {
    const csv = () => save(`${kind}.csv`, toCsv(this.#shown.get(kind) ?? []));
    const png = async () => save(`${kind}.png`, await toPng(chart.svg));
    const label = (word) => ({ class: "file", "aria-label": `${title}: save as ${word}` });
    const one = (word, act) => button(word, act, label(word));
    return [one("CSV", csv), one("PNG", png)];
  }

  /** Draw over t or over wall-clock time. */
  #over(id) {
    this.#timed = id === "time";
    for (const one of this.overs) set(one, { "aria-pressed": String(one.dataset.over === id) });
    set(this.log, { disabled: this.#timed });
    this.#zoom(null);
  }

  #follow(kind, t) {
    for (const [other, { chart }] of this.charts) if (other !== kind) chart.crosshair.follow(t);
  }

  #zoom(range) {
    set(this.whole, { hidden: range === null });
    for (const [kind, { chart }] of this.charts) {
      chart.range = range;
      this.#draw(kind);
    }
  }

  #draw(kind) {
    const { chart, element, log, now, note, marks = [] } = this.charts.get(kind);
    const shown = this.#shown.get(kind);
    const series = this.#timed ? (shown ?? []).map(byTime) : (shown ?? []);
    const marked = marks.map((one) => ({ ...one, at: this.#timed ? one.time : one.t }));
    set(element, { hidden: shown === null });
    const word = chart.range ? "No sample here." : FRESH;
    const axes = { t: this.#timed ? "time" : this.#t, y: log ? "log" : "linear" };
    chart.draw(series, axes, word, marked);
    const last = series.length === 1 ? series[0].values.at(-1) : null;
    say(now, note || (series.length === 1 ? number(last) : ""));
  }
}

/** A series over time in place of t; points whose time is not known are left out. */
function byTime(series) {
  const { t, values, low, high, clock = { t: [], time: [] } } = series;
  const time = t === clock.t ? clock.time : t.map((one) => timeAt(clock, one));
  const keep = (column) => column?.filter((_, k) => Number.isFinite(time[k]));
  return { ...series, t: keep(time), values: keep(values), low: keep(low), high: keep(high) };
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
