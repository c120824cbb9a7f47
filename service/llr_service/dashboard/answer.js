/** The answer to learning, in a line and in full. */

import { el } from "./dom.js";
import { count, number, plural } from "./format.js";

const MOST_SHOWN = 8;

/** A box that shows what came of samples. */
export function answerBox({ predictions, ...answer }) {
  const learnt = `Learnt ${plural(answer.accepted, "sample", "samples")}`;
  const words = el("strong", {}, answer.duplicate ? "Known already: nothing to learn" : learnt);
  const { t, eta, loss } = answer;
  const figures = ` · t ${count(t)} · η ${number(eta)} · recent loss ${number(loss.recent)}`;
  const whole = el("pre", { tabindex: 0 }, JSON.stringify(answer, null, 1));
  const raw = el("details", {}, el("summary", {}, "The answer in full"), whole);
  const line = el("p", {}, words, figures);
  return el("div", { class: "answer" }, line, before(predictions ?? []), raw);
}

function before(predictions) {
  if (!predictions.length) return null;
  const some = predictions.length > MOST_SHOWN ? ", the last of them" : "";
  const shown = predictions.slice(-MOST_SHOWN).map(predicted).join(", ");
  return el("p", { class: "hint" }, `Predicted before learning${some}: ${shown}`);
}

function predicted(value) {
  if (!Array.isArray(value)) return number(value, 3);
  return `(${value.map((one) => number(one, 3)).join(" ")})`;
}
