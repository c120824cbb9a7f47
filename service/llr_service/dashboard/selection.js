/** The sessions that are selected in the list, and the bar that leads to comparing them. */

import { MOST_SERIES } from "./chart.js";
import { button, el, fill, set } from "./dom.js";
import { toCompare } from "./router.js";

/** Holds the names; `onClear` is called when the user clears the selection. */
export class SelectionBar {
  #names = new Set();

  constructor(onClear) {
    this.onClear = onClear;
    const region = { class: "bar", role: "region", "aria-label": "Compare" };
    this.element = el("div", { ...region, hidden: true });
  }

  /** Whether a session is selected. */
  has(name) {
    return this.#names.has(name);
  }

  /** Select a session, or not. */
  select(name, selected) {
    if (selected) this.#names.add(name);
    else this.#names.delete(name);
    this.#show();
  }

  #show() {
    const names = [...this.#names];
    const some = names.length > 1 && names.length <= MOST_SERIES;
    const lead = { class: "button primary", href: toCompare(names) };
    const go = el("a", lead, `Compare ${names.length}`);
    set(this.element, { hidden: !names.length });
    fill(this.element, el("span", {}, words(names.length)), this.#clearer(), some ? go : null);
  }

  #clearer() {
    return button("Clear", () => {
      this.#names.clear();
      this.onClear();
      this.#show();
    });
  }
}

function words(n) {
  if (n === 1) return "Select another to compare";
  return n > MOST_SERIES ? `${n} selected: ${MOST_SERIES} at most` : `${n} sessions selected`;
}
