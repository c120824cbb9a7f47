/** The form that creates a session, built from the catalogue: whatever is in it appears here. */

import { named } from "./about.js";
import { sessionPath } from "./api.js";
import { ask } from "./dialog.js";
import { el, fill, set } from "./dom.js";
import { choice, Field, line, NAMING, nameFields, optionField, sentence } from "./fields.js";
import { problemBox } from "./problem.js";
import { toSession } from "./router.js";

const KEPT = "So that forks can learn them anew, by another algorithm: what if?";

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
    const among = (them, usual) => choice(them.map((one) => one.name), usual);
    const eta0 = line(String(defaults.eta0 ?? "its own"), "decimal");
    const regret = choice([["", "default"], "exact", "off"], "");
    this.name = new Field("/name", "Name", set(line(""), { autofocus: true }), NAMING);
    this.model = new Field("/model", "Model", among(models, "linear"));
    this.algorithm = new Field("/algorithm", "Algorithm", among(algorithms, defaults.algorithm));
    this.dim = new Field("/dim", "Features (dim)", line("from the first sample", "numeric"));
    this.eta0 = new Field("/eta0", "First step size (eta0)", eta0);
    this.regret = new Field("/regret", "regret", regret, `Default: ${defaults.regret}.`);
    const retain = el("input", { type: "checkbox" });
    this.retain = new Field("/retain", "Keep all samples", retain, KEPT);
    this.retain.usual = false;
    this.names = nameFields(defaults);
    this.#build();
    this.#chosen();
  }

  /** Create it. Resolves to the name, or shows what is wrong and resolves to undefined. */
  async submit(api) {
    fill(this.told);
    for (const field of this.#fields()) field.wrong(null);
    const missing = this.#fields().find((field) => field.needed && field.value === undefined);
    if (this.name.value === undefined) return this.name.wrong("A session needs a name.");
    if (missing) return missing.wrong("This one is needed.");
    try {
      await api.send("PUT", sessionPath(this.name.value), this.#config());
      return this.name.value;
    } catch (error) {
      return this.#refused(error);
    }
  }

  #build() {
    const two = (...fields) => el("div", { class: "fields two" }, fields.map((one) => one.element));
    this.needed = el("div", { class: "fields two" });
    this.further = el("div", { class: "fields two" });
    this.more = el("details", { class: "more" }, el("summary", {}, "More options"), this.further);
    this.told = el("div");
    const main = [this.name.element, two(this.model, this.algorithm, this.dim, this.eta0)];
    this.element = el("div", { class: "fields" }, main, this.needed, this.more, this.told);
    for (const { control } of [this.model, this.algorithm]) {
      control.addEventListener("change", () => this.#chosen());
    }
  }

  #chosen() {
    const model = named(this.models, this.model.value);
    const algorithm = named(this.algorithms, this.algorithm.value);
    this.model.hint(`${sentence(model.summary)} y: ${model.domain}.`);
    this.algorithm.hint(sentence(algorithm.summary));
    const learns = algorithm.learns_step_size;
    this.eta0.hint(learns ? "Where it starts; it is learnt from there." : "It stays as it is.");
    set(this.dim.element, { hidden: !model.features });
    set(this.eta0.element, { hidden: !algorithm.needs_eta0 });
    const takesNames = model.features && algorithm.named_features;
    for (const field of this.names) set(field.element, { hidden: !takesNames });
    this.#options = [...model.options, ...algorithm.options].map(optionField);
    const further = this.#options.filter((one) => !one.needed);
    fill(this.needed, this.#options.filter((one) => one.needed).map((one) => one.element));
    const others = [...further, this.regret, this.retain, ...this.names];
    fill(this.further, others.map((one) => one.element));
  }

  #config() {
    const { model, algorithm, dim, eta0, regret, retain, names } = this;
    const all = [model, algorithm, dim, eta0, regret, retain, ...names];
    const plain = all.filter((field) => !field.element.hidden);
    const config = Object.fromEntries(plain.map((field) => [field.at.slice(1), field.value]));
    const given = this.#options.filter((field) => field.value !== undefined);
    const options = Object.fromEntries(given.map((field) => [field.name, field.value]));
    return { ...config, options };
  }

  #fields() {
    const { name, model, algorithm, dim, eta0, regret, retain, names } = this;
    return [name, model, algorithm, dim, eta0, regret, retain, ...names, ...this.#options];
  }

  #refused(error) {
    const marked = (error.problem?.errors ?? []).filter((one) => this.#mark(one));
    if (marked.length) return;
    const name = this.name.value;
    const exists = error.problem?.type?.endsWith(":session-exists");
    const leave = () => this.element.closest("dialog").close();
    const open = el("a", { href: toSession(name), on: { click: leave } }, `Open ${name}`);
    fill(this.told, problemBox(error), exists ? el("p", {}, open) : null);
  }

  #mark({ pointer, parameter, detail }) {
    const at = pointer || `/${parameter}`;
    const field = this.#fields().find((one) => one.at === at);
    if (this.more.contains(field?.element ?? null)) this.more.open = true;
    field?.wrong(detail);
    return field !== undefined;
  }
}
