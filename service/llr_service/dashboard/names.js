/** θ of named features: the largest of them in a table, and how many there are. */

import { el, fill, say, set, svg } from "./dom.js";
import { count, number, plural } from "./format.js";
import { byNameSize, parts } from "./theta.js";

const [MOST, FEW] = [20, 3];

/** A card with the largest features of a session; hidden where features have no names. */
export class Names {
  constructor() {
    this.counts = el("span", { class: "chart-now" });
    this.rows = el("tbody");
    const title = el("h2", {}, "Features, largest θ");
    const head = el("div", { class: "card-head" }, title, this.counts);
    const columns = ["feature", "θ", ""].map((label) => el("th", { scope: "col" }, label));
    const table = el("table", {}, el("thead", {}, el("tr", {}, columns)), this.rows);
    this.more = el("p", { class: "hint" });
    const attributes = { class: "card names", "aria-label": "Features", hidden: true };
    this.element = el("section", attributes, head, table, this.more);
  }

  /** Show a state. */
  show({ features, theta }) {
    set(this.element, { hidden: !features });
    if (!features) return;
    const largest = byNameSize(theta).slice(0, MOST);
    const top = Math.max(...parts(theta[largest[0]]).map(Math.abs), Number.MIN_VALUE);
    fill(this.rows, largest.map((name) => row(name, parts(theta[name]), top)));
    say(this.counts, `${count(features.known)} of ${count(features.max_features)} names`);
    say(this.more, rest(features, largest.length));
  }
}

function rest({ known, hash_bits: bits, hashing }, shown) {
  const others = known > shown ? `${plural(known - shown, "name", "names")} more. ` : "";
  const shared = `Names beyond them share ${count(2 ** bits)} places, shown as # and a number.`;
  return others + (hashing ? shared : "");
}

function row(name, values, top) {
  const shown = values.slice(0, FEW).map((one) => number(one));
  const numbers = [...shown, ...(values.length > FEW ? ["…"] : [])].join(", ");
  const label = el("th", { scope: "row", class: "name" }, name);
  const figure = el("td", { class: "figure" }, numbers);
  return el("tr", {}, label, figure, el("td", {}, bars(values, top)));
}

/** A bar a class, to the right of the middle if above zero. */
function bars(values, top) {
  const high = 10 / values.length;
  const bar = (value, k) => {
    const wide = (50 * Math.abs(value)) / top;
    return svg("rect", { x: value < 0 ? 50 - wide : 50, y: k * high, width: wide, height: high });
  };
  const middle = svg("line", { x1: 50, x2: 50, y1: 0, y2: 10 });
  const box = { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" };
  return svg("svg", { class: "theta-bar", ...box }, values.map(bar), middle);
}
