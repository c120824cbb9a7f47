/** θ as the service sends it: a list, a list a class, or an object of named features. */

import { number } from "./format.js";

/** The past keeps the first 64 coordinates. */
export const KEPT = 64;

/** All coordinates in the order of the history, each `{label, value}`. */
export function coordinates(theta) {
  if (!theta) return [];
  if (!Array.isArray(theta)) return Object.entries(theta).flatMap(([name, v]) => named(name, v));
  return theta.flatMap((value, i) => {
    if (!Array.isArray(value)) return [{ label: `θ[${i}]`, value }];
    return value.map((one, k) => ({ label: `θ[${i}, ${k}]`, value: one }));
  });
}

/** The indexes of the coordinates that are largest now, in their order. */
export function largest(theta, most) {
  const sized = coordinates(theta).slice(0, KEPT).map(({ value }, i) => [Math.abs(value ?? 0), i]);
  const first = sized.sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, most);
  return first.map(([, i]) => i).sort((a, b) => a - b);
}

/** The constant term beside θ as text, where there is one. */
export function intercept({ intercept: value = null }) {
  const numbers = value === null ? [] : [value].flat();
  return numbers.length ? `intercept ${numbers.map((one) => number(one)).join(", ")}` : "";
}

function named(name, value) {
  if (!Array.isArray(value)) return [{ label: name, value }];
  return value.map((one, k) => ({ label: `${name}[${k}]`, value: one }));
}
