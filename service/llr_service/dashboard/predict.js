/** Predict from the page: a form of the session's own features, and how an answer came about. */

import { sessionPath } from "./api.js";
import { el, fill, set } from "./dom.js";
import { Field } from "./fields.js";
import { isNumber, number, percent } from "./format.js";
import { explain } from "./glossary.js";
import { contributions, controlOf, inputsOf, toX } from "./inputs.js";
import { metricOf } from "./metrics.js";
import { problemBox } from "./problem.js";
import { parts } from "./theta.js";

const LEVEL = 0.9;

/** A card that predicts; it is there once the session knows its features. */
export class Predict {
  #known = "";
  #state = null;

  constructor(api, name) {
    Object.assign(this, { api, path: sessionPath(name, `/predict?interval=${LEVEL}`) });
    this.fields = el("div", { class: "fields inputs" });
    this.told = el("div", { class: "explained", "aria-live": "polite" });
    const hint = el("p", { class: "hint" }, "A field left empty counts as 0. Nothing is learnt.");
    const go = el("button", { type: "submit", class: "primary" }, "Predict");
    const foot = el("div", { class: "card-foot" }, hint, go);
    const form = el("form", { novalidate: true }, this.fields, foot);
    const head = el("div", { class: "card-head" }, el("h2", {}, "Predict"));
    const attributes = { class: "card predict", "aria-label": "Predict", hidden: true };
    this.element = el("section", attributes, head, form, this.told);
    form.addEventListener("submit", (event) => this.#submit(event));
  }

  /** Keep the fields in step with the features of a state; what was typed stays. */
  show(state) {
    this.#state = state;
    const inputs = state.t ? inputsOf(state) : null;
    const known = JSON.stringify(inputs?.map(({ name }) => name).sort());
    set(this.element, { hidden: inputs === null });
    if (inputs === null || known === this.#known) return;
    const typed = new Map((this.made ?? []).map((one) => [one.input.name, one.control.value]));
    this.#known = known;
    this.made = inputs.map((input, k) => fieldOf(input, k, typed.get(input.name)));
    fill(this.fields, this.made.map((one) => one.element));
  }

  async #submit(event) {
    event.preventDefault();
    const inputs = this.made.map((one) => one.input);
    for (const { field } of this.made) field.wrong(null);
    const bad = this.made.find(({ input, field }) => !input.choices && isWord(field.value));
    if (bad) return bad.field.wrong("Not a number.");
    const values = this.made.map(({ field }) => field.value);
    const x = toX(inputs, values, Boolean(this.#state.features));
    try {
      fill(this.told, answer(await this.api.send("POST", this.path, { x }), x, this.#state));
    } catch (error) {
      fill(this.told, problemBox(error));
    }
  }
}

function isWord(value) {
  return typeof value === "string";
}

function fieldOf(input, k, typed = "") {
  const made = [controlOf(input, `known-${k}`)].flat();
  const field = new Field(`/x/${input.name}`, input.name, made[0]);
  field.control.value = typed;
  field.element.append(...made.slice(1));
  return { input, field, control: field.control, element: field.element };
}

function answer(said, x, state) {
  const { intercept: constant, theta } = state;
  const several = Array.isArray(said.predictions) || Array.isArray(Object.values(theta)[0]);
  const row = several ? likeliest(said, state) : null;
  const found = contributions(x, theta, row);
  const base = parts(constant)[row ?? 0] ?? 0;
  const all = [{ label: "intercept", part: base }, ...found];
  const top = Math.max(...all.map(({ part }) => Math.abs(part)), Number.MIN_VALUE);
  const score = all.reduce((sum, { part }) => sum + part, 0);
  all.sort((a, b) => Math.abs(b.part) - Math.abs(a.part));
  const lines = all.map((one) => line(one, top));
  const heads = ["feature", "weight", "value", "contribution"];
  const head = el("tr", {}, heads.map((one) => el("th", { scope: "col" }, one)));
  set(head.lastChild, { class: "term" });
  head.lastChild.append(explain("contribution"));
  const table = el("table", {}, el("thead", {}, head), el("tbody", {}, lines));
  const sum = el("p", { class: "hint" }, `Score, the sum of all: ${number(score)}.`);
  return el("div", { class: "answer" }, words(said, state), table, sum);
}

/** The prediction in words, with its interval or its set of classes. */
function words({ predictions: made, probabilities, lower, upper, set: within }, { model }) {
  const classes = metricOf(model).id === "accuracy";
  const chance = probabilities ? Math.max(...Object.values(probabilities)) : null;
  const value = Array.isArray(made) ? `class ${most(made)} (${percent(Math.max(...made))})`
    : isWord(made) ? `${made} (${percent(chance)})`
      : classes ? `${percent(made)} for class 1` : number(made);
  const range = isNumber(lower) && isNumber(upper)
    ? `${percent(LEVEL)} of labels are between ${number(lower)} and ${number(upper)}.`
    : within ? `${percent(LEVEL)} sure that it is among: ${within.join(", ")}.`
      : "It is too early for an interval.";
  return el("p", {}, el("strong", { "data-stat": "prediction" }, value), ` · ${range}`);
}

function likeliest({ predictions, probabilities }, { config }) {
  if (Array.isArray(predictions)) return most(predictions);
  const names = config.classes ?? Object.keys(probabilities ?? {});
  return Math.max(0, names.indexOf(String(predictions)));
}

function most(values) {
  return values.indexOf(Math.max(...values));
}

function line({ label, weight, value, part }, top) {
  const share = el("meter", { min: 0, max: 1, "aria-hidden": "true" });
  share.value = Math.abs(part) / top;
  const cells = [weight, value].map((one) => {
    return el("td", { class: "figure" }, isNumber(one) ? number(one) : "");
  });
  const last = el("td", { class: "figure part" }, number(part), share);
  return el("tr", {}, el("th", { scope: "row", class: "name" }, label), cells, last);
}
