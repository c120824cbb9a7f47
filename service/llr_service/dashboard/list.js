/** The list of sessions: live, paged, filtered, sorted; some may be picked to be compared. */

import { createSession } from "./create.js";
import { button, el, fill, say, set } from "./dom.js";
import { Feed } from "./feed.js";
import { choice } from "./fields.js";
import { find, howMany } from "./finder.js";
import { count, isNumber, plural } from "./format.js";
import { PickedBar } from "./picked.js";
import { problemBox } from "./problem.js";
import { toSession } from "./router.js";
import { Rows } from "./rows.js";
import { Trends } from "./trends.js";
import { welcome } from "./welcome.js";

const [SIZE, EVERY, COUNT_EVERY] = [25, 1500, 30000];
const SORTS = Object.entries({ name: "name", t: "t", loss: "recent loss", last: "last sample" });

/** The page at `#/`. */
export function listPage(here) {
  return new ListPage(here);
}

class ListPage {
  title = "Sessions";
  #before = [];
  #cursor = "";
  #filter = "";
  #activity = "";
  #order = { by: "name", down: false };
  #next = null;
  #counted = { total: null, at: -Infinity };

  constructor(here) {
    this.here = here;
    this.trends = new Trends(here.api);
    this.bar = new PickedBar(() => this.rows.clear());
    this.rows = new Rows(this.bar, (by) => this.#sort(by));
    this.#build();
    const tell = (state) => this.#tell(state);
    this.feed = new Feed((signal) => this.#read(signal), { every: EVERY, tell });
  }

  /** Leave the page. */
  close() {
    this.feed.close();
  }

  #build() {
    this.back = button("← Before", () => this.#turn(-1));
    this.on = button("Next →", () => this.#turn(1));
    const paging = { class: "pager", "aria-label": "Pages", hidden: true };
    this.pager = el("nav", paging, this.back, this.on);
    this.told = el("div");
    this.none = el("p", { class: "note", hidden: true });
    this.welcome = welcome(() => this.#create());
    this.table = el("div", { class: "card table", hidden: true }, this.rows.element);
    const parts = [this.told, this.welcome, this.table, this.none, this.pager, this.bar.element];
    this.element = el("div", { class: "list" }, this.#head(), parts);
  }

  #head() {
    const label = "Filter by name";
    const filter = el("input", { type: "search", placeholder: label, "aria-label": label });
    filter.addEventListener("input", () => this.#search(filter.value.trim()));
    const create = button("New session", () => this.#create(), { class: "primary", id: "new" });
    this.total = el("span", { class: "total" });
    this.activity = choice([["", "Any activity"], "learning", "idle", "drifting"], "");
    set(this.activity, { "aria-label": "Filter by activity", hidden: true });
    this.activity.addEventListener("change", () => {
      this.#activity = this.activity.value;
      this.#restart();
    });
    this.sorting = choice(SORTS.map(([id, word]) => [id, `Sort by ${word}`]), "name");
    set(this.sorting, { "aria-label": "Sort by", class: "sorting" });
    this.sorting.addEventListener("change", () => this.#sort(this.sorting.value));
    this.tools = el("div", { class: "tools" }, this.activity, this.sorting, filter, create);
    const title = el("h1", { tabindex: -1 }, "Sessions", this.total);
    this.totals = el("p", { class: "about totals" });
    return el("div", { class: "head" }, el("div", {}, title, this.totals), this.tools);
  }

  async #read(signal) {
    const { api } = this.here;
    const chosen = { filter: this.#filter, activity: this.#activity, order: this.#order };
    const asked = { ...chosen, cursor: this.#cursor, size: SIZE, signal };
    const found = await find(api, asked);
    this.#show(found, await this.#howMany(signal));
    const { sessions } = found;
    await this.trends.follow(sessions, signal, () => this.rows.show(sessions, this.trends));
  }

  /** Not asked for with every page: to count many sessions takes the store its time. */
  async #howMany(signal) {
    const at = performance.now();
    if (at - this.#counted.at < COUNT_EVERY) return this.#counted.total;
    const total = await howMany(this.here.api, signal);
    if (total !== null) this.#counted = { total, at };
    return total;
  }

  #show({ sessions, next }, total) {
    this.#next = next;
    const some = sessions.length > 0;
    const fresh = !some && !this.#filter && !this.#cursor && !this.#activity;
    fill(this.told);
    say(this.total, isNumber(total) && !fresh ? count(total) : "");
    this.#tellTotals(sessions, next === null && !this.#before.length);
    set(this.welcome, { hidden: !fresh });
    set(this.tools, { class: fresh ? "tools bare" : "tools" });
    set(this.table, { hidden: !some });
    set(this.none, { hidden: some || fresh });
    const missing = `No name has “${this.#filter}” in it.`;
    say(this.none, this.#filter ? missing : "No such sessions here.");
    set(this.pager, { hidden: !this.#before.length && next === null });
    set(this.back, { disabled: !this.#before.length });
    set(this.on, { disabled: next === null });
    this.rows.show(sessions, this.trends);
  }

  #search(text) {
    this.#filter = text;
    this.#restart();
  }

  #sort(by) {
    const down = this.#order.by === by ? !this.#order.down : by !== "name";
    this.#order = { by, down };
    this.sorting.value = by;
    this.rows.sorted(this.#order);
    this.#restart();
  }

  #restart() {
    this.#before = [];
    this.#cursor = "";
    this.feed.now();
  }

  /** What the rows come to, where all of them are on the page. */
  #tellTotals(sessions, all) {
    const timed = sessions.some((one) => one.activity);
    if (timed) set(this.activity, { hidden: false });
    const samples = sessions.reduce((sum, { t }) => sum + t, 0);
    const going = sessions.filter(({ activity }) => activity && activity !== "idle").length;
    const learnt = `${plural(samples, "sample", "samples")} learnt`;
    const words = timed ? `${learnt}, ${count(going)} learning now` : learnt;
    say(this.totals, all && sessions.length ? words : "");
  }

  #turn(way) {
    if (way > 0) this.#before.push(this.#cursor);
    this.#cursor = way > 0 ? this.#next : this.#before.pop();
    this.feed.now();
  }

  async #create() {
    const told = (error) => fill(this.told, problemBox(error));
    const name = await createSession(this.here).catch(told);
    if (typeof name === "string") location.hash = toSession(name);
  }

  #tell(state) {
    this.here.connection.show(state);
    if (state.kind === "refused") fill(this.told, problemBox(state.error));
  }
}
