/** Charts as files: the numbers as CSV, the picture as PNG. */

import { el } from "./dom.js";
import { timeAt } from "./history.js";

const SHARP = 2; // pixels of the picture a pixel of the page

/** Lines `series,t,time,value`, all series of a chart one after the other; time is RFC 3339. */
export function toCsv(series) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = series.flatMap(({ name, t, values, clock = { t: [], time: [] } }) => {
    return t.map((one, k) => [quoted(name), one, written(timeAt(clock, one)), values[k] ?? ""]);
  });
  return [["series", "t", "time", "value"], ...lines, []].map((row) => row.join()).join("\n");
}

function written(time) {
  return Number.isFinite(time) ? new Date(time).toISOString() : "";
}

/** The chart in an SVG as a PNG. It is drawn again: the policy lets no picture be loaded. */
export function toPng(plot) {
  const { width, height } = plot.getBoundingClientRect();
  const canvas = el("canvas", { width: width * SHARP, height: height * SHARP });
  const pen = canvas.getContext("2d");
  pen.scale(SHARP, SHARP);
  pen.fillStyle = getComputedStyle(plot.closest(".card") ?? plot).backgroundColor;
  pen.fillRect(0, 0, width, height);
  for (const node of plot.querySelectorAll("path, line, text")) paint(pen, node);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** Give the user a file. */
export function save(name, content) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content]));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function paint(pen, node) {
  const style = getComputedStyle(node);
  if (style.visibility === "hidden") return;
  pen.globalAlpha = Number(style.opacity);
  if (node.tagName === "text") return write(pen, node, style);
  const at = (name) => node.getAttribute(name);
  const line = `M${at("x1")} ${at("y1")}L${at("x2")} ${at("y2")}`;
  const path = new Path2D(node.tagName === "line" ? line : at("d") ?? "");
  pen.lineWidth = parseFloat(style.strokeWidth);
  pen.setLineDash((style.strokeDasharray.match(/[\d.]+/g) ?? []).map(Number));
  pen.lineJoin = "round";
  [pen.fillStyle, pen.strokeStyle] = [style.fill, style.stroke];
  if (style.fill !== "none") pen.fill(path);
  if (style.stroke !== "none") pen.stroke(path);
}

function write(pen, node, style) {
  const number = (name) => Number(node.getAttribute(name) ?? 0);
  const anchor = node.getAttribute("text-anchor") ?? "start";
  pen.font = `${style.fontSize} ${style.fontFamily}`;
  pen.textAlign = { start: "left", middle: "center", end: "right" }[anchor];
  pen.fillStyle = style.fill;
  const down = node.hasAttribute("dy") ? 0.32 * parseFloat(style.fontSize) : 0;
  pen.fillText(node.textContent, number("x"), number("y") + down);
}
