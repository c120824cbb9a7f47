/** The features of a session as fields of a form, and x as the service takes it. */

import { line } from "./fields.js";
import { el } from "./dom.js";
import { byNameSize, isNamed } from "./theta.js";

/** How many features have fields; more than these are pasted. */
export const MOST_FIELDS = 40;

/**
 * The fields a session needs: `{inputs: [{name, choices}], all}`, where `all` tells if these are
 * all of its features; `inputs` is null where the features are not known or too many.
 */
export function inputsOf({ t, dim, features, theta }) {
  if (features) return namedInputs(theta ?? {}, features.known);
  if (!t || !dim || dim > MOST_FIELDS) return { inputs: null, all: false };
  const each = (_, k) => ({ name: `x[${k}]`, choices: null });
  return { inputs: Array.from({ length: dim }, each), all: true };
}

/** `city=Rome` and `city=Oslo` are one field with two choices; the largest come first. */
function namedInputs(theta, known) {
  const found = new Map();
  let [left, named] = [0, 0];
  for (const name of byNameSize(theta)) {
    const [base, value] = split(name);
    if (name.startsWith("#")) continue;
    named += 1;
    if (!found.has(base) && found.size === MOST_FIELDS) {
      left += 1;
      continue;
    }
    const input = found.get(base) ?? { name: base, choices: value === null ? null : [] };
    if (value !== null) input.choices?.push(value);
    found.set(base, input);
  }
  const all = left === 0 && named >= known;
  return { inputs: found.size ? [...found.values()] : null, all };
}

function split(name) {
  const at = name.indexOf("=");
  return at < 0 ? [name, null] : [name.slice(0, at), name.slice(at + 1)];
}

/** A control for a feature: a number, or a word with the known ones to choose from. */
export function controlOf({ choices }, id) {
  if (!choices) return line("0", "decimal");
  const list = el("datalist", { id }, choices.map((value) => el("option", { value })));
  const control = line(choices[0]);
  control.setAttribute("list", id);
  return [control, list];
}

/** x of the values that were given, by place or by name; a feature left out counts as 0. */
export function toX(inputs, values, named) {
  if (!named) return values.map((value) => value ?? 0);
  const pairs = inputs.map(({ name, choices }, k) => [name, given(values[k], choices)]);
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

/** x as it was pasted: JSON, a list or an object, or numbers with commas or spaces between. */
export function pastedX(text, named) {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) return JSON.parse(trimmed);
  if (named) throw new SyntaxError("an object of features by name is needed");
  return trimmed.split(/[\s,;]+/).filter(Boolean).map((one) => {
    if (Number.isFinite(Number(one))) return Number(one);
    throw new SyntaxError(`“${one}” is not a number`);
  });
}

function given(value, choices) {
  return choices && value !== undefined ? String(value) : value;
}

/** `[{label, weight, value, part}]`: each feature's weight, its value, and their product. */
export function contributions(x, theta, row = null) {
  const named = isNamed(theta);
  const weights = named || row === null ? theta : theta[row];
  const entries = Array.isArray(x) ? x.map((value, k) => [k, value]) : Object.entries(x ?? {});
  return entries.map(([key, value]) => {
    const word = typeof value === "string";
    const label = word ? `${key}=${value}` : Array.isArray(x) ? `x[${key}]` : key;
    const found = weights?.[named ? label : key];
    const weight = (named && row !== null ? found?.[row] : found) ?? 0;
    const size = word ? 1 : Number(value);
    return { label, weight, value: size, part: weight * size };
  });
}
