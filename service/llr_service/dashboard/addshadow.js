/** Adding a shadow to a session: another algorithm on the same samples, from the next one on. */

import { named } from "./about.js";
import { sessionPath } from "./api.js";
import { ask } from "./dialog.js";
import { el, fill, set } from "./dom.js";
import { choice, Field, line, NAMING, sentence } from "./fields.js";
import { problemBox } from "./problem.js";

const WHAT = "It learns all samples from now on, from the session's theta, and is compared.";

/** Ask which, then add it; resolves to the state of the session with it, or to null. */
export async function addShadow({ api, catalog }, state) {
  const form = new Form(await catalog(), state);
  const title = `Add a shadow to ${state.name}`;
  return ask({ title, content: form.element, action: "Add", submit: () => form.submit(api) });
}

class Form {
  constructor({ algorithms, defaults }, { name, model, algorithm }) {
    Object.assign(this, { session: name, algorithms });
    const suited = algorithms.filter((one) => one.models.includes(model)).map((one) => one.name);
    const other = suited.find((one) => one !== algorithm);
    this.name = new Field("/shadow", "Name", set(line(""), { autofocus: true }), NAMING);
    this.algorithm = new Field("/algorithm", "Algorithm", choice(suited, other));
    const eta0 = line(String(defaults.eta0), "decimal");
    this.eta0 = new Field("/eta0", "First step size (eta0)", eta0);
    this.fields = [this.name, this.algorithm, this.eta0];
    this.notice = el("div");
    const shown = this.fields.map((one) => one.element);
    this.element = el("div", { class: "fields" }, el("p", {}, WHAT), shown, this.notice);
    this.algorithm.control.addEventListener("input", () => this.#update());
    this.#update();
  }

  /** Add it. Resolves to the state, or shows what is wrong and resolves to undefined. */
  async submit(api) {
    fill(this.notice);
    for (const field of this.fields) field.wrong(null);
    const { value: name } = this.name;
    if (name === undefined) return this.name.wrong("A shadow needs a name.");
    const eta0 = this.eta0.element.hidden ? undefined : this.eta0.value;
    const config = { algorithm: this.algorithm.value, eta0 };
    try {
      const path = sessionPath(this.session, `/shadows/${encodeURIComponent(name)}`);
      return await api.send("PUT", path, config);
    } catch (error) {
      return this.#refused(error);
    }
  }

  #update() {
    const { summary, needs_eta0: needed } = named(this.algorithms, this.algorithm.value);
    this.algorithm.hint(sentence(summary));
    set(this.eta0.element, { hidden: !needed });
  }

  #refused(error) {
    const [{ pointer, parameter, detail } = {}] = error.problem?.errors ?? [];
    const field = this.fields.find((one) => one.at === (pointer || `/${parameter}`));
    if (field) field.wrong(detail);
    else fill(this.notice, problemBox(error));
  }
}
