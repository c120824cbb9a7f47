/** Zoom: drag over a chart to choose a range of t; a double click or the minus key shows all. */

import { set, svg } from "./dom.js";

const LEAST = 6; // pixels: less is a click

/** Listens to `frame`; `zoomed(range)` gets `[from, to]`, or null for all. */
export class Brush {
  #back = null;
  #area = null;
  #start = null;

  constructor(frame, plot, zoomed = () => {}) {
    Object.assign(this, { frame, zoomed });
    this.box = svg("rect", { class: "brush", visibility: "hidden" });
    plot.append(this.box);
    frame.addEventListener("pointerdown", (event) => this.#down(event));
    frame.addEventListener("pointermove", (event) => this.#move(event));
    frame.addEventListener("pointerup", (event) => this.#up(event));
    frame.addEventListener("pointerleave", () => this.#end());
    frame.addEventListener("dblclick", () => zoomed(null));
    frame.addEventListener("keydown", (event) => this.#key(event));
  }

  /** The chart was drawn: `back` takes a share of the width to t. */
  show(back, x, area) {
    [this.#back, this.x, this.#area] = [back, x, area];
  }

  /** Touch scrolls and reads values: only a mouse or a pen zooms. */
  #down(event) {
    if (event.pointerType === "touch" || event.button !== 0 || !this.#area) return;
    this.#start = this.#across(event);
  }

  #move(event) {
    if (this.#start === null) return;
    const [left, right] = [this.#start, this.#across(event)].sort((a, b) => a - b);
    const { top, bottom } = this.#area;
    const size = { x: left, width: right - left, y: top, height: bottom - top };
    set(this.box, { ...size, visibility: right - left < LEAST ? "hidden" : "visible" });
  }

  #up(event) {
    if (this.#start === null) return;
    const [left, right] = [this.#start, this.#across(event)].sort((a, b) => a - b);
    this.#end();
    if (right - left >= LEAST) this.zoomed([this.#t(left), this.#t(right)]);
  }

  #end() {
    this.#start = null;
    set(this.box, { visibility: "hidden" });
  }

  /** Plus shows the middle half. */
  #key({ key }) {
    if (!this.#area) return;
    const { left, right } = this.#area;
    const quarter = (right - left) / 4;
    if (key === "+") this.zoomed([this.#t(left + quarter), this.#t(right - quarter)]);
    if (key === "-") this.zoomed(null);
  }

  #across({ clientX }) {
    const { left, right } = this.#area;
    const across = clientX - this.frame.getBoundingClientRect().left;
    return Math.max(left, Math.min(right, across));
  }

  #t(across) {
    const { left, right } = this.#area;
    return this.#back((across - left) / (right - left));
  }
}
