/** Which line is which: a piece of it beside its name. */

import { el, fill, set, svg } from "./dom.js";

/** The classes of a series: its colour by its place or by `color`, and dashed if it says so. */
export function looks({ color, dashed = false }, i) {
  return `series series-${(color ?? i) + 1}${dashed ? " dashed" : ""}`;
}

/** A short piece of a series' line, for legends and readouts. */
export function swatch(i, series = {}) {
  const stroke = svg("line", { class: looks(series, i), x1: 1, x2: 19, y1: 5, y2: 5 });
  return svg("svg", { class: "swatch", viewBox: "0 0 20 10", "aria-hidden": "true" }, stroke);
}

/** A list of names, hidden while there is only one line. */
export class Legend {
  #known = "";

  constructor() {
    this.element = el("ul", { class: "legend", hidden: true });
  }

  /** Name the lines, in their order. */
  show(series) {
    const known = JSON.stringify(series.map(({ name, color }) => [name, color]));
    if (known === this.#known) return;
    this.#known = known;
    set(this.element, { hidden: series.length < 2 });
    const line = (one, i) => el("li", {}, swatch(i, one), el("span", {}, one.name));
    fill(this.element, series.map(line));
  }
}
