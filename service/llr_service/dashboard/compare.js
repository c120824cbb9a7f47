/** Several sessions in one chart each for recent loss, mean loss, η and regret. */

import { MOST_SERIES } from "./chart.js";
import { chosen } from "./chosen.js";
import { el, fill } from "./dom.js";
import { Feed } from "./feed.js";
import { Figures } from "./figures.js";
import { count, number } from "./format.js";
import { readHistory } from "./history.js";
import { swatch } from "./legend.js";
import { Pause } from "./pause.js";
import { problemBox } from "./problem.js";
import { TO_LIST } from "./router.js";

const [EVERY, POINTS] = [1500, 400];
const KINDS = ["recent", "loss", "eta", "regret"];
const COLUMNS = {
  t: "t",
  recent: "Recent loss",
  loss: "Mean loss",
  eta: "η",
  regret: "Regret",
};

/** The page at `#/compare/A,B`. */
export function comparePage(here, names) {
  return new ComparePage(here, names.slice(0, MOST_SERIES));
}

class ComparePage {
  title = "Compare";
  #pasts = new Map();

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
    this.figures = new Figures(KINDS, { eta: "How they learn" });
    this.told = el("div");
    this.pause = new Pause(() => this.feed);
    this.rows = el("tbody");
    const back = el("a", { class: "back", href: TO_LIST }, "← Sessions");
    const title = el("div", {}, back, el("h1", { tabindex: -1 }, "Compare"));
    const tools = el("div", { class: "tools" }, ...this.figures.timeSwitch, this.pause.element);
    const head = el("div", { class: "head" }, title, tools);
    const chips = chosen(this.here.api, this.names);
    const parts = [head, chips, this.told, this.figures.element, this.#table()];
    this.element = el("div", { class: "compare" }, parts);
  }

  #table() {
    const heads = ["Session", ...Object.values(COLUMNS)];
    const row = el("tr", {}, heads.map((label) => el("th", { scope: "col" }, label)));
    const table = el("table", { class: "standing" }, el("thead", {}, row), this.rows);
    return el("div", { class: "card table" }, table);
  }

  async #read(signal) {
    const missing = [];
    const load = async (name) => {
      try {
        const asked = { points: POINTS, signal };
        this.#pasts.set(name, await readHistory(this.here.api, name, asked));
      } catch (error) {
        if (![404, 422].includes(error.status)) throw error;
        this.#pasts.delete(name);
        missing.push(name);
      }
    };
    await Promise.all(this.names.map(load));
    const notes = missing.map((name) => `There is no session ${name}.`);
    if (this.names.length < 2) notes.push("Add sessions to compare them.");
    fill(this.told, notes.map((text) => el("p", { class: "note" }, text)));
    this.#draw();
  }

  #draw() {
    for (const kind of KINDS) {
      const series = this.names.map((name) => {
        const past = this.#pasts.get(name);
        return { name, t: past?.t ?? [], values: past?.[kind] ?? [], clock: past };
      });
      const some = series.some((one) => one.values.length);
      this.figures.show(kind, some || !this.#pasts.size ? series : null);
    }
    fill(this.rows, this.names.map((name, i) => standing(name, i, this.#pasts.get(name))));
  }

  #tell(state) {
    this.here.connection.show(state);
    if (state.kind === "refused") fill(this.told, problemBox(state.error));
  }
}

function standing(name, i, past) {
  const cells = Object.entries(COLUMNS).map(([column, label]) => {
    const last = past?.[column]?.at(-1);
    const text = column === "t" ? count(last) : number(last);
    return el("td", { class: "figure", "data-label": label }, text);
  });
  return el("tr", {}, el("th", { scope: "row" }, swatch(i), name), cells);
}
