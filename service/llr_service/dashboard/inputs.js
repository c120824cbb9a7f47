/** The features of a session as fields of a form, and x as the service takes it. */

import { line } from "./fields.js";
import { el } from "./dom.js";
import { byNameSize } from "./theta.js";

const MOST = 40;

/** What fields a session needs: `[{name, choices}]`; null if there are too many or none known. */
export function inputsOf({ dim, features, theta }) {
  if (features) return namedInputs(theta ?? {});
  if (!dim || dim > MOST) return null;
  return Array.from({ length: dim }, (_, k) => ({ name: `x[${k}]`, choices: null }));
}

/** `city=Rome` and `city=Oslo` are one field with two choices; the largest come first. */
function namedInputs(theta) {
  const found = new Map();
  for (const name of byNameSize(theta)) {
    const [base, value] = split(name);
    if (name.startsWith("#") || (!found.has(base) && found.size === MOST)) continue;
    const known = found.get(base) ?? { name: base, choices: value === null ? null : [] };
    if (value !== null) known.choices?.push(value);
    found.set(base, known);
  }
  return found.size ? [...found.values()] : null;
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

function given(value, choices) {
  return choices && value !== undefined ? String(value) : value;
}

/** `[{label, weight, value, part}]`: each feature's weight, its value, and their product. */
export function contributions(x, theta, row = null) {
  const weightOf = (weights) => (row === null ? weights : weights?.[row]) ?? 0;
  const entries = Array.isArray(x) ? x.map((value, k) => [k, value]) : Object.entries(x);
  return entries.map(([key, value]) => {
    const word = typeof value === "string";
    const label = word ? `${key}=${value}` : Array.isArray(x) ? `x[${key}]` : key;
    const weights = Array.isArray(x) && row !== null ? theta[row] : theta;
    const own = Array.isArray(x) ? weights[key] ?? 0 : weightOf(theta[label]);
    const size = word ? 1 : Number(value);
    return { label, weight: own, value: size, part: own * size };
  });
}
