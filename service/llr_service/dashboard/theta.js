/** θ as the service sends it: a list, a list a class, or an object of named features. */

import { number } from "./format.js";

/** The past keeps the first 64 coordinates. */
export const KEPT = 64;

/** Characters of a query that names may take. */
const QUERY = 3000;

/** All coordinates in the order of the history, each `{label, value}`. */
export function coordinates(theta) {
  if (!theta) return [];
  if (!Array.isArray(theta)) return Object.entries(theta).flatMap(([name, v]) => named(name, v));
  return theta.flatMap((value, i) => {
    if (!Array.isArray(value)) return [{ label: `θ[${i}]`, value }];
    return value.map((one, k) => ({ label: `θ[${i}, ${k}]`, value: one }));
  });
}

/** Whether features have names. */
export function isNamed(theta) {
  return Boolean(theta) && !Array.isArray(theta);
}

/** The coordinates to ask the past for: the largest now, by number in their order, or by name. */
export function largest(theta, most) {
  if (isNamed(theta)) return byNames(theta);
  const sized = coordinates(theta).slice(0, KEPT).map(({ value }, i) => [Math.abs(value ?? 0), i]);
  const first = sized.sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, most);
  return first.map(([, i]) => i).sort((a, b) => a - b);
}

/** The constant term beside θ: `{text, note}`, with no text where there is none. */
export function intercept({ intercept: value = null }) {
  const numbers = value === null ? [] : [value].flat();
  if (numbers.length < 2) return { text: numbers.map((one) => number(one)).join(), note: "" };
  const rest = numbers.slice(1).map((one) => number(one));
  return { text: number(numbers[0]), note: `of class 0; others ${rest.join(", ")}` };
}

/** The names of the largest; the past holds only some, so more are asked for than are shown. */
function byNames(theta) {
  const size = ({ value }) => Math.abs(value ?? 0);
  const sized = coordinates(theta).sort((a, b) => size(b) - size(a));
  const names = sized.slice(0, KEPT).map(({ label }) => label);
  let room = QUERY;
  return names.filter((name) => (room -= encodeURIComponent(name).length + 9) > 0);
}

/** The numbers of a feature, one, or one a class. */
export function parts(value) {
  return [value ?? 0].flat().map((one) => one ?? 0);
}

/** All names, those of the largest numbers first. */
export function byNameSize(theta) {
  const size = (value) => Math.max(...parts(value).map(Math.abs));
  const sized = Object.entries(theta).map(([name, value]) => [name, size(value)]);
  return sized.sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

function named(name, value) {
  if (!Array.isArray(value)) return [{ label: name, value }];
  return value.map((one, k) => ({ label: `${name}[${k}]`, value: one }));
}
