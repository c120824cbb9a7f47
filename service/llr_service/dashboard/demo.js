/**
 * A demo stream: made-up samples sent to one session from this tab until it is stopped. After
 * some time their true parameters change, so that the page has a drift to show.
 */

import { named } from "./about.js";
import { sessionPath } from "./api.js";
import { button, el, fill, set } from "./dom.js";
import { exampleLines } from "./example.js";
import { count } from "./format.js";
import { term } from "./glossary.js";
import { parseSamples } from "./parse.js";
import { toSession } from "./router.js";

const [APART, MOST, CHANGE] = [250, 20_000, 2000];
const [BEFORE, AFTER] = [0, 2.5];

/** The one demo stream there can be; `element` says how far it is, with a button to stop it. */
export class DemoStream {
  #going = null;

  constructor(api) {
    this.api = api;
    this.words = el("span", {});
    this.lead = el("a", {});
    this.halt = button("Stop", () => this.stop(), { id: "stop-demo" });
    const parts = [term("Demo stream", "demo stream"), this.lead, this.words, this.halt];
    const attributes = { class: "demo", role: "region", "aria-label": "Demo stream", hidden: true };
    this.element = el("div", attributes, parts);
  }

  /** Whether it sends to a session now. */
  playsIn(name) {
    return this.#going?.name === name;
  }

  /** Create a session and play in it; resolves to its name. */
  async create(catalog) {
    const name = `demo-${Date.now().toString(36)}`;
    const { models } = await catalog();
    await this.api.send("PUT", sessionPath(name), { model: "linear", named: true });
    this.play(name, { model: named(models, "linear"), dim: null, options: {}, named: true });
    return name;
  }

  /** Send samples that a session takes, until it is stopped. */
  play(name, takes) {
    const going = { name, takes, sent: 0 };
    this.#going = going;
    set(this.lead, { href: toSession(name, "overview") });
    fill(this.lead, name);
    this.#show("");
    this.#run(going);
  }

  /** Stop it; what was learnt stays. */
  stop() {
    this.#going = null;
    set(this.element, { hidden: true });
  }

  /** One request at a time; the first failure ends it and is shown. */
  async #run(going) {
    const { name, takes: { model, dim, options, named: names } } = going;
    try {
      while (this.#going === going && going.sent < MOST) {
        const phase = Math.floor(going.sent / CHANGE) % 2 ? AFTER : BEFORE;
        const text = exampleLines(model, dim, options, names, phase);
        const { body } = parseSamples(text, model.features, names);
        const { accepted } = await this.api.send("POST", sessionPath(name, "/samples"), body);
        going.sent += accepted;
        if (this.#going !== going) return;
        this.#show("");
        await new Promise((done) => setTimeout(done, APART));
      }
      if (this.#going === going) this.#ended("it is complete.");
    } catch (error) {
      if (this.#going === going) this.#ended(`it stopped: ${error.message}`);
    }
  }

  #show(end) {
    const { sent } = this.#going;
    fill(this.words, `${count(sent)} samples sent${end ? `; ${end}` : ""}`);
    fill(this.halt, end ? "Close" : "Stop");
    set(this.element, { hidden: false });
  }

  #ended(why) {
    this.#show(why);
    this.#going = null;
  }
}
