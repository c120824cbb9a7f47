/** Several sessions in one chart each for η, regret and mean loss. */

import { sessionPath } from "./api.js";
import { MOST_SERIES } from "./chart.js";
import { button, el, fill, say, set } from "./dom.js";
import { Feed } from "./feed.js";
import { Figures } from "./figures.js";
import { count, number } from "./format.js";
import { swatch } from "./legend.js";
import { problemBox } from "./problem.js";
import { toCompare, toSession, TO_LIST } from "./router.js";

const [EVERY, POINTS] = [1500, 400];

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
    this.feed = new Feed((signal) => this.#read(signal), { every: EVERY, tell: (state) => this.#tell(state) });
  }

  /** Leave the page. */
  close() {
    this.feed.close();
    this.figures.close();
  }

  #build() {
    this.figures = new Figures(["eta", "regret", "loss"]);
    this.told = el("div");
    this.pauser = button("Pause", () => this.#pause(), { "aria-pressed": "false", id: "pause" });
    const back = el("a", { class: "back", href: TO_LIST }, "← Sessions");
    const title = el("div", {}, back, el("h1", { tabindex: -1 }, "Compare"));
    const tools = el("div", { class: "tools" }, this.figures.timeSwitch, this.pauser);
    this.body = el("tbody");
    this.element = el("div", { class: "compare" }, el("div", { class: "head" }, title, tools), this.#chosen(), this.told, this.figures.element, this.#table());
  }

  #chosen() {
    const without = (name) => toCompare(this.names.filter((other) => other !== name));
    const chip = (name, i) => {
      const off = el("a", { class: "off", href: without(name), "aria-label": `Leave out ${name}` }, "×");
      return el("li", { class: "chip" }, swatch(i), el("a", { href: toSession(name) }, name), off);
    };
    const full = this.names.length >= MOST_SERIES;
    return el("ul", { class: "chips" }, this.names.map(chip), full ? null : el("li", {}, this.#adder()));
  }

  #adder() {
    const names = el("datalist", { id: "names" });
    const field = el("input", { list: "names", placeholder: "Add a session", "aria-label": "Add a session", autocomplete: "off" });
    const add = (event) => {
      event.preventDefault();
      const name = field.value.trim();
      if (name) location.hash = toCompare([...this.names, name]);
    };
    field.addEventListener("focus", () => this.#suggest(names), { once: true });
    return el("form", { class: "adder", on: { submit: add } }, field, names, el("button", { type: "submit" }, "Add"));
  }

  async #suggest(list) {
    const { sessions } = await this.here.api.get("/v1/sessions?limit=1000").catch(() => ({ sessions: [] }));
    const others = sessions.filter(({ name }) => !this.names.includes(name));
    fill(list, others.map(({ name }) => el("option", { value: name })));
  }

  #table() {
    const heads = ["Session", "t", "η", "Mean loss", "Regret"].map((label) => el("th", { scope: "col" }, label));
    return el("div", { class: "card table" }, el("table", { class: "standing" }, el("thead", {}, el("tr", {}, heads)), this.body));
  }

  async #read(signal) {
    const failures = [];
    const load = async (name) => {
      const path = sessionPath(name, `/history?points=${POINTS}&theta=`);
      try {
        this.#pasts.set(name, byMean(await this.here.api.get(path, { signal })));
      } catch (error) {
        this.#pasts.delete(name);
        if (error.status !== 404) throw error;
        failures.push(el("p", { class: "note" }, `There is no session ${name}.`));
      }
    };
    await Promise.all(this.names.map(load));
    fill(this.told, failures, this.names.length < 2 ? el("p", { class: "note" }, "Add sessions to compare them.") : null);
    this.#draw();
  }

  #draw() {
    for (const kind of ["eta", "regret", "loss"]) {
      this.figures.show(kind, this.names.map((name) => {
        const past = this.#pasts.get(name);
        return { name, t: past?.t ?? [], values: past?.[kind] ?? [] };
      }));
    }
    fill(this.body, this.names.map((name, i) => standing(name, i, this.#pasts.get(name))));
  }

  #pause() {
    this.paused = !this.paused;
    set(this.pauser, { "aria-pressed": String(this.paused) });
    say(this.pauser, this.paused ? "Resume" : "Pause");
    if (this.paused) this.feed.pause();
    else this.feed.resume();
  }

  #tell(state) {
    this.here.connection.show(state);
    if (state.kind === "refused") fill(this.told, problemBox(state.error));
  }
}

function byMean(past) {
  return { ...past, loss: past.loss.map((total, i) => (past.t[i] ? total / past.t[i] : null)) };
}

function standing(name, i, past) {
  const last = (column) => past?.[column]?.at(-1) ?? null;
  const figures = { t: count(last("t")), η: number(last("eta")), "Mean loss": number(last("loss")), Regret: number(last("regret")) };
  const cells = Object.entries(figures).map(([label, text]) => el("td", { class: "figure", "data-label": label }, text));
  return el("tr", {}, el("th", { scope: "row" }, swatch(i), name), cells);
}
