/** Which line is which: a piece of it beside its name. */

import { el, fill, set, svg } from "./dom.js";

/** A short piece of a series' line, for legends and readouts. */
export function swatch(i) {
  const stroke = svg("line", { class: `series series-${i + 1}`, x1: 1, x2: 19, y1: 5, y2: 5 });
  return svg("svg", { class: "swatch", viewBox: "0 0 20 10", "aria-hidden": "true" }, stroke);
}

/** A list of names, hidden while there is only one line. */
export class Legend {
  #names = "";

  constructor() {
    this.element = el("ul", { class: "legend", hidden: true });
  }

  /** Name the lines, in their order. */
  show(names) {
    const known = JSON.stringify(names);
    if (known === this.#names) return;
    this.#names = known;
    set(this.element, { hidden: names.length < 2 });
    fill(this.element, names.map((name, i) => el("li", {}, swatch(i), el("span", {}, name))));
  }
}
