/** Several sessions in one chart each for recent loss, metric, mean loss, η and regret. */

import { MOST_SERIES } from "./chart.js";
import { compareChips } from "./chips.js";
import { el, fill } from "./dom.js";
import { Feed } from "./feed.js";
import { Figures } from "./figures.js";
import { count, number } from "./format.js";
import { term } from "./glossary.js";
import { readHistory } from "./history.js";
import { sessionPath } from "./api.js";
import { swatch } from "./legend.js";
import { metricOf } from "./metrics.js";
import { Pause } from "./pause.js";
import { problemBox } from "./problem.js";
import { TO_LIST } from "./router.js";

const [EVERY, POINTS] = [1500, 400];
const LINES = ["recent", "loss", "eta", "regret"];
const KINDS = ["recent", "metric", "loss", "eta", "regret"];
const COLUMNS = {
  t: "t",
  metric: "metric",
  baseline: "baseline",
  recent: "recent loss",
  loss: "mean loss",
  eta: "η",
  regret: "regret",
};

/** The page at `#/compare/A,B`. */
export function comparePage(here, names) {
  return new ComparePage(here, names.slice(0, MOST_SERIES));
}

class ComparePage {
  title = "Compare";
  #pasts = new Map();
  #models = new Map();

  constructor(here, names) {
    Object.assign(this, { here, names });
    this.#build();
    const tell = (state) => this.#tell(state);
    this.feed = new Feed((signal) => this.#read(signal), { every: EVERY, tell });
  }

  /** Leave the page. */
  close() {
    this.feed.close();
    this.figures.close();
  }

  #build() {
    this.figures = new Figures(KINDS, { loss: "How they learn" });
    this.notice = el("div");
    this.pause = new Pause(() => this.feed);
    this.rows = el("tbody");
    const back = el("a", { class: "back", href: TO_LIST }, "← Sessions");
    const title = el("div", {}, back, el("h1", { tabindex: -1 }, "Compare"));
    const tools = el("div", { class: "tools" }, this.pause.element);
    const head = el("div", { class: "head" }, title, tools);
    const chips = compareChips(this.here.api, this.names);
    const parts = [head, chips, this.notice, this.figures.element, this.#table()];
    this.element = el("div", { class: "compare" }, parts);
  }

  #table() {
    const heads = ["session", ...Object.values(COLUMNS).map((word) => term(word))];
    const row = el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)));
    const table = el("table", { class: "standing" }, el("thead", {}, row), this.rows);
    return el("div", { class: "card table" }, table);
  }

  async #read(signal) {
    const missing = [];
    const load = async (name) => {
      try {
        const asked = { points: POINTS, signal };
        this.#pasts.set(name, await readHistory(this.here.api, name, asked));
        if (!this.#models.has(name)) await this.#ask(name, signal);
      } catch (error) {
        if (![404, 422].includes(error.status)) throw error;
        this.#pasts.delete(name);
        missing.push(name);
      }
    };
    await Promise.all(this.names.map(load));
    const notes = missing.map((name) => `There is no session ${name}.`);
    if (this.names.length < 2) notes.push("Add sessions to compare them.");
    fill(this.notice, notes.map((text) => el("p", { class: "note" }, text)));
    this.#draw();
  }

  /** A session keeps its model: it is asked for once. */
  async #ask(name, signal) {
    const { model } = await this.here.api.get(sessionPath(name), { signal });
    this.#models.set(name, model);
  }

  #draw() {
    const marks = this.names.flatMap((name) => {
      return (this.#pasts.get(name)?.marks ?? []).map((one) => ({ ...one, name }));
    });
    for (const kind of LINES) {
      const all = this.names.map((name) => this.#line(name, kind));
      const series = all.filter((one) => one.values.length);
      this.figures.show(kind, series.length || !this.#pasts.size ? series : null, marks);
    }
    this.#drawMetric(marks);
    const row = (name, i) => standing(name, i, this.#pasts.get(name), this.#models.get(name));
    fill(this.rows, this.names.map(row));
  }

  #line(name, kind, looks = {}) {
    const past = this.#pasts.get(name);
    const color = this.names.indexOf(name);
    const values = past?.[kind] ?? [];
    return { name, color, t: past?.t ?? [], values, clock: past, ...looks };
  }

  /** The metric of the first session; those with another one have their numbers in the table. */
  #drawMetric(marks) {
    const known = this.names.filter((name) => this.#models.has(name));
    if (!known.length) return void this.figures.show("metric", []);
    const labelOf = (name) => metricOf(this.#models.get(name)).label;
    const label = labelOf(known[0]);
    const [same, others] = [true, false].map((wanted) => {
      return known.filter((name) => (labelOf(name) === label) === wanted);
    });
    const own = same.map((name) => this.#line(name, "metric"));
    const beside = same.map((name) => {
      return this.#line(name, "baseline", { name: `${name}: baseline`, dashed: true });
    });
    const fits = own.length + beside.length <= MOST_SERIES;
    this.figures.rename("metric", label);
    this.figures.note("metric", others.length ? `without ${others.join(", ")}` : "");
    this.figures.show("metric", fits ? [...own, ...beside] : own, marks);
  }

  #tell(state) {
    this.here.connection.show(state);
    if (state.kind === "refused") fill(this.notice, problemBox(state.error));
  }
}

function standing(name, i, past, model) {
  const { label: metric, write } = metricOf(model);
  const words = {
    t: count,
    metric: (value) => `${write(value)} ${model ? metric : ""}`,
    baseline: write,
  };
  const cells = Object.entries(COLUMNS).map(([column, label]) => {
    const text = (words[column] ?? number)(past?.[column]?.at(-1));
    return el("td", { class: "figure", "data-label": label }, text);
  });
  return el("tr", {}, el("th", { scope: "row" }, swatch(i), name), cells);
}
