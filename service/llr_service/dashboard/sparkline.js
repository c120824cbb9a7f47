/** A line the size of a word: the shape of a past, without axes. */

import { isNumber } from "./format.js";
import { set, svg } from "./dom.js";

const [WIDTH, HEIGHT, EDGE] = [96, 26, 3];

/** An empty sparkline; `drawSpark` gives it its line. */
export function spark(label) {
  const line = svg("path", { class: "line" });
  const end = svg("circle", { class: "end", r: 0 });
  const box = `0 0 ${WIDTH} ${HEIGHT}`;
  return svg("svg", { class: "spark", viewBox: box, role: "img", "aria-label": label }, line, end);
}

/** Draw the values that are numbers, oldest first. */
export function drawSpark(node, values) {
  const known = values.filter(isNumber);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const x = (i) => EDGE + (i / Math.max(1, known.length - 1)) * (WIDTH - 2 * EDGE);
  const share = (value) => (high > low ? (value - low) / (high - low) : 0.5);
  const y = (value) => HEIGHT - EDGE - share(value) * (HEIGHT - 2 * EDGE);
  const points = known.map((value, i) => `${x(i).toFixed(1)} ${y(value).toFixed(1)}`);
  const [line, end] = node.children;
  set(line, { d: points.length > 1 ? "M" + points.join("L") : null });
  const [cx, cy] = points.length > 1 ? points.at(-1).split(" ") : [0, 0];
  set(end, { cx, cy, r: points.length > 1 ? 2 : 0 });
}
