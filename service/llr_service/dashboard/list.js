/** The list of sessions: live, paged, filtered, sorted; some may be selected to be compared. */

import { createSession } from "./create.js";
import { button, el, fill, say, set } from "./dom.js";
import { Feed } from "./feed.js";
import { choice } from "./fields.js";
import { ago, count, isNumber } from "./format.js";
import { meaning } from "./glossary.js";
import { Pages } from "./pagination.js";
import { problemBox } from "./problem.js";
import { toSession } from "./router.js";
import { SelectionBar } from "./selection.js";
import { SessionTable, SORTS } from "./sessiontable.js";
import { Totals, totalsWords } from "./totals.js";
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
  #activity = "";
  #order = { by: "name", down: false };
  #next = null;

  constructor(here) {
    this.here = here;
    this.pages = new Pages(here.api);
    this.totals = new Totals(here.api);
    this.trends = new Trends(here.api);
    this.bar = new SelectionBar(() => this.table.clear());
    this.table = new SessionTable(this.bar, (by) => this.#sort(by));
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
    this.notice = el("div");
    this.none = el("p", { class: "note", hidden: true });
    this.welcome = welcome(this.#create, this.#demo);
    this.card = el("div", { class: "card table", hidden: true }, this.table.element);
    this.remark = el("p", { class: "hint" });
    const legend = el("p", { class: "hint" }, meaning("activity"));
    this.foot = el("div", { hidden: true }, legend, this.remark);
    const parts = [this.welcome, this.card, this.none, this.foot, this.pager, this.bar.element];
    this.element = el("div", { class: "list" }, this.#head(), this.notice, parts);
    this.table.sorted(this.#order);
  }

  #head() {
    const label = "Filter by name";
    const filter = el("input", { type: "search", placeholder: label, "aria-label": label });
    filter.addEventListener("input", () => this.#search({ filter: filter.value.trim() }));
    const create = button("New session", this.#create, { class: "primary", id: "new" });
    const demo = button("Play a demo", this.#demo, { id: "demo" });
    this.total = el("span", { class: "total" });
    const kinds = choice([["", "Any activity"], "learning", "idle", "drifting"], "");
    const activity = set(kinds, { "aria-label": "Filter by activity" });
    activity.addEventListener("change", () => this.#search({ activity: activity.value }));
    const sorts = Object.entries(SORTS).map(([id, word]) => [id, `Sort by ${word}`]);
    this.sorting = choice(sorts, "name");
    set(this.sorting, { "aria-label": "Sort by", class: "sorting" });
    this.sorting.addEventListener("change", () => this.#sort(this.sorting.value));
    this.tools = el("div", { class: "tools" }, activity, this.sorting, filter, demo, create);
    const title = el("h1", { tabindex: -1 }, "Sessions", this.total);
    this.summary = el("p", { class: "about totals" });
    return el("div", { class: "head" }, el("div", {}, title, this.summary), this.tools);
  }

  async #read(signal) {
    const asked = { filter: this.#filter, activity: this.#activity, order: this.#order };
    const found = await this.pages.find({ ...asked, cursor: this.#cursor, size: SIZE, signal });
    this.#show(found, await this.totals.read(signal));
    const again = () => this.table.show(found.sessions, this.trends);
    await this.trends.follow(found.sessions, signal, again);
  }

  #show({ sessions, next, limited, at }, totals) {
    this.#next = next;
    const some = sessions.length > 0;
    const narrowed = Boolean(this.#filter || this.#activity);
    const fresh = !some && !narrowed && !this.#cursor;
    const all = next === null && !this.#before.length && !narrowed;
    fill(this.notice);
    say(this.total, isNumber(totals.total) && !fresh ? count(totals.total) : "");
    say(this.summary, fresh ? "" : totalsWords(sessions, all, totals));
    set(this.welcome, { hidden: !fresh });
    set(this.tools, { class: fresh ? "tools bare" : "tools" });
    for (const part of [this.card, this.foot]) set(part, { hidden: !some });
    set(this.none, { hidden: some || fresh });
    say(this.none, this.#missing());
    say(this.remark, remark(limited, at));
    set(this.pager, { hidden: !this.#before.length && next === null });
    set(this.back, { disabled: !this.#before.length });
    set(this.on, { disabled: next === null });
    this.table.show(sessions, this.trends);
  }

  #missing() {
    const of = this.#activity ? `No session is ${this.#activity} now` : "No session";
    const joined = this.#activity ? `${of} and` : of;
    return this.#filter ? `${joined} has “${this.#filter}” in its name.` : `${of}.`;
  }

  #search({ filter = this.#filter, activity = this.#activity }) {
    [this.#filter, this.#activity] = [filter, activity];
    this.#restart();
  }

  #sort(by) {
    const down = this.#order.by === by ? !this.#order.down : by !== "name";
    this.#order = { by, down };
    this.sorting.value = by;
    this.table.sorted(this.#order);
    this.#restart();
  }

  #restart() {
    this.#before = [];
    this.#cursor = "";
    this.feed.now();
  }

  #turn(way) {
    if (way > 0) this.#before.push(this.#cursor);
    this.#cursor = way > 0 ? this.#next : this.#before.pop();
    this.feed.now();
  }

  #create = () => this.#open(createSession(this.here));

  #demo = () => this.#open(this.here.demo.create(this.here.catalog), "overview");

  async #open(making, tab = null) {
    const name = await making.catch((error) => fill(this.notice, problemBox(error)));
    if (typeof name === "string") location.hash = toSession(name, tab);
  }

  #tell(state) {
    this.here.connection.show(state);
    if (state.kind === "refused") fill(this.notice, problemBox(state.error));
  }
}

/** How far an order or a filter reaches, and of when it is. */
function remark(limited, at) {
  const reach = limited ? `Of the first ${count(limited)} sessions by name. ` : "";
  return `${reach}${at ? `Order and numbers of ${ago(new Date(at).toISOString())}.` : ""}`;
}
