/** The list of sessions: live, paged, filtered by name; some may be picked to be compared. */

import { createSession } from "./create.js";
import { button, el, fill, say, set } from "./dom.js";
import { count } from "./format.js";
import { Feed } from "./feed.js";
import { find, howMany } from "./finder.js";
import { problemBox } from "./problem.js";
import { toCompare, toSession } from "./router.js";
import { Rows } from "./rows.js";
import { Trends } from "./trends.js";
import { welcome } from "./welcome.js";

const [SIZE, EVERY] = [25, 1500];

/** The page at `#/`. */
export function listPage(here) {
  return new ListPage(here);
}

class ListPage {
  title = "Sessions";
  #before = [];
  #cursor = "";
  #filter = "";
  #next = null;
  #picked = new Set();

  constructor(here) {
    this.here = here;
    this.trends = new Trends(here.api);
    this.rows = new Rows(this.#picked, () => this.#bar());
    this.#build();
    this.feed = new Feed((signal) => this.#read(signal), { every: EVERY, tell: (state) => this.#tell(state) });
  }

  /** Leave the page. */
  close() {
    this.feed.close();
  }

  #build() {
    const create = () => createSession(this.here).then((name) => name && (location.hash = toSession(name)));
    const typed = ({ target }) => this.#search(target.value.trim());
    this.total = el("span", { class: "total" });
    this.filter = el("input", { type: "search", placeholder: "Filter by name", "aria-label": "Filter by name", on: { input: typed } });
    this.back = button("← Before", () => this.#turn(-1));
    this.on = button("Next →", () => this.#turn(1));
    this.pager = el("nav", { class: "pager", "aria-label": "Pages", hidden: true }, this.back, this.on);
    this.told = el("div");
    this.none = el("p", { class: "note", hidden: true });
    this.welcome = welcome(create);
    this.table = el("div", { class: "card table", hidden: true }, this.rows.element);
    this.bar = el("div", { class: "bar", hidden: true, role: "region", "aria-label": "Compare" });
    this.tools = el("div", { class: "tools" }, this.filter, button("New session", create, { class: "primary", id: "new" }));
    const head = el("div", { class: "head" }, el("h1", { tabindex: -1 }, "Sessions", this.total), this.tools);
    this.element = el("div", { class: "list" }, head, this.told, this.welcome, this.table, this.none, this.pager, this.bar);
  }

  async #read(signal) {
    const { api } = this.here;
    const asked = { filter: this.#filter, cursor: this.#cursor, size: SIZE, signal };
    const [found, total] = await Promise.all([find(api, asked), howMany(api, signal)]);
    if (asked.filter !== this.#filter || asked.cursor !== this.#cursor) return;
    this.#show(found, total);
    await this.trends.follow(found.sessions, signal, () => this.rows.show(found.sessions, this.trends));
  }

  #show({ sessions, next }, total) {
    this.#next = next;
    const nothing = !sessions.length && !this.#filter && !this.#cursor;
    fill(this.told);
    say(this.total, isFinite(total ?? NaN) && !nothing ? count(total) : "");
    set(this.welcome, { hidden: !nothing });
    set(this.tools, { class: nothing ? "tools bare" : "tools" });
    set(this.table, { hidden: !sessions.length });
    set(this.none, { hidden: sessions.length > 0 || nothing });
    say(this.none, this.#filter ? `No session has “${this.#filter}” in its name.` : "No sessions here.");
    set(this.pager, { hidden: !this.#before.length && next === null });
    set(this.back, { disabled: !this.#before.length });
    set(this.on, { disabled: next === null });
    this.rows.show(sessions, this.trends);
  }

  #search(text) {
    this.#filter = text;
    this.#before = [];
    this.#cursor = "";
    this.feed.now();
  }

  #turn(way) {
    if (way > 0) this.#before.push(this.#cursor);
    this.#cursor = way > 0 ? this.#next : this.#before.pop();
    this.feed.now();
  }

  #bar() {
    const names = [...this.#picked];
    const clear = button("Clear", () => this.#clear());
    const go = el("a", { class: "button primary", href: toCompare(names) }, `Compare ${names.length}`);
    const words = names.length > 1 ? `${names.length} sessions picked` : "Pick another to compare";
    set(this.bar, { hidden: !names.length });
    fill(this.bar, el("span", {}, words), clear, names.length > 1 ? go : null);
  }

  #clear() {
    this.#picked.clear();
    this.rows.clear();
    this.#bar();
  }

  #tell(state) {
    this.here.connection.show(state);
    if (state.kind === "refused") fill(this.told, problemBox(state.error));
  }
}
