/** The page of one session: its numbers and charts live, samples by hand, snippets, forks. */

import { aboutSession, named, sizeOf } from "./about.js";
import { actions } from "./actions.js";
import { sessionPath } from "./api.js";
import { el, fill, say, set } from "./dom.js";
import { Feed } from "./feed.js";
import { Figures } from "./figures.js";
import { Names } from "./names.js";
import { drawPast, Past } from "./past.js";
import { Pause } from "./pause.js";
import { Predict } from "./predict.js";
import { nobodyBox, problemBox } from "./problem.js";
import { Rate } from "./rate.js";
import { TO_LIST } from "./router.js";
import { Samples } from "./samples.js";
import { summary } from "./sentence.js";
import { Snippets } from "./snippets.js";
import { Stats } from "./stats.js";
import { Team } from "./team.js";
import { intercept } from "./theta.js";

const [TICK, SOON] = [1000, 80];
const CHARTS = ["recent", "metric", "loss", "eta", "regret", "theta"];
const NOBODY = new Set([404, 422]); // there is none, or there can be none of that name

/** The page at `#/s/NAME`. */
export function sessionPage(here, [name]) {
  return new SessionPage(here, name);
}

class SessionPage {
  #state = null;
  #drawing = null;

  constructor(here, name) {
    Object.assign(this, { here, name, title: name, path: sessionPath(name) });
    this.rate = new Rate();
    this.past = new Past(here.api, name);
    this.#build();
    const tell = (state) => this.#tell(state);
    this.feed = new Feed((signal, alive) => this.#follow(signal, alive), { tell });
    this.timer = setInterval(() => this.#tick(), TICK);
  }

  /** Leave the page. */
  close() {
    this.feed.close();
    this.figures.close();
    for (const timer of [this.timer, this.#drawing]) clearTimeout(timer);
  }

  #build() {
    this.team = new Team(this.here.api, this.name, (state) => this.#moved(state));
    this.figures = new Figures(CHARTS, { eta: "How it learns" });
    Object.assign(this, { stats: new Stats(), names: new Names(), snippets: new Snippets() });
    this.samples = new Samples(this.here.api, this.name);
    this.predict = new Predict(this.here.api, this.name);
    this.figures.element.querySelector(".section").before(this.predict.element);
    this.hands = el("div", { class: "hands" }, this.samples.element, this.snippets.element);
    [this.told, this.body] = [el("div"), el("div", { class: "body", hidden: true })];
    this.element = el("div", { class: "session" }, this.#head(), this.told, this.body);
  }

  #head() {
    this.about = el("p", { class: "about" });
    this.sentence = el("p", { class: "sentence" });
    this.pause = new Pause(() => this.feed);
    const moved = (state) => this.#moved(state);
    const doing = actions(this.here, this.name, () => this.#state, moved);
    const back = el("a", { class: "back", href: TO_LIST }, "← Sessions");
    const heading = el("h1", { tabindex: -1 }, this.name);
    const title = el("div", {}, back, heading, this.sentence, this.about);
    const buttons = [...this.figures.timeSwitch, this.pause.element, ...doing];
    this.tools = el("div", { class: "tools", hidden: true }, buttons);
    return el("div", { class: "head" }, title, this.tools);
  }

  /** The state, the past, then the stream of states; all anew after each reconnection. */
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
    const told = sizeOf(before) === sizeOf(state) && before.status === state.status;
    if (other || !told) this.#describe(state);
    this.past.add(state);
    if (other || this.past.due) this.#reload(signal);
    else this.#draw();
  }

  #take(state) {
    if (this.#state === null) this.#arrange(state.t === 0);
    this.#state = state;
    this.rate.note(state.t);
    this.stats.show(state, this.rate.value());
    for (const part of [this.names, this.team, this.predict, this.samples]) part.show(state);
    this.#tellSentence();
    set(this.body, { hidden: false });
    set(this.tools, { hidden: false });
    fill(this.told);
  }

  /** Who comes to a fresh session comes to send samples. */
  #arrange(fresh) {
    const parts = [this.figures.element, this.names.element];
    const below = fresh ? [this.hands, ...parts] : [...parts, this.hands];
    fill(this.body, this.stats.element, this.team.element, below);
  }

  async #describe(state) {
    const catalog = await this.here.catalog();
    const model = named(catalog.models, state.model);
    this.model = model;
    this.#tellSentence();
    const takes = { model, dim: state.dim, named: Boolean(state.features) };
    fill(this.about, aboutSession(state, catalog));
    this.samples.takes({ ...takes, options: state.config.options });
    const keyed = this.here.keys.current !== null;
    this.snippets.show({ name: this.name, ...takes, origin: location.origin, keyed });
  }

  #tellSentence() {
    const [state, model, time] = [this.#state, this.model, this.past.drift_time.at(-1)];
    if (state && model) say(this.sentence, summary(state, model, time));
  }

  /** What cannot be read now is read later: the feed tells if the service is away. */
  async #reload(signal = undefined) {
    await this.past.load(this.#state, signal).catch(() => {});
    this.#draw();
  }

  #tick() {
    if (!this.#state || this.pause.paused) return;
    this.stats.show(this.#state, this.rate.value());
    this.#tellSentence();
    if (this.past.due) this.#reload();
  }

  /** Soon, and not more often than is pleasant to look at. */
  #draw() {
    this.#drawing ??= setTimeout(() => {
      this.#drawing = null;
      drawPast(this.figures, this.past, intercept(this.#state));
    }, SOON);
  }

  #tell(state) {
    this.here.connection.show(state);
    if (state.kind !== "refused") return;
    const nobody = NOBODY.has(state.error.status);
    fill(this.told, nobody ? nobodyBox() : problemBox(state.error));
    set(this.tools, { hidden: true });
    set(this.body, { hidden: true });
  }
}
