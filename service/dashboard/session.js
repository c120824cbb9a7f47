/** The page of one session: its numbers and charts live, samples by hand, snippets, deletion. */

import { sessionPath } from "./api.js";
import { confirm } from "./dialog.js";
import { button, el, fill, say, set } from "./dom.js";
import { Feed } from "./feed.js";
import { Figures } from "./figures.js";
import { NOTHING } from "./format.js";
import { Past } from "./past.js";
import { problemBox } from "./problem.js";
import { Rate } from "./rate.js";
import { toCompare, TO_LIST } from "./router.js";
import { Samples } from "./samples.js";
import { Snippets } from "./snippets.js";
import { Stats } from "./stats.js";
import { KEPT } from "./theta.js";

const TICK = 1000;
const NOBODY = new Set([404, 422]); // there is none, or there can be none of that name

/** The page at `#/s/NAME`. */
export function sessionPage(here, [name]) {
  return new SessionPage(here, name);
}

class SessionPage {
  #state = null;
  #drawing = null;

  constructor(here, name) {
    Object.assign(this, { here, name, title: name, rate: new Rate(), past: new Past(here.api, name) });
    this.#build();
    this.feed = new Feed((signal, alive) => this.#follow(signal, alive), { tell: (state) => this.#tell(state) });
    this.timer = setInterval(() => this.#tick(), TICK);
  }

  /** Leave the page. */
  close() {
    this.feed.close();
    this.figures.close();
    clearInterval(this.timer);
    cancelAnimationFrame(this.#drawing);
  }

  #build() {
    this.stats = new Stats();
    this.figures = new Figures(["eta", "regret", "loss", "theta"]);
    this.samples = new Samples(this.here.api, this.name);
    this.snippets = new Snippets();
    this.about = el("p", { class: "about" });
    this.told = el("div");
    this.pauser = button("Pause", () => this.#pause(), { "aria-pressed": "false", id: "pause" });
    const compare = el("a", { class: "button", href: toCompare([this.name]) }, "Compare");
    const remove = button("Delete", () => this.#delete(), { class: "danger quiet", id: "delete" });
    const back = el("a", { class: "back", href: TO_LIST }, "← Sessions");
    const title = el("div", {}, back, el("h1", { tabindex: -1 }, this.name), this.about);
    const tools = el("div", { class: "tools" }, this.figures.timeSwitch, this.pauser, compare, remove);
    this.tools = tools;
    const hands = el("div", { class: "hands" }, this.samples.element, this.snippets.element);
    this.body = el("div", { class: "body", hidden: true }, this.stats.element, this.figures.element, hands);
    this.element = el("div", { class: "session" }, el("div", { class: "head" }, title, tools), this.told, this.body);
  }

  /** The state, the past, then the stream of states; all anew after each reconnection. */
  async #follow(signal, alive) {
    const state = await this.here.api.get(sessionPath(this.name), { signal });
    await this.#describe(state);
    this.#take(state);
    await this.past.load(state, signal);
    this.#draw();
    alive();
    for await (const event of this.here.api.events(sessionPath(this.name, "/events"), { signal, lastId: state.t })) {
      alive();
      if (event.event === "state") this.#moved(JSON.parse(event.data), signal);
    }
  }

  #moved(state, signal) {
    this.#take(state);
    this.past.add(state);
    if (this.past.due) this.#reload(signal);
    else this.#draw();
  }

  /** What cannot be read now is read at the next occasion: the feed tells if the service is away. */
  async #reload(signal = undefined) {
    await this.past.load(this.#state, signal).catch(() => {});
    this.#draw();
  }

  #take(state) {
    const grew = this.#state?.dim !== state.dim;
    this.#state = state;
    this.rate.note(state.t);
    this.stats.show(state, this.rate.value());
    set(this.body, { hidden: false });
    fill(this.told);
    if (grew || state.status !== this.status) this.#describe(state);
  }

  async #describe(state) {
    const { models } = await this.here.catalog();
    const model = models.find((one) => one.name === state.model);
    const { dim, config } = state;
    const diverged = state.status === "diverged" && el("strong", { class: "badge" }, "diverged: the last batch was refused");
    this.status = state.status;
    const size = model.features ? ` · dim ${dim ?? NOTHING}` : "";
    fill(this.about, `${state.model} · ${state.algorithm}${size} · eta0 ${config.eta0 ?? "its own"} `, diverged);
    this.samples.show({ model, dim, options: config.options });
    const keyed = this.here.keys.current !== null;
    this.snippets.show({ name: this.name, dim, model, origin: location.origin, keyed });
  }

  #tick() {
    if (!this.#state || this.paused) return;
    this.stats.show(this.#state, this.rate.value());
    if (this.past.due) this.#reload();
  }

  #draw() {
    this.#drawing ??= requestAnimationFrame(() => {
      this.#drawing = null;
      const { t, eta, regret, loss, theta, labels } = this.past;
      const one = (values) => (values ? [{ name: this.name, t, values }] : []);
      this.figures.show("eta", one(eta));
      this.figures.show("regret", one(regret));
      this.figures.show("loss", one(loss));
      this.figures.show("theta", theta.map((values, k) => ({ name: labels[k], t, values })));
    });
  }

  #pause() {
    this.paused = !this.paused;
    set(this.pauser, { "aria-pressed": String(this.paused) });
    say(this.pauser, this.paused ? "Resume" : "Pause");
    if (this.paused) this.feed.pause();
    else this.feed.resume();
  }

  async #delete() {
    const perform = async (told) => {
      try {
        await this.here.api.delete(sessionPath(this.name));
        return true;
      } catch (error) {
        fill(told, problemBox(error));
        return undefined;
      }
    };
    const text = `All that ${this.name} has learnt (t ${this.#state?.t ?? NOTHING}) goes for good.`;
    if (await confirm({ title: "Delete this session?", text, action: "Delete", perform })) location.hash = TO_LIST;
  }

  #tell(state) {
    this.here.connection.show(state);
    if (state.kind !== "refused") return;
    const missing = NOBODY.has(state.error.status);
    fill(this.told, missing ? this.#missing() : problemBox(state.error));
    set(this.tools, { hidden: missing });
    set(this.body, { hidden: true });
  }

  #missing() {
    const words = el("p", { class: "problem-title" }, "There is no session of this name (any more)");
    return el("div", { class: "problem", role: "alert" }, words, el("p", {}, el("a", { href: TO_LIST }, "See which there are")));
  }
}
