/** Forking a session: a copy, one that learns otherwise from its theta on, or a what-if. */

import { named } from "./about.js";
import { sessionPath } from "./api.js";
import { ask } from "./dialog.js";
import { el, fill, set } from "./dom.js";
import { choice, Field, line, NAMING } from "./fields.js";
import { count, plural } from "./format.js";
import { problemBox } from "./problem.js";

const SAME = "The same to the last bit; from there it goes its own way.";
const OTHER = "It restarts from theta: t, loss and regret begin anew.";
const AGAIN = "It starts from nothing and learns all samples anew in this way: what if?";

/** Ask how, then fork; resolves to the name of the copy, or to null. */
export async function forkSession({ api, catalog }, state) {
  const { name } = state;
  const form = new Form(await catalog(), state);
  const submit = () => form.submit(api);
  return ask({ title: `Fork ${name}`, content: form.element, action: "Fork", submit });
}

class Form {
  constructor({ algorithms }, { name, model, algorithm, retained, t }) {
    Object.assign(this, { source: name, usual: algorithm, algorithms });
    const suited = algorithms.filter((one) => one.models.includes(model));
    const others = suited.map((one) => one.name).filter((one) => one !== algorithm);
    const choices = choice([["", `${algorithm} (the same)`], ...others], "");
    this.name = new Field("/name", "Name of the copy", set(line(""), { autofocus: true }), NAMING);
    this.algorithm = new Field("/algorithm", "Algorithm", choices);
    this.eta0 = new Field("/eta0", "First step size (eta0)", line("as it was", "decimal"));
    this.relearn = relearning(retained, t);
    this.fields = [this.name, this.algorithm, this.eta0, this.relearn];
    this.notice = el("div");
    const shown = this.fields.map((one) => one.element);
    this.element = el("div", { class: "fields" }, shown, this.notice);
    for (const { control } of this.fields) control.addEventListener("input", () => this.#update());
    this.#update();
  }

  /** Fork it. Resolves to the name, or shows what is wrong and resolves to undefined. */
  async submit(api) {
    fill(this.notice);
    for (const field of this.fields) field.wrong(null);
    const [name, algorithm, eta0, relearn] = this.fields.map((one) => one.value);
    if (name === undefined) return this.name.wrong("The copy needs a name.");
    try {
      const path = sessionPath(this.source, "/fork");
      return (await api.send("POST", path, { name, algorithm, eta0, relearn })).name;
    } catch (error) {
      return this.#refused(error);
    }
  }

  #update() {
    const chosen = named(this.algorithms, this.algorithm.value ?? this.usual);
    set(this.eta0.element, { hidden: !chosen.needs_eta0 });
    const differs = this.algorithm.value !== undefined || this.eta0.value !== undefined;
    this.algorithm.hint(this.relearn.value ? AGAIN : differs ? OTHER : SAME);
  }

  #refused(error) {
    const [first] = error.problem?.errors ?? [];
    const field = this.fields.find((one) => one.at === first?.pointer);
    if (field) field.wrong(first.detail);
    else fill(this.notice, problemBox(error));
  }
}

/** Whether to learn all samples anew, if the session has kept them. */
function relearning(retained, t) {
  const control = el("input", { type: "checkbox", disabled: !retained?.complete });
  const field = new Field("/relearn", "Learn all its samples anew", control, able(retained, t));
  return Object.assign(field, { usual: false });
}

function able(retained, t) {
  if (!retained) return "Only of a session that keeps its samples: tick that when you create it.";
  const { samples, complete } = retained;
  if (complete) return `${plural(t, "sample", "samples")}, in the background, from the first on.`;
  return `Not possible: it keeps ${count(samples)} of its ${count(t)} samples only.`;
}
