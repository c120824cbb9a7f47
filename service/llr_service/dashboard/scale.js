/**
 * Axes: a scale takes values to the unit interval and knows where its marks stand.
 * `log` becomes `symlog` where values are not all above zero: logarithmic far from zero, linear
 * near it, the same on both sides.
 */

import { isNumber, number, power } from "./format.js";
import { timeMarks } from "./timeaxis.js";

const ROOM = 0.06;

/** The scale of a kind, `linear` or `log`, that fits all values given. */
export function scale(kind, values) {
  const [low, high] = extent(values);
  if (kind !== "log") return linear(low, high);
  return low > 0 ? log(low, high) : symlog(low, high, values);
}

/** The scale of t or of time: from the first to the last, without room at its ends. */
export function timeScale(kind, values) {
  const [low, high] = extent(kind === "log" ? values.filter((t) => t > 0) : values);
  if (kind === "time") return clockScale(low, Math.max(high, low + 1000));
  if (kind === "log" && low > 0) return exactLog(low, Math.max(high, low * 10));
  return exactLinear(low, high > low ? high : low + 1);
}

function clockScale(low, high) {
  const marks = (most) => timeMarks(low, high, most);
  return { ...exactLinear(low, high), kind: "time", marks };
}

function linear(low, high) {
  const span = high - low || Math.abs(high) || 1;
  return exactLinear(low - span * ROOM, high + span * ROOM);
}

function exactLinear(low, high) {
  const at = (value) => (value / 2 - low / 2) / (high / 2 - low / 2);
  const from = (share) => low + share * (high - low);
  return { kind: "linear", at, from, marks: (most) => linearMarks(low, high, most) };
}

function log(low, high) {
  const [from, to] = [Math.log10(low), Math.log10(high)];
  const room = (to - from || 1) * ROOM;
  return exactLog(10 ** (from - room), 10 ** (to + room));
}

function exactLog(low, high) {
  const [from, to] = [Math.log10(low), Math.log10(high)];
  const at = (value) => (value > 0 ? (Math.log10(value) - from) / (to - from) : NaN);
  const back = (share) => 10 ** (from + share * (to - from));
  return { kind: "log", at, from: back, marks: (most) => logMarks(from, to, most) };
}

function symlog(low, high, values) {
  const far = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const near = 10 ** nearZero(values, Math.floor(Math.log10(far)));
  const bend = (value) => Math.sign(value) * Math.log10(1 + Math.abs(value) / near);
  const room = (bend(high) - bend(low) || 1) * ROOM;
  const [from, to] = [bend(low) - room, bend(high) + room];
  const at = (value) => (bend(value) - from) / (to - from);
  return { kind: "symlog", at, marks: (most) => symlogMarks(near, far, low, high, most) };
}

/** The decade where a symlog axis turns linear: most values lie beyond it, the least do not. */
function nearZero(values, far) {
  const sizes = values.filter((value) => isNumber(value) && value !== 0).map(Math.abs);
  const small = sizes.sort((a, b) => a - b)[Math.floor(sizes.length / 5)] ?? 1;
  return Math.min(far - 2, Math.floor(Math.log10(small)));
}

function linearMarks(low, high, most) {
  const rough = high / most - low / most;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * unit >= rough) * unit;
  const marks = [];
  for (let k = Math.ceil(low / step); k * step <= high && marks.length <= 2 * most; k += 1) {
    marks.push(mark(k * step, digitsFor(k * step, step)));
  }
  return marks;
}

function logMarks(from, to, most) {
  const decades = Math.floor(to) - Math.ceil(from) + 1;
  if (decades < 3) return fineMarks(from, to, most);
  const stride = Math.max(1, Math.ceil(decades / most));
  const marks = [];
  for (let k = Math.ceil(from / stride) * stride; k <= to; k += stride) {
    marks.push({ value: 10 ** k, label: k >= 0 && k < 4 ? number(10 ** k) : power(k) });
  }
  return marks;
}

function fineMarks(from, to, most) {
  const marks = [];
  for (let k = Math.floor(from); k <= to; k += 1) {
    for (const factor of [1, 2, 5]) {
      const value = factor * 10 ** k;
      if (Math.log10(value) >= from && Math.log10(value) <= to) marks.push(mark(value));
    }
  }
  return marks.length >= 2 ? marks : linearMarks(10 ** from, 10 ** to, most);
}

function symlogMarks(near, far, low, high, most) {
  const [first, last] = [Math.log10(near), Math.log10(far)].map(Math.round);
  const stride = Math.max(1, Math.ceil((last - first) / (most / (low < 0 && high > 0 ? 2 : 1))));
  const sizes = [];
  for (let k = last; k >= first; k -= stride) sizes.unshift(10 ** k);
  const values = [...sizes.map((value) => -value).reverse(), 0, ...sizes];
  return values.filter((value) => value >= low && value <= high).map((value) => mark(value));
}

function mark(value, digits = 4) {
  return { value, label: number(value, digits) };
}

/** As many digits as tell a mark from its neighbours. */
function digitsFor(value, step) {
  const apart = Math.abs(value) / step;
  return apart > 1 ? Math.min(15, Math.max(4, Math.ceil(Math.log10(apart)) + 1)) : 4;
}

function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!isNumber(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}
