/** The crosshair of a chart: values at a t, found by pointer, finger or arrow keys. */

import { el, fill, set, svg } from "./dom.js";
import { isNumber } from "./format.js";
import { looks, swatch } from "./legend.js";

const APART = 12;

/** Follows the pointer over `frame` and reads the series that are drawn in it. */
export class Crosshair {
  #series = [];
  #place = null;
  #area = null;
  #times = [];
  #t = null;

  /** `moved(t)` is called when the user moves it, so that other charts can follow. */
  constructor(frame, plot, describe, moved = () => {}) {
    Object.assign(this, { describe, moved });
    this.rule = svg("line", { class: "rule" });
    this.dots = svg("g", { class: "dots" });
    this.layer = svg("g", { class: "crosshair", visibility: "hidden" }, this.rule, this.dots);
    plot.append(this.layer);
    this.readout = el("div", { class: "readout", hidden: true, "aria-live": "polite" });
    frame.append(this.readout);
    frame.addEventListener("pointermove", (event) => this.#follow(event, frame));
    frame.addEventListener("pointerdown", (event) => this.#follow(event, frame));
    frame.addEventListener("pointerleave", () => this.#move(null));
    frame.addEventListener("blur", () => this.#move(null));
    frame.addEventListener("keydown", (event) => this.#key(event));
  }

  /** The chart was drawn again: stay at the same t, if it is there; `write(t)` is its words. */
  show(series, place, area, write) {
    [this.#series, this.#place, this.#area, this.write] = [series, place, area, write];
    this.#times = place ? times(series).filter((t) => Number.isFinite(place.x(t))) : [];
    this.#stay(this.#holds(this.#t) ? this.#t : null);
  }

  /** Stand where the crosshair of another chart stands, without a word to screen readers. */
  follow(t) {
    set(this.readout, { "aria-live": "off" });
    this.#stay(this.#holds(t) ? this.#times[nearest(this.#times, t)] : null);
  }

  #holds(t) {
    return t !== null && t >= this.#times[0] && t <= this.#times.at(-1);
  }

  #follow(event, frame) {
    if (!this.#times.length) return;
    const across = event.clientX - frame.getBoundingClientRect().left;
    const index = nearest(this.#times.map(this.#place.x), across);
    this.#move(this.#times[index]);
  }

  #key(event) {
    if (!this.#times.length) return;
    const last = this.#times.length - 1;
    const at = this.#t === null ? last : nearest(this.#times, this.#t);
    const step = event.shiftKey ? 10 : 1;
    const goal = { ArrowLeft: at - step, ArrowRight: at + step, Home: 0, End: last };
    if (event.key === "Escape") this.#move(null);
    if (!(event.key in goal)) return;
    event.preventDefault();
    this.#move(this.#times[Math.min(last, Math.max(0, goal[event.key]))]);
  }

  #move(t) {
    set(this.readout, { "aria-live": "polite" });
    this.#stay(t);
    this.moved(t);
  }

  #stay(t) {
    this.#t = t;
    const hidden = t === null || !this.#times.length;
    set(this.layer, { visibility: hidden ? "hidden" : "visible" });
    set(this.readout, { hidden });
    if (hidden) return;
    const { x, y } = this.#place;
    const across = x(t).toFixed(1);
    set(this.rule, { x1: across, x2: across, y1: this.#area.top, y2: this.#area.bottom });
    const found = this.#series.map((one) => ({ ...one, ...valueAt(one, t) }));
    fill(this.dots, found.map((one, i) => dot(one, i, x, y)));
    const lines = found.map((one, i) => this.#line(one, i));
    fill(this.readout, el("p", { class: "readout-t" }, this.write(t)), el("dl", {}, lines));
    this.#stand(x(t));
  }

  /** Beside the rule, on the side that has more room, and never outside. */
  #stand(across) {
    const { left, right } = this.#area;
    const width = this.readout.offsetWidth;
    const wanted = across > (left + right) / 2 ? across - width - APART : across + APART;
    this.readout.style.left = `${Math.max(0, Math.min(right - width, wanted))}px`;
  }

  #line(series, i) {
    const { name, value } = series;
    const alone = this.#series.length === 1;
    const parts = [swatch(i, series), el("span", {}, name)];
    const label = el("dt", { class: alone ? "unseen" : null }, parts);
    return el("div", {}, label, el("dd", {}, this.describe(value)));
  }
}

function times(series) {
  return [...new Set(series.flatMap((one) => one.t))].sort((a, b) => a - b);
}

/** A series has no value where it has not been: after its last t, before its first. */
function valueAt({ t: known, values }, t) {
  if (!known.length || t < known[0] || t > known.at(-1)) return { t, value: null };
  const index = nearest(known, t);
  return { t: known[index], value: values[index] };
}

function nearest(sorted, goal) {
  let [low, high] = [0, sorted.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= goal) low = middle;
    else high = middle;
  }
  return Math.abs(sorted[high] - goal) < Math.abs(sorted[low] - goal) ? high : low;
}

function dot(series, i, x, y) {
  const { t, value } = series;
  const [cx, cy] = [x(t), isNumber(value) ? y(value) : NaN];
  if (!Number.isFinite(cx) || !Number.isFinite(cy)) return null;
  return svg("circle", { class: looks(series, i), r: 3.5, cx, cy });
}
