/** What a chart is drawn of: lines, bands, marks, and the grid with its titles. */

import { svg } from "./dom.js";
import { isNumber } from "./format.js";
import { looks } from "./legend.js";

const LINE = 13;

/** Whether there is anything to see beyond the start. */
export function isBegun({ t, values }) {
  return values.some((value, k) => isNumber(value) && t[k] > 0);
}

/** Points joined; where one has no place the line breaks, and a lone one is a dot. */
export function line(series, i, x, y) {
  const { t, values } = series;
  let path = "";
  let pen = "M";
  for (let k = 0; k < t.length; k += 1) {
    const [across, up] = [x(t[k]), isNumber(values[k]) ? y(values[k]) : NaN];
    const here = Number.isFinite(across) && Number.isFinite(up);
    if (here) path += `${pen}${across.toFixed(1)} ${up.toFixed(1)}${pen === "M" ? "h0" : ""}`;
    pen = here ? "L" : "M";
  }
  return svg("path", { class: looks(series, i), d: path || null });
}

/** All values that have to fit: the line's, and those of its band. */
export function heights({ values, low = [], high = [] }) {
  return [...values, ...low, ...high];
}

/** The range between points: from one point to the next as high and as low as it came to be. */
export function band({ t, low, high }, i, x, y) {
  if (!low?.length) return null;
  const edges = [];
  for (let k = 1; k < low.length; k += 1) {
    const [left, right] = [x(t[k - 1]), x(t[k])];
    const [bottom, top] = [low[k], high[k]].map((value) => (isNumber(value) ? y(value) : NaN));
    if (![left, right, bottom, top].every(Number.isFinite)) continue;
    const [from, to] = [left.toFixed(1), right.toFixed(1)];
    edges.push(`M${from} ${top.toFixed(1)}H${to}V${bottom.toFixed(1)}H${from}Z`);
  }
  return svg("path", { class: `band band-${i + 1}`, d: edges.join("") || null });
}

/** Where the loss was found to rise. */
export function mark({ t, at, name }, across, { left, right, top, bottom }) {
  if (!(across >= left && across <= right) || !Number.isFinite(at)) return null;
  const x = across.toFixed(1);
  const rule = svg("line", { class: "drift", x1: x, x2: x, y1: top, y2: bottom });
  rule.append(svg("title", {}, `drift${name ? ` of ${name}` : ""} found at t ${t}`));
  return rule;
}

/** Lines of the grid with the values they stand for. */
export function rows(marks, y, { left, right }) {
  let last = Infinity;
  return marks.map(({ value, label }) => {
    if (last - y(value) < LINE) return null;
    last = y(value);
    const at = last.toFixed(1);
    const text = svg("text", { x: left - 8, y: at, dy: "0.32em", "text-anchor": "end" }, label);
    return svg("g", {}, svg("line", { x1: left, x2: right, y1: at, y2: at }), text);
  });
}

/** The values below the axis of t. */
export function columns(marks, x, { bottom, right }) {
  return marks.map(({ value, label }) => {
    const at = x(value);
    const anchor = at > right - 24 ? "end" : "middle";
    return svg("text", { x: at.toFixed(1), y: bottom + 17, "text-anchor": anchor }, label);
  });
}

/** What the axes show: above the values, and below those of t. */
export function axisTitles(across, up, { left, right, bottom }) {
  const middle = ((left + right) / 2).toFixed(1);
  return [
    svg("text", { class: "axis", x: 2, y: 11 }, up),
    svg("text", { class: "axis", x: middle, y: bottom + 33, "text-anchor": "middle" }, across),
  ];
}

/** A series between two t's. */
export function clipped(series, range) {
  if (!range) return series;
  const [from, to] = range;
  const keep = (column) => column?.filter((_, k) => series.t[k] >= from && series.t[k] <= to);
  const { t, values, low, high } = series;
  return { ...series, t: keep(t), values: keep(values), low: keep(low), high: keep(high) };
}
