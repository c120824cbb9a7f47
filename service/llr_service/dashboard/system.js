/** The service itself: health, version, store, keys, and what it did since it started. */

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
    this.notice = el("div");
    this.cards = el("div", { class: "cards" });
    const back = el("a", { class: "back", href: TO_LIST }, "← Sessions");
    const title = el("div", {}, back, el("h1", { tabindex: -1 }, "System"));
    const head = el("div", { class: "head" }, title);
    this.element = el("div", { class: "system" }, head, this.notice, this.cards);
    const tell = (state) => this.#tell(state);
    this.feed = new Feed((signal) => this.#read(signal), { every: EVERY, tell });
  }

  /** Leave the page. */
  close() {
    this.feed.close();
  }

  /** A tenant's key may not read the metrics: they are dashes then. */
  async #read(signal) {
    const { api } = this.here;
    const about = await api.get("/version", { signal });
    const said = [() => "ready", (error) => error.message];
    const ready = await api.get("/readyz", { signal }).then(...said);
    const { total = null } = await api.get("/v1/sessions?limit=1&total=true", { signal });
    const metrics = await api.text("/metrics", { signal }).then(parseMetrics, () => new Map());
    fill(this.notice);
    fill(this.cards, groups({ ready, total, ...about }, metrics).map(card));
  }

  #tell(state) {
    this.here.connection.show(state);
    if (state.kind === "refused") fill(this.notice, problemBox(state.error));
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

function groups({ ready, total, version, store, ack, key, keys }, metrics) {
  const number = (name) => count(metrics.get(name));
  const bytes = (name) => (metrics.has(name) ? size(metrics.get(name)) : NOTHING);
  const start = metrics.get("process_start_time_seconds");
  return [
    ["Service", [
      ["Health", ready],
      ["Version", version],
      ["Started", start ? ago(new Date(1000 * start).toISOString()) : NOTHING],
      ["Memory of the process", bytes("process_resident_memory_bytes")],
    ]],
    ["Store", [
      ["Store", store],
      ["Size", metrics.has("llr_store_bytes") ? bytes("llr_store_bytes") : "not reported"],
      ["Sessions", count(total)],
      ["Sessions in memory", number("llr_sessions_loaded")],
      ["Their memory", bytes("llr_sessions_loaded_bytes")],
      ["An answer means", ack],
    ]],
    ["Keys", keyRows(key, keys)],
    ["Since the start", [
      ["Samples learnt", number("llr_samples_total")],
      ["Requests", number("llr_requests_total")],
      ["Divergences", number("llr_divergences_total")],
      ["Store errors", number("llr_store_errors_total")],
    ]],
  ];
}

/** Names and roles; the service does not know the secrets, and an admin alone sees all names. */
function keyRows(key, keys = []) {
  if (!key) return [["Access", "no keys: whoever reaches the service may do everything"]];
  const words = ({ role, prefix }) => {
    return `${role}${prefix ? `, sessions whose names begin with ${prefix}` : ", all sessions"}`;
  };
  const others = keys.filter(({ name }) => name !== key.name);
  const own = [`${key.name} (in use)`, words(key)];
  const all = key.role === "admin" && !key.prefix;
  const hidden = all ? [] : [["Others", "an admin's key shows them"]];
  return [own, ...others.map((one) => [one.name, words(one)]), ...hidden];
}

function card([title, rows]) {
  const head = el("div", { class: "card-head" }, el("h2", {}, title));
  const body = el("tbody", {}, rows.map(line));
  return el("section", { class: "card", "aria-label": title }, head, el("table", {}, body));
}

function line([label, value]) {
  return el("tr", {}, el("th", { scope: "row", class: "words" }, label), el("td", {}, value));
}
