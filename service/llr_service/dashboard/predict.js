/** Predict from the page: a form of the session's own features, or x as it is pasted. */

import { sessionPath } from "./api.js";
import { button, el, fill, say, set } from "./dom.js";
import { explanation, LEVEL, weightsFor } from "./explanation.js";
import { Field } from "./fields.js";
import { count } from "./format.js";
import { controlOf, inputsOf, MOST_FIELDS, pastedX, toX } from "./inputs.js";
import { problemBox } from "./problem.js";

const EMPTY = "A field left empty counts as 0. Nothing is learnt.";

/** A card that predicts. */
export class Predict {
  #known = null;
  #state = null;
  #pasting = false;

  constructor(api, name) {
    const path = sessionPath(name, `/predict?interval=${LEVEL}`);
    Object.assign(this, { api, path, statePath: sessionPath(name), made: [], takes: true });
    this.why = el("p", { class: "hint why-not" });
    this.fields = el("div", { class: "fields inputs" });
    this.paste = el("textarea", { rows: 4, "aria-label": "Features of a sample", hidden: true });
    set(this.paste, { spellcheck: "false", autocomplete: "off" });
    this.notice = el("div", { class: "explained", "aria-live": "polite" });
    this.hint = el("p", { class: "hint" });
    this.other = button("", () => this.#switch(!this.#pasting), { class: "quiet" });
    this.go = el("button", { type: "submit", class: "primary" }, "Predict");
    const foot = el("div", { class: "card-foot" }, this.hint, this.other, this.go);
    const form = el("form", { novalidate: true }, this.fields, this.paste, foot);
    const head = el("div", { class: "card-head" }, el("h2", {}, "Predict"));
    const attributes = { class: "card predict", "aria-label": "Predict" };
    this.element = el("section", attributes, head, this.why, form, this.notice);
    form.addEventListener("submit", (event) => this.#submit(event));
  }

  /** Whether the model has features at all. */
  describe(model) {
    this.takes = model.features;
    if (this.#state) this.show(this.#state);
  }

  /** Keep the fields in step with the features of a state; what was typed stays. */
  show(state) {
    this.#state = state;
    const { inputs, all } = this.takes ? inputsOf(state) : { inputs: [], all: true };
    const known = JSON.stringify([inputs?.map(({ name }) => name).sort(), all, state.t > 0]);
    if (known === this.#known) return;
    this.#known = known;
    const typed = new Map(this.made.map((one) => [one.input.name, one.control.value]));
    this.inputs = inputs;
    this.made = (inputs ?? []).map((input, k) => fieldOf(input, k, typed.get(input.name)));
    fill(this.fields, this.made.map((one) => one.element));
    say(this.why, this.#reason(state, inputs, all));
    set(this.why, { hidden: !this.why.textContent });
    this.#switch(this.#pasting || inputs === null);
  }

  /** Why there are no fields, or not all. */
  #reason({ t, dim, features }, inputs, all) {
    if (!this.takes) return "This model has no features: it predicts the same for every sample.";
    if (!t) return "It has learnt no sample yet: its prediction is that of a session at t = 0.";
    if (inputs === null && dim > MOST_FIELDS) {
      return `${count(dim)} features are too many for a form: paste them.`;
    }
    if (inputs === null || all) return "";
    return `The ${count(inputs.length)} largest of its features. ` +
      `Paste JSON to give others of the ${count(features.known)} names.`;
  }

  /** Fields, or a text to paste into. */
  #switch(pasting) {
    this.#pasting = pasting;
    const named = Boolean(this.#state?.features);
    set(this.fields, { hidden: pasting });
    set(this.paste, { hidden: !pasting });
    this.paste.placeholder = named ? '{"age": 30, "city": "Rome"}' : "0.5, -1.2, 3";
    say(this.other, pasting ? "Use fields" : "Paste x");
    set(this.other, { hidden: !this.takes || this.inputs === null });
    say(this.hint, pasting ? "JSON, or numbers with commas between. Nothing is learnt." : EMPTY);
    if (!this.takes) say(this.hint, "Nothing is learnt.");
  }

  async #submit(event) {
    event.preventDefault();
    const asked = this.#asked();
    if (asked === null) return;
    this.go.disabled = true;
    try {
      const said = await this.api.send("POST", this.path, asked);
      const state = await weightsFor(this.#state, said, () => this.api.get(this.statePath));
      fill(this.notice, explanation(said, asked.x, state));
    } catch (error) {
      fill(this.notice, problemBox(error));
    } finally {
      this.go.disabled = false;
    }
  }

  /** The body of the request; null, with a word at the place, if what was given is not x. */
  #asked() {
    if (!this.takes) return {};
    if (this.#pasting) return this.#pasted();
    for (const { field } of this.made) field.wrong(null);
    const bad = this.made.find(({ input, field }) => {
      return !input.choices && typeof field.value === "string";
    });
    if (bad) return bad.field.wrong("Not a number.") ?? null;
    const values = this.made.map(({ field }) => field.value);
    return { x: toX(this.inputs, values, Boolean(this.#state.features)) };
  }

  #pasted() {
    try {
      return { x: pastedX(this.paste.value, Boolean(this.#state.features)) };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const words = el("p", {}, `Not features: ${error.message}.`);
      fill(this.notice, el("div", { class: "problem", role: "alert" }, words));
      this.paste.focus();
      return null;
    }
  }
}

function fieldOf(input, k, typed = "") {
  const made = [controlOf(input, `known-${k}`)].flat();
  const field = new Field(`/x/${input.name}`, input.name, made[0]);
  field.control.value = typed;
  field.element.append(...made.slice(1));
  return { input, field, control: field.control, element: field.element };
}
