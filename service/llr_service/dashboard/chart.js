/**
 * A line chart in SVG: several series over t, an axis each way, a legend, and a crosshair.
 * Colours are classes (`series-1` …), so that the style sheet decides them for light and dark.
 */

import { Crosshair } from "./crosshair.js";
import { el, fill, say, set, svg } from "./dom.js";
import { isNumber } from "./format.js";
import { Legend } from "./legend.js";
import { scale, timeScale } from "./scale.js";

const LINE = 13;
const MARGIN = { left: 58, right: 14, top: 10, bottom: 24 };

/** How many series can be told apart by their colour and dash. */
export const MOST_SERIES = 8;

/**
 * A chart. `element` is its figure; `draw` shows series, each `{name, t, values}`, and where they
 * have `low` and `high` the band between them: the range since the point before.
 */
export class Chart {
  #series = [];
  #marks = [];
  #axes = { t: "linear", y: "linear" };
  #size = { width: 0, height: 0 };

  /** `describe(value)` is how the readout writes a value. */
  constructor({ title, describe }) {
    this.empty = el("p", { class: "chart-empty", hidden: true });
    this.grid = svg("g", { class: "grid" });
    this.lines = svg("g", { class: "lines" });
    this.svg = svg("svg", { class: "plot", "aria-hidden": "true" }, this.grid, this.lines);
    const attributes = { class: "chart-frame", tabindex: 0, role: "group" };
    this.frame = el("div", attributes, this.svg, this.empty);
    this.legend = new Legend();
    this.element = el("div", { class: "chart" }, this.frame, this.legend.element);
    set(this.frame, { "aria-label": `${title}: arrow keys read its values` });
    this.crosshair = new Crosshair(this.frame, this.svg, describe);
    this.observer = new ResizeObserver(([{ contentRect }]) => this.#resize(contentRect));
    this.observer.observe(this.frame);
  }

  /** Show series, or a word in their place; an axis is `linear` or `log`; `marks` are t's. */
  draw(series, axes, word, marks = []) {
    say(this.empty, word);
    this.#series = series.slice(0, MOST_SERIES);
    this.#axes = axes;
    this.#marks = marks;
    this.legend.show(this.#series.map((one) => one.name));
    this.#render();
  }

  /** Leave the page. */
  close() {
    this.observer.disconnect();
  }

  #resize({ width, height }) {
    this.#size = { width, height };
    this.#render();
  }

  #render() {
    const { width, height } = this.#size;
    if (!width || !height) return;
    const some = this.#series.some(isBegun);
    set(this.empty, { hidden: some });
    set(this.svg, { viewBox: `0 0 ${width} ${height}`, "data-empty": !some });
    if (!some) {
      fill(this.grid);
      fill(this.lines);
      this.crosshair.show([], null, null);
      return;
    }
    const area = { ...MARGIN, right: width - MARGIN.right, bottom: height - MARGIN.bottom };
    const across = timeScale(this.#axes.t, this.#series.flatMap((one) => one.t));
    const up = scale(this.#axes.y, this.#series.flatMap(heights));
    const x = (t) => area.left + across.at(t) * (area.right - area.left);
    const y = (value) => area.bottom - up.at(value) * (area.bottom - area.top);
    fill(this.grid, rows(up.marks(5), y, area), columns(across.marks(width / 90), x, area));
    const marked = this.#marks.map((t) => mark(t, x(t), area));
    const bands = this.#series.map((one, i) => band(one, i, x, y));
    fill(this.lines, marked, bands, this.#series.map((one, i) => line(one, i, x, y)));
    set(this.svg, { "data-scale": up.kind });
    this.crosshair.show(this.#series, { x, y }, area);
  }
}

/** Whether there is anything to see beyond the start. */
function isBegun({ t, values }) {
  return values.some((value, k) => isNumber(value) && t[k] > 0);
}

/** Points joined; where one has no place the line breaks, and a lone one is a dot. */
function line({ t, values }, i, x, y) {
  let path = "";
  let pen = "M";
  for (let k = 0; k < t.length; k += 1) {
    const [across, up] = [x(t[k]), isNumber(values[k]) ? y(values[k]) : NaN];
    const here = Number.isFinite(across) && Number.isFinite(up);
    if (here) path += `${pen}${across.toFixed(1)} ${up.toFixed(1)}${pen === "M" ? "h0" : ""}`;
    pen = here ? "L" : "M";
  }
  return svg("path", { class: `series series-${i + 1}`, d: path || null });
}

/** All values that have to fit: the line's, and those of its band. */
function heights({ values, low = [], high = [] }) {
  return [...values, ...low, ...high];
}

/** The range between points: from one point to the next as high and as low as it came to be. */
function band({ t, low, high }, i, x, y) {
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
function mark(t, at, { left, top, bottom }) {
  if (!(at >= left)) return null;
  const across = at.toFixed(1);
  const rule = svg("line", { class: "drift", x1: across, x2: across, y1: top, y2: bottom });
  rule.append(svg("title", {}, `drift told at t ${t}`));
  return rule;
}

function rows(marks, y, { left, right }) {
  let last = Infinity;
  return marks.map(({ value, label }) => {
    if (last - y(value) < LINE) return null;
    last = y(value);
    const at = last.toFixed(1);
    const text = svg("text", { x: left - 8, y: at, dy: "0.32em", "text-anchor": "end" }, label);
    return svg("g", {}, svg("line", { x1: left, x2: right, y1: at, y2: at }), text);
  });
}

function columns(marks, x, { bottom, right }) {
  return marks.map(({ value, label }) => {
    const at = x(value);
    const anchor = at > right - 24 ? "end" : "middle";
    return svg("text", { x: at.toFixed(1), y: bottom + 17, "text-anchor": anchor }, label);
  });
}
