/** Fields of a form: a control with its label, a hint, and room for what is wrong with it. */

import { el, say, set } from "./dom.js";

let made = 0;

/** What a session may be called. */
export const NAMING = "Letters, digits, dots, _ and -, beginning with a letter or a digit.";

/** A field; `at` is the JSON pointer by which a problem names it. */
export class Field {
  constructor(at, label, control, hint = "") {
    const id = `field-${(made += 1)}`;
    Object.assign(this, { at, control });
    set(control, { id, "data-at": at, "aria-describedby": `${id}-hint ${id}-wrong` });
    const tick = control.type === "checkbox";
    const name = el("label", { for: id }, label);
    this.note = el("p", { class: "hint", id: `${id}-hint` }, hint);
    this.fault = el("p", { class: "wrong", id: `${id}-wrong` });
    const top = tick ? [control, name] : [name, control];
    this.element = el("div", { class: tick ? "field flag" : "field" }, top, this.note, this.fault);
  }

  /** Explain the field. */
  hint(text) {
    say(this.note, text);
  }

  /** Say what is wrong with it, or null for nothing. */
  wrong(text) {
    set(this.control, { "aria-invalid": text ? "true" : null });
    say(this.fault, text ? capital(text) : "");
    if (text) this.control.focus();
  }

  /** What it says: a number, a text, a truth; undefined if it was left alone. */
  get value() {
    const { control } = this;
    const { checked } = control;
    if (control.type === "checkbox") return checked === this.usual ? undefined : checked;
    const text = control.value.trim();
    if (text === "") return undefined;
    return control.inputMode && Number.isFinite(Number(text)) ? Number(text) : text;
  }
}

/** The field of an option of the catalogue. */
export function optionField({ name, summary, kind, values, default: usual, needed }) {
  const free = kind === "whole" || kind === "real";
  const hint = `${sentence(summary)} ${free ? sentence(values) : ""}`;
  const made = new Field(`/options/${name}`, name, controlOf(kind, values, usual, needed), hint);
  return Object.assign(made, { name, needed, usual });
}

/** The fields of features that have names; the first sample tells whether they do, unless told. */
export function nameFields({ max_features: most, hash_bits: bits }) {
  const flag = el("input", { type: "checkbox" });
  const notice = "Whether or not, the first sample tells if this is left alone.";
  const named = new Field("/named", "Features have names", flag, notice);
  const number = (at, label, usual, hint) => new Field(at, label, line(usual, "numeric"), hint);
  return [
    Object.assign(named, { usual: false }),
    number("/max_features", "max_features", String(most), "Names that are kept apart."),
    number("/hash_bits", "hash_bits", String(bits), "Others share 2 to its power places."),
  ];
}

/** A list to choose from; each choice is a value or `[value, label]`. */
export function choice(choices, chosen) {
  const pairs = choices.map((one) => (Array.isArray(one) ? one : [one, one]));
  const option = ([value, label]) => el("option", { value, selected: value === chosen }, label);
  return el("select", {}, pairs.map(option));
}

/** A line to write in; what holds by default stands in it faintly. */
export function line(placeholder, inputmode = null) {
  const plain = { type: "text", autocomplete: "off", spellcheck: "false" };
  return el("input", { ...plain, placeholder, inputmode });
}

/** A text as a sentence. */
export function sentence(text) {
  return text ? `${capital(text)}.` : "";
}

function controlOf(kind, values, usual, needed) {
  if (kind === "flag") return el("input", { type: "checkbox", checked: usual === true });
  if (kind !== "choice") return line(needed ? "needed" : String(usual), "decimal");
  const names = values.replace(/^one of /, "").split(", ");
  return choice([["", `default (${usual})`], ...names], "");
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}
