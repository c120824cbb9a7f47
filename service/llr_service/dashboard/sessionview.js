/** What a session's page is made of: a head with a sentence, the numbers, and the tabs. */

import { aboutSession, named } from "./about.js";
import { actions } from "./actions.js";
import { ConfigCard } from "./config.js";
import { el, fill, say, set } from "./dom.js";
import { Figures } from "./figures.js";
import { MetricsCard } from "./metrics.js";
import { ParametersCard } from "./parameters.js";
import { Predict } from "./predict.js";
import { TO_LIST } from "./router.js";
import { Samples } from "./samples.js";
import { summary } from "./sentence.js";
import { ShadowsPanel } from "./shadows.js";
import { Snippets } from "./snippets.js";
import { LearningStats, Stats } from "./stats.js";
import { Tabs } from "./tabs.js";

const CHARTS = ["recent", "metric", "eta", "regret", "loss", "theta"];

/** The elements of the page; `stateNow()` is the state, `changed(state)` gets one after an act. */
export class SessionView {
  #model = null;

  constructor(here, name, pause, stateNow, changed) {
    Object.assign(this, { here, name });
    this.figures = new Figures(CHARTS);
    this.stats = new Stats();
    this.cards = {
      metrics: new MetricsCard(),
      learning: new LearningStats(),
      predict: new Predict(here.api, name),
      parameters: new ParametersCard(),
      shadows: new ShadowsPanel(here, name, stateNow, changed),
      samples: new Samples(here.api, name, here.demo),
    };
    Object.assign(this, { config: new ConfigCard(), snippets: new Snippets() });
    this.#build(pause, actions(here, name, stateNow));
  }

  #build(pause, acts) {
    const { metrics, learning, predict, parameters, shadows, samples } = this.cards;
    this.figures.before("eta", metrics.element, learning.element);
    this.tabs = new Tabs(this.name, {
      overview: this.figures.element,
      predict: predict.element,
      parameters: parameters.element,
      shadows: shadows.element,
      samples: samples.element,
      config: this.config.element,
      code: this.snippets.element,
    });
    this.notice = el("div");
    const parts = [this.stats.element, this.tabs.element, this.tabs.body];
    this.body = el("div", { class: "body", hidden: true }, parts);
    this.tools = el("div", { class: "tools", hidden: true }, pause, acts);
    this.element = el("div", { class: "session" }, this.#head(), this.notice, this.body);
  }

  #head() {
    this.about = el("p", { class: "about" });
    this.sentence = el("p", { class: "sentence" });
    const back = el("a", { class: "back", href: TO_LIST }, "← Sessions");
    const heading = el("h1", { tabindex: -1 }, this.name);
    const title = el("div", {}, back, heading, this.sentence, this.about);
    return el("div", { class: "head" }, title, this.tools);
  }

  /** Show a state, and how fast t moves. */
  show(state, rate) {
    this.stats.show(state, rate);
    for (const card of Object.values(this.cards)) card.show(state);
    this.tell(state);
    fill(this.notice);
    for (const part of [this.body, this.tools]) set(part, { hidden: false });
  }

  /** Show what moves with the clock alone. */
  tick(state, rate) {
    this.stats.show(state, rate);
    this.tell(state);
  }

  /** Say the sentence. */
  tell(state) {
    if (this.#model) say(this.sentence, summary(state, this.#model));
  }

  /** Show what depends on the config and the size of a session. */
  describe(state, catalog) {
    const model = named(catalog.models, state.model);
    this.#model = model;
    const takes = { model, dim: state.dim, named: Boolean(state.features ?? state.config.named) };
    fill(this.about, aboutSession(state, catalog));
    this.cards.samples.takes({ ...takes, options: state.config.options });
    this.cards.predict.describe(model);
    this.config.show(state, catalog);
    const keyed = this.here.keys.current !== null;
    this.snippets.show({ name: this.name, ...takes, origin: location.origin, keyed });
  }

  /** Show a problem in place of everything. */
  refuse(box) {
    fill(this.notice, box);
    for (const part of [this.body, this.tools]) set(part, { hidden: true });
  }
}
