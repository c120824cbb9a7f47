/**
 * A line chart in SVG: several series over t, an axis each way, a legend, and a crosshair.
 * Colours are classes (`series-1` …), so that the style sheet decides them for light and dark.
 */

import { Brush } from "./brush.js";
import { Crosshair } from "./crosshair.js";
import { el, fill, say, set, svg } from "./dom.js";
import { count } from "./format.js";
import { Legend } from "./legend.js";
import { scale, timeScale } from "./scale.js";
import { axisTitles, band, clipped, columns, heights, isBegun } from "./shapes.js";
import { line, mark, rows } from "./shapes.js";
import { moment } from "./timeaxis.js";

const MARGIN = { left: 58, right: 14, top: 22, bottom: 40 };

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

  /**
   * `describe(value)` is how the readout writes a value. `moved(t)` is called as the crosshair
   * moves, `zoomed(range)` when a range of t is chosen, null for all.
   */
  constructor({ title, axis, describe, moved, zoomed }) {
    Object.assign(this, { axis, range: null });
    this.empty = el("p", { class: "chart-empty", hidden: true });
    this.grid = svg("g", { class: "grid" });
    this.lines = svg("g", { class: "lines" });
    this.svg = svg("svg", { class: "plot", "aria-hidden": "true" }, this.grid, this.lines);
    const attributes = { class: "chart-frame", tabindex: 0, role: "group" };
    this.frame = el("div", attributes, this.svg, this.empty);
    this.legend = new Legend();
    this.element = el("div", { class: "chart" }, this.frame, this.legend.element);
    set(this.frame, { "aria-label": `${title}: arrow keys read its values, plus and minus zoom` });
    this.crosshair = new Crosshair(this.frame, this.svg, describe, moved);
    this.brush = new Brush(this.frame, this.svg, zoomed);
    this.observer = new ResizeObserver(([{ contentRect }]) => this.#resize(contentRect));
    this.observer.observe(this.frame);
  }

  /** Show series, or a word in their place; axes are `linear` or `log`, t's may be `time`. */
  draw(series, axes, word, marks = []) {
    say(this.empty, word);
    this.#series = series.slice(0, MOST_SERIES);
    this.#axes = axes;
    this.#marks = marks;
    this.legend.show(this.#series);
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
    const series = this.#series.map((one) => clipped(one, this.range));
    const some = series.some(isBegun);
    set(this.empty, { hidden: some });
    set(this.svg, { viewBox: `0 0 ${width} ${height}`, "data-empty": !some });
    if (!some) {
      fill(this.grid);
      fill(this.lines);
      this.crosshair.show([], null, null);
      this.brush.show(null, null, null);
      return;
    }
    const area = { ...MARGIN, right: width - MARGIN.right, bottom: height - MARGIN.bottom };
    const across = timeScale(this.#axes.t, series.flatMap((one) => one.t));
    const up = scale(this.#axes.y, series.flatMap(heights));
    const x = (t) => area.left + across.at(t) * (area.right - area.left);
    const y = (value) => area.bottom - up.at(value) * (area.bottom - area.top);
    const timed = this.#axes.t === "time";
    const titles = axisTitles(timed ? "time" : "t, samples learnt", this.axis, area);
    const labels = columns(across.marks(width / 90), x, area);
    fill(this.grid, rows(up.marks(5), y, area), labels, titles);
    const marked = this.#marks.map((one) => mark(one, x(one.at), area));
    const bands = series.map((one, i) => band(one, i, x, y));
    fill(this.lines, marked, bands, series.map((one, i) => line(one, i, x, y)));
    set(this.svg, { "data-scale": up.kind });
    this.crosshair.show(series, { x, y }, area, timed ? moment : (t) => `t ${count(t)}`);
    this.brush.show(across.from, x, area);
  }
}
