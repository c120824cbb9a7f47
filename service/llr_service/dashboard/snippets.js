/** Ready commands for this very session, in curl and in Python, to be copied. */

import { curl, python } from "./commands.js";
import { button, el, say, set } from "./dom.js";
import { exampleSample } from "./example.js";

const TABS = { curl: "curl", python: "Python" };

/** A card with the snippets of a session. */
export class Snippets {
  #texts = {};
  #shown = "curl";

  constructor() {
    this.tabs = Object.entries(TABS).map(([id, label]) => {
      return button(label, () => this.#choose(id), { "data-language": id });
    });
    this.code = el("code");
    this.notice = el("span", { role: "status", class: "hint" });
    const heading = el("h2", {}, "From your code");
    const choice = el("div", { class: "switch" }, this.tabs);
    const head = el("div", { class: "card-head" }, heading, choice);
    const copy = button("Copy", () => this.#copy(), { class: "quiet" });
    const foot = el("div", { class: "card-foot" }, this.notice, copy);
    const text = el("pre", { tabindex: 0, "aria-label": "Snippet" }, this.code);
    this.element = el("section", { class: "card snippets" }, head, text, foot);
    this.#choose("curl");
  }

  /** Write them for a session. */
  show({ model, dim, named, ...about }) {
    const facts = { ...about, sample: exampleSample(model, dim, named) };
    this.#texts = { curl: curl(facts), python: python(facts) };
    say(this.code, this.#texts[this.#shown]);
  }

  #choose(id) {
    this.#shown = id;
    for (const tab of this.tabs) set(tab, { "aria-pressed": String(tab.dataset.language === id) });
    say(this.code, this.#texts[id] ?? "");
    say(this.notice, "");
  }

  /** Where the browser does not let a page copy, the text is at least selected. */
  async #copy() {
    try {
      await navigator.clipboard.writeText(this.code.textContent);
      say(this.notice, "Copied");
    } catch {
      getSelection().selectAllChildren(this.code);
      say(this.notice, "Selected: copy it with your keyboard");
    }
  }
}
