/** Samples by hand: paste or type them, and see the answer, or what is wrong and where. */

import { answerBox } from "./answer.js";
import { sessionPath, Unreachable } from "./api.js";
import { ask } from "./dialog.js";
import { button, el, fill, say, set } from "./dom.js";
import { exampleLines } from "./example.js";
import { plural } from "./format.js";
import { parseSamples, Unclear } from "./parse.js";
import { problemBox, where } from "./problem.js";
import { toSession } from "./router.js";

const DOUBT =
  "No answer came: the samples may or may not have been learnt. Look at t before you send again.";
const EXAMPLES = {
  true: '0.5, -1.2, 1.0\n{"x": [0.1, 0.3], "y": 0}',
  false: '4.2\n{"y": 3.9}',
  named: '{"x": {"age": 30, "city": "Rome", "new": true}, "y": 1}',
};

const trials = new Set(); // forks made to try examples in

/** The card of a session's page that sends samples. */
export class Samples {
  constructor(api, name, demo) {
    const path = sessionPath(name, "/samples?predictions=true");
    Object.assign(this, { name, path, api, demo, model: null, t: 0 });
    const plain = { spellcheck: "false", autocomplete: "off", "aria-label": "Samples" };
    this.text = el("textarea", { rows: 6, ...plain });
    this.hint = el("p", { class: "hint" });
    this.notice = el("div", { class: "notice", "aria-live": "polite" });
    this.go = el("button", { type: "submit", class: "primary" }, "Learn");
    this.example = button("Insert an example", () => this.#example(), { class: "quiet" });
    this.example.id = "example";
    this.play = button("Play a demo stream", () => this.#play(), { class: "quiet", id: "play" });
    const foot = el("div", { class: "card-foot" }, this.play, this.example, this.go);
    const form = el("form", { novalidate: true }, this.text, this.hint, foot);
    const head = el("div", { class: "card-head" }, el("h2", {}, "Send samples"));
    this.element = el("section", { class: "card samples" }, head, form, this.notice);
    form.addEventListener("submit", (event) => this.#submit(event));
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
  }

  /** What the session takes. */
  takes({ model, dim, named, options }) {
    Object.assign(this, { model, dim, named, options });
    const width = dim ?? "any number of";
    const row = model.features ? `${width} features, then y, a line each` : "a y a line";
    const csv = named ? "a heading with the names, y last" : row;
    const forms = `CSV (${csv}), JSON or NDJSON`;
    fill(this.hint, `${forms}. y: ${model.domain}. Ctrl + Enter sends.`);
    this.text.placeholder = EXAMPLES[named ? "named" : model.features];
  }

  /** How many samples it has learnt: made-up ones are for a session that has learnt none. */
  show({ t }) {
    this.t = t;
    say(this.example, this.#mayTry ? "Insert an example" : "Try an example in a fork");
    set(this.play, { hidden: !this.#mayTry || this.demo.playsIn(this.name) });
  }

  get #mayTry() {
    return this.t === 0 || trials.has(this.name);
  }

  /** Whether the text is the example, and others taught the session since it was inserted. */
  get #spoils() {
    return !this.#mayTry && this.text.value === this.inserted;
  }

  async #submit(event) {
    event.preventDefault();
    if (this.#spoils) return void this.#fork();
    this.go.disabled = true;
    try {
      const { features = true } = this.model ?? {};
      await this.#learn(parseSamples(this.text.value, features, this.named));
    } catch (error) {
      if (!(error instanceof Unclear)) throw error;
      this.#unclear(error);
    } finally {
      this.go.disabled = false;
    }
  }

  /** An example is for t = 0 alone: the service refuses it if others were faster. */
  async #learn({ body, place }) {
    const example = this.text.value === this.inserted && !trials.has(this.name);
    const only = example ? { "if-match": '"0"' } : {};
    try {
      fill(this.notice, answerBox(await this.api.send("POST", this.path, body, only)));
      if (this.text.value === this.inserted) this.text.value = "";
    } catch (error) {
      if (example && error.status === 412) return void this.#fork();
      this.#failed(error, place);
    }
  }

  #failed(error, place) {
    const says = (one) => (place(one) ? this.#goTo(place(one)) : where(one));
    const doubt = el("p", { class: "problem", role: "alert" }, DOUBT);
    fill(this.notice, error instanceof Unreachable ? doubt : problemBox(error, says));
    const found = (error.problem?.errors ?? []).map(place).find(Boolean);
    if (found) this.#select(found.line);
  }

  #unclear(error) {
    const at = error.line && this.#goTo(error);
    const words = el("p", {}, at, error.message);
    fill(this.notice, el("div", { class: "problem", role: "alert" }, words));
    if (error.line) this.#select(error.line);
    else this.text.focus();
  }

  #goTo({ line, column, rest }) {
    const words = `line ${line}${column ? `, field ${column}` : ""}${rest ? ` ${rest}` : ""}`;
    return button(words, () => this.#select(line), { class: "place" });
  }

  #select(line) {
    const lines = this.text.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    this.text.focus();
    this.text.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  }

  #play() {
    if (!this.model) return;
    const { model, dim, options = {}, named } = this;
    trials.add(this.name);
    this.demo.play(this.name, { model, dim, options, named });
    this.show(this);
  }

  #example() {
    if (!this.model) return;
    if (!this.#mayTry) return void this.#fork();
    this.inserted = exampleLines(this.model, this.dim, this.options, this.named);
    this.text.value = this.inserted;
    this.text.focus();
  }

  /** Made-up samples would spoil what was learnt: they go to a copy. */
  async #fork() {
    const name = `${this.name.slice(0, 100)}-try-${Date.now().toString(36)}`;
    const learnt = plural(this.t, "sample", "samples");
    const text = `Made-up samples would change what it learnt from ${learnt}. A fork takes them.`;
    const content = el("p", {}, `${text} Its name: ${name}.`);
    const perform = () => this.api.send("POST", sessionPath(this.name, "/fork"), { name });
    const submit = () => perform().catch((error) => void fill(this.notice, problemBox(error)));
    if (!(await ask({ title: "Try it in a fork?", content, action: "Fork", submit }))) return;
    trials.add(name);
    location.hash = toSession(name);
  }
}
