/** The table of sessions: rows stay in place as numbers move, so that focus and ticks do too. */

import { button, el, fill, say, set, unseen } from "./dom.js";
import { ago, count, NOTHING, number, perSecond } from "./format.js";
import { explain } from "./glossary.js";
import { metricOf } from "./metrics.js";
import { Rate } from "./rate.js";
import { toSession } from "./router.js";
import { drawSpark, spark } from "./sparkline.js";

const COLUMNS = [
  ["model", "Model", "words"],
  ["algorithm", "Algorithm", "words", "algorithm"],
  ["status", "Status", "words", "status"],
  ["activity", "Activity", "words", "activity"],
  ["last", "Last sample", "figure", "last sample"],
  ["t", "t", "figure", "t"],
  ["rate", "Samples/s", "figure", "samples/s"],
  ["metric", "Metric", "figure", "metric"],
  ["loss", "Recent loss", "figure", "recent loss"],
];

/** Columns to sort by, on a narrow screen by a list. */
export const SORTS = {
  name: "name",
  t: "t",
  metric: "RMSE, accuracy",
  loss: "recent loss",
  rate: "samples/s",
  last: "last sample",
  activity: "activity",
  status: "status",
};

/** Rows by name; `selection` knows which are ticked; `sort(column)` is called by a head. */
export class SessionTable {
  #rows = new Map();

  constructor(selection, sort) {
    Object.assign(this, { selection, sort });
    this.heads = [["name", "Name", "name"], ...COLUMNS].map((column) => this.#head(...column));
    const tick = el("th", { scope: "col", class: "pick" }, unseen("Compare"));
    const words = el("span", { class: "term" }, "Trend", explain("trend"));
    const last = el("th", { scope: "col", class: "trend" }, words);
    this.body = el("tbody");
    const head = el("thead", {}, el("tr", {}, tick, this.heads, last));
    const caption = el("caption", { class: "unseen" }, "Sessions and their state");
    this.element = el("table", { class: "sessions" }, caption, head, this.body);
  }

  /** Mark the column that rows are sorted by. */
  sorted({ by, down }) {
    for (const head of this.heads) {
      const here = head.dataset.column === by;
      set(head, { "aria-sort": here ? (down ? "descending" : "ascending") : null });
    }
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

  #head(id, label, kind, about = null) {
    const sort = button(label, () => this.sort(id), { class: "sort" });
    const content = el("span", { class: "term" }, sort, about && explain(about));
    return el("th", { scope: "col", class: kind, "data-column": id }, content);
  }

  #row(name) {
    if (!this.#rows.has(name)) this.#rows.set(name, new Row(name, this.selection));
    return this.#rows.get(name);
  }
}

class Row {
  constructor(name, selection) {
    this.rate = new Rate();
    this.spark = spark("recent loss so far");
    this.cells = Object.fromEntries(COLUMNS.map((column) => [column[0], cell(...column)]));
    const box = { type: "checkbox", checked: selection.has(name), "aria-label": `Compare ${name}` };
    this.box = el("input", box);
    this.box.addEventListener("change", () => selection.select(name, this.box.checked));
    this.element = el(
      "tr",
      { "data-name": name },
      el("td", { class: "pick" }, el("label", { class: "tick" }, this.box)),
      el("th", { scope: "row", class: "name" }, el("a", { href: toSession(name) }, name)),
      Object.values(this.cells),
      el("td", { class: "trend" }, this.spark),
    );
  }

  /** A session that is not in memory is idle; of it the list knows t alone, the trend the rest. */
  update(session, trend) {
    this.rate.note(session.t);
    const activity = session.activity ?? "idle";
    const metric = session.metrics?.[metricOf(session.model).id]?.recent ?? trend?.metric;
    const shown = {
      model: session.model,
      algorithm: session.algorithm,
      status: session.status ?? NOTHING,
      activity,
      last: ago(session.last_sample_at),
      t: count(session.t),
      rate: perSecond(this.rate.value()),
      metric: metricWords(session.model, metric),
      loss: number(session.loss?.recent ?? trend?.recent.at(-1)),
    };
    for (const [id, text] of Object.entries(shown)) say(this.cells[id], text);
    if (trend) drawSpark(this.spark, trend.recent);
    const { t, status } = session;
    set(this.element, { "data-t": t, "data-activity": activity, "data-status": status });
  }
}

function metricWords(model, value = null) {
  const { label, write } = metricOf(model);
  return value === null ? NOTHING : `${write(value)} ${label}`;
}

function cell(id, label, kind) {
  return el("td", { class: kind, "data-label": label, "data-cell": id });
}
