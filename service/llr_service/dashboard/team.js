/** The champion and its shadows side by side, and a change of champion. */

import { sessionPath } from "./api.js";
import { ask } from "./dialog.js";
import { button, el, fill, say, set } from "./dom.js";
import { number } from "./format.js";
import { swatch } from "./legend.js";
import { problemBox } from "./problem.js";

const COLUMNS = ["", "algorithm", "mean loss", "regret", "η", "lead"];
const LEAD = "The champion's mean loss minus its own, on the same samples: above 0 it does better.";

/** A table that is there while a session has shadows. */
export class Team {
  #names = "";
  #rows = new Map();

  /** `changed(state)` is told when the team is another one. */
  constructor(api, name, changed) {
    Object.assign(this, { api, name, changed });
    const heads = COLUMNS.map((word, i) => el("th", { scope: "col", class: figure(i) }, word));
    set(heads.at(-1), { title: LEAD });
    const last = el("th", { scope: "col" }, el("span", { class: "unseen" }, "what to do"));
    this.body = el("tbody");
    const head = el("thead", {}, el("tr", {}, heads, last));
    const table = el("table", { class: "standing" }, head, this.body);
    const label = { "aria-label": "Champion and shadows" };
    this.element = el("section", { class: "card table team", hidden: true, ...label }, table);
  }

  /** Show a state. */
  show({ champion, algorithm, loss, regret, eta, shadows }) {
    const names = [...going(shadows), ...Object.keys(shadows).filter((one) => isOut(shadows[one]))];
    set(this.element, { hidden: names.length === 0 });
    this.#arrange([null, ...names], going(shadows).length);
    const word = champion ? `${champion} (champion)` : "champion";
    this.#say(null, { algorithm, loss, regret, eta, word });
    for (const name of names) this.#say(name, { ...shadows[name], word: name });
  }

  /** Rows stay the same elements while the team does, so that a button keeps its focus. */
  #arrange(names, lines) {
    const known = JSON.stringify([names, lines]);
    if (known === this.#names) return;
    this.#names = known;
    this.#rows = new Map(names.map((name, i) => [name, this.#row(name, i <= lines ? i : null)]));
    fill(this.body, [...this.#rows.values()].map((row) => row.element));
  }

  #row(name, i) {
    const word = el("span");
    const cells = COLUMNS.slice(1).map((label, k) => {
      return el("td", { class: figure(k + 1), "data-label": label });
    });
    const doing = el("td", { class: "doing" }, name === null ? null : this.#buttons(name));
    const head = el("th", { scope: "row" }, i === null ? null : swatch(i), word);
    return { word, cells, element: el("tr", { "data-shadow": name ?? "" }, head, cells, doing) };
  }

  #buttons(name) {
    const [up, off] = [`Promote ${name}`, `Remove ${name}`];
    const promote = { class: "quiet", "data-promote": name, "aria-label": up };
    const remove = { class: "danger quiet", "aria-label": off };
    return [
      button("Promote", () => this.#promote(name), promote),
      button("Remove", () => this.#remove(name), remove),
    ];
  }

  #say(name, { word, algorithm, loss, regret, eta, lead, status }) {
    const row = this.#rows.get(name);
    say(row.word, isOut({ status }) ? `${word} (diverged)` : word);
    const figures = [loss.mean, regret.ml, eta, name === null ? null : lead];
    const told = [algorithm, ...figures.map((figure) => number(figure))];
    told.forEach((text, k) => say(row.cells[k], text));
    set(row.cells.at(-1), { "data-ahead": lead > 0 });
    const promote = row.element.querySelector("[data-promote]");
    if (promote) promote.disabled = isOut({ status });
  }

  #promote(name) {
    const text = `${name} leads the session on with all it has learnt, the champion is its shadow.`;
    const perform = () => this.api.send("POST", sessionPath(this.name, "/promote"), { name });
    return this.#ask(`Promote ${name}?`, text, "Promote", perform);
  }

  #remove(name) {
    const text = `All that the shadow ${name} has learnt goes for good.`;
    const perform = async () => {
      await this.api.delete(sessionPath(this.name, `/shadows/${encodeURIComponent(name)}`));
      return this.api.get(sessionPath(this.name));
    };
    return this.#ask(`Remove ${name}?`, text, "Remove", perform, true);
  }

  async #ask(title, text, action, perform, danger = false) {
    const told = el("div");
    const content = el("div", { class: "fields" }, el("p", {}, text), told);
    const submit = () => perform().catch((error) => void fill(told, problemBox(error)));
    const state = await ask({ title, content, action, danger, submit });
    if (state) this.changed(state);
  }
}

/** The shadows that learn, in the order of their lines in the charts. */
export function going(shadows) {
  return Object.keys(shadows).filter((name) => !isOut(shadows[name]));
}

function isOut({ status }) {
  return status === "diverged";
}

function figure(column) {
  return column > 1 ? "figure" : null;
}
