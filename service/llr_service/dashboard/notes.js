/** What else is to be known of a session: how far a what-if is, late labels, samples it keeps. */

import { el, fill, say, set } from "./dom.js";
import { count, plural, size } from "./format.js";
import { toCompare } from "./router.js";

/** Lines below the figures; each is there only while it has something to say. */
export class Notes {
  constructor() {
    this.bar = el("progress", { max: 1, "aria-label": "Samples learnt anew" });
    this.far = el("span", { role: "status" });
    this.beside = el("a", {});
    const line = { class: "hint relearning", "data-stat": "relearning", hidden: true };
    this.relearning = el("p", line, this.bar, this.far, this.beside);
    this.labels = el("p", { class: "hint", "data-stat": "labels", hidden: true });
    this.retained = el("p", { class: "hint", "data-stat": "retained", hidden: true });
    this.element = el("div", {}, this.relearning, this.labels, this.retained);
  }

  /** Show a state. */
  show({ name, relearning, labels, retained, t }) {
    this.#progress(name, relearning);
    tell(this.labels, labels && labelWords(labels));
    const busy = relearning && relearning.done < relearning.of;
    tell(this.retained, retained && !busy && keptWords(retained, t));
  }

  #progress(name, going) {
    set(this.relearning, { hidden: !going });
    if (!going) return;
    const { source, done, of, stopped } = going;
    set(this.bar, { hidden: done === of, value: of ? done / of : 1 });
    say(this.far, farWords(going));
    set(this.relearning, { "data-stopped": Boolean(stopped) });
    set(this.beside, { href: toCompare([source, name]) });
    fill(this.beside, `Compare with ${source}`);
  }
}

function farWords({ source, done, of, stopped }) {
  if (stopped) return `What if: stopped after ${count(done)} of ${count(of)} samples: ${stopped}. `;
  if (done < of) return `What if: ${count(done)} of the ${count(of)} samples of ${source} learnt. `;
  return `What if: ${plural(of, "sample", "samples")} of ${source}, learnt anew. `;
}

function labelWords({ waiting, learnt, expired }) {
  const counts = [waiting, learnt, expired].map(count);
  return `Late labels: ${counts[0]} awaited, ${counts[1]} learnt, ${counts[2]} expired.`;
}

function keptWords({ samples, bytes, complete }, t) {
  if (complete) return `Keeps all its samples (${size(bytes)}): fork it to learn them anew.`;
  return `Keeps the first ${count(samples)} of its ${count(t)} samples (${size(bytes)}), no more.`;
}

function tell(node, words) {
  set(node, { hidden: !words });
  say(node, words || "");
}
