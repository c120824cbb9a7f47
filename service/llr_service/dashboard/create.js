/**
 * The form that creates a session: what to predict, or rows to make a proposal from. It is built
 * from the catalogue, so whatever is in it appears here.
 */

import { named } from "./about.js";
import { sessionPath } from "./api.js";
import { ask } from "./dialog.js";
import { el, fill, set } from "./dom.js";
import { choice, Field, line, NAMING, nameFields, optionField, sentence } from "./fields.js";
import { problemBox } from "./problem.js";
import { Proposal } from "./proposal.js";
import { toSession } from "./router.js";

const KEPT = "So that forks can learn them again with another algorithm: what if?";

/** Ask for a config and create a session of it; resolves to its name, or to null. */
export async function createSession({ api, catalog }) {
  const form = new Form(await catalog());
  const submit = () => form.submit(api);
  return ask({ title: "New session", content: form.element, action: "Create", submit, wide: true });
}

class Form {
  #options = [];

  constructor({ models, algorithms, defaults }) {
    Object.assign(this, { models, algorithms });
    const names = algorithms.map((one) => one.name);
    const eta0 = line(String(defaults.eta0 ?? "its own"), "decimal");
    const regret = choice([["", "default"], "exact", "off"], "");
    const targets = models.map(({ name, summary }) => {
      return [name, `${sentence(summary).slice(0, -1)} (${name})`];
    });
    this.model = new Field("/model", "What do you want to predict?", choice(targets, "linear"));
    this.name = new Field("/name", "Name", line(""), NAMING);
    this.algorithm = new Field("/algorithm", "Algorithm", choice(names, defaults.algorithm));
    this.dim = new Field("/dim", "Features (dim)", line("from the first sample", "numeric"));
    this.eta0 = new Field("/eta0", "First step size (eta0)", eta0);
    this.regret = new Field("/regret", "regret", regret, `Default: ${defaults.regret}.`);
    const retain = el("input", { type: "checkbox" });
    this.retain = new Field("/retain", "Keep all samples", retain, KEPT);
    this.retain.usual = false;
    this.names = nameFields(defaults);
    this.proposal = new Proposal(({ model }) => {
      this.model.control.value = model;
      this.#update();
    });
    this.#build();
    this.#update();
  }

  /** Create it. Resolves to the name, or shows what is wrong and resolves to undefined. */
  async submit(api) {
    fill(this.notice);
    for (const field of this.#fields()) field.wrong(null);
    const missing = this.#fields().find((field) => field.needed && field.value === undefined);
    if (this.name.value === undefined) return this.name.wrong("A session needs a name.");
    if (missing && !this.#proposed) return missing.wrong("This one is needed.");
    try {
      await api.send("PUT", sessionPath(this.name.value), this.#config());
      return await this.#teach(api);
    } catch (error) {
      return this.#refused(error);
    }
  }

  /** The session is there: rows that cannot be learnt must not make it look as if it were not. */
  async #teach(api) {
    const { value: name } = this.name;
    if (!this.#proposed || !this.proposal.learns) return name;
    try {
      await api.send("POST", sessionPath(name, "/samples"), this.#proposed.body);
      return name;
    } catch (error) {
      const words = el("p", {}, `${name} was created, but the rows were not learnt.`);
      fill(this.notice, words, problemBox(error), this.#open(name));
      return undefined;
    }
  }

  /** What the pasted rows propose, if the model is still the one that they propose. */
  get #proposed() {
    const { found } = this.proposal;
    return found?.model === this.model.value ? found : null;
  }

  #build() {
    const two = (...fields) => el("div", { class: "fields two" }, fields.map((one) => one.element));
    this.needed = el("div", { class: "fields two" });
    this.further = el("div", { class: "fields two" });
    const basic = two(this.algorithm, this.dim, this.eta0);
    const summary = el("summary", {}, "More options");
    this.more = el("details", { class: "more" }, summary, basic, this.further);
    this.notice = el("div");
    const main = [this.model.element, this.needed, this.proposal.element, this.name.element];
    this.element = el("div", { class: "fields" }, main, this.more, this.notice);
    for (const { control } of [this.model, this.algorithm]) {
      control.addEventListener("change", () => this.#update());
    }
  }

  #update() {
    const model = named(this.models, this.model.value);
    const algorithm = named(this.algorithms, this.algorithm.value);
    this.model.hint(`y: ${model.domain}.`);
    this.algorithm.hint(sentence(algorithm.summary));
    const learns = algorithm.learns_step_size;
    this.eta0.hint(learns ? "Where it starts; it is learnt from there." : "It stays as it is.");
    set(this.dim.element, { hidden: !model.features });
    set(this.eta0.element, { hidden: !algorithm.needs_eta0 });
    const takesNames = model.features && algorithm.named_features;
    for (const field of this.names) set(field.element, { hidden: !takesNames });
    this.#options = [...model.options, ...algorithm.options].map(optionField);
    const further = this.#options.filter((one) => !one.needed);
    const needed = this.#options.filter((one) => one.needed);
    fill(this.needed, needed.map((one) => one.element));
    set(this.needed, { hidden: Boolean(this.#proposed) });
    const others = [...further, this.regret, this.retain, ...this.names];
    fill(this.further, others.map((one) => one.element));
  }

  /** What is filled in, over what the rows propose. */
  #config() {
    const { model, algorithm, dim, eta0, regret, retain, names } = this;
    const all = [model, algorithm, dim, eta0, regret, retain, ...names];
    const plain = all.filter((field) => !field.element.hidden && field.value !== undefined);
    const config = Object.fromEntries(plain.map((field) => [field.at.slice(1), field.value]));
    const given = this.#options.filter((field) => field.value !== undefined);
    const options = Object.fromEntries(given.map((field) => [field.name, field.value]));
    const proposed = this.#proposed?.config ?? {};
    return { ...proposed, ...config, options: { ...proposed.options, ...options } };
  }

  #fields() {
    const { name, model, algorithm, dim, eta0, regret, retain, names } = this;
    return [name, model, algorithm, dim, eta0, regret, retain, ...names, ...this.#options];
  }

  #refused(error) {
    const marked = (error.problem?.errors ?? []).filter((one) => this.#mark(one));
    if (marked.length) return;
    const exists = error.problem?.type?.endsWith(":session-exists");
    fill(this.notice, problemBox(error), exists ? this.#open(this.name.value) : null);
  }

  #open(name) {
    const leave = () => this.element.closest("dialog").close();
    return el("p", {}, el("a", { href: toSession(name), on: { click: leave } }, `Open ${name}`));
  }

  #mark({ pointer, parameter, detail }) {
    const at = pointer || `/${parameter}`;
    const field = this.#fields().find((one) => one.at === at);
    if (this.more.contains(field?.element ?? null)) this.more.open = true;
    field?.wrong(detail);
    return field !== undefined;
  }
}
