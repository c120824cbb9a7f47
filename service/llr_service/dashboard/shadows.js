/** The champion and its shadows side by side, and a change of champion. */

import { addShadow } from "./addshadow.js";
import { sessionPath } from "./api.js";
import { ask } from "./dialog.js";
import { button, el, fill, say, set } from "./dom.js";
import { number } from "./format.js";
import { term } from "./glossary.js";
import { swatch } from "./legend.js";
import { problemBox } from "./problem.js";

const COLUMNS = ["algorithm", "recent loss", "regret", "η", "lead"];
const NONE =
  "No shadows. A shadow is another algorithm that learns the same samples beside the session's " +
  "own, from now on. Its lines are drawn in the charts; if it does better, promote it.";

/** The tab of shadows: a table of the champion and its shadows, and a button to add one. */
export class ShadowsPanel {
  #names = "";
  #rows = new Map();

  /** `changed(state)` is called when the ensemble changed; `stateNow()` is the session's state. */
  constructor(here, name, stateNow, changed) {
    Object.assign(this, { here, api: here.api, name, stateNow, changed });
    const heads = COLUMNS.map((word, i) => el("th", { scope: "col", class: kind(i) }, term(word)));
    const first = el("th", { scope: "col" }, "learner");
    const last = el("th", { scope: "col" }, el("span", { class: "unseen" }, "Actions"));
    this.body = el("tbody");
    const head = el("thead", {}, el("tr", {}, first, heads, last));
    const table = el("table", { class: "standing" }, head, this.body);
    const label = { "aria-label": "Champion and shadows" };
    this.table = el("section", { class: "card table shadows", hidden: true, ...label }, table);
    this.none = el("p", { class: "note" }, NONE);
    const add = button("Add shadow", () => this.#add(), { id: "shadow", class: "primary" });
    this.element = el("div", {}, this.table, this.none, el("div", { class: "card-foot" }, add));
  }

  /** Show a state. */
  show({ champion, algorithm, loss, regret, eta, shadows }) {
    const out = Object.keys(shadows).filter((one) => isOut(shadows[one]));
    const names = [...active(shadows), ...out];
    set(this.table, { hidden: names.length === 0 });
    set(this.none, { hidden: names.length > 0 });
    this.#arrange([null, ...names], active(shadows).length);
    const word = champion ? `${champion} (champion)` : "champion";
    this.#update(null, { algorithm, loss, regret, eta, word });
    for (const name of names) this.#update(name, { ...shadows[name], word: name });
  }

  /** Rows stay the same elements while the ensemble does, so that a button keeps its focus. */
  #arrange(names, lines) {
    const known = JSON.stringify([names, lines]);
    if (known === this.#names) return;
    this.#names = known;
    this.#rows = new Map(names.map((name, i) => [name, this.#row(name, i <= lines ? i : null)]));
    fill(this.body, [...this.#rows.values()].map((row) => row.element));
  }

  #row(name, i) {
    const word = el("span");
    const cells = COLUMNS.map((label, k) => el("td", { class: kind(k), "data-label": label }));
    const acts = el("td", { class: "acts" }, name === null ? null : this.#buttons(name));
    const head = el("th", { scope: "row" }, i === null ? null : swatch(i), word);
    return { word, cells, element: el("tr", { "data-shadow": name ?? "" }, head, cells, acts) };
  }

  #buttons(name) {
    const promote = { class: "quiet", "data-promote": name, "aria-label": `Promote ${name}` };
    const remove = { class: "danger quiet", "aria-label": `Remove ${name}` };
    return [
      button("Promote", () => this.#promote(name), promote),
      button("Remove", () => this.#remove(name), remove),
    ];
  }

  #update(name, { word, algorithm, loss, regret, eta, lead, status }) {
    const row = this.#rows.get(name);
    say(row.word, isOut({ status }) ? `${word} (diverged)` : word);
    const figures = [loss.recent, regret.ml, eta, name === null ? null : lead];
    const texts = [algorithm, ...figures.map((figure) => number(figure))];
    texts.forEach((text, k) => say(row.cells[k], text));
    set(row.cells.at(-1), { "data-ahead": lead > 0 });
    const promote = row.element.querySelector("[data-promote]");
    if (promote) promote.disabled = isOut({ status });
  }

  async #add() {
    const state = await addShadow(this.here, this.stateNow());
    if (state) this.changed(state);
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
    const notice = el("div");
    const content = el("div", { class: "fields" }, el("p", {}, text), notice);
    const submit = () => perform().catch((error) => void fill(notice, problemBox(error)));
    const state = await ask({ title, content, action, danger, submit });
    if (state) this.changed(state);
  }
}

/** The shadows that learn, in the order of their lines in the charts. */
export function active(shadows) {
  return Object.keys(shadows).filter((name) => !isOut(shadows[name]));
}

function isOut({ status }) {
  return status === "diverged";
}

function kind(column) {
  return column > 0 ? "figure" : null;
}
