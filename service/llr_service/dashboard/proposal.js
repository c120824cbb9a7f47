/** Rows to paste into the form of a new session, and what they propose. */

import { el, fill, say, set } from "./dom.js";
import { Unclear } from "./parse.js";
import { propose } from "./propose.js";

const HINT = "About ten rows, y in the last column, best with a heading. CSV or JSON.";
const SAMPLE = "area, rooms, city, price\n54, 2, Oslo, 310\n71, 3, Rome, 285";

/** A field that makes a proposal of what is pasted; `proposed(found)` gets each new one. */
export class Proposal {
  /** What the text proposes, or null. */
  found = null;

  constructor(proposed) {
    this.proposed = proposed;
    const plain = { rows: 4, spellcheck: "false", autocomplete: "off", id: "paste" };
    this.text = el("textarea", { ...plain, placeholder: SAMPLE, "aria-describedby": "pasted" });
    this.words = el("p", { class: "hint", id: "pasted", role: "status" }, HINT);
    this.tick = el("input", { type: "checkbox", id: "learn-rows", checked: true });
    const label = el("label", { for: "learn-rows" }, "Learn these rows at once");
    this.learning = el("div", { class: "field flag", hidden: true }, this.tick, label);
    const title = el("label", { for: "paste" }, "Or paste some rows (optional)");
    const parts = [title, this.text, this.words, this.learning];
    this.element = el("div", { class: "field" }, parts);
    this.text.addEventListener("input", () => this.#read());
  }

  /** Whether the rows are to be learnt as well. */
  get learns() {
    return this.tick.checked;
  }

  #read() {
    this.found = null;
    try {
      if (this.text.value.trim()) this.found = propose(this.text.value);
      say(this.words, this.found ? `Proposed: ${this.found.model}. ${this.found.words}` : HINT);
    } catch (error) {
      if (!(error instanceof Unclear)) throw error;
      const place = error.line ? `Line ${error.line}: ` : "";
      fill(this.words, `${place}${error.message}`);
    }
    set(this.learning, { hidden: this.found === null });
    if (this.found) this.proposed(this.found);
  }
}
