/** The page of one session: reads its state and history, and follows the stream of its states. */

import { sizeOf } from "./about.js";
import { sessionPath } from "./api.js";
import { Feed } from "./feed.js";
import { drawHistory, HistoryModel } from "./historymodel.js";
import { Pause } from "./pause.js";
import { nobodyBox, problemBox } from "./problem.js";
import { Rate } from "./rate.js";
import { SessionView } from "./sessionview.js";

const [TICK, SOON] = [1000, 80];
const NOT_THERE = new Set([404, 422]); // there is none, or there can be none of that name

/** The page at `#/s/NAME` and `#/s/NAME/TAB`. */
export function sessionPage(here, [name], tab) {
  return new SessionPage(here, name, tab);
}

class SessionPage {
  #state = null;
  #drawing = null;

  constructor(here, name, tab) {
    Object.assign(this, { here, tab, title: name, path: sessionPath(name) });
    this.rate = new Rate();
    this.past = new HistoryModel(here.api, name);
    this.pause = new Pause(() => this.feed);
    const changed = (state) => this.#moved(state);
    this.view = new SessionView(here, name, this.pause.element, () => this.#state, changed);
    this.element = this.view.element;
    const tell = (state) => this.#tell(state);
    this.feed = new Feed((signal, alive) => this.#follow(signal, alive), { tell });
    this.timer = setInterval(() => this.#tick(), TICK);
  }

  /** Leave the page. */
  close() {
    this.feed.close();
    this.view.figures.close();
    for (const timer of [this.timer, this.#drawing]) clearTimeout(timer);
  }

  /** Show another tab of this page. */
  open(tab) {
    this.tab = tab;
    this.view.tabs.show(tab ?? "overview");
  }

  /** The state, the past, then the stream of states; all again after each reconnection. */
  async #follow(signal, alive) {
    const { api } = this.here;
    const state = await api.get(this.path, { signal });
    await this.#describe(state);
    this.#take(state);
    await this.past.load(state, signal);
    this.#draw();
    alive();
    for await (const event of api.events(`${this.path}/events`, { signal })) {
      alive();
      if (event.event === "state") this.#moved(JSON.parse(event.data), signal);
    }
  }

  #moved(state, signal) {
    const before = this.#state;
    this.#take(state);
    const other = before.champion !== state.champion;
    const same = sizeOf(before) === sizeOf(state) && before.status === state.status;
    if (other || !same) this.#describe(state);
    this.past.add(state);
    if (other || this.past.due) this.#reload(signal);
    else this.#draw();
  }

  #take(state) {
    const first = this.#state === null;
    this.#state = state;
    this.rate.note(state.t);
    this.view.show(state, this.rate.value());
    // a fresh session has nothing to show yet: it is opened to send samples
    if (first) this.open(this.tab ?? (state.t === 0 ? "samples" : "overview"));
  }

  async #describe(state) {
    this.view.describe(state, await this.here.catalog());
    this.view.tell(state);
  }

  /** What cannot be read now is read later: the feed tells if the service is away. */
  async #reload(signal = undefined) {
    await this.past.load(this.#state, signal).catch(() => {});
    this.#draw();
  }

  #tick() {
    if (!this.#state || this.pause.paused) return;
    this.view.tick(this.#state, this.rate.value());
    if (this.past.due) this.#reload();
  }

  /** Soon, and not more often than is pleasant to look at. */
  #draw() {
    this.#drawing ??= setTimeout(() => {
      this.#drawing = null;
      drawHistory(this.view.figures, this.past);
    }, SOON);
  }

  #tell(state) {
    this.here.connection.show(state);
    if (state.kind !== "refused") return;
    const gone = NOT_THERE.has(state.error.status);
    this.view.refuse(gone ? nobodyBox() : problemBox(state.error));
  }
}
