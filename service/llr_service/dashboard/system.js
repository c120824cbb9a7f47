/** The service itself: whether it is ready, its version and store, keys, and what it did so far. */

import { el, fill } from "./dom.js";
import { Feed } from "./feed.js";
import { ago, count, NOTHING, size } from "./format.js";
import { problemBox } from "./problem.js";
import { TO_LIST } from "./router.js";

const EVERY = 3000;

/** The page at `#/system`. */
export function systemPage(here) {
  return new SystemPage(here);
}

class SystemPage {
  title = "System";

  constructor(here) {
    this.here = here;
    this.told = el("div");
    this.rows = el("tbody");
    const back = el("a", { class: "back", href: TO_LIST }, "← Sessions");
    const title = el("div", {}, back, el("h1", { tabindex: -1 }, "System"));
    const table = el("div", { class: "card table" }, el("table", { class: "system" }, this.rows));
    const head = el("div", { class: "head" }, title);
    this.element = el("div", {}, head, this.told, table);
    const tell = (state) => this.#tell(state);
    this.feed = new Feed((signal) => this.#read(signal), { every: EVERY, tell });
  }

  /** Leave the page. */
  close() {
    this.feed.close();
  }

  /** A key for some sessions only may not read the metrics: they are dashes then. */
  async #read(signal) {
    const { api, keys } = this.here;
    const about = await api.get("/version", { signal });
    const said = [() => "ready", (error) => error.message];
    const ready = await api.get("/readyz", { signal }).then(...said);
    const { total = null } = await api.get("/v1/sessions?limit=1&total=true", { signal });
    const metrics = await api.text("/metrics", { signal }).then(parseMetrics, () => new Map());
    const facts = { ready, total, ...about, keyed: keys.current !== null };
    fill(this.told);
    fill(this.rows, lines(facts, metrics).map(line));
  }

  #tell(state) {
    this.here.connection.show(state);
    if (state.kind === "refused") fill(this.told, problemBox(state.error));
  }
}

/** Values of a Prometheus text by name; those of one name with several labels are added up. */
export function parseMetrics(text) {
  const found = new Map();
  for (const row of text.split("\n")) {
    const [, name, value] = /^([a-z_]+)(?:\{.*\})? (\S+)/.exec(row) ?? [];
    if (name) found.set(name, (found.get(name) ?? 0) + Number(value));
  }
  return found;
}

function lines({ ready, total, version, store, ack, keyed }, metrics) {
  const number = (name) => count(metrics.get(name));
  const bytes = (name) => (metrics.has(name) ? size(metrics.get(name)) : NOTHING);
  const start = metrics.get("process_start_time_seconds");
  return [
    ["Health", ready],
    ["Version", version],
    ["Started", start ? ago(new Date(1000 * start).toISOString()) : NOTHING],
    ["Store", store],
    ["An answer means", ack],
    ["Keys", keyed ? "this tab uses a key" : "none is asked for"],
    ["Sessions", count(total)],
    ["Sessions in memory", number("llr_sessions_loaded")],
    ["Their memory", bytes("llr_sessions_loaded_bytes")],
    ["Memory of the process", bytes("process_resident_memory_bytes")],
    ["Samples learnt since the start", number("llr_samples_total")],
    ["Requests since the start", number("llr_requests_total")],
    ["Divergences since the start", number("llr_divergences_total")],
    ["Store errors since the start", number("llr_store_errors_total")],
  ];
}

function line([label, value]) {
  return el("tr", {}, el("th", { scope: "row", class: "words" }, label), el("td", {}, value));
}
