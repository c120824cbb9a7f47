/** The table of sessions: rows stay in place as numbers move, so that focus and ticks do too. */

import { button, el, fill, say, set, unseen } from "./dom.js";
import { ago, count, NOTHING, number, perSecond } from "./format.js";
import { metricOf } from "./metrics.js";
import { Rate } from "./rate.js";
import { toSession } from "./router.js";
import { drawSpark, spark } from "./sparkline.js";

const COLUMNS = [
  ["model", "Model", "words"],
  ["algorithm", "Algorithm", "words"],
  ["activity", "Activity", "words"],
  ["last", "Last sample", "figure"],
  ["t", "t", "figure"],
  ["rate", "Samples/s", "figure"],
  ["metric", "RMSE, accuracy", "figure"],
  ["loss", "Recent loss", "figure"],
];
const SORTABLE = new Set(["name", "model", "algorithm", "activity", "last", "t", "loss"]);

/** Rows by name; `picked` knows which are ticked; `sort(column)` is called by a head's button. */
export class Rows {
  #rows = new Map();

  constructor(picked, sort) {
    Object.assign(this, { picked, sort });
    this.heads = [["name", "Name", "name"], ...COLUMNS].map((column) => this.#head(...column));
    const tick = el("th", { scope: "col", class: "pick" }, unseen("Compare"));
    const first = [tick, this.heads[0]];
    const heads = this.heads.slice(1);
    const last = el("th", { scope: "col", class: "trend" }, "Its trend");
    this.body = el("tbody");
    const head = el("thead", {}, el("tr", {}, first, heads, last));
    const caption = el("caption", { class: "unseen" }, "Sessions and how they stand");
    this.element = el("table", { class: "sessions" }, caption, head, this.body);
  }

  /** Mark the column that rows are sorted by. */
  sorted({ by, down }) {
    for (const head of this.heads) {
      const here = head.dataset.column === by;
      set(head, { "aria-sort": here ? (down ? "descending" : "ascending") : null });
    }
  }

  /** Show these sessions, in this order. Columns of times are there if the service has them. */
  show(sessions, trends) {
    set(this.element, { "data-times": sessions.some((one) => one.activity) });
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

  #head(id, label, kind) {
    const sort = () => button(label, () => this.sort(id), { class: "sort" });
    const content = SORTABLE.has(id) ? sort() : label;
    return el("th", { scope: "col", class: kind, "data-column": id }, content);
  }

  #row(name) {
    if (!this.#rows.has(name)) this.#rows.set(name, new Row(name, this.picked));
    return this.#rows.get(name);
  }
}

class Row {
  constructor(name, picked) {
    this.rate = new Rate();
    this.spark = spark("recent loss so far");
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
      metric: metricWords(session.model, trend?.metric),
      loss: number(session.loss?.recent ?? trend?.recent.at(-1)),
      activity: session.activity ?? NOTHING,
      last: ago(session.last_sample_at),
    };
    for (const [id, text] of Object.entries(shown)) say(this.cells[id], text);
    if (trend) drawSpark(this.spark, trend.recent);
    set(this.element, { "data-t": session.t, "data-activity": session.activity });
  }
}

function metricWords(model, value = null) {
  const { label, write } = metricOf(model);
  return value === null ? NOTHING : `${write(value)} ${label}`;
}

function cell(id, label, kind) {
  return el("td", { class: kind, "data-label": label, "data-cell": id });
}
