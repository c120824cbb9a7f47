/** θ in a table: the largest parameters, by feature, and how many there are. */

import { el, fill, say, set, svg } from "./dom.js";
import { count, number, plural } from "./format.js";
import { term } from "./glossary.js";
import { byNameSize, isNamed, parts } from "./theta.js";

const [MOST, FEW] = [20, 3];

/** A card with the largest parameters of a session, and the intercept first. */
export class ParametersCard {
  #wanted = "";

  constructor() {
    this.counts = el("span", { class: "chart-now" });
    this.rows = el("tbody");
    const head = el("div", { class: "card-head" }, el("h2", {}, "Parameters"), this.counts);
    const columns = ["feature", term("θ"), ""];
    const heads = columns.map((one) => el(one ? "th" : "td", {}, one));
    this.table = el("table", {}, el("thead", {}, el("tr", {}, heads)), this.rows);
    const label = "Find a feature";
    this.search = el("input", { type: "search", placeholder: label, "aria-label": label });
    this.search.addEventListener("input", () => {
      this.#wanted = this.search.value.trim().toLowerCase();
      this.show(this.state);
    });
    this.more = el("p", { class: "hint" });
    const attributes = { class: "card parameters", "aria-label": "Parameters" };
    this.element = el("section", attributes, head, this.search, this.table, this.more);
  }

  /** Show a state. */
  show(state) {
    this.state = state;
    const { features, t, intercept = null } = state;
    const theta = byFeature(state.theta);
    const all = byNameSize(theta);
    set(this.search, { hidden: all.length <= MOST });
    set(this.table, { hidden: !t });
    if (!t) return void this.#nothing();
    const found = all.filter((name) => name.toLowerCase().includes(this.#wanted));
    const largest = found.slice(0, MOST);
    const top = Math.max(...parts(theta[all[0]]).map(Math.abs), Number.MIN_VALUE);
    const constant = intercept === null ? null : row("intercept", parts(intercept), top);
    fill(this.rows, constant, largest.map((name) => row(name, parts(theta[name]), top)));
    say(this.counts, features ? `${count(features.known)} of ${count(features.max_features)} names`
      : plural(all.length, "feature", "features"));
    say(this.more, rest(state, found.length, largest.length));
  }

  #nothing() {
    say(this.counts, "");
    say(this.more, "No parameters yet: they come with the first sample.");
  }
}

/** θ by feature: of θ a list a class, the numbers of each feature. */
function byFeature(theta) {
  if (isNamed(theta)) return theta;
  const rows = Array.isArray(theta?.[0]) ? theta : null;
  const width = rows ? rows[0].length : theta?.length ?? 0;
  const of = (k) => (rows ? rows.map((one) => one[k]) : theta[k]);
  return Object.fromEntries(Array.from({ length: width }, (_, k) => [`x[${k}]`, of(k)]));
}

function rest({ features }, found, shown) {
  const more = (features && found === shown ? features.known : found) - shown;
  const others = more > 0 ? `${plural(more, "more", "more")}, with smaller θ. ` : "";
  if (!features?.hashing) return others;
  const places = count(2 ** features.hash_bits);
  return `${others}Further names share ${places} places, shown as # and a number.`;
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
    const wide = Math.min(50, (50 * Math.abs(value)) / top);
    return svg("rect", { x: value < 0 ? 50 - wide : 50, y: k * high, width: wide, height: high });
  };
  const middle = svg("line", { x1: 50, x2: 50, y1: 0, y2: 10 });
  const box = { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" };
  return svg("svg", { class: "theta-bar", ...box }, values.map(bar), middle);
}
