/** The table of sessions: rows stay in place as numbers move, so that focus and ticks do too. */

import { el, fill, say, set, unseen } from "./dom.js";
import { count, number, perSecond } from "./format.js";
import { Rate } from "./rate.js";
import { toSession } from "./router.js";
import { drawSpark, spark } from "./sparkline.js";

const COLUMNS = [
  ["model", "Model", "words"],
  ["algorithm", "Algorithm", "words"],
  ["t", "t", "figure"],
  ["rate", "Samples/s", "figure"],
  ["eta", "η", "figure"],
  ["loss", "Mean loss", "figure"],
  ["regret", "Regret", "figure"],
];

/** Rows by name; `picked` knows which are ticked. */
export class Rows {
  #rows = new Map();

  constructor(picked) {
    this.picked = picked;
    const heads = COLUMNS.map(([, label, kind]) => el("th", { scope: "col", class: kind }, label));
    const tick = el("th", { scope: "col", class: "pick" }, unseen("Compare"));
    const first = [tick, el("th", { scope: "col" }, "Name")];
    const last = el("th", { scope: "col", class: "trend" }, "Loss, trend");
    this.body = el("tbody");
    const head = el("thead", {}, el("tr", {}, first, heads, last));
    const caption = el("caption", { class: "unseen" }, "Sessions and how they stand");
    this.element = el("table", { class: "sessions" }, caption, head, this.body);
  }

  /** Show these sessions, in this order. */
  show(sessions, trends) {
    const order = sessions.map((session) => this.#row(session.name));
    sessions.forEach((session, i) => order[i].update(session, trends.of(session.name)));
    const nodes = order.map((row) => row.element);
    const same = nodes.length === this.body.children.length
      && nodes.every((node, i) => node === this.body.children[i]);
    if (!same) fill(this.body, nodes);
  }

  /** Take all ticks away. */
  clear() {
    for (const row of this.#rows.values()) row.box.checked = false;
  }

  #row(name) {
    if (!this.#rows.has(name)) this.#rows.set(name, new Row(name, this.picked));
    return this.#rows.get(name);
  }
}

class Row {
  constructor(name, picked) {
    this.rate = new Rate();
    this.spark = spark("mean loss so far");
    this.cells = Object.fromEntries(COLUMNS.map((column) => [column[0], cell(...column)]));
    const ticked = { type: "checkbox", checked: picked.has(name), "aria-label": `Compare ${name}` };
    this.box = el("input", ticked);
    this.box.addEventListener("change", () => picked.pick(name, this.box.checked));
    this.element = el(
      "tr",
      { "data-name": name },
      el("td", { class: "pick" }, el("label", { class: "tick" }, this.box)),
      el("th", { scope: "row", class: "name" }, el("a", { href: toSession(name) }, name)),
      Object.values(this.cells),
      el("td", { class: "trend" }, this.spark),
    );
  }

  update(session, trend) {
    this.rate.note(session.t);
    const shown = {
      model: session.model,
      algorithm: session.algorithm,
      t: count(session.t),
      rate: perSecond(this.rate.value()),
      eta: number(session.eta ?? trend?.eta),
      loss: number(session.loss?.mean ?? trend?.loss.at(-1)),
      regret: number(session.regret ? session.regret.ml : trend?.regret),
    };
    for (const [id, text] of Object.entries(shown)) say(this.cells[id], text);
    if (trend) drawSpark(this.spark, trend.loss);
    set(this.element, { "data-t": session.t });
  }
}

function cell(id, label, kind) {
  return el("td", { class: kind, "data-label": label, "data-cell": id });
}
